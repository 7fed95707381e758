// The columns beside a formula: what they mean, and a proposal where no file says so.
import { ask, trying } from "./api.js";
import { button, command, fill, find, make, show } from "./dom.js";
import { none } from "./folder.js";

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });

const card = (one) => {
  const { values, unit, integer, lower, upper } = one.attribute;
  const isNumber = values === undefined;
  const words = isNumber ? `${integer ? "whole number" : "number"}${unit ? ` ${unit}` : ""}` : `${values.length} values`;
  const inside = isNumber
    ? make("ul", { class: "points" },
      make("li", { text: `here ${number(one.low)} to ${number(one.high)}; one standard deviation is ${number(one.sd)}` }),
      lower === null && upper === null ? null
        : make("li", { text: `who can exist: ${lower === null ? "any" : number(lower)} to ${upper === null ? "any" : number(upper)}` }))
    : make("ul", { class: "points" }, ...one.counts.map(([written, people]) => make("li", {}, make("code", { text: written }), ` ${people} people`)));
  return make("details", {}, make("summary", {}, make("code", { text: one.written }), make("span", { class: "quiet", text: ` ${words}` })), inside);
};

const proposal = (found, proposed) => {
  const target = make("select", { id: "target" });
  fill(target, [...none("nobody says"), ...found.columns.map((name) => [name, name])], "");
  const said = make("div");
  const propose = async () => {
    const made = await trying(() => ask("table/propose", { table: found.table, target: target.value }), said);
    if (!made) return;
    command(said, made.command);
    proposed(made);
  };
  return [
    make("p", { text: `There is no schema for ${found.table}, so its columns were guessed. You can save a draft schema, with a formula to correct.` }),
    make("label", {}, "Column to predict ", target), button("Save a draft", propose), said,
  ];
};

export const showTable = (found, proposed) => {
  const left = found.left_out ? ` ${found.left_out} rows have missing values and are not examined.` : "";
  find("table-words").textContent = `${found.people} people in ${found.table}.${left}${found.schema ? ` Schema: ${found.schema}.` : ""}`;
  show(find("attributes"), ...found.attributes.map(card));
  find("propose").hidden = found.schema !== "";
  show(find("propose"), ...(found.schema ? [] : proposal(found, proposed)));
};
