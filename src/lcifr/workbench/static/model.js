// The model's page: what it is, and what it decides about a person.
import { ask, latest, trying } from "./api.js";
import { command, fill, find, make, points, show, table } from "./dom.js";
import { chosenModel, listing, modelOptions, named, none, onFolder } from "./folder.js";
import { personForm, personValues } from "./person.js";

const model = find("model-choice"), people = find("model-table"), formula = find("decide-formula"), form = find("person-form"), tolerance = find("tolerance");
const last = latest();
let begun = false;

const choice = () => {
  const chosen = chosenModel(model);
  return chosen && { ...chosen, table: people.value, ...(tolerance.value === "" ? {} : { tolerance: Number(tolerance.value) }) };
};

const describe = async () => {
  show(find("decided")); command(find("decide-command"), "");
  const chosen = choice();
  if (!chosen) {
    show(find("model-words"), make("p", { text: "There is no model in the folder. Add one (ONNX, skops, XGBoost or LightGBM), or train one with `lcifr produce`." }));
    show(form); command(find("model-command"), "");
    return;
  }
  const answer = await last(() => ask("model/show", chosen), find("model-words"));
  if (!answer) { show(form); return; }
  const hash = answer.sentences.filter((text) => text.startsWith("sha256"));
  const rest = answer.sentences.filter((text) => !text.startsWith("sha256"));
  show(find("model-words"), ...rest.flatMap((text) => (text.includes("\n") ? points(text) : [make("p", { text })])), ...hash.map((text) => make("p", { class: "hash", text })));
  command(find("model-command"), answer.command);
  find("tolerance-label").hidden = !answer.is_number;
  await offer();
};

const offer = async () => {
  const chosen = choice();
  const schema = chosen && await trying(() => ask("model/schema", chosen), form);
  if (!schema) return;
  const found = people.value ? await trying(() => ask("table/row", { table: people.value, row: Number(find("model-row").value) }), find("decided")) : undefined;
  if (people.value && !found) return;
  personForm(form, schema.attributes, found ? found.values : {}, make("button", { type: "submit", class: "main", text: "Decide" }));
};

const decide = async () => {
  const chosen = choice();
  const written = formula.value ? await trying(() => ask("formula/open", { name: formula.value }), find("decided")) : { text: "" };
  if (!chosen || !written) return;
  show(find("decided"), make("p", { class: "quiet", text: "Asking …" }));
  const values = { choice: chosen, values: personValues(form), formula: written.text, file: formula.value };
  const answer = await trying(() => ask("model/decide", values), find("decided"));
  if (!answer) return;
  show(find("decided"),
    make("p", { class: "verdict" }, "Decision: ", make("strong", { text: answer.own.decision })),
    make("p", { text: `${answer.own.distance}.` }),
    answer.library ? make("p", { text: `The model’s own library says: ${answer.library}` }) : null,
    ...(answer.asked ? verdict(answer.asked) : [make("p", { class: "quiet", text: "Choose a formula to see whether everyone similar gets the same decision." })]));
  command(find("decide-command"), formula.value ? answer.command : "");
  if (formula.value) find("decide-command").append(make("details", {}, make("summary", { text: "person.csv, for the command" }), make("pre", { text: answer.table })));
};

const verdict = (found) => [
  make("p", { class: `badge ${found.kind}`, text: found.verdict }), make("p", { text: found.sentence }),
  found.kind === "counterexample" ? table(["Attribute", "This person", "A similar person"], found.rows.filter((one) => one.differs)
    .map((one) => ({ cells: [one.attribute, one.own, one.other], kind: "differs" })), "differences") : null,
];

onFolder((found) => {
  const before = model.value;
  fill(model, modelOptions(found));
  fill(people, named(found.tables));
  fill(formula, [...none("nothing"), ...named(found.formulas)], formula.value || "");
  if (begun && before !== model.value) describe();
});

export const shown = () => {
  if (begun) return;
  begun = true;
  people.value = listing.tables.find((name) => !name.includes("train")) || people.value;
  describe();
};

model.addEventListener("change", () => { tolerance.value = ""; describe(); });
people.addEventListener("change", offer);
tolerance.addEventListener("change", offer);
find("take-row").addEventListener("click", offer);
find("model-row").addEventListener("change", offer);
form.addEventListener("submit", (event) => { event.preventDefault(); decide(); });
