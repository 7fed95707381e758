"""The auditor's promise, on generated nets, formulas and people: what is certified is true, what is refuted is real."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.certification.verdicts import Audit, Certificates, Reason, Verdict
from lcifr.check.bundle import check_bundle
from lcifr.data import Individuals
from lcifr.errors import RegionError
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import whole_columns
from tests.certification.scenes import FORMULAS, Scene, scene, scene_of
from tests.phi.worlds import World, worlds

NOBODY_IS_SIMILAR = FORMULAS[5]


def decisions(one: Scene, found: Audit | Certificates, encoded: np.ndarray) -> np.ndarray:
    values = one.model(one.encoder.network(encoded.reshape(-1, encoded.shape[-1])))
    rule = found.model.rule
    return rule.group_of[rule.decide(values)].reshape(encoded.shape[:-1])


def no_sample_violates(one: Scene, found: Audit | Certificates, samples: int, seed: int) -> int:
    """Nobody certified has a sampled similar person with another decision; how many samples that was.

    Samples are of the closed region. Audits speak of people who can exist: of whole numbers.
    """
    sure = np.flatnonzero(found.certified)
    region = one.encoder.similarity.region(one.people).take(sure)
    if len(sure) == 0:
        return 0
    points = region.sample(samples, seed=seed)
    if isinstance(found, Audit):
        points = at_whole_numbers(one, region, points)
    own = decisions(one, found, one.encoder.encoding.encode(one.people)[sure])
    there = ~np.isnan(points).any(-1)
    other = decisions(one, found, np.nan_to_num(points))
    assert ((other == own[:, None]) | ~there).all()
    return int(there.sum())


def at_whole_numbers(one: Scene, region: Region, points: np.ndarray) -> np.ndarray:
    """The points moved to the nearest whole numbers; NaN where that leaves the region."""
    encoding = one.encoder.encoding
    columns, whole = encoding.numeric_columns, whole_columns(encoding)
    numbers = points[..., columns]
    moved = points.copy()
    moved[..., columns] = np.where(whole, encoding.scale(np.rint(numbers * encoding.sds + encoding.means)), numbers)
    inside = region.contains(np.nan_to_num(moved)) & ~np.isnan(moved).any(-1)
    return np.where(inside[..., None], moved, np.nan)


def counterexamples_are_real(one: Scene, found: Audit) -> None:
    rows = np.flatnonzero(found.violated)
    if len(rows) == 0:
        return
    own, other = found.people.take(rows), found.others.take(rows)
    assert one.encoder.similarity.holds(own, other).all()
    through_the_gate = Individuals.read(other.to_pandas(), own.schema)  # ranges, whole numbers, categories
    assert (through_the_gate.numbers == other.numbers).all()
    assert (through_the_gate.codes == other.codes).all()
    encoded = (one.encoder.encoding.encode(table) for table in (own, other))
    mine, theirs = (decisions(one, found, matrix) for matrix in encoded)
    assert (mine != theirs).all()


def checker_agrees(one: Scene, found: Audit | Certificates, handed: Any) -> None:
    with TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "bundle", one.encoder, one.people, handed, found)
        report = check_bundle(Path(folder) / "bundle")
    assert report.rejected == {}
    assert not report.names["unproved"]
    assert len(report.names["certified"]) == found.certified.sum()
    # The checker also sees that nobody is similar where rounding leaves a sliver of a region, or no whole number.
    assert len(report.names["vacuous"]) >= (found.certified & found.vacuous).sum()
    if isinstance(found, Audit):
        assert len(report.names["counterexample"]) == found.violated.sum()


def check_everything(one: Scene, *, samples: int, seed: int = 0, **options: Any) -> Audit:
    """An audit that agrees with the consumer, with samples of the region, with ``holds`` and with the exact checker."""
    handed = represent(one.encoder, one.people)
    found = audit(one.encoder, one.model, one.people, modular=handed, **options)
    on_ball, on_box = (certify(handed, one.model, on=on, **options) for on in ("ball", "box"))
    assert not (on_ball.certified & ~on_box.certified).any()
    assert not (on_box.certified & found.violated).any()
    assert (found.ball == on_ball.certified).all()
    for result in (found, on_ball, on_box):
        no_sample_violates(one, result, samples, seed)
        checker_agrees(one, result, handed)
    counterexamples_are_real(one, found)
    assert len(found) == len(one.people)
    undecided = ~found.certified & ~found.violated
    assert (undecided == (found.reason != Reason.NONE)).all()  # and whoever is undecided is told why
    return found


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("seed", [1, 2])
def test_everything_agrees(formula: str, seed: int) -> None:
    found = check_everything(scene(seed, formula, count=3), samples=200)
    assert found.vacuous.all() == (formula == NOBODY_IS_SIMILAR)
    assert (found.certified | ~found.vacuous).all()  # of nobody, anything can be said


@pytest.mark.parametrize("seed", range(3))
def test_several_classes_and_groups(seed: int) -> None:
    groups = [None, [[0, 2]], [[0, 1, 2]]][seed % 3]
    found = check_everything(scene(seed, FORMULAS[seed % 3], outputs=3, count=3), samples=200, groups=groups)
    if groups == [[0, 1, 2]]:
        assert found.certified.all()


def check_world(world: World, seed: int) -> Audit | None:
    """None where the formula bounds nothing; then an audit refuses it as well."""
    one = scene_of(world, seed)
    try:
        world.region()
    except RegionError:
        with pytest.raises(RegionError):
            audit(one.encoder, one.model, one.people)
        return None
    return check_everything(one, samples=50)


NO_SHRINKING = [Phase.explicit, Phase.reuse, Phase.generate]  # every step of it proves anew


@settings(deadline=None, max_examples=8, phases=NO_SHRINKING)
@given(worlds(pairs=1, max_leaves=4), st.integers(0, 10**6))
def test_in_generated_worlds(world: World, seed: int) -> None:
    found = check_world(world, seed)
    assert found is None or found.people.schema == world.schema


@pytest.mark.long
@settings(deadline=None, max_examples=200, phases=NO_SHRINKING)
@given(worlds(pairs=3, max_leaves=5), st.integers(0, 10**6))
def test_in_many_generated_worlds(world: World, seed: int) -> None:
    found = check_world(world, seed)
    assert found is None or found.people.schema == world.schema


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_a_million_samples_violate_nobody_certified(seed: int) -> None:
    one = scene(seed, count=10)
    found = check_everything(one, samples=100)
    tried = sum(no_sample_violates(one, found, 4000, part) for part in range(1, 4))  # 40 scenes × 10 people × 3 × 4000
    assert (tried > 0) == (found.certified & ~found.vacuous).any()


def test_verdicts_of_every_kind_occur() -> None:
    found = [audit(one.encoder, one.model, one.people, modular=False) for one in (scene(seed) for seed in range(14))]
    seen = {verdict for one in found for verdict in one.verdict}
    assert {Verdict.CERTIFIED, Verdict.COUNTEREXAMPLE} <= seen
    assert any((one.vacuous & one.certified).any() for one in found)


def test_a_counterexample_is_simple() -> None:
    """Moving any one attribute back, or leaving the pair as it is decided, no longer counts."""
    shown = 0
    for seed in range(12):
        one = scene(seed, FORMULAS[0], count=10)
        found = audit(one.encoder, one.model, one.people, modular=False)
        for row in np.flatnonzero(found.violated):
            own, other = found.people.take([row]), found.others.take([row])
            for j in np.flatnonzero(own.codes[0] != other.codes[0]):
                codes = other.codes.copy()
                codes[0, j] = own.codes[0, j]
                back = Individuals(own.schema, other.numbers, codes)
                similar = one.encoder.similarity.holds(own, back)[0]
                values = (one.model(one.encoder.transform(p)) for p in (own, back))
                same = len({float(v[0, 0]) > 0 for v in values}) == 1
                assert same or not similar
                shown += 1
            frame = found.counterexample(found.ids[row])
            assert len(frame.columns) == (own.to_pandas().iloc[0] != other.to_pandas().iloc[0]).sum() > 0
    assert shown


@pytest.mark.parametrize("seed", range(3))
def test_regression_within_a_tolerance(seed: int) -> None:
    one = scene(seed, FORMULAS[seed], count=3)
    spread = float(np.ptp(one.model(one.encoder.transform(one.people)))) + 1e-3
    for tolerance in (0.05 * spread, 0.5 * spread, 50 * spread):
        handed = represent(one.encoder, one.people)
        found = audit(one.encoder, one.model, one.people, modular=handed, tolerance=tolerance)
        own = one.model(one.encoder.transform(one.people))[:, 0]
        region = one.encoder.similarity.region(one.people)
        points = region.sample(200)
        values = one.model(one.encoder.network(np.nan_to_num(points)))[..., 0]
        far = np.where(np.isnan(points).any(-1), 0.0, np.abs(values - own[:, None])).max(1)
        assert (far[found.certified] <= tolerance).all()
        for row in np.flatnonzero(found.violated):
            pair = [p.take([row]) for p in (found.people, found.others)]
            assert one.encoder.similarity.holds(*pair)[0]
            gap = [Fraction(float(one.model(one.encoder.transform(p))[0, 0])) for p in pair]
            assert abs(gap[0] - gap[1]) > Fraction(tolerance)
        for on in ("ball", "box"):
            checker_agrees(one, certify(handed, one.model, on=on, tolerance=tolerance), handed)
        checker_agrees(one, found, handed)
