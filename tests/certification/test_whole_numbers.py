"""Whole numbers: narrowing loses nobody who can exist, and the search agrees with looking at everybody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.verdicts import Verdict
from lcifr.check.bundle import check_bundle
from lcifr.data import Encoding, Numeric, Schema
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from tests.certification.whole_people import ENCODING, FRAME, SCHEMA, everybody
from tests.prove.instances import random_network


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.floats(-1e6, 1e6) | st.floats(-1e18, 1e18), min_size=4, max_size=4),
    st.floats(-100, 100) | st.floats(-1e17, 1e17),
    st.floats(1e-3, 1e4),
)
def test_narrowing_keeps_exactly_the_whole_numbers(ends: list[float], mean: float, sd: float) -> None:
    schema = Schema((Numeric("a", integer=True), Numeric("b")))
    encoding = Encoding(schema, np.array([mean, 0.0]), np.array([sd, 1.0]))
    low, high = (np.array([[a, b]]) for a, b in (sorted(ends[:2]), sorted(ends[2:])))
    lower, upper = np.minimum(low, high), np.maximum(low, high)
    cell = narrow_to_whole_numbers(Region.from_arrays(encoding.scale(lower), encoding.scale(upper)), encoding).cells[0]
    first, last = np.ceil(lower[0, 0]), np.floor(upper[0, 0])
    for value in {first, first + 1, last - 1, last, np.rint((first + last) / 2)}:
        inside = encoding.scale(np.array([[value, 0.0]]))[0, 0]
        if lower[0, 0] <= value <= upper[0, 0]:
            assert cell.present[0]
            assert cell.lower[0, 0] <= inside <= cell.upper[0, 0]
    if cell.present[0] and max(map(abs, (*ends, mean))) < 1e6:  # the ends are whole, the other column is left alone
        raw = np.rint(np.array([cell.lower[0, 0], cell.upper[0, 0]]) * sd + mean)
        assert (encoding.scale(np.stack([raw, raw], 1))[:, 0] == [cell.lower[0, 0], cell.upper[0, 0]]).all()
        assert (cell.lower[0, 1], cell.upper[0, 1]) == (lower[0, 1], upper[0, 1])


@pytest.mark.parametrize("seed", range(8))
def test_the_audit_agrees_with_looking_at_everybody(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    similar = Similarity("a within 2.7 and b within 0.3 sd", SCHEMA, ENCODING)
    encoder = FrozenEncoder(random_network(rng, [4, 6, 2]), similar)
    model = random_network(rng, [2, 4, 1])
    found = audit(encoder, model, FRAME, modular=False)
    for row in range(len(FRAME)):
        others = everybody(FRAME.iloc[row], 4)
        own = pd.concat([FRAME.iloc[[row]]] * len(others), ignore_index=True)
        those = others[np.asarray(similar.holds(own, others))]
        decided = model(encoder.transform(pd.concat([FRAME.iloc[[row]], those])))[:, 0] > 0
        if found.verdict[row] == Verdict.CERTIFIED:
            assert (decided == decided[0]).all()
        else:  # nobody is undecided: what holds for everybody who can exist is proved
            assert found.verdict[row] == Verdict.COUNTEREXAMPLE
            assert (decided != decided[0]).any()
    write_bundle(tmp_path / "bundle", encoder, FRAME, None, found)
    report = check_bundle(tmp_path / "bundle")
    assert (report.rejected, len(report.names["certified"])) == ({}, found.certified.sum())


def test_somebody_whom_only_branching_finds(tmp_path: Path) -> None:
    """Decided otherwise where a + b is 3 within 0.4 and a − b is 1 within 0.4: (2, 1) alone, of 41 × 41 people."""
    schema = Schema((Numeric("a", integer=True), Numeric("b", integer=True)))
    encoding = Encoding(schema, np.zeros(2), np.ones(2))
    # 1 − |s − 3| / 0.4 − |d − 1| / 0.4 − |…| as ReLUs: positive only near that point
    first = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
    hidden = Network.from_arrays([(first, [-3.0, 3.0, -1.0, 1.0]), ([[-2.5, -2.5, -2.5, -2.5]], [1.0])])
    similar = Similarity("a within 20 and b within 20", schema, encoding)
    people = pd.DataFrame({"a": [9, 30], "b": [9, 30]})
    found = audit(FrozenEncoder(hidden, similar), Network.from_arrays([([[1.0]], [0.0])]), people, modular=False)
    assert list(found.verdict) == [Verdict.COUNTEREXAMPLE, Verdict.CERTIFIED]
    assert found.others.numbers[0].tolist() == [2.0, 1.0]
    write_bundle(tmp_path / "bundle", FrozenEncoder(hidden, similar), people, None, found)
    assert check_bundle(tmp_path / "bundle").exit_code == 0
