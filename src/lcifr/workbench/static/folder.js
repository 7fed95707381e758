// What is in the folder, and who wants to know when that changes.
import { ask } from "./api.js";

const listeners = [];
export let listing = null;

export const onFolder = (listener) => listeners.push(listener);

export const look = async () => {
  listing = await ask("folder");
  for (const listener of listeners) listener(listing);
  return listing;
};

export const none = (words) => [["", words]];
export const named = (names) => names.map((name) => [name, name]);

// Models by what they are: files, and pairs of a producer and a consumer.
export const modelOptions = ({ models, producers, consumers }) => [
  ...models.map((name) => [JSON.stringify({ model: name }), name]),
  ...producers.flatMap((producer) => consumers
    .filter((consumer) => consumer === producer || !producers.includes(consumer))
    .map((consumer) => [JSON.stringify({ producer, consumer }), producer === consumer ? `${producer} (trained by lcifr)` : `${producer} and ${consumer} (trained by lcifr)`])),
];

export const chosenModel = (select) => (select.value ? JSON.parse(select.value) : null);

const stem = (name) => name.split("/").pop().split(".")[0];

// The table that is called like a formula, or the first.
export const tableFor = (formula, tables) => tables.find((name) => stem(name) === stem(formula)) || tables[0] || "";
