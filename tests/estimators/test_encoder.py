"""FairEncoder: transfer, several kinds of labels, warnings, history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.errors import LearningError
from lcifr.estimators import FairEncoder, RobustClassifier, RobustRegressor
from lcifr.learn.scores import DegenerateModelWarning, effective_rank
from lcifr.phi.similarity import Similarity
from tests.estimators.quick import QUICK, quiet
from tests.learn.populations import FORMULA, population


@quiet
@pytest.mark.parametrize("kind", ["classes", "number"])
@pytest.mark.parametrize("method", ["bounds", "dl2"])
def test_several_classes_and_numbers(kind: str, method: str) -> None:
    X, y = population(250, kind=kind)
    gamma = 1.0 if method == "bounds" else 0.1
    encoder = FairEncoder(FORMULA, method=method, gamma=gamma, tolerance=500.0, **{**QUICK, "epochs": 15}).fit(X, y)
    found = encoder.reach(X)
    head: Any = RobustClassifier() if kind == "classes" else RobustRegressor(tolerance=1500.0)
    head.fit(found.latent, y, radius=found.radius)
    assert head.score(found.latent, y) > 0.55
    assert head.certified(found.latent, found.radius).mean() > 0.2
    assert encoder.history_[-1].validation.score > 0.4


@quiet
def test_transfer_one_producer_without_labels_and_several_consumers() -> None:
    X, _ = population(250)
    fair, bare = (FairEncoder(FORMULA, gamma=gamma, **{**QUICK, "epochs": 25}).fit(X) for gamma in (0.1, 0.0))
    assert fair.target_ is None
    assert fair.decoder_ is not None
    spread = [m.reach(X).radius.mean() / m.transform(X).std(0).mean() for m in (fair, bare)]
    assert spread[0] < spread[1]
    Z = fair.transform(X)
    for label in (X["age"] > 45, X["job"] == "cook"):
        y = label.to_numpy().astype(int)
        assert RobustClassifier(against="nothing").fit(Z, y).score(Z, y) > max(y.mean(), 1 - y.mean()) + 0.05


@quiet
def test_a_decoder_keeps_more_of_x() -> None:
    X, y = population(250)
    options = {**QUICK, "epochs": 25}
    ranks = [
        effective_rank(FairEncoder(FORMULA, decoder_weight=weight, **options).fit(X, y).transform(X))
        for weight in (0.0, 3.0)
    ]
    assert ranks[1] > ranks[0]


def test_a_collapsed_model_is_called_so() -> None:
    X, y = population(120)
    y = np.where(np.arange(120) % 12 == 0, y, 1)  # nearly everybody has the same label
    encoder = FairEncoder(FORMULA, gamma=1000.0, **{**QUICK, "epochs": 3, "learning_rate": 1e-4})
    with pytest.warns(DegenerateModelWarning) as caught:
        encoder.fit(X, y)
    assert "constant" in {one.name for one in encoder.degeneracies_}
    assert any("same for everybody" in str(warning.message) for warning in caught)


def test_people_who_are_alone_are_counted() -> None:
    X, y = population(60)
    with pytest.warns(DegenerateModelWarning) as caught:
        encoder = FairEncoder("same(all)", **{**QUICK, "epochs": 2}).fit(X, y)
    assert any("nobody similar" in str(warning.message) for warning in caught)
    assert "alone" in {one.name for one in encoder.degeneracies_}


@quiet
def test_similarity_may_be_a_text_a_path_a_name_or_an_object(tmp_path: Path) -> None:
    X, y = population(60)
    options = {**QUICK, "epochs": 2}
    (tmp_path / "law.phi").write_text(FORMULA)
    first = FairEncoder(FORMULA, **options).fit(X, y)
    ready_made = Similarity(FORMULA, first.schema_, first.encoding_)
    for similarity in (str(tmp_path / "law.phi"), tmp_path / "law.phi", ready_made):
        assert FairEncoder(similarity, **options).fit(X, y).network_.hash == first.network_.hash
    with pytest.raises(LearningError, match="similarity is int"):
        FairEncoder(3, **options).fit(X, y)
    with pytest.raises(LearningError, match="method="):
        FairEncoder(FORMULA, method="magic", **options).fit(X, y)


@quiet
def test_history_tells_every_epoch_and_early_stopping_stops() -> None:
    X, y = population(100)
    encoder = FairEncoder(FORMULA, patience=6, **{**QUICK, "epochs": 200}).fit(X, y)
    assert [epoch.number for epoch in encoder.history_] == list(range(len(encoder.history_)))
    assert len(encoder.history_) < 200
    rates = [epoch.rate for epoch in encoder.history_]
    assert rates[-1] < rates[0]
    assert all(0 <= epoch.validation.certified <= 1 for epoch in encoder.history_)


@quiet
def test_progress_is_shown_on_stderr_alone(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = population(60)
    FairEncoder(FORMULA, verbose=True, **{**QUICK, "epochs": 2}).fit(X, y)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "certified" in shown.err
