"""Bundles about trees behind an encoder: what is proved, the exact checker confirms, and nothing that is false."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import Representation, represent
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.check.bundle import check_bundle
from lcifr.errors import ArtefactError
from tests.certification.encoded_trees import tiny_world
from tests.certification.made_bundles import (
    PARTS,
    Oracle,
    confirmed_in,
    contents_of,
    judge_of,
    judged_by,
    mutate,
    said_of,
)
from tests.effort import sampled

ON = ("whole", "box", "ball")
TOLERANCE = 0.5


@cache
def claimed(kind: str, on: str, seed: int = 13) -> tuple[Path, Audit | Certificates]:
    """A bundle that is right, and what it is about: an audit (``whole``), or certificates on a hand-over."""
    world, tolerance = tiny_world(kind, seed), TOLERANCE if kind == "numbers" else None
    handed: Representation | None = None
    found: Audit | Certificates = audit(world.encoder, world.model, world.people, tolerance=tolerance, modular=False)
    if on != "whole":
        handed = represent(world.encoder, world.people)
        found = certify(handed, world.model, on=on, tolerance=tolerance)  # type: ignore[arg-type]
    folder = Path(mkdtemp()) / "bundle"
    written = write_bundle(folder, world.encoder, world.people, handed, found)
    assert written is not None
    assert (written.verdict == found.verdict).all()
    return folder, found


@pytest.mark.parametrize("kind", ["classes", "three classes", "numbers"])
@pytest.mark.parametrize("on", ON)
def test_all_that_is_claimed_is_confirmed(kind: str, on: str) -> None:
    folder, found = claimed(kind, on)
    report = check_bundle(folder)
    assert not report.rejected
    assert len(report.names["certified"]) == int(found.certified.sum()) > 0
    if isinstance(found, Audit):
        assert len(report.names["counterexample"]) == int(found.violated.sum()) > 0
        assert report.names["radius"] == report.names["certified"]  # each rests on one, and others need none


@cache
def certified_lines(on: str) -> dict[str, Any]:
    """The bundle with the people who are certified alone."""
    plain = contents_of(claimed("classes", on)[0])
    return plain | {"lines": [line for line in plain["lines"] if line["decision"]["verdict"] == "certified"]}


@sampled(100)
@given(st.sampled_from(ON), st.sampled_from(PARTS), st.integers(0, 2**32))
def test_what_is_false_after_a_change_is_rejected(on: str, where: str, change: int) -> None:
    plain = copy.deepcopy(certified_lines(on))
    mutate(plain, where, np.random.default_rng(change))
    for line, found in confirmed_in(plain):
        if not found.names["undecided"]:
            assert not Oracle(judge_of(plain), change).refutes(line)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("what", ["no latent", "exact", "whole", "another threshold", "narrower"])
def test_a_claim_that_rests_on_nothing_is_rejected(on: str, what: str) -> None:
    plain = copy.deepcopy(certified_lines(on))
    line = plain["lines"][0]
    if what == "no latent":
        del line["latent"]
    elif what == "exact":
        plain = said_of(plain, arithmetic="exact")
        line = plain["lines"][0]
    elif what == "whole":  # there is one proof for the trees alone, none for both
        line["decision"]["on"] = "whole"
    elif what == "another threshold":  # the first number of z is at it
        node = next(node for tree in plain["model.json"]["trees"] for node in tree if node[0] == "numeric")
        plain["model.json"]["trees"] = [[["numeric", node[1], line["latent"]["z"][node[1]]], *LEAVES]]
    else:
        line["latent"]["upper"] = line["latent"]["lower"]
    assert judged_by(judge_of(plain), line).rejected


LEAVES = [["leaf", [[0, -999.0]]], ["leaf", [[0, 999.0]]]]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_another_person_who_is_decided_alike_is_no_counterexample(kind: str) -> None:
    plain = contents_of(claimed(kind, "whole")[0])
    judge = judge_of(plain)
    refuted = [line for line in plain["lines"] if line["decision"]["verdict"] == "counterexample"]
    for line in refuted:
        assert not judged_by(judge, line).rejected
        line["decision"]["other"] = line["x"]
        assert "decided alike" in next(iter(judged_by(judge, line).rejected.values()))


def test_an_audit_and_a_hand_over_are_two_bundles(tmp_path: Path) -> None:
    world = tiny_world("classes", 13)
    found, handed = claimed("classes", "whole")[1], represent(world.encoder, world.people)
    with pytest.raises(ArtefactError, match="boxes of its own"):
        write_bundle(tmp_path / "bundle", world.encoder, world.people, handed, found)
