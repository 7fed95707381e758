"""Universes so small that everybody can be tried: attributes, people, and who is decided how, by the page alone.

Ranges hold a few whole numbers, or a few neighbouring floats, so that the reals can be tried one by one, too.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from lcifr.check.table import AttributeTable
from tests.check.tables import features

Person = dict[str, Any]
PROGRAMS: list[list[list[Any]]] = [
    [],
    [["multiply", "float64", -3.0]],
    [["subtract", "float64", 0.3], ["divide", "float64", 0.1]],
    [["subtract", "float64", 0.3], ["clip", "float64", -0.5, 1.5]],
]


def neighbour(value: float, steps: int) -> float:
    """The float so many further."""
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.copysign(math.inf, steps))
    return value


@dataclass(frozen=True)
class Universe:
    """Attributes as ``encoding.json`` has them, and of each of them all values that anybody has."""

    encoding: dict[str, Any]
    values: dict[str, list[Any]]

    @classmethod
    def draw(cls, dice: random.Random) -> Universe:
        """One or two numbers, up to two categories, in any order; at most 24 people."""
        attributes: dict[str, Any] = {}
        values: dict[str, list[Any]] = {}
        for name in ["n0", "n1"][: dice.randint(1, 2)]:
            if dice.random() < 0.6:
                low, width = dice.choice([0, -1, 0.5, -2]), dice.randint(1, 2)
                attributes[name] = {"kind": "numeric", "lower": low, "upper": low + width, "integer": True}
                values[name] = [float(v) for v in range(math.ceil(low), math.floor(low + width) + 1)]
            else:
                low, count = dice.choice([0.1, 0.3, -0.7, 1e16, 1e23, 1.5e-323]), dice.randint(1, 3)
                values[name] = [neighbour(low, step) for step in range(count)]
                attributes[name] = {"kind": "numeric", "lower": low, "upper": values[name][-1]}
        outside = []
        for name in ["c0", "c1"][: dice.randint(0, 2)]:
            texts = [f"v{code}" for code in range(dice.randint(1, 3))]
            attributes[name], values[name] = {"kind": "categorical", "values": texts}, [*range(len(texts))]
            if len(texts) > 1 and dice.random() < 0.25:
                outside.append([name, texts[values[name].pop(dice.randrange(len(texts)))]])
        if math.prod(map(len, values.values())) > 24:
            return cls.draw(dice)
        order = dice.sample([*attributes], len(attributes))
        known, programs = {name: attributes[name] for name in order}, {n: dice.choice(PROGRAMS) for n in attributes}
        encoding = {"schema": {"attributes": known}, "programs": programs, "outside": outside}
        return cls(encoding, {name: values[name] for name in order})

    @property
    def table(self) -> AttributeTable:
        return AttributeTable(self.encoding)

    @property
    def everybody(self) -> list[Person]:
        return [dict(zip(self.values, each, strict=True)) for each in product(*self.values.values())]

    def plain(self, person: Person) -> dict[str, list[Any]]:
        """As a bundle writes it."""
        return {
            "numbers": [value for name, value in person.items() if name.startswith("n")],
            "codes": [value for name, value in person.items() if name.startswith("c")],
        }

    def is_whole(self, name: str) -> bool:
        return bool(self.encoding["schema"]["attributes"][name].get("integer"))


def number(dice: random.Random) -> float:
    return dice.choice([0.0, 1.0, -1.0, 0.5, -2.0, 0.25, dice.uniform(-1.0, 1.0)])


@dataclass(frozen=True)
class Decider:
    """A function on encoded people as ``model.json`` has it, and a rule of decision."""

    function: Any
    rule: dict[str, Any]
    outputs: int

    @classmethod
    def draw(cls, dice: random.Random, table: AttributeTable, universe: Universe) -> Decider:
        outputs = dice.choice([1, 1, 2, 3])
        draw = _network if dice.random() < 0.6 else _trees
        return cls(draw(dice, table, universe, outputs), _rule(dice, outputs), outputs)

    def at(self, table: AttributeTable, person: Person) -> list[Fraction]:
        """The exact outputs."""
        value = [Fraction(v) for v in features(table, person)]
        if isinstance(self.function, dict):
            scale, parts = (
                Fraction(*self.function["scale"]),
                [_leaf(iter(one), value) for one in self.function["trees"]],
            )
            sums = (sum((Fraction(part.get(j, 0.0)) for part in parts), Fraction(0)) for j in range(self.outputs))
            return [Fraction(base) + scale * each for base, each in zip(self.function["base"], sums, strict=True)]
        for depth, rows in enumerate(self.function):
            value = [max(v, Fraction(0)) for v in value] if depth else value
            value = [sum((Fraction(w) * v for w, v in zip(row, [*value, 1], strict=True)), Fraction(0)) for row in rows]
        return value

    @property
    def groups(self) -> list[list[int]]:
        return [[0], [1]] if self.rule["kind"] == "sign" else self.rule.get("groups", [])

    def group_of(self, prediction: int) -> int:
        return next(k for k, group in enumerate(self.groups) if prediction in group)

    def may(self, outputs: list[Fraction]) -> set[int]:
        """The groups that these outputs may be decided for: those of all classes that nobody is surely ahead of."""
        low, high = (Fraction(end) for end in self.rule.get("band", (0.0, 0.0)))
        if self.rule["kind"] == "sign":
            return {group for group, so in ((1, outputs[0] >= low), (0, outputs[0] <= high)) if so}
        leads = [min(own - other for other in outputs) >= -high for own in outputs]
        return {k for k, group in enumerate(self.groups) if any(leads[c] for c in group)}

    def apart(self, one: list[Fraction], other: list[Fraction]) -> Fraction:
        """How far the farthest outputs are."""
        return max(abs(a - b) for a, b in zip(one, other, strict=True))


def _network(dice: random.Random, table: AttributeTable, _: Universe, outputs: int) -> Any:
    sizes = [table.width, *([dice.randint(1, 2)] if dice.random() < 0.5 else []), outputs]
    return [[[number(dice) for _ in range(a + 1)] for _ in range(b)] for a, b in pairwise(sizes)]


def _trees(dice: random.Random, table: AttributeTable, universe: Universe, outputs: int) -> Any:
    def grow(depth: int) -> list[Any]:
        if not depth:
            return [["leaf", [[j, number(dice)] for j in range(outputs) if dice.random() < 0.8]]]
        name = dice.choice([*table.columns])
        columns = table.columns[name]
        border: Any = [column for column in columns if dice.random() < 0.5]
        if name in table.numbers:
            border = neighbour(table.numbers[name].encode(dice.choice(universe.values[name])), dice.randint(-1, 1))
        kind = "numeric" if name in table.numbers else "choice"
        return [[kind, columns[0], border], *grow(depth - 1), *grow(dice.choice([0, depth - 1]))]

    trees = [grow(dice.randint(0, 2)) for _ in range(dice.randint(1, 3))]
    base = [number(dice) for _ in range(outputs)]
    return {
        "kind": "trees",
        "inputs": table.width,
        "base": base,
        "scale": dice.choice([[1, 1], [1, 3]]),
        "trees": trees,
    }


def _leaf(nodes: Any, value: list[Fraction]) -> dict[int, float]:
    """The leaf that a point reaches in a tree in preorder."""
    kind, column, *border = next(nodes)
    if kind == "leaf":
        return dict(column)
    first, second = _leaf(nodes, value), _leaf(nodes, value)
    if kind == "numeric":
        return first if value[column] <= Fraction(border[0]) else second
    return first if any(value[k] == 1 for k in border[0]) else second


def _rule(dice: random.Random, outputs: int) -> dict[str, Any]:
    if dice.random() < 0.25:
        return {"kind": "within", "tolerance": dice.choice([0.0, 0.5, 1.0, 2.0])}
    if outputs == 1:
        band = sorted([number(dice) / 4, number(dice) / 4])
        return {"kind": "sign"} if dice.random() < 0.5 else {"kind": "sign", "band": band}
    classes, wide = dice.sample(range(outputs), outputs), dice.choice([0.0, 0.25])
    groups = [[c] for c in classes] if dice.random() < 0.5 else [classes[:1], classes[1:]]
    return {"kind": "class", "groups": groups, "band": [-wide, wide]}
