"""Baselines beside an audit: both models share the regions of the people, and their figures are those of an audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lcifr.certification.audit import audit
from lcifr.certification.handover import freeze
from lcifr.certification.population import state
from lcifr.data import Individuals
from lcifr.estimators import RobustClassifier, plain
from lcifr.phi import Similarity
from lcifr.workflows.baselines import figures_of, fit_plain_head, judge_baselines
from lcifr.workflows.producing import load_encoder
from lcifr.workflows.subjects import FolderOrigin


@pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
def test_people_are_lowered_once_for_both_baselines(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = FolderOrigin.read(story / "producer", story / "consumer")
    subject, source = origin.subject(), origin.people(None, None, tmp_path)
    asked = origin.baselines(subject, 0)
    assert asked is not None
    settings, training = asked
    people, y, honest, lowered = source.individuals(), source.labels(), Similarity.region, []

    def region(self: Similarity, x: Any, **options: Any) -> Any:
        lowered.append(x is people or (isinstance(x, Individuals) and len(x) == len(people)))
        return honest(self, x, **options)

    monkeypatch.setattr(Similarity, "region", region)
    found = judge_baselines(settings, training, people, y)
    assert sum(lowered) == 1
    encoder = plain(load_encoder(story / "producer"))
    encoder.fit(training.X, training.y)
    head = fit_plain_head(RobustClassifier(), encoder, training.X, training.y)
    frozen = replace(freeze(encoder), similarity=subject.similarity)
    assert found["plain"] == figures_of(state(audit(frozen, head, people, modular=False), y, held_out=False))
