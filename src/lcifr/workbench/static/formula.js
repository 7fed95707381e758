// The formula's page: written, read, looked at with people, saved.
import { ask, latest, trying } from "./api.js";
import { button, command, drawn, fill, find, make, points, show, soon, table } from "./dom.js";
import * as editor from "./editor.js";
import { listing, look, named, none, onFolder, tableFor } from "./folder.js";
import { showTable } from "./schema.js";

const file = find("formula-file"), people = find("formula-table"), schema = find("formula-schema"), row = find("row");
const last = { read: latest(), look: latest(), around: latest() };
const drafts = new Map(); // texts that were not saved, while the page is open
const state = { seen: "", saved: "", file: "", begun: false, mistakes: [], findings: [], card: null };

const asked = () => ({ text: editor.text(), table: people.value, schema: schema.value, file: file.value });
const isSaved = () => editor.text() === state.saved && file.value !== "";

const marks = () => editor.mark([
  ...state.mistakes.map((one) => ({ ...one, kind: "mistake" })),
  ...state.findings.filter((one) => one.start !== null && one.severity !== "note").map((one) => ({ ...one, kind: "odd" })),
]);

const showSaved = () => { find("saved").textContent = isSaved() ? `saved in ${file.value}` : "not saved"; };

// -- reading while typing ---------------------------------------------------------------------------------------------

const read = async (offering, first = false) => {
  const answer = await last.read(() => ask("formula/read", { ...asked(), ...(offering ? { caret: editor.caret(), wanted: first } : {}) }), find("mistakes"));
  if (!answer) return;
  state.mistakes = answer.mistakes;
  if (answer.mistakes.length) state.findings = [];
  marks();
  showMistakes(answer.mistakes);
  if (!answer.mistakes.length) show(find("english"), ...points(answer.english));
  find("english").classList.toggle("old", answer.mistakes.length > 0);
  find("old-english").hidden = !(answer.mistakes.length && find("english").children.length);
  find("halves").classList.toggle("old", answer.mistakes.length > 0);
  find("old-people").hidden = !(answer.mistakes.length && find("neighbours").children.length);
  command(find("explain-command"), answer.mistakes.length || !isSaved() ? "" : answer.command);
  if (offering) editor.offer(answer.suggestions, first); else editor.hide();
  if (!answer.mistakes.length) lookSoon();
};

const showMistakes = (mistakes) => {
  const count = mistakes.length === 1 ? "One mistake" : `${mistakes.length} mistakes`;
  show(find("mistakes"), make("p", { class: mistakes.length ? "bad" : "good", text: mistakes.length ? `${count}:` : "No mistakes." }),
    mistakes.length ? make("ol", { class: "mistakes" }, ...mistakes.map((one) => make("li", {},
      button(`Line ${one.line}, column ${one.column}`, () => editor.goTo(one.start, one.end)),
      make("span", { text: ` ${one.message}` }), one.fix ? make("span", { class: "fix", text: ` What to do: ${one.fix}` }) : null))) : null);
};

const readSoon = soon(150, read);

// -- with people ------------------------------------------------------------------------------------------------------

const lookNow = async () => {
  if (state.mistakes.length) return;
  around();
  find("neighbours").setAttribute("aria-busy", "true");
  find("looking").textContent = "Comparing people …";
  const answer = await last.look(() => ask("formula/look", asked()), find("findings"));
  if (!answer) return;
  find("neighbours").removeAttribute("aria-busy");
  find("looking").textContent = "";
  state.findings = answer.findings;
  marks();
  show(find("findings"), ...(answer.findings.length ? answer.findings.map(finding) : [make("p", { text: "No warnings." })]));
  show(find("neighbours"), make("p", { text: answer.asked }),
    make("ul", { class: "points" }, make("li", { text: answer.counted }), make("li", { text: answer.alone })),
    bars(answer.bars), make("h4", { text: "Examples of similar pairs" }), pairs(answer.similar, "No pair was found."),
    make("h4", { text: "Pairs that just miss" }), pairs(answer.missed, "None: everyone is similar to everyone."));
  command(find("check-command"), isSaved() ? answer.command : "");
};
const lookSoon = soon(600, lookNow);

const finding = (one) => make("div", { class: `finding ${one.severity}` },
  make("p", {}, make("strong", { text: `${{ error: "Error", warning: "Warning", note: "Note" }[one.severity]}: ` }), one.message),
  one.examples.length ? make("ul", { class: "points" }, ...one.examples.map((text) => make("li", { text }))) : null,
  one.start === null ? null : button("Show where", () => editor.goTo(one.start, one.end)));

const pairs = (lines, nobody) => (lines.length
  ? make("ul", { class: "points" }, ...lines.map((one) => make("li", {}, make("strong", { text: `${one.who}: ` }), one.differs,
    one.failing ? make("span", { class: "fix", text: ` Fails: ${one.failing}` }) : null,
    one.row === null ? null : button(`See row ${one.row}`, () => choose(one.row)))))
  : make("p", { class: "quiet", text: nobody }));

const bars = (found) => {
  const most = Math.max(1, ...found.map((one) => one.people)), step = 22;
  const words = (one) => (one.low === one.high ? `${one.low}` : `${one.low} to ${one.high}`);
  return make("figure", {}, make("figcaption", { text: "People by number of similar people" }),
    drawn("svg", { class: "chart bars", viewBox: `0 0 400 ${found.length * step + 4}`, role: "img", "aria-label": found.map((one) => `${words(one)}: ${one.people}`).join("; ") },
      ...found.flatMap((one, place) => {
        const label = drawn("text", { x: 82, y: place * step + 16, "text-anchor": "end" });
        label.textContent = words(one);
        const count = drawn("text", { x: 94 + (250 * one.people) / most, y: place * step + 16 });
        count.textContent = `${one.people}`;
        return [label, drawn("rect", { x: 88, y: place * step + 3, width: Math.max(1, (250 * one.people) / most), height: step - 6 }), count];
      })));
};

const choose = (number) => { row.value = number; around(); };

const around = async () => {
  if (state.mistakes.length || row.value === "") return;
  const answer = await last.around(() => ask("formula/around", { ...asked(), row: Number(row.value) }), find("around"));
  if (!answer) return;
  const others = `of the other ${answer.compared} in the table`;
  const similar = answer.count === 0 ? `Nobody ${others} is similar.` : answer.count === 1 ? `One ${others} is similar.` : `${answer.count} ${others} are similar.`;
  show(find("around"),
    answer.problem ? make("div", { class: "problem" }, make("pre", { text: answer.problem })) : null,
    table(["Attribute", "This person", "A similar person may have"], answer.rows.map((one) => ({
      cells: [one.unit ? `${one.attribute} (${one.unit})` : one.attribute, one.own, one.may], kind: one.may === "the same" ? "same" : "moves",
    })), "around"),
    answer.note ? make("p", { class: "quiet", text: answer.note }) : null,
    make("h4", { text: "Similar to this person" }),
    make("p", { text: similar }),
    answer.similar.length ? pairs(answer.similar, "") : null,
    make("h4", { text: "Just not similar" }), pairs(answer.missed, "Everyone is similar."));
};

// -- files ------------------------------------------------------------------------------------------------------------

const open = async () => {
  if (editor.text() !== state.saved) drafts.set(state.file, editor.text()); else drafts.delete(state.file);
  state.file = file.value;
  const found = file.value ? await trying(() => ask("formula/open", { name: file.value })) : { text: "", sha256: "" };
  if (!found) return;
  editor.write(drafts.get(state.file) ?? found.text);
  state.saved = found.text; state.seen = found.sha256;
  showSaved();
  read(false);
};

const openTable = async () => {
  if (!people.value) return;
  const card = await trying(() => ask("table", { table: people.value, schema: schema.value }));
  if (!card) return;
  state.card = card;
  for (const name of ["around", "findings", "neighbours", "check-command"]) show(find(name)); // they were about other people
  showTable(card, (made) => { look().then(() => { schema.value = ""; fill(file, fileOptions(), made.phi); openTable(); open(); }); });
  read(false);
};

const save = async (name = file.value) => {
  if (!name) { askName(); return; }
  const values = { file: name, text: editor.text(), seen: name === file.value ? state.seen : "" };
  const found = await trying(() => ask("formula/save", values));
  if (!found) return;
  state.saved = found.text; state.seen = found.sha256; state.file = name;
  drafts.delete(name);
  if (!listing.formulas.includes(name)) await look();
  fill(file, fileOptions(), name);
  find("new-name").hidden = true;
  showSaved();
  read(false);
};

const askName = () => { find("new-name").hidden = false; find("new-file").value = file.value || "similar.phi"; find("new-file").focus(); };
const fileOptions = () => [...named(listing.formulas), ["", "a new formula"]];

onFolder(({ tables, schemas }) => {
  const before = file.value;
  fill(file, fileOptions(), state.begun ? file.value : listing.formulas[0]);
  fill(people, named(tables), state.begun ? people.value : tableFor(file.value, tables));
  fill(schema, [...none("choose automatically"), ...named(schemas)]);
  if (state.begun && before !== file.value) open();
});

export const shown = () => {
  if (state.begun) return;
  state.begun = true;
  openTable();
  open();
};

editor.listen({ typed: (offering) => { showSaved(); readSoon(offering === true); }, wanted: () => read(true, true), keep: () => save() });
file.addEventListener("change", open);
people.addEventListener("change", openTable);
schema.addEventListener("change", openTable);
row.addEventListener("change", around);
find("previous").addEventListener("click", () => choose(Math.max(0, Number(row.value) - 1)));
find("next").addEventListener("click", () => choose(Number(row.value) + 1));
find("save").addEventListener("click", () => save());
find("save-as").addEventListener("click", askName);
find("no-name").addEventListener("click", () => { find("new-name").hidden = true; });
find("new-name").addEventListener("submit", (event) => { event.preventDefault(); save(find("new-file").value.trim()); });
window.addEventListener("beforeunload", (event) => { if (state.begun && editor.text() !== state.saved) event.preventDefault(); });
