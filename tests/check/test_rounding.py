"""The checker's bound of deployed arithmetic: no machine is farther off, and both checkers compute it alike."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.check.exact import Rejected
from lcifr.check.functions import FORMATS, FactorChain, read_network
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula
from tests.certification.made_bundles import judged_by
from tests.check.second.machine import errors
from tests.check.second.proof import exact
from tests.check.tables import standardised
from tests.effort import sampled

TYPES = {"float64": np.float64, "float32": np.float32}
TINY = 1e-40
BOTH = [[[[0, sign]], [], []] for sign in (1.0, -1.0)]


class Instance:
    """Two random networks in turn, on numbers between ends and one category; weights of very different sizes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.numbers, self.values = int(self.rng.integers(1, 4)), int(self.rng.integers(2, 5))
        middle = int(self.rng.integers(1, 4))
        self.parts = [
            self.layers([self.numbers + self.values, int(self.rng.integers(1, 6)), middle]),
            self.layers([middle, int(self.rng.integers(1, 6)), 2]),
        ]
        ends = np.sort(self.rng.normal(size=(self.numbers, 2)) * 10.0 ** self.rng.integers(-3, 4, (self.numbers, 1)))
        self.groups: list[Any] = [[(k, float(low)), (k, float(high))] for k, (low, high) in enumerate(ends)]
        self.groups += [[(self.numbers + k, 1.0) for k in range(self.values)]]

    def layers(self, widths: list[int]) -> list[Any]:
        def rows(outputs: int, inputs: int) -> Any:
            scale = 10.0 ** self.rng.integers(-2, 3, (outputs, inputs + 1))
            return (self.rng.normal(size=(outputs, inputs + 1)) * scale).tolist()

        return [rows(b, a) for a, b in pairwise(widths)]

    def point(self) -> list[Any]:
        """Somebody in the cell."""
        found = []
        for corners in self.groups[:-1]:
            (column, low), (_, high) = corners
            found.append([(column, float(np.clip(self.rng.uniform(low, high), low, high)))])
        return [*found, [self.groups[-1][self.rng.integers(self.values)]]]

    def machine(self, point: list[Any], name: str) -> list[float]:
        """The outputs as one machine computes them: every sum in an order of its own, some products fused."""
        kind = TYPES[name]
        value = np.zeros(self.numbers + self.values)
        for ((column, v),) in point:
            value[column] = v
        for layers in self.parts:
            value = value.astype(kind)
            for depth, rows in enumerate(layers):
                if depth:
                    value = np.maximum(value, kind(0))
                value = np.array([self.neuron(np.array(row).astype(kind), value, kind) for row in rows])
        return [float(v) for v in value]

    def neuron(self, row: Any, value: Any, kind: Any) -> Any:
        terms = [*(w * v for w, v in zip(row[:-1], value, strict=True)), row[-1]]
        while len(terms) > 1:  # any tree of sums
            one, other = (terms.pop(int(self.rng.integers(len(terms)))) for _ in range(2))
            terms.append(kind(one + other))
        return terms[0]


def network_of(layers: list[list[Any]]) -> list[Any]:
    return [read_network(part) for part in layers]


def rounding(layers: list[list[Any]], names: list[str], groups: list[Any], flushed: float = 0.0) -> list[Fraction]:
    """The bound of these networks in turn, each in the format of that name."""
    chain = FactorChain([[network] for network in network_of(layers)], len(layers[0][0][0]) - 1, flushed)
    return chain.rounding(dict(enumerate(groups)), names)  # type: ignore[arg-type]


@sampled(150)
@given(st.integers(0, 2**32), st.sampled_from(sorted(TYPES)))
def test_no_machine_is_farther_off_than_the_bound(seed: int, name: str) -> None:
    one = Instance(seed)
    over = rounding(one.parts, [name] * 2, one.groups)
    for _ in range(5):
        point = one.point()
        (middle, last), here = network_of(one.parts), rounding(one.parts, [name] * 2, point)
        between = FactorChain([[middle]], one.numbers + one.values).at(dict(enumerate(point)))  # type: ignore[arg-type]
        assert all(value.denominator & (value.denominator - 1) == 0 for value in between)
        true = forward_exactly(last, between)
        found = one.machine(point, name)
        for k, value in enumerate(true):
            assert abs(Fraction(found[k]) - value) <= here[k] <= over[k]


def forward_exactly(network: Any, values: list[Fraction]) -> list[Fraction]:
    """The outputs of a network at a point of fractions."""
    for depth, layer in enumerate(network):
        inputs = [max(v, Fraction(0)) for v in values] if depth else values
        rows = ([Fraction(w, 1 << layer.shift) for w in row] for row in layer.rows[:-1])
        values = [sum((w * v for w, v in zip(row, inputs, strict=False)), row[-1]) for row in rows]
    return values


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(sorted(TYPES)), st.sampled_from(sorted(TYPES)))
def test_both_checkers_have_the_same_bound(seed: int, first: str, second: str) -> None:
    """Ours is rounded up to a float64 at every layer, so it is the larger one, by a hair."""
    one = Instance(seed)
    ours = rounding(one.parts, [first, second], one.groups, TINY)
    groups: list[Any] = [("number", low[0], low[1], high[1]) for low, high in one.groups[:-1]]
    groups += [("choice", one.numbers, frozenset(column for column, _ in one.groups[-1]))]
    theirs = errors(list(zip(map(exact, one.parts), (first, second), strict=True)), groups, Fraction(TINY))
    for mine, other in zip(ours, theirs, strict=True):
        assert other <= mine <= other * (1 + Fraction(1, 10**12))


TABLE = standardised({"a": {"kind": "numeric", "lower": 0, "upper": 1}})


def judged(layers: Any, arithmetic: str, decision: Any = None, latent: Any = None, table: Any = TABLE) -> CheckReport:
    """Somebody at 0 to whom everybody is similar; the model is the identity, and the sign decides."""
    judge = Judge(Formula(["all"], table), layers, [[[1.0, 0.0]]], {"kind": "sign"})
    about = {"universe": "reals", "arithmetic": arithmetic}
    line: Any = {"id": "one", "x": {"numbers": [0.0], "codes": []}}
    if decision is not None:
        line["decision"] = {**about, "verdict": "certified", "prediction": 1, "proofs": [LEAF], **decision}
    if latent is not None:
        line["latent"] = {**about, "exact": True, "vacuous": False, "proofs": [LEAF], **latent}
    return judged_by(judge, line)


LEAF = [["leaf", [], BOTH]]


def test_a_margin_of_2_is_none_where_float32_loses_4() -> None:
    """2**25 + 2 − 2**25 is 2; in float32 it may be 0 or 4, by the order of the sum, and with weights likewise less."""
    big = 2.0**25
    layers = [[[0.0, 1.0], [0.0, 1.0]], [[big, -big, 2.0]]]
    assert judged(layers, "exact", {"on": "whole"}).names["certified"]
    assert judged(layers, "float64", {"on": "whole"}).names["certified"]
    assert judged(layers, "float32", {"on": "whole"}).rejected
    found = {float(np.float32(np.float32(big) - np.float32(big)) + 2), float(np.float32(2 + np.float32(big)) - big)}
    assert found == {2.0, 0.0}


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_a_float_verdict_on_an_exact_radius_is_refused(arithmetic: str) -> None:
    latent = {"z": [2.0], "radius": 1.5, "lower": [0.5], "upper": [3.5]}
    layers = [[[1.0, 1.5]]]
    for on in ("ball", "box"):
        assert judged(layers, arithmetic, {"on": on}, latent).names["certified"]
        assert "exact" in judged(layers, arithmetic, {"on": on}, {**latent, "arithmetic": "exact"}).rejected["one"]
        assert judged(layers, "exact", {"on": on}, {**latent, "arithmetic": arithmetic}).names["certified"]


@pytest.mark.parametrize("arithmetic", ["exact", "float64", "float32"])
def test_a_box_has_room_for_what_is_rounded(arithmetic: str) -> None:
    """f is a third of x: the box that is tight in exact arithmetic holds no machine's f."""
    third = 1 / 3
    tight = {"z": [third], "radius": third, "lower": [0.0], "upper": [third]}
    report = judged([[[third, 0.0]]], arithmetic, latent=tight)
    assert bool(report.names["radius"]) == (arithmetic == "exact")
    wide = {"z": [third], "radius": 2.0, "lower": [-1e-6], "upper": [third + 1e-6]}
    assert judged([[[third, 0.0]]], arithmetic, latent=wide).names["radius"]


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        ([[[1e39, 1e37]]], "too large"),
        ([[[1.0, 1e39]]], "too large"),
        ([[[1e20, 1e20]], [[1e20, 1.0]]], "too large"),
    ],
)
def test_what_may_overflow_is_refused(layers: Any, reason: str) -> None:
    assert reason in judged(layers, "float32", {"on": "whole"}).rejected["one"]
    assert judged(layers, "float64", {"on": "whole"}).names["certified"]


def test_a_standard_deviation_that_may_be_read_as_0_is_refused() -> None:
    tiny = standardised({"a": {"kind": "numeric", "lower": 0, "upper": 0}}, a=(0.0, 2.0**-1030))
    assert "flushed" in judged([[[1.0, 1.0]]], "float64", {"on": "whole"}, table=tiny).rejected["one"]
    assert judged([[[1.0, 1.0]]], "exact", {"on": "whole"}, table=tiny).names["certified"]


@pytest.mark.parametrize("arithmetic", ["bfloat16", "tf32", "", None, 1, ["exact"], True])
def test_other_arithmetics_are_none(arithmetic: Any) -> None:
    latent = {"z": [1.0], "radius": 9.0, "lower": [-8.0], "upper": [10.0]}
    assert judged([[[1.0, 1.5]]], arithmetic, {"on": "whole"}).rejected
    assert judged([[[1.0, 1.5]]], arithmetic, latent=latent).rejected


def test_many_inputs_are_refused_where_nothing_is_known_of_their_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as 2**23 of them in float32; as few as one in a format of two digits."""
    monkeypatch.setitem(FORMATS, "float32", (Fraction(1, 4), *FORMATS["float32"][1:]))
    with pytest.raises(Rejected, match="so many inputs"):
        rounding([[[[1.0, 1.0]]]], ["float32"], [[(0, 1.0)]])


def test_a_counterexample_differs_in_the_arithmetic_that_it_names() -> None:
    """Own outputs 1 and −1e-9 for the other: exact and float64 tell them apart, float32 need not."""
    layers = [[[-1.0 - 1e-9, 1.0]]]
    other = {"numbers": [1.0], "codes": []}
    for arithmetic, right in (("exact", True), ("float64", True), ("float32", False)):
        decision = {"verdict": "counterexample", "other": other}
        assert bool(judged(layers, arithmetic, decision).names["counterexample"]) == right
