// The formula's editor: a text area over a mirror of itself, in which mistakes are underlined and the caret is found.
// Places come as numbers of characters; a text area counts UTF-16 units. Both ways are here.
import { find, make } from "./dom.js";

const phi = find("phi"), mirror = find("mirror"), offers = find("offers");
let marks = [], offered = [], chosen = -1, taken = () => {};

export const units = (text, characters) => Array.from(text).slice(0, characters).join("").length;
export const characters = (text, place) => Array.from(text.slice(0, place)).length;

export const text = () => phi.value;
export const caret = () => characters(phi.value, phi.selectionStart);

export const write = (value) => { phi.value = value; hide(); mark([]); };

export const goTo = (start, end = start) => {
  phi.focus();
  phi.setSelectionRange(units(phi.value, start), units(phi.value, end));
  reflect();
};

// marks: { start, end, kind } in characters
export const mark = (found) => { marks = found; reflect(); };

const reflect = () => {
  const value = phi.value, at = phi.selectionStart;
  const placed = marks.map((one) => {
    const start = units(value, one.start);
    return { ...one, start, end: Math.max(units(value, one.end), start) };
  });
  const edges = [...new Set([0, at, value.length, ...placed.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  const pieces = [];
  for (let place = 0; place < edges.length; place += 1) {
    const start = edges[place], end = edges[place + 1] ?? start;
    for (const one of placed) if (one.start === one.end && one.start === start) pieces.push(make("mark", { class: one.kind, text: " " }));
    if (start === at) pieces.push(make("span", { id: "caret" }));
    const over = placed.find((one) => one.start <= start && end <= one.end && start < end);
    const piece = value.slice(start, end);
    if (piece) pieces.push(over ? make("mark", { class: over.kind, text: piece }) : document.createTextNode(piece));
  }
  mirror.replaceChildren(...pieces, "\n ");
  if (!offers.hidden) place();
};

// -- completion -------------------------------------------------------------------------------------------------------

const place = () => {
  const at = find("caret");
  if (!at) return;
  const room = phi.clientWidth - offers.offsetWidth;
  offers.style.left = `${Math.max(0, Math.min(at.offsetLeft, room))}px`;
  offers.style.top = `${at.offsetTop + at.offsetHeight + 2}px`;
};

export const hide = () => {
  offers.hidden = true; offered = []; chosen = -1;
  phi.removeAttribute("aria-activedescendant");
};

const choose = (number) => {
  chosen = number;
  [...offers.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === number)));
  if (number < 0) { phi.removeAttribute("aria-activedescendant"); return; }
  phi.setAttribute("aria-activedescendant", offers.children[number].id);
  const item = offers.children[number];
  offers.scrollTop = Math.min(item.offsetTop, Math.max(offers.scrollTop, item.offsetTop + item.offsetHeight - offers.clientHeight));
};

// What may stand at the caret: { text, about, start }. With `first`, the first one is chosen already.
export const offer = (found, first) => {
  if (!found.length || document.activeElement !== phi) { hide(); return; }
  offered = found;
  offers.replaceChildren(...found.map((one, number) => make("li", {
    id: `offer-${number}`, role: "option", "aria-selected": "false",
    on: { mousedown: (event) => { event.preventDefault(); take(number); } },
  }, make("span", { text: one.text }), make("span", { class: "quiet", text: one.about }))));
  offers.hidden = false;
  choose(first ? 0 : -1);
  place();
};

const take = (number) => {
  const one = offered[number], start = units(phi.value, one.start), end = phi.selectionStart;
  phi.setRangeText(one.text, start, end, "end");
  hide();
  taken();
};

export const listen = ({ typed, wanted, keep }) => {
  taken = typed;
  phi.addEventListener("input", () => { reflect(); typed(true); });
  phi.addEventListener("blur", hide);
  for (const event of ["click", "keyup"]) phi.addEventListener(event, reflect);
  phi.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) { event.preventDefault(); wanted(); return; }
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); keep(); return; }
    if (offers.hidden) return;
    const last = offered.length - 1;
    if (event.key === "ArrowDown") { event.preventDefault(); choose(chosen >= last ? 0 : chosen + 1); }
    else if (event.key === "ArrowUp" && chosen >= 0) { event.preventDefault(); choose(chosen === 0 ? last : chosen - 1); }
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) { event.preventDefault(); take(chosen); }
    else if (event.key === "Escape") { event.preventDefault(); hide(); }
    else if (["ArrowLeft", "ArrowRight", "ArrowUp", "Home", "End", "Enter"].includes(event.key)) hide();
  });
};
