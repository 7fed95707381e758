"""Certificates of the chosen model, proved again and confirmed in exact arithmetic by the checker.

Random certified people of the test set go into an audit bundle with their proofs: that everyone similar lands within
the radius, and that the decision is the same on that ball. ``lcifr.check`` derives their similar people itself.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cells import Cell
from experiments.choose import chosen
from experiments.plan import needed
from experiments.store import Found, Store
from experiments.verdicts import as_representation, exactly
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.check.bundle import check_bundle
from lcifr.datasets import Dataset
from lcifr.estimators import FairEncoder, RobustClassifier
from lcifr.workflows.results import CheckedProofs


def confirm(cell: Cell, store: Store, data: Dataset) -> Found:
    """Confirm as many certified people of the chosen model as the settings ask for."""
    row, seed = cell.settings["row"], cell.settings["seed"]
    point = chosen(row, needed(cell, store))
    assert point is not None
    name = next(name for name in point.cells if name.endswith(f"-s{seed}"))
    encoder = FairEncoder.load(store.model_path(name, "encoder"), training=data.train.X)
    head = RobustClassifier.load(store.model_path(name, f"{point.head}.head"))
    judged = exactly(encoder, head, data.test)
    rows = np.flatnonzero(judged.certified)
    asked = np.sort(np.random.default_rng(seed).permutation(rows)[: cell.settings["people"]])
    with tempfile.TemporaryDirectory() as folder:
        said = _check(Path(folder) / "bundle", encoder, head, data.test.X, judged, asked)
    return {"model": name, "head": point.head, "certified": len(rows), **said}


def _check(folder: Path, encoder: Any, head: Any, X: Any, judged: Any, rows: Any) -> Found:
    people = X.iloc[rows]
    part = replace(judged.radius, **{name: getattr(judged.radius, name)[rows] for name in PER_PERSON}, proof=None)
    # Halfway between the proved radius and the margin: the ball still decides alike, and proofs need no last digit.
    ball = as_representation(encoder, part, (part.radius + judged.margin[rows]) / 2)
    decisions = certify(ball, head, largest_radius=False, arithmetic="exact")
    start = time.process_time()
    write_bundle(folder, encoder, people, ball, decisions)
    proving, start = time.process_time() - start, time.process_time()
    checked = CheckedProofs.from_report(check_bundle(folder))
    return {
        "asked": len(rows),
        "confirmed": checked.certified,
        "refused": dict(list(checked.rejected.items())[:3]),
        "seconds_proving": round(proving / max(len(rows), 1), 4),
        "seconds_checking": round((time.process_time() - start) / max(len(rows), 1), 4),
    }


PER_PERSON = ("latent", "radius", "lower", "upper", "attained", "witness", "exact", "nodes")
