"""Questions about cells: what counts as proved, at the bands of rules."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.sweep.pair_question import PairQuestion
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule
from lcifr.prove import Budget
from lcifr.regions.universe import UniverseCells
from tests.certification.sweep.tiny import ENCODING, FORMULAS, TinyUniverse

BAND = 0.25


def is_proved(lead: float, rule: Rule) -> bool:
    """Of a model whose outputs are the same for everybody, the last above all others by ``lead``."""
    outputs = np.array([lead]) if rule.kind is Kind.SIGN else np.array([0.0, lead])
    network = Network.from_arrays([(np.zeros((len(outputs), len(ENCODING.features))), outputs)])
    question = PairQuestion(TinyUniverse(FORMULAS[1], network, rule).swept)
    return bool(question.ask(UniverseCells.everybody(ENCODING, whole=True), Budget()).proved[0])


@pytest.mark.parametrize("times", [-1.5, -1.01, -0.75, -0.4, 0.0, 0.4, 0.75, 1.01, 1.5])
def test_leads_within_the_band_are_no_decision(times: float):
    rule = Rule(Kind.CLASS, 2, ((0,), (1,)), band=(0.0, BAND))
    assert is_proved(times * BAND, rule) == (abs(times) > 1)


@pytest.mark.parametrize("score", [0.1, 0.29, 0.31, 0.4, 0.5, 0.59, 0.61, 0.9])
def test_scores_within_the_band_are_no_decision(score: float):
    rule = Rule(Kind.SIGN, 1, band=(0.3, 0.6))
    assert is_proved(score, rule) == (score < 0.3 or score > 0.6)
