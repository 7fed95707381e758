// A sweep: shares of everyone who can exist by status, and their map.
import { ask, trying } from "./api.js";
import { command, drawn, make, show, table } from "./dom.js";
import { legend } from "./run.js";

const percent = (share) => `${(100 * share).toFixed(1)} %`;

// The parts of an attribute's values, each with its shares in the order of the standings.
const parts = ({ labels }, shares, standings) => labels.map((label, place) => ({ label, shares: standings.map(([name]) => shares[place][name] ?? 0) }));

// A bar for each part of an attribute's values, divided by what is known.
const strip = (one, standings, along = "") => {
  const width = 1000 / one.parts.length;
  const bars = one.parts.flatMap((part, place) => {
    let below = 40;
    return part.shares.map((share, number) => {
      below -= 40 * share;
      const bar = drawn("rect", { x: place * width + 1, y: below, width: Math.max(1, width - 2), height: 40 * share, class: standings[number][1] });
      const title = drawn("title");
      title.textContent = `${part.label}: ${percent(share)} ${standings[number][0]}`;
      bar.append(title);
      return bar;
    });
  });
  const ends = one.parts.length > 1 ? `${one.parts[0].label} … ${one.parts.at(-1).label}` : one.parts[0]?.label || "";
  return make("figure", { class: "strip" }, make("figcaption", { text: one.name }),
    drawn("svg", { class: "shares strip", viewBox: "0 0 1000 40", preserveAspectRatio: "none", "aria-hidden": "true" }, ...bars),
    make("p", { class: "quiet", text: `${along}${ends}` }));
};

const numbers = (strips, standings) => strips.map((one) => make("div", {}, make("h4", { text: one.name }),
  table(["Value", ...standings.map(([name]) => name)], one.parts.map((part) => ({ cells: [part.label, ...part.shares.map(percent)] })))));

export const showSweep = async (element, name) => {
  show(element, make("p", { class: "quiet", text: "Reading …" }));
  const found = await trying(() => ask("sweep/open", { name }), element);
  if (!found) return;
  const commands = make("div", { class: "command" });
  command(commands, found.commands.join("\n"));
  const { standings, map: { strips, grid } } = found;
  const along = strips.map(({ bins, shares }) => ({ name: bins.attribute, parts: parts(bins, shares, standings) }));
  show(element,
    make("ul", { class: "points" }, ...found.lines.map((text) => make("li", { text }))),
    make("details", {}, make("summary", { text: "The formula φ" }), make("pre", { text: found.formula })), commands,
    legend(standings.map(([words, kind]) => [kind, words])),
    make("h3", { text: "Along each attribute" }),
    make("p", { class: "quiet", text: "Each bar is everyone with that value, divided by what is known about them. Attributes with the largest changes come first." }),
    make("div", { class: "gallery" }, ...along.map((one) => strip(one, standings))),
    ...(grid ? [make("h3", { text: `${grid.down.attribute} and ${grid.across.attribute}` }),
      ...grid.down.labels.map((label, row) => strip({ name: `${grid.down.attribute}: ${label}`, parts: parts(grid.across, grid.shares[row], standings) },
        standings, `${grid.across.attribute}: `))] : []),
    make("details", {}, make("summary", { text: "The same as numbers" }), ...numbers(along, standings)),
    found.worst.length ? make("h3", { text: "Similar people with different decisions, the furthest apart" }) : null,
    make("ul", { class: "points" }, ...found.worst.map((text) => make("li", { text }))));
};
