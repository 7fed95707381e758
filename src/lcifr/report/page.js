// The explorer. All text from the data goes through textContent: nothing here
// makes markup from it, and the page's policy would not run it.
"use strict";
(() => {
  const MOST = 200; // people in the list at once; the search narrows it
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const people = data.people.map(([id, kind, sentence, facts, rows, note, adds, marks, around]) => ({
    id, kind, sentence: data.texts[sentence], note: data.texts[note], adds, marks, around,
    facts: facts.map(([name, value]) => [data.texts[name], value]),
    rows: rows.map(([own, may, other, differs], place) => ({
      attribute: data.attributes[place][0], unit: data.attributes[place][1], own: data.texts[own], may: data.texts[may], other: data.texts[other], differs: differs === 1,
    })),
  }));
  const words = { certified: "Certified", counterexample: "Counterexample", undecided: "Undecided" };

  const make = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const cell = (name, text, kind) => {
    const made = make(name, undefined, kind);
    made.append(make("span", text, text.length > 120 ? "long" : ""));
    return made;
  };

  const breakable = (made) => { // a line may end after every underscore of a name
    const span = made.firstChild, [first, ...rest] = span.textContent.split("_");
    span.replaceChildren(first, ...rest.flatMap((word) => ["_", make("wbr"), word]));
    return made;
  };

  // Charts come as lists of numbers; only these shapes, with only these attributes, are ever made of them.
  const SHAPES = [
    ["line", ["x1", "y1", "x2", "y2", "class"]], ["rect", ["x", "y", "width", "height", "class"]],
    ["circle", ["cx", "cy", "r", "class"]], ["text", ["x", "y", "text-anchor", "class"]], ["polyline", ["points", "class"]],
  ];
  const LINE = 0, RECT = 1;
  const graphic = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const shape = ([kind, ...values]) => {
    const [name, keys] = SHAPES[kind];
    const made = graphic(name, Object.fromEntries(keys.map((key, place) => [key, values[place]])));
    if (name === "text") made.textContent = values[keys.length];
    return made;
  };
  const chart = (width, height, shapes) => {
    const made = graphic("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", "aria-hidden": "true" });
    made.append(...shapes.map(shape));
    return made;
  };

  const explorer = document.getElementById("explore");
  if (!explorer || people.length === 0) return;
  const [search, verdict, matches, list, person, only] =
    ["search", "verdict", "matches", "people", "person", "only"].map((id) => document.getElementById(id));
  explorer.hidden = false;
  only.checked = window.matchMedia("(max-width: 44rem)").matches; // a phone has no room for what is the same
  let found = [], active = -1;

  const rank = (id, wanted) => (id === wanted ? 0 : id.startsWith(wanted) ? 1 : 2);
  const look = () => {
    const wanted = search.value.trim().toLowerCase();
    found = people.filter((one) => (!verdict.value || one.kind === verdict.value) && one.id.toLowerCase().includes(wanted));
    if (wanted) found.sort((a, b) => rank(a.id.toLowerCase(), wanted) - rank(b.id.toLowerCase(), wanted));
    const shown = found.slice(0, MOST);
    const many = `${found.length.toLocaleString("en-US")} ${found.length === 1 ? "person" : "people"}`;
    matches.textContent = found.length > MOST ? `${many}, the first ${MOST} listed` : many;
    list.replaceChildren(...shown.map((one, place) => {
      const item = make("li");
      item.id = `option-${place}`;
      item.setAttribute("role", "option");
      item.append(make("span", one.id, "name"), make("span", words[one.kind], `badge ${one.kind}`));
      item.addEventListener("click", () => { pick(place); list.focus(); });
      return item;
    }));
    active = -1;
    pick(0);
  };

  const pick = (place) => {
    const items = list.children;
    if (active >= 0 && items[active]) items[active].setAttribute("aria-selected", "false");
    if (items.length === 0) {
      search.removeAttribute("aria-activedescendant");
      list.removeAttribute("aria-activedescendant");
      person.replaceChildren(make("p", "No person here has this id and verdict."));
      return;
    }
    active = Math.max(0, Math.min(place, items.length - 1));
    items[active].setAttribute("aria-selected", "true");
    for (const one of [search, list]) one.setAttribute("aria-activedescendant", items[active].id);
    const item = items[active];
    if (item.offsetTop < list.scrollTop) list.scrollTop = item.offsetTop;
    else if (item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = item.offsetTop + item.offsetHeight - list.clientHeight;
    show(found[active]);
  };

  const show = (one) => {
    const title = make("h3", "Person ");
    title.append(make("bdi", one.id));
    const facts = make("dl");
    for (const [name, value] of [["Verdict", words[one.kind]], ...one.facts]) {
      const group = make("div");
      group.append(make("dt", name), make("dd", value, name === "Verdict" ? `badge ${one.kind}` : ""));
      facts.append(group);
    }
    person.replaceChildren(title, make("p", one.sentence), facts);
    if (one.around.length) person.append(make("h4", "The model’s output around the counterexample"));
    for (const [words, [height, shapes]] of one.around) person.append(make("p", data.texts[words]), chart(440, height, shapes));
    if (one.adds) person.append(...contributions(one));
    if (one.rows.length) person.append(table(one));
    if (one.note) person.append(make("p", one.note));
    mark(one);
  };

  const contributions = (one) => {
    const [sentence, up, down, zero, rows] = one.adds, text = (number) => data.texts[number];
    const columns = ["Attribute", "This person", "Adds", "Within φ"], body = make("tbody");
    for (const [name, own, adds, range, left, wide, from, reach] of rows) {
      const tr = make("tr"), head = breakable(cell("th", text(name)));
      head.scope = "row";
      tr.append(head, ...[own, adds, range].map((number, place) => cell("td", text(number), place ? "number" : "")));
      [...tr.children].slice(1).forEach((part, place) => { part.dataset.label = columns[place + 1]; });
      const bar = make("td", undefined, "picture"), shapes = [];
      if (from !== undefined) shapes.push([RECT, from, 1, reach, 14, "similar"]);
      if (left !== undefined) shapes.push([RECT, left, 4, wide, 8, left < zero ? "against" : "for"], [LINE, zero, 0, zero, 16, "axis"]);
      bar.append(chart(160, 16, shapes));
      tr.append(bar);
      body.append(tr);
    }
    const words = `What favours “${text(up)}” (+) and “${text(down)}” (−); the band shows the range for anyone similar`;
    return [make("h4", "For and against"), make("p", text(sentence)), framed(words, [...columns, ""], body, "wide adds")];
  };

  const mark = (one) => { // in the charts of the section above
    const named = document.getElementById("marked");
    if (!named) return;
    named.textContent = one.id;
    document.querySelectorAll(".gallery .marks").forEach((group, place) => {
      const [own, ...similar] = one.marks[place];
      const bands = similar.map((ends) => shape([RECT, ...ends, "similar"]));
      group.replaceChildren(...bands, ...(own ? [shape([LINE, ...own, "own"])] : []));
    });
  };

  const framed = (caption, columns, body, kind = "wide") => {
    const made = make("table", undefined, kind), head = make("thead"), line = make("tr");
    for (const name of columns) {
      const column = make(name ? "th" : "td", name, kind !== "wide" && ["Adds", "Within φ"].includes(name) ? "number" : "");
      if (name) column.scope = "col";
      line.append(column);
    }
    head.append(line);
    made.append(make("caption", caption), head, body);
    const scroll = make("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", caption);
    scroll.append(made);
    return scroll;
  };

  const table = (one) => {
    const contradicted = one.kind === "counterexample";
    const body = make("tbody");
    const columns = ["Attribute", "This person", "A similar person may have", ...(contradicted ? ["Counterexample"] : [])];
    for (const row of one.rows) {
      const same = row.may === "the same" || row.may === "–";
      if (only.checked && same && !row.differs) continue;
      const tr = make("tr", undefined, row.differs ? "differs" : "");
      const name = breakable(cell("th", row.attribute));
      name.scope = "row";
      if (row.unit) name.append(make("span", row.unit, "unit"));
      tr.append(name, cell("td", row.own), cell("td", row.may, same ? "same" : ""));
      if (contradicted) {
        const other = cell("td", row.other, row.differs ? "" : "same");
        if (row.differs) other.firstChild.prepend(make("span", "≠ "), make("span", "differs: ", "unseen"));
        tr.append(other);
      }
      [...tr.children].slice(1).forEach((one, place) => { one.dataset.label = columns[place + 1]; });
      body.append(tr);
    }
    return framed(contradicted ? "Attributes; the counterexample differs in the rows marked ≠" : "Attributes, and the values that a similar person may have", columns, body);
  };

  const keys = (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    if (event.key in steps) pick(active + steps[event.key]);
    else if (event.key === "Home" && event.target === list) pick(0);
    else if (event.key === "End" && event.target === list) pick(list.children.length - 1);
    else if (event.key === "Enter" && event.target === search) person.focus();
    else return;
    event.preventDefault();
  };
  search.addEventListener("keydown", keys);
  list.addEventListener("keydown", keys);
  search.addEventListener("input", look);
  verdict.addEventListener("change", look);
  only.addEventListener("change", () => { if (found[active]) show(found[active]); });
  look();
  const first = people.findIndex((one) => one.kind === "counterexample");
  if (first > 0 && first < MOST) pick(first);
})();
