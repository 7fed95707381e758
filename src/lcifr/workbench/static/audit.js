// The audit's page: started, watched, stopped, gone on with; then the explorer.
import { ask, latest, trying } from "./api.js";
import { button, command, fill, find, make, show } from "./dom.js";
import { explore } from "./explorer.js";
import { chosenModel, listing, look, modelOptions, named, none, onFolder, tableFor } from "./folder.js";
import { watch } from "./run.js";

const model = find("audit-model"), people = find("audit-table"), formula = find("audit-formula"), reference = find("audit-reference");
const out = find("audit-out"), sample = find("audit-sample"), audits = find("audit-choice"), tolerance = find("tolerance");
const last = latest();
let begun = false;

const plan = () => {
  const chosen = chosenModel(model) || {};
  const more = chosen.model ? { reference: reference.value, ...(tolerance.value === "" ? {} : { tolerance: Number(tolerance.value) }) } : {};
  return {
    ...chosen, ...more, out: out.value.trim(), table: people.value, phi: formula.value, population: find("audit-population").checked,
    ...(sample.value === "" ? {} : { sample: Number(sample.value) }),
  };
};

const preview = async () => {
  reference.closest("label").hidden = !chosenModel(model)?.model;
  const answer = await last(() => trying(() => ask("audit/plan", plan()), find("audit-command")));
  if (answer) command(find("audit-command"), answer.command);
};

const watchRun = () => watch(find("run"), async (state) => {
  await look();
  if (state.state === "finished" && listing.audits.includes(state.out)) {
    audits.value = state.out;
    out.value = freeName();
    preview();
    await open();
  }
});

const start = async () => {
  const state = await trying(() => ask("audit/start", plan()), find("run"));
  if (state) await watchRun();
};

const goOn = async (name) => {
  const state = await trying(() => ask("audit/resume", { name }), find("run"));
  if (state) { show(find("stopped")); await watchRun(); }
};

const showStopped = (stopped) => show(find("stopped"), ...stopped.map((one) => make("div", { class: "note" },
  make("p", { text: `${one.out} was stopped; what is done is kept.` }), make("code", { text: one.command }),
  one.here ? button("Go on", () => goOn(one.out), { class: "main" }) : make("p", { text: "It was begun with other options: go on with this command in a terminal." }))));

const freeName = () => {
  const taken = [...listing.audits, ...listing.producers, ...listing.consumers, ...listing.sweeps];
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "audit" : `audit-${number}`;
    if (!taken.includes(name)) return name;
  }
};

const open = async () => {
  audits.closest("label").hidden = !audits.value;
  if (!audits.value) { show(find("opened"), make("p", { class: "quiet", text: "There is no finished audit in the folder." })); return; }
  show(find("opened"), make("p", { class: "quiet", text: "Reading …" }));
  const found = await trying(() => ask("audit/open", { name: audits.value }), find("opened"));
  if (found) explore(find("opened"), found);
};

onFolder((found) => {
  fill(model, modelOptions(found));
  fill(people, named(found.tables), people.value || found.tables.find((name) => !name.includes("train")));
  fill(formula, named(found.formulas));
  fill(reference, [...none("the people audited"), ...named(found.tables)]);
  fill(audits, named(found.audits));
  showStopped(found.stopped);
});

export const shown = async () => {
  if (begun) { preview(); return; }
  begun = true;
  people.value = tableFor(formula.value, listing.tables);
  out.value = freeName();
  preview();
  const state = await trying(() => ask("run/state"), find("run"));
  if (state && state.state === "running") watchRun();
  open();
};

for (const input of [model, people, formula, reference, out, sample, find("audit-population")]) input.addEventListener("change", preview);
out.addEventListener("input", preview);
find("audit-form").addEventListener("submit", (event) => { event.preventDefault(); start(); });
audits.addEventListener("change", open);
