"""Sums of trees in the checker, against every individual there is: true bounds, and tight ones where a proof splits."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.check.exact import Rejected, reading
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.proof import Problem, examine
from lcifr.check.similar import Formula, derive
from lcifr.check.table import AttributeTable
from lcifr.check.trees import TreeSum
from tests.certification.bundles.made_bundles import judged_by
from tests.effort import sampled

IDENTITY = {"kind": "network", "factors": []}
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


def bound_of(one: Ensemble, proof: Any, direction: Any) -> Fraction | None:
    (cell,) = derive(one.formula, {"a": 0.0, "n": 0.0, "c": 0})
    trees = TreeSum(one.plain, 5)
    found = examine(Problem(trees.network, cell, trees), proof)
    return found.get(tuple(map(tuple, direction)))


@sampled(200)
@given(st.integers(0, 2**32), st.integers(0, 4))
def test_no_individual_is_beyond_what_a_proof_shows(seed: int, depth: int) -> None:
    one = Ensemble(seed)
    direction = [[j, float(one.rng.choice([1.0, -1.0, 0.5]))] for j in range(one.outputs)]
    bound = bound_of(one, one.proof(direction, depth), direction)
    true = max(one.value(point, direction) for point in one.everybody())
    assert bound is not None
    assert bound >= true


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_a_proof_that_splits_at_every_threshold_is_tight(seed: int) -> None:
    one = Ensemble(seed)
    direction = [[j, 1.0] for j in range(one.outputs)]
    splits = {
        (kind, k, *map(str, more)): [kind, k, *more]
        for t in one.plain["trees"]
        for kind, k, *more in t
        if kind != "leaf"
    }
    wholes = [["whole", "n", k] for k in range(-3, 3)]
    every = [*(split for split in splits.values() if split[:2] != ["numeric", 1]), *wholes][:9]

    def grown(rest: list[Any]) -> list[Any]:
        return [rest[0], *grown(rest[1:]), *grown(rest[1:])] if rest else [["leaf", [], [[direction, [], []]]]]

    if len(splits) + len(wholes) <= 9:
        true = max(one.value(point, direction) for point in one.everybody())
        assert bound_of(one, grown(every), direction) == true


@sampled(100)
@given(st.integers(0, 2**32))
def test_trees_about_one_attribute_are_added_up_before(seed: int) -> None:
    """An additive model: one leaf shows the largest value there is, however many trees."""
    one, direction = Ensemble(seed), [[0, 1.0]]
    stumps = [
        [split, ["leaf", [[0, float(one.rng.normal())]]], ["leaf", [[0, float(one.rng.normal())]]]]
        for split in (one.split() for _ in range(8))
    ]
    one.plain["trees"] = [tree for tree in stumps if tree[0][:2] != ["numeric", 1]]
    true = max(one.value(point, direction) for point in one.everybody())
    assert bound_of(one, [["leaf", [], [[direction, [], []]]]], direction) == true


def judged(one: Ensemble, decision: Any, rule: Any = None, arithmetic: str = "exact") -> CheckReport:
    with reading("the model"):
        judge = Judge(one.formula, IDENTITY, one.plain, rule or {"kind": "sign"})
    claim = {"verdict": "certified", "universe": "whole", "arithmetic": arithmetic, "on": "whole", **decision}
    return judged_by(judge, {"id": 0, "x": {"numbers": [0.0, 0.0], "codes": [0]}, "decision": claim})


@sampled(150)
@given(st.integers(0, 2**32), st.sampled_from(["exact", "float64", "float32"]), st.sampled_from([None, [-0.25, 0.5]]))
def test_a_wrong_verdict_is_never_confirmed(seed: int, arithmetic: str, band: Any) -> None:
    one = Ensemble(seed)
    one.outputs, one.plain["base"] = 1, one.plain["base"][:1]
    for tree in one.plain["trees"]:
        for node in tree:
            if node[0] == "leaf":
                node[1] = [[j, v] for j, v in node[1] if j == 0]
    rule = {"kind": "sign"} | ({} if band is None else {"band": band})
    low, high = band or (0.0, 0.0)
    values = [one.value(point, [[0, 1.0]]) for point in one.everybody()]
    own = one.value([0.0, 0.0, 1.0, 0.0, 0.0], [[0, 1.0]])
    for prediction, direction, true in ((0, [[0, 1.0]], max(values) < low), (1, [[0, -1.0]], min(values) > high)):
        proofs = [one.proof(direction, 4), [["leaf", [], [[direction, [], []]]]]]
        report = judged(one, {"prediction": prediction, "proofs": proofs}, rule, arithmetic)
        assert report.rejected or true
    for other in ({"numbers": [1.0, 2.0], "codes": [2]}, {"numbers": [-2.75, -1.0], "codes": [1]}):
        (a, n), (c,) = other["numbers"], other["codes"]
        point = [float(np.float32(a)), -0.5 * n, *(float(c == k) for k in range(VALUES))]
        there = one.value(point, [[0, 1.0]])
        for prediction, crossed in ((0, own < low and there > high), (1, own > high and there < low)):
            report = judged(
                one, {"verdict": "counterexample", "prediction": prediction, "other": other}, rule, arithmetic
            )
            assert report.rejected or crossed
            assert not report.rejected or not crossed or arithmetic == "float32"


def machine(one: Ensemble, point: list[float], kind: Any, rng: np.random.Generator) -> list[Any]:
    """The outputs in floats, summed in an order of its own, scaled before or after."""
    scale = kind(one.plain["scale"][0] / one.plain["scale"][1])
    terms: list[list[Any]] = [[] for _ in range(one.outputs)]
    before = rng.random() < 0.5
    for nodes in one.plain["trees"]:
        for j, v in descend(iter(nodes), point):
            terms[j].append(kind(v) * scale if before else kind(v))
    found = []
    for j, values in enumerate(terms):
        total = kind(0)
        for v in rng.permutation(np.array(values, kind)):
            total = kind(total + v)
        found.append(kind(kind(one.plain["base"][j]) + (total if before else kind(total * scale))))
    return found


@sampled(100)
@given(st.integers(0, 2**32), st.sampled_from(["float64", "float32"]))
def test_no_machine_is_farther_off_than_the_bound(seed: int, name: str) -> None:
    one = Ensemble(seed)
    trees = TreeSum(one.plain, 5)
    (cell,) = derive(one.formula, {"a": 0.0, "n": 0.0, "c": 0})
    over = trees.rounding(cell.groups, [name])
    for point in one.everybody()[::17]:
        a, n, *hot = point
        person = {"a": a, "n": -2.0 * n, "c": hot.index(1.0)}
        point_of = one.table.point(person)
        true, here = trees.at(point_of), trees.rounding(point_of, [name])
        assert true == [one.value(point, [[j, 1.0]]) for j in range(one.outputs)]
        for value, exactly, e, most in zip(
            machine(one, point, getattr(np, name), one.rng), true, here, over, strict=True
        ):
            assert abs(Fraction(float(value)) - exactly) <= e <= most


STUMP = [["numeric", 0, 0.5], ["leaf", [[0, 1.0]]], ["leaf", [[0, -1.0]]]]
NO_TREES: dict[str, Any] = {
    "a node too many": {"trees": [[*STUMP, ["leaf", []]]]},
    "a node too few": {"trees": [STUMP[:2]]},
    "no node": {"trees": [[]]},
    "an output that is none": {"trees": [[["leaf", [[1, 1.0]]]]]},
    "an output twice": {"trees": [[["leaf", [[0, 1.0], [0, 2.0]]]]]},
    "a word behind a leaf": {"trees": [[["leaf", [[0, 1.0]], "more"]]]},
    "a value that is none": {"trees": [[["leaf", [[0, "1"]]]]]},
    "an infinite value": {"trees": [[["leaf", [[0, 1e999]]]]]},
    "a threshold that is none": {"trees": [[["numeric", 0, 1], *STUMP[1:]]]},
    "a column that is none": {"trees": [[["numeric", 9, 1.0], *STUMP[1:]]]},
    "a category like a number": {"trees": [[["numeric", 2, 0.5], *STUMP[1:]]]},
    "a number like a category": {"trees": [[["choice", 0, [0]], *STUMP[1:]]]},
    "a neuron": {"trees": [[["relu", 0, 0], *STUMP[1:]]]},
    "a scale of 0": {"scale": [0, 1]},
    "a scale below 0": {"scale": [-1, 1]},
    "other inputs": {"inputs": 4},
    "a base that is none": {"base": [1]},
}


@pytest.mark.parametrize("name", NO_TREES)
def test_what_is_no_sum_of_trees_confirms_nothing(name: str) -> None:
    one = Ensemble(0)
    one.outputs, one.plain = 1, {**one.plain, "base": [5.0], "scale": [1, 1], "trees": [copy.deepcopy(STUMP)]}
    sure = {"prediction": 1, "proofs": [[["leaf", [], [[[[0, -1.0]], [], []]]]]]}
    assert judged(one, sure).names["certified"]
    one.plain |= NO_TREES[name]
    try:
        assert judged(one, sure).rejected
    except Rejected:
        return


def test_trees_stand_behind_nothing_but_the_encoding() -> None:
    one = Ensemble(0)
    with pytest.raises(Rejected, match="between"):
        Judge(one.formula, [[[1.0] * 6]], one.plain, {"kind": "sign"})


def test_rows_show_that_nobody_is_there() -> None:
    """a′ + n′ ≤ 0 and a′ − n′ ≤ 0 leave nobody with a′ > 0.5, which neither of them says alone."""
    one = Ensemble(0)
    one.outputs, one.plain = 1, {**one.plain, "base": [0.0], "scale": [1, 1], "trees": [copy.deepcopy(STUMP)]}
    rows = [["compare", "<=", [0, 1], [[[1, 1], "other", "a"], [[s, 1], "other", "n"]]] for s in (1, -1)]
    one.formula = Formula(["all", one.formula.tree, *rows], one.table)
    for rates in ([1.0, 1.0], [0.0, 0.0], [1.0, -1.0], [1.0, 0.0]):
        nobody = ["leaf", [], [[[], [], [[k, rate] for k, rate in enumerate(rates)]]]]
        shown = [["numeric", 0, 0.5], ["leaf", [], [[[[0, -1.0]], [], []]]], nobody]
        assert bool(judged(one, {"prediction": 1, "proofs": [shown]}).names["certified"]) == (rates == [1.0, 1.0])
