// Elements made from data. All text goes through textContent: nothing here makes markup from it, and the page's policy
// (trusted types, no inline scripts) would refuse it.

export const find = (id) => document.getElementById(id);

export const make = (name, about = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (key === "text") made.textContent = value;
    else if (key === "class") made.className = value;
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

export const drawn = (name, about = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(about)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

export const show = (element, ...children) => element.replaceChildren(...children.filter((child) => child));

// Options of a select: [value, words] each; what was chosen stays chosen where it still is there.
export const fill = (select, options, chosen = select.value) => {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value, text })));
  const there = options.some(([value]) => value === chosen);
  select.value = there ? chosen : options.length ? options[0][0] : "";
};

export const command = (element, line) =>
  show(element, line ? make("p", { class: "quiet", text: "The same as a command:" }) : null, line ? make("code", { text: line }) : null);

export const table = (heads, rows, kind = "") =>
  make("div", { class: "scroll" }, make("table", { class: `wide ${kind}` },
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { text, scope: "col" })))),
    make("tbody", {}, ...rows.map(({ cells, kind: mark }) => make("tr", { class: mark || "" },
      ...cells.map((cell, place) => {
        const made = make(place ? "td" : "th", place ? { "data-label": heads[place] } : { scope: "row" });
        made.append(cell instanceof Node ? cell : make("span", { text: cell }));
        return made;
      }))))));

export const button = (text, press, about = {}) => make("button", { type: "button", text, on: { click: press }, ...about });

// English as the library writes it: the first line, then points; deeper ones are indented by four spaces.
export const points = (text) => {
  const [lead, ...rest] = text.split("\n");
  return [make("p", { text: lead }), rest.length ? make("ul", { class: "points" }, ...rest.map((line) =>
    make("li", { text: line.trim().replace(/^- /, ""), class: /^ {4}/.test(line) ? "deeper" : line.startsWith("- ") ? "" : "plain" }))) : null];
};

export const soon = (wait, work) => {
  let timer;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), wait); };
};
