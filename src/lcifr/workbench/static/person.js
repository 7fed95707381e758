// A person as a form: an input for each attribute, numbers and categories.
import { make, show } from "./dom.js";

// attributes: by name, as a schema's file has them; values: by name
export const personForm = (form, attributes, values, ...after) => {
  show(form, ...Object.entries(attributes).map(([name, about]) => {
    const words = about.unit ? `${name} (${about.unit})` : name;
    const value = values[name];
    const input = about.kind === "numeric"
      ? make("input", { type: "number", step: about.integer ? 1 : "any", min: about.lower, max: about.upper, value, name, required: true })
      : make("select", { name }, ...about.values.map((one) => make("option", { value: one, text: one })));
    if (about.kind !== "numeric" && value !== undefined) input.value = value;
    return make("label", {}, make("span", { text: words }), input);
  }), ...after);
};

export const personValues = (form) =>
  Object.fromEntries([...form.querySelectorAll("[name]")].map((input) => [input.name, input.type === "number" ? Number(input.value) : input.value]));
