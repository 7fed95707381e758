"""Certificates of the chosen boosters, proved by the search over the reals and confirmed by the checker.

For each of the two chosen points of a row test people are audited: everyone whom the closed form certifies must
be certified by the search too. Random people among them go into an audit bundle with their proofs.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cells import Cell
from experiments.choose import LEARNED
from experiments.families.rules import RULES, within
from experiments.plan import all_cells
from experiments.store import Found, Store
from experiments.trees.boosters import draw, similarity_over_reals, speaking_of
from experiments.trees.settings import stricter
from experiments.verdicts import share
from lcifr import FairBooster, audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.subject import Subject
from lcifr.check.bundle import check_bundle
from lcifr.datasets import Dataset
from lcifr.phi.similarity import Similarity
from lcifr.workflows.results import CheckedProofs


def confirm_trees(cell: Cell, store: Store, data: Dataset) -> Found:
    """Both points of a row: judged by the search, and some of their certificates by the checker."""
    row, found = cell.settings["row"], _found(cell, store)
    said: Found = {}
    similarity = similarity_over_reals(row, data)
    for rule in RULES:
        choice = within(row, found, "trees", rule)
        if choice is not None:
            (name,) = choice.point.cells
            saved = FairBooster.load(store.model_path(name, "booster"), training=data.train.X)
            said[rule] = {"model": name, **_confirm(saved, similarity, data, cell.settings)}
    return {"confirmed": said}


def _found(cell: Cell, store: Store) -> dict[str, Found]:
    """What the row chooses among, by the plan or by its quick slice: their cells have the same names."""
    row, found = cell.settings["row"], dict[str, Found]()
    places = tuple(f"{one.replace('/', '-')}/" for one in (row, stricter(row)) if one)
    for quick in (True, False):
        plan = (one for one in all_cells(quick=quick) if one.name.startswith(places) and one.kind in LEARNED)
        found |= store.done(plan)
    return found


def _confirm(booster: FairBooster, similarity: Similarity, data: Dataset, settings: dict[str, Any]) -> Found:
    X = data.test.X.iloc[draw(len(data.test), settings["searched"], settings["seed"])]
    model = speaking_of(booster, similarity)
    certified = model.certified(X)
    start = time.process_time()
    searched = audit(model, X, similarity=similarity, arithmetic="exact")
    searching = time.process_time() - start
    rows = np.flatnonzero(certified)
    asked = rows[draw(len(rows), settings["people"], settings["seed"])]
    with tempfile.TemporaryDirectory() as folder:
        said = _check(Path(folder) / "bundle", model, similarity, X.iloc[asked])
    return {
        "certified": share(certified),
        "search": share(searched.certified),
        "violated": share(searched.violated),
        "lost": int((certified & ~searched.certified).sum()),
        "searched": len(X),
        "seconds_searching": round(searching / len(X), 7),
        **said,
    }


def _check(folder: Path, model: FairBooster, similarity: Similarity, people: Any) -> Found:
    found = audit(model, people, similarity=similarity, arithmetic="exact")
    encoder = Subject.of_library(model, people, similarity).encoder
    start = time.process_time()
    write_bundle(folder, encoder, found.people, decisions=found)
    proving, start = time.process_time() - start, time.process_time()
    checked = CheckedProofs.from_report(check_bundle(folder))
    return {
        "asked": len(people),
        "confirmed": checked.certified,
        "refused": dict(list(checked.rejected.items())[:3]),
        "seconds_proving": round(proving / max(len(people), 1), 4),
        "seconds_checking": round((time.process_time() - start) / max(len(people), 1), 4),
    }
