// The audit's page: started, watched, stopped, gone on with; then the explorer.
import { ask, latest, trying } from "./api.js";
import { button, command, fill, find, make, show } from "./dom.js";
import { explore } from "./explorer.js";
import { chosenModel, listing, look, modelOptions, named, none, onFolder, tableFor } from "./folder.js";
import { watch } from "./run.js";
import { showSweep } from "./sweep.js";

const model = find("audit-model"), people = find("audit-table"), formula = find("audit-formula"), reference = find("audit-reference");
const out = find("audit-out"), sample = find("audit-sample"), audits = find("audit-choice"), tolerance = find("audit-tolerance"), names = find("audit-id"), sweeps = find("sweep-choice");
const last = latest();
let begun = false;

const plan = () => {
  const chosen = chosenModel(model) || {};
  const more = chosen.model ? { reference: reference.value, ...(tolerance.value === "" ? {} : { tolerance: Number(tolerance.value) }) } : {};
  return {
    ...chosen, ...more, out: out.value.trim(), table: people.value, phi: formula.value, population: find("audit-population").checked,
    id_column: names.value.trim(), ...(sample.value === "" ? {} : { sample: Number(sample.value) }),
  };
};

const preview = async () => {
  for (const input of [reference, tolerance]) input.closest("label").hidden = !chosenModel(model)?.model;
  const answer = await last(() => ask("audit/plan", plan()), find("audit-command"));
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
  make("p", { text: `${one.out} was stopped; its progress is kept.` }), make("code", { text: one.command }),
  one.here ? button("Resume", () => goOn(one.out), { class: "main" }) : make("p", { text: "It was started with other options: resume it with this command in a terminal." }))));

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
  const learned = found.producers.length > 0;
  fill(people, [...named(found.tables), ...(learned ? none("the held-out people") : [])], begun ? people.value : found.tables[0]);
  fill(formula, [...named(found.formulas), ...(learned ? none("the producer’s own") : [])], begun ? formula.value : found.formulas[0]);
  fill(reference, [...none("the audited people"), ...named(found.tables)]);
  fill(audits, named(found.audits));
  fill(sweeps, named(found.sweeps));
  find("sweeps").hidden = found.sweeps.length === 0;
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
  if (sweeps.value) showSweep(find("swept"), sweeps.value);
};

for (const input of [model, people, formula, reference, names, out, sample, tolerance, find("audit-population")]) input.addEventListener("change", preview);
out.addEventListener("input", preview);
find("audit-form").addEventListener("submit", (event) => { event.preventDefault(); start(); });
audits.addEventListener("change", open);
sweeps.addEventListener("change", () => showSweep(find("swept"), sweeps.value));
