"""Look-up: only of what was swept, only in strictly proved cells, and with the verdicts of a search."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import lcifr
from lcifr import Similarity
from lcifr.certification.subject import Hashes
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.certification.verdicts import Audit, Verdict
from lcifr.data import Individuals
from lcifr.errors import ArtefactError
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, everybody, fitted

TABLE, MODEL = everybody().to_pandas(), fitted(LogisticRegression(), 1)
PHI = Similarity(FORMULAS[0], SCHEMA, ENCODING)


@pytest.fixture(scope="module")
def swept() -> Sweep:
    return lcifr.sweep(MODEL, TABLE, similarity=PHI)


@pytest.fixture(scope="module")
def searched() -> Audit:
    return lcifr.audit(MODEL, TABLE, similarity=PHI)


def test_a_look_up_has_the_verdicts_of_a_search(swept: Sweep, searched: Audit):
    found = lcifr.audit(MODEL, TABLE, similarity=PHI, sweep=swept)
    assert np.array_equal(found.verdict, searched.verdict)
    assert np.array_equal(found.prediction, searched.prediction)
    assert np.array_equal(found.alone, searched.alone)
    assert np.array_equal(found.others.codes[found.violated], searched.others.codes[searched.violated])
    assert found.looked_up is not None
    here = found.looked_up.found
    assert np.array_equal(here, found.certified)
    assert np.array_equal(here, swept.locate(TABLE) == CellStatus.PROVED)
    for row in np.flatnonzero(here):
        cell = swept.proved[found.looked_up.cell[row]].cell
        assert cell.contains(everybody().take([row]))[0]
    frame = found.frame()
    assert (frame.loc[here, "sweep"] == "claimed").all()
    assert (frame.loc[here, "sweep_hash"] == swept.hash).all()
    assert (frame.loc[~here, "sweep"] == "").all()
    assert f"{here.sum()} people were looked up in a sweep" in found._repr_html_()


def test_nobody_in_a_proved_cell_is_searched_for(swept: Sweep, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    auditor = import_module("lcifr.certification.audit")  # the package has a function of that name
    honest = auditor.search_whole

    def watch(checker, *rest) -> Any:  # type: ignore[no-untyped-def]
        asked.append(len(checker.people))
        return honest(checker, *rest)

    monkeypatch.setattr(auditor, "search_whole", watch)
    lcifr.audit(MODEL, TABLE, similarity=PHI, sweep=swept)
    assert asked == [(swept.locate(TABLE) != CellStatus.PROVED).sum()]


@pytest.mark.parametrize("name", [one.name for one in fields(Hashes)])
def test_what_is_about_something_else_is_refused_by_its_name(swept: Sweep, name: str):
    assert swept.hashes is not None
    other = replace(swept, hashes=replace(swept.hashes, **{name: "else"}))
    word = {"similarity": "φ", "decision": "rule", "encoding": "encoding"}.get(name, name)
    with pytest.raises(ArtefactError, match=f"another {word}"):
        lcifr.audit(MODEL, TABLE, similarity=PHI, sweep=other)


def test_another_model_and_another_formula_are_both_named(swept: Sweep):
    with pytest.raises(ArtefactError, match="another model, another φ"):
        lcifr.audit(
            fitted(LogisticRegression(), 2), TABLE, similarity=Similarity(FORMULAS[1], SCHEMA, ENCODING), sweep=swept
        )


def test_cells_that_are_proved_for_strict_crossings_only_certify_nobody(swept: Sweep):
    first, *others = swept.proved
    weaker = replace(swept, proved=(replace(first, strict=False), *others))
    found, before = ProvedCells.of(weaker).find(everybody()), ProvedCells.of(swept).find(everybody())
    assert np.array_equal(found, np.where(before <= 0, -1, before - 1))  # numbered strictly proved ones first
    with pytest.raises(ArtefactError, match="no strictly proved cell"):
        ProvedCells.of(replace(swept, proved=tuple(replace(one, strict=False) for one in swept.proved)))


def test_who_cannot_exist_is_in_no_cell(swept: Sweep):
    people = everybody().take(np.flatnonzero(swept.locate(TABLE) == CellStatus.PROVED))
    half = Individuals(SCHEMA, people.numbers + 0.5, people.codes)
    assert (ProvedCells.of(swept).find(half) == -1).all()


def test_the_hash_names_what_is_said(swept: Sweep):
    assert swept.hash == lcifr.sweep(MODEL, TABLE, similarity=PHI).hash
    moved = replace(swept, proved=swept.proved[:-1], open=(swept.proved[-1],))
    named = {swept.hash, moved.hash, replace(swept, whole=False).hash, replace(swept, hashes=None).hash}
    assert len(named) == 4


def test_a_sweep_over_the_reals_serves_people_with_whole_numbers(searched: Audit):
    reals = lcifr.sweep(MODEL, TABLE, similarity=PHI, universe="reals", cells=200)
    found = lcifr.audit(MODEL, TABLE, similarity=PHI, sweep=reals)
    assert found.looked_up is not None
    assert found.looked_up.found.any()
    assert (searched.verdict[found.looked_up.found] == Verdict.CERTIFIED).all()
