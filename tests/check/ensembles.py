"""Random sums of trees on two numbers and a category, everybody near their thresholds, and proofs about them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from lcifr.check.phi import Formula
from lcifr.check.table import AttributeTable

NUMBERS, FIRST, VALUES = 2, 2, 3  # columns 0 and 1 are numbers, 2 to 4 one category
BELOW = [math.nextafter(float(t), -math.inf) for t in range(-3, 4)]


def table_of_trees() -> AttributeTable:
    """Two numbers, the second a whole one that is turned around and cast to float32; a category."""
    known: dict[str, Any] = {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("a", "n")}
    known["n"]["integer"] = True
    known["c"] = {"kind": "categorical", "values": ["x", "y", "z"]}
    programs = {"a": [["cast", "float32"]], "n": [["multiply", "float32", -0.5]]}
    scales = {name: {"mean": 0.0, "sd": 1.0} for name in programs}
    schema = {"attributes": known}
    return AttributeTable({"format": 3, "schema": schema, "scales": scales, "programs": programs, "outside": []})


class Ensemble:
    """Random trees as a file holds them, all values of all attributes near their thresholds, and proofs."""

    def __init__(self, seed: int) -> None:
        self.rng, self.table = np.random.default_rng(seed), table_of_trees()
        self.outputs = int(self.rng.integers(1, 3))
        trees = [self.tree(int(self.rng.integers(0, 4))) for _ in range(int(self.rng.integers(1, 5)))]
        base = [float(v) for v in self.rng.normal(size=self.outputs)]
        self.plain = {
            "kind": "trees",
            "inputs": 5,
            "base": base,
            "scale": [1, int(self.rng.integers(1, 4))],
            "trees": trees,
        }
        self.formula = Formula(["all", ["compare", "<=", [-5, 2], [[[1, 1], "other", "a"]]]], self.table)

    def split(self) -> list[Any]:
        if self.rng.random() < 0.3:
            return [
                "choice",
                FIRST,
                sorted(self.rng.choice([2, 3, 4], int(self.rng.integers(1, 3)), replace=False).tolist()),
            ]
        column = int(self.rng.integers(NUMBERS))
        near = float(np.float32(self.rng.choice([-1.5, -1.0, -0.25, 0.0, 0.5, 1.0, 1.5, 0.1])))
        return ["numeric", column, float(self.rng.choice([near, math.nextafter(near, -math.inf)]))]

    def tree(self, depth: int) -> list[Any]:
        if depth == 0 or self.rng.random() < 0.15:
            return [
                [
                    "leaf",
                    [[j, round(float(self.rng.normal()), 3)] for j in range(self.outputs) if self.rng.random() < 0.9],
                ]
            ]
        return [self.split(), *self.tree(depth - 1), *self.tree(depth - 1)]

    def proof(self, direction: Any, depth: int) -> list[Any]:
        if depth == 0 or self.rng.random() < 0.1:
            return [["leaf", [], [[direction, [], []]]]]
        split = ["whole", "n", int(self.rng.integers(-3, 3))] if self.rng.random() < 0.2 else self.split()
        return [split, *self.proof(direction, depth - 1), *self.proof(direction, depth - 1)]

    def everybody(self) -> list[list[float]]:
        """Features of somebody on each side of every threshold, at it and one float beside, where φ holds."""
        borders = {(k, t) for tree in self.plain["trees"] for kind, k, *more in tree if kind == "numeric" for t in more}
        near = {t for k, t in borders if k == 0} | {-3.0, 2.5}
        wide = sorted({v for t in near for v in (t, math.nextafter(t, -9), math.nextafter(t, 9)) if -3.0 <= v <= 2.5})
        floats = sorted(
            {float(np.float32(v)) for v in wide}
            | {float(np.nextafter(np.float32(v), np.float32(s))) for v in wide for s in (-9, 9)}
        )
        first = [v for v in floats if -3.0 <= v <= 2.5]
        second = [-0.5 * n for n in range(-3, 4)]
        return [[a, n, *(float(c == k) for k in range(VALUES))] for a, n, c in product(first, second, range(VALUES))]

    def value(self, point: list[float], direction: Any) -> Fraction:
        """By going down each tree."""
        sums = dict.fromkeys(range(self.outputs), Fraction(0))
        for nodes in self.plain["trees"]:
            left = iter(nodes)
            for j, v in descend(left, point):
                sums[j] += Fraction(v)
        scale = Fraction(*self.plain["scale"])
        return sum(
            (Fraction(c) * (Fraction(self.plain["base"][j]) + scale * sums[j]) for j, c in direction), Fraction(0)
        )


def skip(nodes: Any) -> None:
    kind, *_ = next(nodes)
    if kind != "leaf":
        skip(nodes)
        skip(nodes)


def descend(nodes: Any, point: list[float]) -> Any:
    kind, where, *border = next(nodes)
    if kind == "leaf":
        return where
    first = point[where] <= border[0] if kind == "numeric" else any(point[k] == 1.0 for k in border[0])
    if first:
        found = descend(nodes, point)
        skip(nodes)
        return found
    skip(nodes)
    return descend(nodes, point)
