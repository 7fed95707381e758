"""Tampered bundles, hashes redone: whenever exact arithmetic says that a claim is false, the checker rejects it."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder, represent
from lcifr.check.bundle import check_bundle
from lcifr.check.phi import derive
from tests.certification.made_bundles import (
    KINDS,
    PARTS,
    SCENES,
    Oracle,
    bundle,
    changed,
    confirmed_in,
    contents,
    judge_of,
    judged_by,
)
from tests.certification.scenes import FORMULAS, scene
from tests.effort import sampled
from tests.prove.instances import random_network


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(SCENES)))
def test_a_right_bundle_is_confirmed(number: int, kind: str) -> None:
    report = check_bundle(bundle(number, kind))
    assert (report.rejected, report.names["unproved"], report.people) == ({}, [], 4)
    judge = judge_of(contents(number, kind))
    oracle = Oracle(judge, 0)
    assert not any(oracle.refutes(line) for line in contents(number, kind)["lines"])


def test_decisions_alone_and_radii_alone_are_confirmed(tmp_path: Path) -> None:
    seen = 0
    for seed in range(4):
        one = scene(seed, FORMULAS[0], count=4)
        found = audit(one.encoder, one.model, one.people, modular=False)
        write_bundle(tmp_path / f"decisions{seed}", one.encoder, one.people, None, found)
        report = check_bundle(tmp_path / f"decisions{seed}")
        assert report.rejected == {}
        counts = {kind: len(names) for kind, names in report.names.items()}
        assert (counts["certified"], counts["counterexample"]) == (found.certified.sum(), found.violated.sum())
        assert counts["radius"] == 0
        seen += counts["counterexample"]
        write_bundle(tmp_path / f"radii{seed}", one.encoder, one.people, represent(one.encoder, one.people))
        radii = check_bundle(tmp_path / f"radii{seed}")
        assert len(radii.names["radius"]) == 4
        assert not any("what must agree" in line for line in radii.lines())  # nothing was decided
    assert seen


def test_a_linear_encoder_is_confirmed_where_a_row_of_the_formula_counts(tmp_path: Path) -> None:
    """The box alone would be wider than what the engine found: the proof has to bring the row's multiplier."""
    for seed in range(4):
        one = scene(seed, FORMULAS[3], count=4)
        linear = random_network(np.random.default_rng(seed), [len(one.encoder.encoding.features), one.model.inputs])
        encoder = FrozenEncoder(linear, one.encoder.similarity)
        handed = represent(encoder, one.people)
        found = audit(encoder, one.model, one.people, modular=handed)
        write_bundle(tmp_path / f"{seed}", encoder, one.people, handed, found)
        report = check_bundle(tmp_path / f"{seed}")
        assert (report.rejected, report.names["unproved"]) == ({}, [])
        assert len(report.names["radius"]) == 4


@sampled(120)
@given(st.integers(0, len(SCENES) - 1), st.sampled_from(KINDS), st.sampled_from(PARTS), st.integers(0, 2**32))
def test_what_is_false_after_a_change_is_rejected(number: int, kind: str, where: str, change: int) -> None:
    plain = changed(number, kind, where, change)
    for line, found in confirmed_in(plain):
        if not found.names["undecided"]:
            assert not Oracle(judge_of(plain), change).refutes(line)


@sampled(60)
@given(st.integers(0, len(SCENES) - 1), st.sampled_from(KINDS), st.integers(0, 2**32))
def test_weaker_numbers_are_rejected(number: int, kind: str, change: int) -> None:
    """A radius below what is reached, a z elsewhere, another person's x or proofs: rejected, or still true."""
    plain = copy.deepcopy(contents(number, kind))
    rng = np.random.default_rng(change)
    one, other = rng.choice(4, 2, replace=False)
    what = ("radius", "z", "x", "proofs")[rng.integers(4)]
    if what == "radius":
        plain["lines"][one]["latent"]["radius"] *= 0.9
    elif what == "x":
        plain["lines"][one]["x"] = plain["lines"][other]["x"]
    else:
        plain["lines"][one]["latent"][what] = plain["lines"][other]["latent"][what]
    judge = judge_of(plain)
    found = judged_by(judge, plain["lines"][one])
    if Oracle(judge, change).refutes(plain["lines"][one]):
        assert found.rejected
    if what == "radius":
        assert found.rejected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(SCENES)))
@pytest.mark.parametrize("what", ["no proofs", "no claim", "node gone", "node twice"])
def test_a_proof_with_a_part_gone_or_repeated_is_rejected(number: int, kind: str, what: str) -> None:
    plain = copy.deepcopy(contents(number, kind))
    judge = judge_of(plain)
    for line in plain["lines"]:
        proofs = line["latent"]["proofs"]
        if not derive(judge.formulas[line["latent"]["universe"]], judge.table.person(line["x"])):
            continue
        if what == "no proofs":
            line["latent"]["proofs"] = []
        elif what == "no claim":
            for kind, *inside in (node for tree in proofs for node in tree):
                if kind == "leaf":
                    inside[1].pop()
        else:
            for tree in proofs:
                tree[:1] = tree[:1] * (0 if what == "node gone" else 2)
        assert judged_by(judge, line).rejected
