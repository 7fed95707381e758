"""Sums of trees in the checker, against every individual there is: true bounds, and tight ones where a proof splits."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.check.exact import Rejected, reading
from lcifr.check.functions import TreeSum
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula, derive
from lcifr.check.proof import Problem, examine
from tests.certification.made_bundles import judged_by
from tests.check.ensembles import VALUES, Ensemble, descend
from tests.effort import sampled

IDENTITY = {"kind": "network", "factors": []}


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


def test_trees_behind_an_encoder_take_as_many_numbers_as_it_gives() -> None:
    one = Ensemble(0)
    with pytest.raises(Rejected, match="1 numbers come in, the trees take 5"):
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
