"""Numbers within a tolerance: nobody similar is ever farther off than what was certified, wherever z is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import FrozenEncoder, Representation, covering, represent
from lcifr.check.bundle import check_bundle
from lcifr.check.judge import Judge
from lcifr.check.phi import Formula
from lcifr.check.table import AttributeTable
from lcifr.data import Encoding, Numeric, Schema
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from lcifr.prove import maximize
from lcifr.regions.region import Region
from tests.certification.made_bundles import Oracle, contents_of, judge_of, judged_by
from tests.certification.scenes import Scene
from tests.check.second.asking import refused, second_of
from tests.check.second.proof import exact, merge, run
from tests.effort import sampled
from tests.prove.instances import random_network

SCHEMA = Schema((Numeric("a", lower=-50, upper=50), Numeric("b", lower=-50, upper=50)))
FORMULAS = (
    "a' >= a and a' <= a + 3 and b' = b",  # x is at an end of its own region
    "a' >= a and a' <= a + 2 and b within 1",
    "a within 2 and b' <= b and b' >= b - 4",
    "b' = b and (a' >= a + 1 and a' <= a + 2 or a' = a)",
)
ONS: Any = ("ball", "box")


def around(seed: int) -> tuple[Scene, Representation, float, list[list[Fraction]]]:
    """A scene; a hand-over whose z is anywhere that its radii allow; a tolerance; and of every person exact numbers:
    their own first, then those of similar people, the corners of the region among them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(np.round(rng.normal(0, 5, (3, 2)), 1), columns=["a", "b"])
    similar = Similarity(FORMULAS[rng.integers(len(FORMULAS))], SCHEMA, Encoding.fit(table, SCHEMA))
    inside, behind = ([[], [3]][k] for k in rng.integers(2, size=2))
    width = int(rng.integers(1, 3))
    encoder = FrozenEncoder(random_network(rng, [2, *inside, width]), similar)
    one = Scene(encoder, random_network(rng, [width, *behind, 1]), table)
    handed = moved(represent(encoder, table), rng)
    numbers = [[run(whole_of(one), point)[0] for point in points] for points in points_of(one, seed)]
    far = max(abs(value - own) for own, *others in numbers for value in others)
    return one, handed, float(far) * float(rng.uniform(0.6, 2.5)) + 1e-3, numbers


def moved(handed: Representation, rng: np.random.Generator) -> Representation:
    """The same boxes around another z: in the box or a little outside."""
    share = rng.uniform(-0.1, 1.1, handed.latent.shape)
    z = handed.lower + share * (handed.upper - handed.lower)
    return replace(handed, latent=z, radius=covering(z, handed.lower, handed.upper))


def whole_of(one: Scene) -> Any:
    return merge(*(exact([_rows(layer) for layer in network.layers]) for network in (one.encoder.network, one.model)))


def _rows(layer: Any) -> list[list[float]]:
    return np.column_stack([layer.weight, layer.bias]).tolist()  # type: ignore[no-any-return]


def points_of(one: Scene, seed: int) -> list[list[list[float]]]:
    with TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "bundle", one.encoder, one.people, represent(one.encoder, one.people))
        plain = contents_of(Path(folder) / "bundle")
    table = AttributeTable(plain["encoding"])
    oracle = Oracle(Judge(Formula(plain["similarity"]["formula"], table), plain["encoder.json"], None, None), seed)
    return [oracle.points(table.person(line["x"]), "whole") for line in plain["lines"]]


def are_near(numbers: list[list[Fraction]], certified: Any, tolerance: float) -> None:
    for sure, (own, *others) in zip(certified, numbers, strict=True):
        assert not sure or all(abs(value - own) < Fraction(tolerance) for value in others)


@sampled(30)
@given(st.integers(0, 2**32), st.sampled_from((*ONS, "whole")))
def test_nobody_similar_is_farther_off_than_what_is_certified(seed: int, on: str) -> None:
    one, handed, tolerance, numbers = around(seed)
    found: Any = audit(one.encoder, one.model, one.people, tolerance=tolerance, modular=handed)
    for certified in (found.certified, found.ball, found.box):
        are_near(numbers, certified, tolerance)
    assert not (found.violated & (found.ball | found.box)).any()
    if on != "whole":
        found = certify(handed, one.model, on=on, tolerance=tolerance)  # type: ignore[arg-type]
    with TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "bundle", one.encoder, one.people, handed, found)
        report, plain = check_bundle(Path(folder) / "bundle"), contents_of(Path(folder) / "bundle")
    assert report.rejected == {}
    assert len(report.names["certified"]) == found.certified.sum()
    assert [refused(second_of(plain), line) for line in plain["lines"]] == [""] * 3


@sampled(30)
@given(st.integers(0, 2**32), st.sampled_from(ONS))
def test_no_checker_confirms_a_tolerance_that_somebody_similar_exceeds(seed: int, on: str) -> None:
    """Whoever writes a bundle may claim what they like: here everybody, with the proofs of a wider tolerance."""
    one, handed, tolerance, numbers = around(seed)
    found = certify(handed, one.model, on=on, tolerance=1e3)  # type: ignore[arg-type]
    with TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "bundle", one.encoder, one.people, handed, found)
        plain = contents_of(Path(folder) / "bundle")
    plain["manifest"]["decision"]["tolerance"] = tolerance
    judge, second = judge_of(plain), second_of(plain)
    confirmed = [not judged_by(judge, line).rejected for line in plain["lines"]]
    assert confirmed == [not refused(second, line) for line in plain["lines"]]
    are_near(numbers, confirmed, tolerance)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_true_of_every_two_points_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, [2, 4, 1 + seed % 2])
    _, handed, _, _ = around(seed + 100)
    z = rng.normal(size=(3, 2))
    half = rng.uniform(0.1, 1.0, (3, 2))
    handed = replace(handed, latent=z, lower=z - half, upper=z + half, radius=covering(z, z - half, z + half))
    signs = np.concatenate([np.eye(model.outputs), -np.eye(model.outputs)])
    ends = maximize(model, signs, Region.from_arrays(handed.lower, handed.upper), method="enumerate").upper
    apart = (ends[:, : model.outputs] + ends[:, model.outputs :]).max(1)
    for tolerance in (*(apart * 0.999), *(apart * 1.001), 0.5 * apart.min(), 2 * apart.max()):
        found = certify(handed, model, on="box", tolerance=float(tolerance))
        clear = np.abs(apart - tolerance) > 1e-4 * apart
        assert (found.certified == (apart < tolerance))[clear].all()
        assert (found.margin <= tolerance - apart + 1e-9).all()
        reach = certify(handed, model, on="ball", tolerance=float(tolerance)).largest_radius
        ball = replace(handed, radius=reach * (1 - 1e-9), lower=z, upper=z)
        assert certify(ball, model, tolerance=float(tolerance)).certified[reach > 0].all()


# -- the identity, by hand ---------------------------------------------------------------------------------------------

IDENTITY = Network.from_arrays([(np.eye(1), np.zeros(1))])
PROOFS = [[["leaf", [], [[[[0, 1.0]], [], []], [[[0, -1.0]], [], []]]]]]

CLAIM = {"universe": "reals", "arithmetic": "exact", "proofs": PROOFS}


def line_about(upper: float, z: float, on: str) -> dict[str, Any]:
    """Somebody at 0 whose similar ones are between 0 and ``upper``."""
    latent = {"z": [z], "radius": max(z, upper - z), "lower": [0.0], "upper": [upper], **CLAIM}
    decision = {"verdict": "certified", "on": on, **CLAIM}
    return {"id": 0, "x": {"numbers": [0.0], "codes": []}, "latent": latent, "decision": decision}


def plain_about(upper: float, tolerance: float) -> dict[str, Any]:
    """φ is 0 ≤ a′ − a ≤ upper, and both f and h are the identity."""
    ends = [[[-1, 1], [1, 1], [0, 1]], [[1, 1], [-1, 1], [-int(2 * upper), 2]]]
    nodes = [["compare", "<=", k, [[c, "other", "a"], [d, "self", "a"]]] for c, d, k in ends]
    schema = {"attributes": {"a": {"kind": "numeric", "integer": False, "lower": 0.0, "upper": 9.0}}}
    return {
        "encoding": {"format": 3, "schema": schema, "programs": {"a": [["cast", "float64"]]}, "outside": []},
        "similarity": {"format": 4, "formula": ["all", *nodes]},
        "manifest": {"decision": {"kind": "within", "tolerance": tolerance}},
        "encoder.json": [[[1.0, 0.0]]],
        "model.json": [[[1.0, 0.0]]],
    }


@pytest.mark.parametrize("on", [*ONS, "whole"])
@pytest.mark.parametrize(
    ("upper", "z", "tolerance", "true"),
    [
        (1.5, 0.75, 1.0, False),  # from z it is 0.75 to either end, from the person 1.5 to the other
        (1.5, 0.75, 1.5, False),
        (1.5, 0.75, 1.75, True),
        (1.5, 0.0, 1.75, True),
    ],
)
def test_the_distance_is_measured_from_the_person(
    on: str, upper: float, z: float, tolerance: float, true: bool
) -> None:
    plain, line = plain_about(upper, tolerance), line_about(upper, z, on)
    assert (not judged_by(judge_of(plain), line).rejected) == true
    assert (not refused(second_of(plain), line)) == true
    if on != "whole":
        apart = {"ball": 2 * line["latent"]["radius"], "box": upper}[on]
        found = certify(handed_of(line), IDENTITY, on=on, tolerance=tolerance)  # type: ignore[arg-type]
        assert bool(found.certified[0]) == (apart < tolerance)


def test_the_number_at_z_counts_where_z_is_outside_the_box() -> None:
    """Nobody but the person is similar; the model is shown 2 instead of 0, and 2 is what it would decide."""
    for tolerance, true in ((1.0, False), (2.0, False), (2.5, True)):
        plain, line = plain_about(0.0, tolerance), line_about(0.0, 2.0, "box")
        assert (not judged_by(judge_of(plain), line).rejected) == true
        assert (not refused(second_of(plain), line)) == true
        assert bool(certify(handed_of(line), IDENTITY, on="box", tolerance=tolerance).certified[0]) == true


def handed_of(line: Any) -> Representation:
    """The hand-over that the line speaks about."""
    _, some, _, _ = around(0)
    latent = {key: np.array([line["latent"][key]]) for key in ("lower", "upper", "radius")}
    return replace(some.take([0]), latent=np.array([line["latent"]["z"]]), **latent)
