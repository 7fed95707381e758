"""A proof search that stops early makes nobody certified in writing; one that lies is refused by the checker."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.certification import demands
from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.certification.population import state
from lcifr.certification.verdicts import Reason, Verdict
from lcifr.check.bundle import check_bundle
from lcifr.prove import maximize
from tests.certification.scenes import FORMULAS, Scene, scene

ONS = ("ball", "box", "whole")
CLOSE = ((6, 0), (6, 2), (14, 2))  # seed, formula: somebody is certified, but not by intervals


def decided(one: Scene, handed: Any, on: Any) -> Any:
    if on == "whole":
        return audit(one.encoder, one.model, one.people, modular=False)
    return certify(handed, one.model, on=on)


def root_only(*arguments: Any, **options: Any) -> Any:
    """A search for a proof that stops before its first split."""
    return maximize(*arguments, **(options | ({"method": "interval"} if options.get("proof") else {})))


def lying(*arguments: Any, **options: Any) -> Any:
    """A search that stops before its first split and says that it reached what it was asked for."""
    found = root_only(*arguments, **options)
    if not options.get("proof"):
        return found
    return replace(found, upper=np.full_like(found.upper, -1e9), best=np.full_like(found.best, -1e9))


@pytest.mark.parametrize("on", ONS)
def test_whose_proof_stops_short_is_undecided(on: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "maximize", root_only)
    short = kept = unproved = 0
    for seed, formula in CLOSE:
        one = scene(seed, FORMULAS[formula], count=5, depth=1)
        handed = represent(one.encoder, one.people)
        found = decided(one, handed, on)
        written = write_bundle(tmp_path / f"{seed} {formula}", one.encoder, one.people, handed, found)
        report = check_bundle(tmp_path / f"{seed} {formula}")
        lost = found.certified & ~written.certified
        assert report.rejected == {}  # nothing is claimed that the proofs do not show
        (tmp_path / f"{seed} {formula}.json").write_text(json.dumps(asdict(report)))
        marked = handed.with_report(tmp_path / f"{seed} {formula}.json")  # it is still the hand-over of that hash
        assert marked.checked.sum() == len(report.names["radius"]) == len(handed) - len(report.names["unproved"])
        assert on == "whole" or set(np.flatnonzero(written.certified)) <= set(np.flatnonzero(marked.checked))
        unproved += len(report.names["unproved"])
        open_ = np.flatnonzero(written.verdict == Verdict.UNDECIDED)
        assert [str(row) for row in open_] == report.names["undecided"]
        assert (written.verdict[lost] == Verdict.UNDECIDED).all()
        assert (written.reason[lost] == Reason.UNPROVED).all()
        assert (written.margin[lost] <= 0).all()
        assert (written.verdict == found.verdict)[~lost].all()
        before, after = (state(one_of, held_out=False).certified for one_of in (found, written))
        assert after == before - lost.sum()
        short, kept = short + int(lost.sum()), kept + int(written.certified.sum())
    assert short
    assert kept
    assert unproved


@pytest.mark.parametrize("on", ONS)
def test_a_search_that_lies_is_refused_aloud(on: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "maximize", lying)
    refused = 0
    for seed, formula in CLOSE:
        one = scene(seed, FORMULAS[formula], count=5, depth=1)
        handed = represent(one.encoder, one.people)
        found = decided(one, handed, on)
        write_bundle(tmp_path / f"{seed} {formula}", one.encoder, one.people, handed, found)
        refused += len(check_bundle(tmp_path / f"{seed} {formula}").rejected)
    assert refused


def test_a_search_that_goes_on_to_the_end_changes_nothing(tmp_path: Path) -> None:
    for seed, on in enumerate(ONS):
        one = scene(seed, FORMULAS[seed], count=5)
        handed = represent(one.encoder, one.people)
        found = decided(one, handed, on)
        assert write_bundle(tmp_path / on, one.encoder, one.people, handed, found) is found
    assert write_bundle(tmp_path / "radii", one.encoder, one.people, handed) is None
