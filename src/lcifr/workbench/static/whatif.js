// One person of an audit, and what if: attributes moved within φ and beyond it.
import { ask, latest, trying } from "./api.js";
import { button, drawn, make, show, soon, table } from "./dom.js";

const last = latest();

const facts = (found) => make("dl", {}, ...found.facts.map(([name, text]) => make("div", {}, make("dt", { text: name }), make("dd", { text }))));

// One attribute that can be moved; `moved` is called when it is.
const mover = (one, moved) => {
  const { name, values, integer } = one.attribute;
  const words = `What if ${name} were`;
  if (values !== undefined) {
    const select = make("select", { "aria-label": words, on: { change: moved } },
      ...values.map((value) => make("option", { value, text: one.within.values.includes(value) ? value : `${value} (not similar)` })));
    select.value = one.own;
    return { element: select, value: () => select.value, set: (value) => { select.value = value; } };
  }
  const step = integer ? 1 : "any";
  const number = make("input", { type: "number", step, value: one.own, "aria-label": words });
  const slider = make("input", { type: "range", min: one.low, max: one.high, step: integer ? 1 : (one.high - one.low) / 200 || "any", value: one.own, tabindex: "-1", "aria-hidden": "true" });
  const set = (value) => { number.value = value; slider.value = value; };
  number.addEventListener("input", () => { slider.value = number.value; moved(); });
  slider.addEventListener("input", () => { number.value = slider.value; moved(); });
  return { element: make("span", { class: "mover" }, number, track(one), slider), value: () => Number(number.value), set };
};

// Where φ lets the attribute move, above the slider.
const track = (one) => {
  const size = one.high - one.low || 1, place = (value) => (100 * (value - one.low)) / size;
  return drawn("svg", { class: "track", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("rect", { x: 0, y: 1.5, width: 100, height: 1, class: "all" }),
    ...one.within.intervals.map(([low, high]) => drawn("rect", { x: place(low), y: 0, width: Math.max(1, place(high) - place(low)), height: 4, class: "within" })));
};

const answerWords = (found) => [
  make("p", { class: "verdict" }, "Decision: ", make("strong", { text: found.own.decision }), found.same ? " – the same" : " – a different one"),
  make("p", { text: `${found.own.distance}.` }),
  make("p", { class: found.covered ? "covered" : found.similar ? "within" : "beyond", text: found.sentence }),
  found.failing ? make("p", { class: "fix", text: `This part of φ does not hold: ${found.failing}` }) : null,
];

const scores = (found) => {
  if (!found.scores.length) return [];
  const far = Math.max(...found.scores.flatMap((one) => [Math.abs(one.adds), Math.abs(one.low), Math.abs(one.high)]), 1e-12);
  const place = (value) => 100 + (95 * value) / far;
  const bar = (one) => drawn("svg", { class: "chart adds", viewBox: "0 0 200 14", "aria-hidden": "true" },
    drawn("rect", { x: place(Math.min(one.low, one.high)), y: 0, width: Math.max(1, place(one.high) - place(one.low)), height: 14, class: "range" }),
    drawn("rect", { x: Math.min(100, place(one.adds)), y: 3, width: Math.max(1, Math.abs(place(one.adds) - 100)), height: 8, class: one.adds < 0 ? "less" : "more" }),
    drawn("line", { x1: 100, y1: 0, x2: 100, y2: 14 }));
  return [make("h4", { text: "What each attribute adds" }), make("p", { text: found.score_words }),
    table(["Attribute", "Adds", "Pale: what it could add for someone similar"], found.scores.map((one) => ({ cells: [one.name, one.words, bar(one)] })), "adds")];
};

export const person = (element, audit, id, found) => {
  const said = make("div", { class: "what-if", role: "status" }), shown = found.shown;
  const movers = new Map();
  const values = () => Object.fromEntries([...movers].map(([name, one]) => [name, one.value()]));
  const look = async () => {
    const answer = await last(() => ask("audit/what-if", { audit, id, values: values() }), said);
    if (answer) show(said, ...answerWords(answer));
  };
  const moved = soon(150, look);
  for (const one of found.movable) movers.set(one.attribute.name, mover(one, moved));
  const put = (value) => { found.movable.forEach((one, place) => movers.get(one.attribute.name).set(value(one, place))); look(); };
  const other = shown.kind === "counterexample" ? found.other : null;
  const heads = ["Attribute", "This person", "A similar person may have", ...(other ? ["Counterexample"] : []), ...(found.can_ask ? ["What if"] : [])];
  const rows = shown.rows.map((one, place) => ({
    kind: one.differs ? "differs" : "",
    cells: [one.unit ? `${one.attribute} (${one.unit})` : one.attribute, one.own, one.may, ...(other ? [one.differs ? one.other : "the same"] : []),
      ...(found.can_ask ? [movers.get(found.movable[place].attribute.name).element] : [])],
  }));
  show(element,
    make("h3", { text: `Person ${shown.id}` }), make("p", { class: `badge ${shown.kind}`, text: shown.verdict }), make("p", { text: shown.sentence }), facts(shown),
    found.can_ask ? make("div", { class: "beside" }, make("h4", { text: "What if" }),
      make("p", { class: "quiet", text: "Move an attribute below, within φ or beyond it." }), said,
      make("p", {}, button("Reset to the person", () => put((one) => one.own)), other ? button("Set to the counterexample", () => put((one) => other[one.attribute.name])) : null)) : null,
    table(heads, rows, "moving"), shown.note ? make("p", { class: "quiet", text: shown.note }) : null, ...scores(found));
  if (found.can_ask) look();
};
