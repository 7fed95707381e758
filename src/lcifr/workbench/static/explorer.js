// The explorer of an audit: the figure, who is in it, and one person at a time.
import { ask, latest, trying } from "./api.js";
import { button, command, make, show } from "./dom.js";
import { legend, sharesBar } from "./run.js";
import { person } from "./whatif.js";

const MOST = 200; // people in the list at once; the search narrows it
const WORDS = { certified: "Certified", counterexample: "Counterexample", undecided: "Undecided" };
const last = latest();

const headline = (found) => make("div", { class: "headline" },
  make("p", { class: "figure", text: found.figure }),
  make("div", {}, make("p", { class: "words", text: found.words }), make("p", { class: "bound", text: found.bound })),
  make("div", { class: "shares-box" }, sharesBar(found.parts.map(([kind, , count]) => [kind, count]), found.parts.reduce((sum, one) => sum + one[2], 0)),
    legend(found.parts.map(([kind, name, count, share]) => [kind, `${name} ${count.toLocaleString("en-US")} (${share})`]))));

const page = (audit) => {
  const said = make("span", { class: "quiet", role: "status" });
  const write = async () => {
    const made = await trying(() => ask("audit/report", { name: audit }), said);
    if (made) said.textContent = ` Written: ${made.file}. Open it in any browser. It shows people’s attributes: share it with care.`;
  };
  return make("p", {}, button("Write the report", write), said);
};

export const explore = (element, found) => {
  const report = found.document;
  const commands = make("div", { class: "command" });
  command(commands, found.commands.join("\n"));
  const chosen = make("div", { id: "person", role: "region", "aria-label": "The selected person", "aria-live": "polite" });
  show(element,
    make("h3", { text: report.title }), make("p", { class: "subtitle", text: report.subtitle }), headline(report.headline),
    make("details", {}, make("summary", { text: "What was audited, and what to keep in mind" }),
      make("dl", { class: "facts" }, ...report.facts.map(([name, text]) => make("div", {}, make("dt", { text: name }), make("dd", { text })))),
      make("ul", { class: "points" }, ...report.cautions.map(({ title, text }) => make("li", {}, make("strong", { text: `${title}. ` }), text)))),
    page(found.audit), commands,
    make("div", { class: "explorer" }, finder(found, chosen), chosen));
};

const finder = (found, chosen) => {
  const word = make("input", { type: "search", id: "who", autocomplete: "off" }), kind = make("select", { id: "kind" });
  kind.append(make("option", { value: "", text: "any verdict" }), ...Object.entries(WORDS).map(([value, text]) => make("option", { value, text })));
  const decision = make("select", { id: "decision" });
  const decisions = [...new Set(found.people.map((one) => one.decision))].sort();
  decision.append(make("option", { value: "", text: "any decision" }), ...(decisions.length <= 50 ? decisions : []).map((text) => make("option", { value: text, text })));
  const matches = make("p", { id: "matches", role: "status" });
  const people = make("ul", { id: "people", role: "listbox", tabindex: "0", "aria-label": "People" });
  let shown = [], at = -1;

  const choose = async (place) => {
    if (place < 0 || place >= shown.length) return;
    at = place;
    [...people.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === place)));
    people.setAttribute("aria-activedescendant", people.children[place].id);
    const item = people.children[place]; // only the list scrolls, not the page
    people.scrollTop = Math.min(item.offsetTop, Math.max(people.scrollTop, item.offsetTop + item.offsetHeight - people.clientHeight));
    const answer = await last(() => ask("audit/person", { audit: found.audit, id: shown[place].id }), chosen);
    if (answer) person(chosen, found.audit, shown[place].id, answer);
  };

  const filter = () => {
    const typed = word.value.trim().toLowerCase();
    const fits = found.people.filter((one) => one.id.toLowerCase().includes(typed)
      && (!kind.value || one.kind === kind.value) && (!decision.value || one.decision === decision.value));
    shown = fits.slice(0, MOST);
    matches.textContent = `${fits.length.toLocaleString("en-US")} of ${found.people.length.toLocaleString("en-US")} people${fits.length > MOST ? `, the first ${MOST} are listed` : ""}${found.complete ? "" : " (a sample of those audited)"}`;
    people.replaceChildren(...shown.map((one, place) => make("li", {
      id: `who-${place}`, role: "option", "aria-selected": "false", on: { click: () => choose(place) },
    }, make("span", { class: "name", text: one.id }), make("span", { class: `badge ${one.kind}`, text: WORDS[one.kind] }))));
    at = -1;
    const first = shown.findIndex((one) => one.kind === "counterexample");
    if (shown.length) choose(Math.max(0, first)); else show(chosen, make("p", { text: "Nobody fits." }));
  };

  people.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(shown.length - 1, steps[event.key])));
  });
  word.addEventListener("input", filter);
  kind.addEventListener("change", filter);
  decision.addEventListener("change", filter);
  queueMicrotask(filter);
  return make("div", { class: "finder" }, make("label", { for: "who", text: "Find a person" }), word, make("label", { for: "kind", text: "Verdict" }), kind,
    make("label", { for: "decision", text: "Decision" }), decision, matches, people);
};
