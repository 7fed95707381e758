// A command while it runs: its steps, the verdicts so far, and a button that stops it as Ctrl-C would.
import { ask, trying } from "./api.js";
import { button, drawn, make, show } from "./dom.js";

const PAUSE = 500; // milliseconds between two looks
const KINDS = [["CERTIFIED", "certified", "Certified"], ["COUNTEREXAMPLE", "counterexample", "Counterexample"], ["UNDECIDED", "undecided", "Undecided"]];

export const sharesBar = (counts, total) => {
  const bar = drawn("svg", { class: "shares", viewBox: "0 0 1000 18", preserveAspectRatio: "none", "aria-hidden": "true" });
  let x = 0;
  for (const [kind, count] of counts) {
    const width = total ? (1000 * count) / total : 0;
    if (width) bar.append(drawn("rect", { x, y: 0, width, height: 18, class: kind }));
    x += width;
  }
  return bar;
};

export const legend = (rows) => make("ul", { class: "legend" }, ...rows.map(([kind, words]) =>
  make("li", {}, make("span", { class: `key ${kind}` }), words)));

const stepWords = (one) => {
  if (one.total && !one.ended) return `${one.name === "people" ? "Proving" : one.name}: ${one.done} of ${one.total}`;
  return one.name === "people" ? `${one.done} people${one.resumed ? `, ${one.resumed} of them already done` : ""}` : one.name;
};

const picture = (state) => {
  const people = state.steps.find((one) => one.name === "people");
  const current = state.steps.findLast((one) => !one.ended);
  const done = KINDS.map(([word]) => state.verdicts[word] || 0);
  const proved = done.reduce((a, b) => a + b, 0), total = Math.max(proved, people?.total || 0);
  const parts = [make("ol", { class: "steps" }, ...state.steps.map((one) =>
    make("li", { class: one.ended ? "ended" : "now", text: `${stepWords(one)}${one.ended ? "" : " …"}` })))];
  if (state.state === "running" && current?.total) parts.push(make("progress", { max: current.total, value: current.done, "aria-label": current.name }));
  if (proved) {
    parts.push(sharesBar(KINDS.map(([, kind], place) => [kind, done[place]]), total));
    parts.push(legend(KINDS.map(([, kind, words], place) => [kind, `${words} ${done[place]}`])));
    parts.push(make("p", { class: "quiet", text: `${proved} of ${total} people so far` }));
  }
  parts.push(...state.messages.map((text) => make("p", { class: "quiet", text })));
  return parts;
};

const watching = new Map();

// Look until it has ended, in an element; only the last watcher of an element looks.
export const watch = async (element, ended) => {
  const mine = Symbol("watch");
  watching.set(element, mine);
  const moving = make("div"), still = make("div");
  const stop = button("Stop", () => trying(async () => { stop.disabled = true; await ask("run/stop"); }), { id: "stop" });
  let first = true;
  while (watching.get(element) === mine) {
    const state = await trying(() => ask("run/state"), still);
    if (state === undefined || state === null) return;
    if (first) {
      show(element, make("div", { class: "running" }, make("code", { text: state.command }), moving, stop, still));
      first = false;
    }
    show(moving, ...picture(state));
    if (state.state !== "running") {
      stop.remove();
      show(still, make("p", { class: "what", role: "status", text: `${state.out} ${state.said}.` }),
        state.printed ? make("details", { open: state.state === "refused" || state.state === "failed" }, make("summary", { text: "What the command printed" }), make("pre", { text: state.printed })) : null);
      await ended(state);
      return;
    }
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
  }
};
