"""Bundles about tree models: what the search proves, the exact checker confirms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline

import lcifr
from lcifr.certification.bundles.writer import write_bundle
from lcifr.certification.library.library_model import LibraryModel
from lcifr.certification.verdicts import Verdict
from lcifr.check.bundle import check_bundle
from tests.models.trees.semantics import before, table

PHI = "same(town) and numeric within 0.1 sd"
ROWS = "same(town) and age = age' and |income' - income + 3 * score' - 3 * score| <= 4 and numeric within 0.3 sd"


@pytest.mark.parametrize("phi", [PHI, ROWS])
@pytest.mark.parametrize(
    ("estimator", "classes"),
    [
        (GradientBoostingClassifier(n_estimators=15, random_state=0), 2),
        (HistGradientBoostingClassifier(max_iter=10, random_state=0), 3),
        (RandomForestClassifier(9, max_depth=4, random_state=0), 3),
        (RandomForestClassifier(9, random_state=0), 2),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, int) else str(one),
)
def test_all_that_is_claimed_is_confirmed(estimator: Any, classes: int, phi: str, tmp_path: Path) -> None:
    frame, labels = table(classes=classes)
    model = make_pipeline(before(), estimator).fit(frame, labels)
    people = frame.head(25)
    similarity = lcifr.Similarity(phi, lcifr.Schema.infer(frame), frame)
    found = lcifr.audit(model, people, similarity=similarity)
    read = LibraryModel.read(model, people, similarity)
    written = write_bundle(tmp_path / "bundle", read.encoder, people, decisions=found)
    assert written is not None
    assert (written.verdict == found.verdict).all()
    report = check_bundle(tmp_path / "bundle")
    assert not report.rejected
    assert len(report.names["certified"]) == int((found.verdict == Verdict.CERTIFIED).sum()) > 0
    assert len(report.names["counterexample"]) == int(np.sum(found.violated))
