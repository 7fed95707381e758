"""When two decisions are the same: never at a tie, by the class, by its group, or within a tolerance; seen by eye."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.judge import Judge
from lcifr.check.phi import Formula
from tests.certification.made_bundles import judged_by
from tests.check.tables import table_of
from tests.effort import sampled

SIMPLE = st.integers(-2, 2)
GROUPS = ([[0], [1], [2]], [[0, 2], [1]], [[2, 1], [0]], [[0, 1, 2]])
RULES: list[dict[str, Any]] = [{"kind": "within", "tolerance": tolerance} for tolerance in (0.0, 2.0)]
RULES += [{"kind": "sign"}, *({"kind": "class", "groups": groups} for groups in GROUPS)]


def decided(rule: dict[str, Any], outputs: Sequence[float]) -> set[Any]:
    """Every decision that the outputs allow: several where they tie."""
    if rule["kind"] == "sign":
        return {0, 1} if outputs[0] == 0 else {int(outputs[0] > 0)}
    return {k for k, group in enumerate(rule["groups"]) if any(outputs[c] == max(outputs) for c in group)}


def confirmed(rule: dict[str, Any], own: list[float], other: list[float], ends: list[float], prediction: int) -> Any:
    """Of both verdicts whether it is. The network is the identity; similar is who lies between ``own`` and ``ends``."""
    every, tree = range(len(own)), ["all"]
    for k in every:
        low, high = int(min(own[k], ends[k])), int(max(own[k], ends[k]))
        tree += [["compare", "<=", [end, 1], [[[s, 1], "other", f"a{k}"]]] for s, end in ((1, -high), (-1, low))]
    identity = [[[*(float(j == k) for k in every), 0.0] for j in every]]
    judge = Judge(Formula(tree, table_of(len(own), 0)), identity, identity, rule)
    pairs = [sorted([[j, 1.0], [k, -1.0]]) for j in every for k in every if j != k]
    alone = [[[j, sign]] for j in every for sign in (1.0, -1.0)]
    proof = [["leaf", [], [[direction, [], []] for direction in pairs + alone]]]
    about = {"prediction": prediction, "universe": "reals", "arithmetic": "exact", "on": "whole"}
    claim = {**about, "proofs": [proof], "other": {"numbers": other, "codes": []}}
    line = {"id": 0, "x": {"numbers": own, "codes": []}}
    lines = {word: {**line, "decision": {**claim, "verdict": word}} for word in ("certified", "counterexample")}
    return {word: not judged_by(judge, line).rejected for word, line in lines.items()}


@sampled(1000)
@given(st.sampled_from(RULES), st.lists(SIMPLE, min_size=9, max_size=9), st.integers(0, 2), st.integers(0, 7))
def test_a_decision_is_another_only_without_a_tie(
    rule: dict[str, Any], values: list[int], prediction: int, free: int
) -> None:
    count = 1 if rule["kind"] == "sign" else 3
    own, other, ends = ([float(v) for v in values[3 * k : 3 * k + count]] for k in range(3))
    other = [(ends[k], other[k])[free == k] for k in range(count)]  # often similar, at the far end
    found = confirmed(rule, own, other, ends, prediction)
    corners = list(product(*zip(own, ends, strict=True)))
    similar = all(min(pair) <= value <= max(pair) for value, *pair in zip(other, own, ends, strict=True))
    if rule["kind"] == "within":
        tolerance = rule["tolerance"]
        far = [max(abs(a - b) for a, b in zip(own, point, strict=True)) for point in (other, *corners)]
        assert found["certified"] == (max(far[1:]) < tolerance)
        assert found["counterexample"] == (similar and far[0] > tolerance)
        return
    mine = {k for k, group in enumerate(rule.get("groups", [[0], [1]])) if prediction in group}
    otherwise = similar and decided(rule, own) == mine and not decided(rule, other) & mine
    if found["certified"]:
        assert all(decided(rule, corner) == mine for corner in corners)
    if found["counterexample"]:
        assert otherwise
    if otherwise and (count == 1 or own[prediction] == max(own)):
        assert found["counterexample"]
