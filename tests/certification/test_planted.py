"""Planted unfairness: a narrow pocket where the decision flips, far from every gradient; never certified."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.consumer import certify
from lcifr.certification.handover import FrozenEncoder, represent
from lcifr.certification.verdicts import Verdict
from lcifr.models.network import Network
from tests.certification.scenes import people, similarity

FORMULA = "same(all except income) and income within 20"


def pocket(center: float, width: float, feature: int, features: int) -> Network:
    """+1 everywhere, but −1 at the middle of a tent of this width in one feature: flat outside, so no gradient."""
    first = np.zeros((3, features))
    first[:, feature] = 1.0
    bias = -np.array([center - width, center, center + width])
    # relu(t − a) − 2·relu(t − b) + relu(t − c), scaled to height 1: a tent between a and c.
    tent = np.array([[1.0, -2.0, 1.0]]) / width
    return Network.from_arrays([(first, bias), (-2.0 * tent, [1.0])])


@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("place", [-1.9, -0.7, 0.3, 1.1, 1.99])
def test_a_pocket_is_never_certified(place: float, width: float) -> None:
    similar = similarity(FORMULA)
    table = people(4, 3)
    encoding = similar.encoding
    x = encoding.encode(table)
    income = encoding.columns("income").start
    reach = 20 / encoding.sd("income")
    network = pocket(float(x[0, income]) + place / 2 * reach, width, income, len(encoding.features))
    own = network(x)[:, 0]
    truly = (np.abs(x[:, income] - (x[0, income] + place / 2 * reach)) < reach) | (own < 0)
    assert truly[0]
    encoder = FrozenEncoder.identity(similar)
    found = audit(encoder, network, table, modular=False, budget=200)
    assert not found.certified[truly].any()
    assert (found.verdict[truly & found.violated] == Verdict.COUNTEREXAMPLE).all()
    handed = represent(encoder, table, budget=200)
    for on in ("ball", "box"):
        assert not certify(handed, network, on=on, budget=200, largest_radius=False).certified[truly].any()  # type: ignore[arg-type]


def test_a_wide_pocket_is_found_and_shown_in_the_tables_units() -> None:
    similar = similarity(FORMULA)
    table = people(1, 3)
    income = similar.encoding.columns("income").start
    start = float(similar.encoding.encode(table)[0, income])
    network = pocket(start + 0.9, 0.3, income, len(similar.encoding.features))
    found = audit(FrozenEncoder.identity(similar), network, table, ["ann"], modular=False)
    assert found.verdict[0] == Verdict.COUNTEREXAMPLE
    shown = found.counterexample("ann")
    assert list(shown.columns) == ["income"]
    assert 0 < shown.loc["similar", "income"] - shown.loc["ann", "income"] <= 20
