// What the page asks the server. Addresses are relative: the token is the first part of the page's own path.
import { find, make, show } from "./dom.js";

export class Refused extends Error {
  constructor(message, fix) { super(message); this.fix = fix; }
}

export const ask = async (name, values = {}) => {
  let response;
  try {
    response = await fetch(`api/${name}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values), credentials: "omit", cache: "no-store",
    });
  } catch {
    throw new Refused("The workbench does not answer.", "Check that `lcifr workbench` is still running in its terminal, and open the address that it prints.");
  }
  const said = await response.json().catch(() => ({ error: `The workbench refused the request (${response.status}).`, fix: "" }));
  if (!response.ok) throw new Refused(said.error, said.fix);
  return said.answer;
};

export const problemWords = (error) => {
  const parts = [make("p", { class: "what", text: error.message })];
  if (error.fix) parts.push(make("p", { text: `What to do: ${error.fix}` }));
  return parts;
};

// What went wrong, in an element of its own or at the top of the page.
const complain = (error, element) => {
  if (!(error instanceof Refused)) console.error(error);
  const words = problemWords(error instanceof Refused ? error : new Refused(`The page has a bug: ${error.message}`, "Please report it."));
  if (element.id === "problem") element.hidden = false;
  show(element, ...(element.id === "problem" ? words : [make("div", { class: "problem" }, ...words)]));
};

// Work whose problems are shown.
export const trying = async (work, element = find("problem")) => {
  try {
    const found = await work();
    if (element.id === "problem") { element.hidden = true; show(element); }
    return found;
  } catch (error) {
    complain(error, element);
    return undefined;
  }
};

// The same of a question that is asked again and again: only what the last one says is shown, as an earlier answer may
// come later.
export const latest = () => {
  let number = 0;
  return async (work, element) => {
    const mine = ++number;
    try {
      const found = await work();
      return mine === number ? found : undefined;
    } catch (error) {
      if (mine === number) complain(error, element);
      return undefined;
    }
  };
};
