"""Explanations of the explorer's people: scores of attributes, contributions, outputs around counterexamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.explain import PAIRS, SHOWN, Contributions, Explanation, undrawn_pairs
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.profiles import profiles
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.display.scores import PersonScore, Profile
from lcifr.errors import LcifrError
from lcifr.models.rule import Kind
from lcifr.report.people.content import Scores

AROUND = 300
"""Counterexamples at most around which the output is drawn."""
EACH = 4
"""Attributes of one counterexample, those that move the output most."""
PIECES = 40_000
"""Of all these drawings; where models have very many thresholds, fewer are drawn."""


@dataclass(frozen=True)
class Explained:
    """For the explorer's people, in their order: contributions and profiles; and what each attribute adds."""

    contributions: list[PersonScore | None]
    profiles: list[tuple[Profile, ...]]
    scores: Scores | None = None


def explain_people(
    found: Audit | Certificates, rows: NDArray[np.intp], encoder: FrozenEncoder | None, words: Mapping[str, str]
) -> Explained:
    """Of the people ``rows``; nothing where the encoder is not at hand, and no scores where a model is not additive."""
    blank = Explained([None] * len(rows), [()] * len(rows))
    if encoder is None or not isinstance(found, Audit):
        return blank
    explanation = Explanation(encoder, found.model, found.people, found.ids, found.others, found.violated)
    around = _around(explanation, rows)
    if explanation.terms is None or len(found.people) == 0:
        return Explained(blank.contributions, around)
    contributions = Contributions(explanation.terms, found.model, encoder.encoding, explanation.everybody, words)
    try:
        listed: list[PersonScore | None] = [*contributions.of(found.people.take(rows), encoder.similarity)]
    except LcifrError:  # ranks among people who are not at hand
        listed = blank.contributions
    return Explained(listed, around, _scores(explanation, contributions))


def _scores(explanation: Explanation, contributions: Contributions) -> Scores:
    one, rule = explanation.model.function.outputs == 1, explanation.model.rule
    average = contributions.found.base + contributions.means.sum(0)
    return Scores(
        drawn=explanation.scores[:SHOWN],
        moves={score.attribute: score.moves for score in explanation.scores},
        pairs=explanation.pair_scores[:PAIRS],
        undrawn=tuple(undrawn_pairs(explanation.pairs, explanation.pair_scores)),
        average=float(average[0]) if one else None,
        up=contributions.name_of(1) if rule.kind is Kind.SIGN else "",
    )


def _around(explanation: Explanation, rows: NDArray[np.intp]) -> list[tuple[Profile, ...]]:
    """The profiles of as many counterexamples as the page has room for."""
    assert explanation.others is not None
    assert explanation.violated is not None
    found: list[tuple[Profile, ...]] = [()] * len(rows)
    pieces, drawn = 0, 0
    for place, row in enumerate(rows.tolist()):
        if explanation.violated[row] and drawn < AROUND and pieces < PIECES:
            pair = explanation.people.take([row]), explanation.others.take([row])
            found[place] = _largest(profiles(explanation.encoder, explanation.model, *pair))
            pieces += sum(len(one.outputs) for one in found[place])
            drawn += 1
    return found


def _largest(around: tuple[Profile, ...]) -> tuple[Profile, ...]:
    """Those that move the output most, in their order."""
    kept = sorted(around, key=lambda one: -abs(one.at_own - one.at_other))[:EACH]
    return tuple(one for one in around if one in kept)
