"""Hand-overs about whole numbers: nobody who can exist leaves the smaller ball; the checker confirms it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr import FairEncoder
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import FrozenEncoder, Representation, represent
from lcifr.check.bundle import check_bundle
from lcifr.data import Encoding, Individuals
from lcifr.phi.similarity import Similarity
from lcifr.workflows.jobs import represent_file
from tests.certification.whole_people import ENCODING, FRAME, SCHEMA, everybody
from tests.prove.instances import random_network

PHI = "a within 1.7 and b within 2.9"


def encoders(seed: int) -> tuple[FrozenEncoder, FrozenEncoder]:
    """One about real numbers, the same about whole ones."""
    network = random_network(np.random.default_rng(seed), [len(ENCODING.features), 5, 2])
    real = FrozenEncoder(network, Similarity(PHI, SCHEMA, ENCODING))
    return real, replace(real, whole_numbers=True)


@pytest.mark.parametrize("seed", range(6))
def test_the_ball_is_smaller_and_holds_everybody_who_can_exist(seed: int) -> None:
    real, whole = (represent(one, FRAME) for one in encoders(seed))
    assert (whole.radius <= real.radius).all()
    assert (whole.radius < 0.99 * real.radius).any()
    assert (whole.latent == real.latent).all()
    encoder = encoders(seed)[1]
    for place in range(len(FRAME)):
        around = everybody(FRAME.iloc[place], 3)
        similar = encoder.similarity.holds(FRAME.iloc[[place]], around)
        landed = encoder.transform(around[similar])
        assert similar.sum() > 1
        assert (np.abs(landed - whole.latent[place]).max(1) <= whole.radius[place]).all()
        assert ((whole.lower[place] <= landed) & (landed <= whole.upper[place])).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_checker_confirms_it_and_no_smaller_one(seed: int, tmp_path: Path) -> None:
    _, encoder = encoders(seed)
    handed = represent(encoder, FRAME)
    model = random_network(np.random.default_rng(seed + 50), [2, 1])
    write_bundle(tmp_path / "bundle", encoder, FRAME, handed, certify(handed, model))
    report = check_bundle(tmp_path / "bundle")
    assert (report.rejected, report.names["unproved"], len(report.names["radius"])) == ({}, [], len(FRAME))
    less = replace(handed, **{name: handed.latent + 0.9 * (getattr(handed, name) - handed.latent) for name in ENDS})
    less = replace(less, radius=0.9 * handed.radius)
    write_bundle(tmp_path / "less", encoder, FRAME, less)
    assert len(check_bundle(tmp_path / "less").names["radius"]) == (handed.radius <= 1e-5).sum()


ENDS = ("lower", "upper")


def test_the_manifest_says_whom_it_covers_and_older_ones_cover_reals(tmp_path: Path) -> None:
    real, whole = (represent(one, FRAME) for one in encoders(0))
    for name, handed in (("real", real), ("whole", whole)):
        handed.write(tmp_path / name)
        manifest = json.loads((tmp_path / name / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["provenance"]["whole_numbers"] is (name == "whole")
        assert Representation.read(tmp_path / name).provenance == handed.provenance
        del manifest["provenance"]["whole_numbers"]
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        assert Representation.read(tmp_path / name).provenance.whole_numbers is False


def test_a_run_about_whole_numbers_takes_no_parts_of_one_about_reals(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "people.parquet")
    found = {}
    for encoder in encoders(1):
        folder = tmp_path / f"{encoder.whole_numbers}"
        represent_file(encoder, tmp_path / "people.parquet", folder, chunk=2, workers=1)
        found[encoder.whole_numbers] = Representation.read(folder)
        assert found[encoder.whole_numbers].provenance.whole_numbers is encoder.whole_numbers
        assert (found[encoder.whole_numbers].radius == represent(encoder, FRAME).radius).all()
    assert (found[True].radius < found[False].radius).any()


@pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
def test_an_encoder_learns_keeps_and_hands_over_what_it_was_asked_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"a": rng.integers(0, 9, 80), "b": rng.integers(0, 40, 80), "c": np.where(rng.random(80) < 0.5, "u", "v")}
    )
    y = (people["a"] + people["b"] / 9 > 6).astype(int)
    options = {"schema": SCHEMA, "latent_dim": 2, "hidden": (4,), "epochs": 3}
    real, whole = (FairEncoder(PHI, whole_numbers=w, **options).fit(people, y) for w in (False, True))
    assert real.network_.hash != whole.network_.hash  # it is trained on the smaller regions, too
    whole.save(tmp_path / "encoder")
    again = FairEncoder.load(tmp_path / "encoder")
    assert again.whole_numbers is True
    for X in (people, Individuals.read(people, SCHEMA)):
        assert (again.radius(X).radius <= whole.represent(X).radius).all()
        assert (again.reach(X).radius >= again.radius(X).radius - 1e-6).all()
    wider = FrozenEncoder(whole.network_, whole.similarity_)
    assert (whole.represent(people).radius < represent(wider, people).radius).any()
    assert whole.represent(people).provenance.whole_numbers


def test_without_whole_numbers_in_the_schema_nothing_changes() -> None:
    schema = type(SCHEMA)(tuple(replace(one, integer=False) if hasattr(one, "integer") else one for one in SCHEMA))
    similarity = Similarity(PHI, schema, Encoding.fit(FRAME, schema))
    network = encoders(2)[0].network
    real, whole = (represent(FrozenEncoder(network, similarity, w), FRAME) for w in (False, True))
    assert (real.radius == whole.radius).all()
