"""Bundles about tree models: what the search proves, the exact checker confirms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline

import lcifr
from lcifr.certification.bundle import write_bundle
from lcifr.certification.subject import Subject
from lcifr.certification.verdicts import Verdict
from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.errors import LcifrError
from lcifr.workflows.checking import CheckRequest, check
from tests.models.loaders.tree_semantics import before, table

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
    read = Subject.of_library(model, people, similarity)
    written = write_bundle(tmp_path / "bundle", read.encoder, people, decisions=found)
    assert written is not None
    assert (written.verdict == found.verdict).all()
    report = check_bundle(tmp_path / "bundle")
    assert not report.rejected
    assert len(report.names["certified"]) == int((found.verdict == Verdict.CERTIFIED).sum()) > 0
    assert len(report.names["counterexample"]) == int(np.sum(found.violated))


def test_a_large_model_needs_patience_or_says_why_it_cannot_be_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, labels = table(count=120)
    model = make_pipeline(before(), RandomForestClassifier(9, max_depth=5, random_state=0)).fit(frame, labels)
    people, similarity = frame.head(3), lcifr.Similarity(PHI, lcifr.Schema.infer(frame), frame)
    found, read = lcifr.audit(model, people, similarity=similarity), Subject.of_library(model, people, similarity)
    write_bundle(tmp_path / "bundle", read.encoder, people, decisions=found)
    monkeypatch.setattr("lcifr.check.bundle.VALUES", 600)  # as if it were a few hundred times as large
    with pytest.raises(Rejected, match=r"at most 600 values in model\.json"):
        check_bundle(tmp_path / "bundle")
    assert not check_bundle(tmp_path / "bundle", patience=16).rejected
    with pytest.raises(LcifrError, match=r"(?s)at most 600 values in model\.json.*allow more work: --patience 10"):
        check(CheckRequest(tmp_path / "bundle"))
    monkeypatch.setattr("lcifr.check.exact.VALUES", 20)
    with pytest.raises(LcifrError, match=r"(?s)a checker reads 320 values.*--no-bundle"):
        write_bundle(tmp_path / "again", read.encoder, people, decisions=found)
