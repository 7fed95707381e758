"""Contributions: what each attribute adds to a person's output, and how far it could move for somebody similar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lcifr.certification.explanations.additive_trees import term_maximum, term_name
from lcifr.data import Encoding, Individuals
from lcifr.drawing.scores import Contribution, PersonScore
from lcifr.learn.trees.additive import AdditiveModel
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.regions.region import FloatArray, IntArray, Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.similarity import Similarity

LISTED = 12
"""Attributes that are listed for a person: those that add most, or could move most."""


@dataclass(frozen=True)
class _Direction:
    """Which linear output is explained to some people, and what speaks for more and for less of it."""

    weights: FloatArray
    up: str
    down: str
    threshold: float | None


class Contributions:
    """Of an additive model, centred at the mean of everybody.

    Parameters
    ----------
    everybody : whose mean is the average. words : for the model's labels.
    """

    def __init__(
        self,
        found: AdditiveModel,
        model: Model,
        encoding: Encoding,
        everybody: Individuals,
        words: Mapping[str, str] | None = None,
    ) -> None:
        self.found, self.model, self.encoding, self.words = found, model, encoding, words or {}
        x = encoding.encode(everybody)
        means = [term(x).mean(0) for term in found.terms]
        self.means = np.reshape(means, (len(means), len(found.base)))  # (terms, outputs)

    def of(self, people: Individuals, similarity: Similarity) -> list[PersonScore]:
        """Of each of these people; ``similarity`` over the model's own encoding."""
        region = narrow_to_whole_numbers(similarity.region(people), self.encoding)
        x = self.encoding.encode(people)
        added = self.of_terms(x)
        outputs = self.found.base + self.means.sum(0) + added.sum(1)
        scores: list[PersonScore | None] = [None] * len(people)
        directions, which = self._directions(outputs)
        for number, direction in enumerate(directions):
            rows = np.flatnonzero(which == number)
            made = self._scores(direction, added[rows] @ direction.weights, region.take(rows))
            for row, score in zip(rows.tolist(), made, strict=True):
                scores[row] = score
        return [score for score in scores if score is not None]

    def of_terms(self, x: FloatArray) -> FloatArray:
        """(people, features) encoded people to (people, terms, outputs) what each term adds, less its mean."""
        added = np.zeros((len(x), *self.means.shape))
        for place, term in enumerate(self.found.terms):
            added[:, place] = term(x)
        return added - self.means

    def _directions(self, outputs: FloatArray) -> tuple[list[_Direction], IntArray]:
        """What is explained: the only output, or the lead of a person's class over the next one."""
        rule = self.model.rule
        one = np.eye(1, rule.outputs)[0]
        if rule.kind is Kind.NUMBER:
            return [_Direction(one, "a higher number", "a lower number", None)], np.zeros(len(outputs), np.intp)
        names = [self.name_of(place) for place in range(rule.classes)]
        if rule.kind is Kind.SIGN:
            return [_Direction(one, names[1], names[0], rule.middle)], np.zeros(len(outputs), np.intp)
        first = outputs.argmax(1)
        group = rule.group_of
        second = np.where(group == group[first][:, None], -np.inf, outputs).argmax(1)
        pairs, which = np.unique(first * rule.classes + second, return_inverse=True)
        eye = np.eye(rule.classes)
        both = [divmod(int(pair), rule.classes) for pair in pairs]
        return [_Direction(eye[a] - eye[b], names[a], names[b], 0.0) for a, b in both], which.reshape(-1)

    def name_of(self, place: int) -> str:
        """The word for a class."""
        label = str(place if self.model.labels is None else self.model.labels[place])
        return self.words.get(label, label)

    def _scores(self, direction: _Direction, added: FloatArray, region: Region) -> list[PersonScore]:
        """Of people who share a direction; ``added`` : (people, terms)."""
        centre = self.means @ direction.weights
        average = float(self.found.base @ direction.weights + centre.sum())
        ends = _ContributionEnds.of(self.found, direction.weights, region)
        low, high = ends.low - centre, ends.high - centre
        alone = ~region.nonempty
        low[alone], high[alone] = added[alone], added[alone]
        total = average + added.sum(1)
        lowest = np.where(alone, total, ends.lowest + self.found.base @ direction.weights)
        highest = np.where(alone, total, ends.highest + self.found.base @ direction.weights)
        return [
            PersonScore(
                average,
                float(total[row]),
                float(lowest[row]),
                float(highest[row]),
                direction.up,
                direction.down,
                direction.threshold,
                *self._listed(added[row], low[row], high[row]),
            )
            for row in range(len(added))
        ]

    def _listed(self, added: FloatArray, low: FloatArray, high: FloatArray) -> tuple[tuple[Contribution, ...], float]:
        weight = np.maximum(np.abs(added), high - low)
        kept = np.argsort(-weight, kind="stable")[:LISTED]
        kept = kept[np.argsort(-np.abs(added[kept]), kind="stable")]
        listed = tuple(
            Contribution(term_name(self.found.terms[t]), float(added[t]), float(low[t]), float(high[t]))
            for t in kept.tolist()
            if weight[t] > 0
        )
        return listed, float(added.sum() - added[kept].sum())


@dataclass(frozen=True)
class _ContributionEnds:
    """Of direction · outputs over regions: low, high (people, terms) of each term, lowest, highest (people,) of all."""

    low: FloatArray
    high: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, found: AdditiveModel, weights: FloatArray, region: Region) -> _ContributionEnds:
        shape = (region.people, len(found.terms))
        high, highest = np.full((2, *shape), -np.inf), np.full((2, region.people), -np.inf)
        for cell in region.cells:
            for way, sign in enumerate((-1.0, 1.0)):
                ends = np.zeros(shape)
                for place, term in enumerate(found.drawable):
                    ends[:, place] = term_maximum(term, sign * weights, cell)
                here = cell.present
                high[way][here] = np.maximum(high[way][here], ends[here])
                highest[way][here] = np.maximum(highest[way][here], ends[here].sum(1))
        return cls(-high[0], high[1], -highest[0], highest[1])
