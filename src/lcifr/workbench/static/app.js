// Pages, the folder, light and dark. Every page looks after itself.
import { ask, trying } from "./api.js";
import { button, find, make, show } from "./dom.js";
import { listing, look, onFolder } from "./folder.js";
import * as audit from "./audit.js";
import * as formula from "./formula.js";
import * as model from "./model.js";
import { watch } from "./run.js";

const PAGES = { formula, model, audit };

const turn = () => {
  const name = location.hash.slice(1) in PAGES ? location.hash.slice(1) : "formula";
  const empty = listing !== null && listing.tables.length === 0;
  find("welcome").hidden = !empty;
  document.querySelector(".tabs").hidden = empty;
  for (const page of Object.keys(PAGES)) find(`page-${page}`).hidden = empty || page !== name;
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${{ formula: "Formula", model: "Model", audit: "Audit" }[name]} – lcifr workbench`;
  if (!empty && listing !== null) PAGES[name].shown();
};

const theme = find("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
const now = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
const label = () => { theme.textContent = now() === "dark" ? "Light" : "Dark"; };
theme.addEventListener("click", () => { document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark"; label(); });
dark.addEventListener("change", label);
label();

const startExample = () => trying(async () => {
  find("start-example").disabled = true;
  try {
    await ask("example");
  } finally {
    find("start-example").disabled = false;
  }
  await look();
  location.hash = "formula";
  turn();
  const note = make("div", { class: "note", role: "status" });
  find("page-formula").prepend(note);
  show(note, make("p", { text: "The example’s files are in the folder. Its model is being trained …" }));
  await watch(note, async (state) => {
    await look();
    const words = state.state === "finished" ? "The example’s files are in the folder, and its model is trained: see Model and Audit." : `The model was not trained: it ${state.said}.`;
    show(note, make("p", { text: words }), button("Close", () => note.remove()));
  });
});

onFolder((found) => { find("folder-name").textContent = `· ${found.folder}${found.cut ? " (only the first 2,000 files)" : ""}`; });
find("start-example").addEventListener("click", startExample);
find("again").addEventListener("click", () => trying(async () => { await look(); turn(); }));
window.addEventListener("hashchange", () => { turn(); find("main").focus({ preventScroll: true }); });
trying(async () => { await look(); turn(); });
