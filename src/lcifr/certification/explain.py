"""Explanations: scores of attributes and pairs, contributions, and what changes a decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lcifr.certification.counterexample import Pairs
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.profiles import Surroundings, in_table_units, profiles, surroundings
from lcifr.data import Categorical, Encoding, Individuals, Numeric
from lcifr.display.charts import histogram, whole_histogram
from lcifr.display.scores import AttributeScore, Axis, Contribution, MarkedScore, PairScore, PersonScore, Profile
from lcifr.errors import LcifrError
from lcifr.models.additive import (
    AdditiveModel,
    AttributeBins,
    PairFunction,
    ShapeFunction,
    term_maximum,
    term_name,
)
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi.lint import values_of
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import FloatArray, IntArray, Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# Contributions: what each attribute adds to a person's output, and how far it could move for anyone similar.

LISTED = 12
"""How many attributes are listed for a person: those that add most, or could move most."""


@dataclass(frozen=True)
class _Direction:
    """The linear output that is explained to some people, and the words for more and for less of it."""

    weights: FloatArray
    up: str
    down: str
    threshold: float | None


class Contributions:
    """What each term of an additive model adds for a person, relative to a mean.

    Parameters
    ----------
    base : people whose mean is the average. words : for the model's labels.
    """

    def __init__(
        self,
        found: AdditiveModel,
        model: Model,
        encoding: Encoding,
        base: Individuals,
        words: Mapping[str, str] | None = None,
    ) -> None:
        self.found, self.model, self.encoding, self.words = found, model, encoding, words or {}
        x = encoding.encode(base)
        means = [term(x).mean(0) for term in found.terms]
        self.means = np.reshape(means, (len(means), len(found.base)))  # (terms, outputs)

    def of(self, people: Individuals, similarity: Similarity) -> list[PersonScore]:
        """The scores of each of these people; ``similarity`` must be over the model's own encoding."""
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
        """(people, terms, outputs) what each term adds, less its mean, for encoded people (people, features)."""
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
        """The scores of people who share a direction; ``added`` : (people, terms)."""
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
    """The range of direction · outputs over regions: of each term (people, terms), and of their sum (people,)."""

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


# Scores of attributes: the step function of a number and the bars of a category, in the table's own units.

MOST_OUTPUTS = 6
"""At most this many outputs get a line, the first ones; more lines could not be told apart."""


def attribute_scores(
    found: AdditiveModel, model: Model, encoding: Encoding, people: Individuals
) -> tuple[AttributeScore, ...]:
    """What each attribute adds, largest variation among these people first."""
    x, names = encoding.encode(people), output_names(model)
    scores = [_attribute_score(term, encoding, people, x, names) for term in found.shapes]
    return tuple(sorted(scores, key=lambda score: -score.moves))


def output_names(model: Model) -> tuple[str, ...]:
    """The names of the outputs that are drawn; none if there is only one output."""
    outputs = model.function.outputs
    if outputs == 1:
        return ()
    labels = range(outputs) if model.labels is None or len(model.labels) != outputs else model.labels
    return tuple(str(label) for label in labels)[:MOST_OUTPUTS]


def _attribute_score(
    term: ShapeFunction, encoding: Encoding, people: Individuals, x: FloatArray, names: tuple[str, ...]
) -> AttributeScore:
    drawn = max(len(names), 1)
    own = term(x)[:, :drawn]
    values = term.values[:, :drawn] - own.mean(0)
    moves = float((own.max(0) - own.min(0)).max())
    name, attribute = term.bins.attribute, encoding.schema[term.bins.attribute]
    if isinstance(attribute, Categorical):
        known = ~encoding.is_outside(name)
        counts = np.bincount(people.code(name), minlength=len(known))[known]
        texts = tuple(value for value, here in zip(attribute.values, known, strict=True) if here)
        return AttributeScore(name, "", (), texts, _lines(values[known]), names, None, tuple(counts.tolist()), moves)
    thresholds = term.bins.thresholds
    assert thresholds is not None
    numbers, steps = people.number(name), in_table_units(thresholds, encoding, name)
    shown = whole_histogram(numbers) if isinstance(attribute, Numeric) and attribute.integer else None
    shown = shown or histogram(numbers, {"people": np.ones(len(numbers), np.bool_)})
    assert shown is not None
    edges, pieces = steps.between(shown.edges[0], shown.edges[-1])
    values = values[pieces]
    unit = (attribute.unit if isinstance(attribute, Numeric) else None) or ""
    return AttributeScore(name, unit, edges, (), _lines(values), names, shown, (), moves)


def _lines(values: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(line) for line in values.T.tolist())


# Scores of pairs of attributes, in the table's own units, for models with one output.


def pair_scores(found: AdditiveModel, encoding: Encoding, people: Individuals) -> tuple[PairScore, ...]:
    """What each pair adds, largest effect on the output first; none if there are several outputs."""
    if found.outputs > 1:
        return ()
    x = encoding.encode(people)
    scores = []
    for pair in found.pairs:
        own = pair(x)[:, 0]
        scores.append(_pair_score(pair, encoding, people, float(own.mean()), float(own.max() - own.min())))
    return tuple(sorted(scores, key=lambda score: -score.moves))


def _pair_score(pair: PairFunction, encoding: Encoding, people: Individuals, mean: float, moves: float) -> PairScore:
    (first, rows), (second, columns) = (_axis(axis, encoding, people) for axis in pair.bins.axes)
    values = pair.values[np.ix_(rows, columns)][:, :, 0] - mean
    if first.categories and not second.categories:  # names have room beside the map, not below it
        first, second, values = second, first, values.T
    return PairScore(first, second, tuple(tuple(column) for column in values.tolist()), moves)


def _axis(bins: AttributeBins, encoding: Encoding, people: Individuals) -> tuple[Axis, IntArray]:
    """The axis, and the bins that it shows in their order."""
    name, attribute = bins.attribute, encoding.schema[bins.attribute]
    if isinstance(attribute, Categorical):
        known = np.flatnonzero(~encoding.is_outside(name))
        return Axis(name, "", (), tuple(attribute.values[place] for place in known)), known
    assert bins.thresholds is not None
    numbers = people.number(name)
    shown = histogram(numbers, {"people": np.ones(len(numbers), np.bool_)})
    assert shown is not None
    edges, pieces = in_table_units(bins.thresholds, encoding, name).between(shown.edges[0], shown.edges[-1])
    return Axis(name, attribute.unit or "", edges, ()), pieces


# Explanation: how a model decides, attribute by attribute and person by person, for notebooks and as figures.

SHOWN = 8
"""How many attributes are drawn: those that move the output most."""
PAIRS = 4
"""How many pairs of attributes are drawn."""
MOST_PEOPLE = 100_000
"""The most people that means and histograms are computed from; if there are more, evenly spaced ones."""
NOT_ADDITIVE = (
    "This model is not a sum of scores of single attributes and pairs, so no attribute has a score of its own. "
    "explanation.person(id) shows the output around a counterexample."
)


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a model does with the attributes of some people; shows itself in a notebook.

    Parameters
    ----------
    encoder : encoding and φ. counterexamples : those that an audit found; None without an audit.
    """

    encoder: FrozenEncoder
    model: Model
    people: Individuals
    ids: tuple[str | int, ...]
    counterexamples: Pairs | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        kind = "an additive model" if self.additive else "a model that is not additive"
        return f"<Explanation of {kind} with {len(self.people)} people>"

    @property
    def additive(self) -> bool:
        """Whether the output is a sum of scores of single attributes and pairs of them."""
        return self.terms is not None

    @cached_property
    def terms(self) -> AdditiveModel | None:
        """What is added up, in encoded units; None if the model is not additive."""
        first, encoding = self.encoder.function, self.encoder.encoding
        if first.is_identity:
            return self.model.function.additive(encoding)
        scores = first.additive(encoding)
        return None if scores is None else self.model.function.after_sums(scores)

    @cached_property
    def base(self) -> Individuals:
        """The people over whom every score has mean 0: all, or evenly spaced ones if there are very many."""
        return self.people.take(slice(None, None, -(-len(self.people) // MOST_PEOPLE) or 1))

    @cached_property
    def scores(self) -> tuple[AttributeScore, ...]:
        """What each attribute adds, largest effect on the output first; none if the model is not additive."""
        if self.terms is None:
            return ()
        return attribute_scores(self.terms, self.model, self.encoder.encoding, self.base)

    @cached_property
    def pair_scores(self) -> tuple[PairScore, ...]:
        """What each pair adds, largest effect on the output first; only for models with one output."""
        return () if self.terms is None else pair_scores(self.terms, self.encoder.encoding, self.base)

    @property
    def pairs(self) -> tuple[str, ...]:
        """Pairs of attributes that have a joint score, in addition to the score of each alone."""
        return () if self.terms is None else tuple(map(term_name, self.terms.pairs))

    def person(self, name: str | int) -> PersonExplanation:
        """Explain one person: what speaks for and against, how far that could move within φ, and the counterexample."""
        if name not in self.ids:
            raise LcifrError(f"there is no person {name!r}", fix=f"one of {', '.join(map(repr, self.ids[:3]))} …")
        row = self.ids.index(name)
        one = self.people.take([row])
        near, values = surroundings(self.encoder.similarity, one)[0], values_of(one, 0)
        score = None if self.terms is None else self._contributions.of(one, self.encoder.similarity)[0]
        around: tuple[Profile, ...] = ()
        known = self.counterexamples
        if known is not None and known.found[row]:
            around = profiles(self.encoder, self.model, one, known.other.take([row]))
        free = [score for score in self.scores if score.attribute in near.may]
        marked = tuple(MarkedScore(s, values[s.attribute], near.may[s.attribute]) for s in free[:SHOWN])
        return PersonExplanation(str(name), values, near, score, around, marked)

    @cached_property
    def _contributions(self) -> Contributions:
        assert self.terms is not None
        return Contributions(self.terms, self.model, self.encoder.encoding, self.base)

    def frame(self) -> Any:
        """A pandas frame with a row for each attribute: how far its score moves among these people."""
        import pandas as pd

        return pd.DataFrame({"attribute": [s.attribute for s in self.scores], "moves": [s.moves for s in self.scores]})

    def drawn(
        self, attributes: Sequence[str] | None = None, person: str | int | None = None
    ) -> tuple[MarkedScore, ...]:
        """The scores of some attributes (those that move most), with a person's value and similar range."""
        known = {score.attribute: score for score in self.scores}
        if unknown := [name for name in attributes or () if name not in known]:
            raise LcifrError(f"the model reads no attribute {unknown[0]!r} on its own", fix=f"some of {list(known)}")
        chosen = list(known.values())[:SHOWN] if attributes is None else [known[name] for name in attributes]
        if person is None:
            return tuple(MarkedScore(score) for score in chosen)
        one = self.person(person)
        return tuple(MarkedScore(s, one.values[s.attribute], one.near.may.get(s.attribute)) for s in chosen)

    def plot(self, attributes: Sequence[str] | None = None, *, person: str | int | None = None) -> Any:
        """The scores as a matplotlib figure; ``person`` : whose value and similar range are marked."""
        from lcifr.display.figures import score_figure

        if not self.additive:
            raise LcifrError(NOT_ADDITIVE, fix="explanation.person(id).plot()")
        return score_figure(self.drawn(attributes, person))

    def plot_pairs(self) -> Any:
        """What pairs of attributes add together, as a matplotlib figure."""
        from lcifr.display.figures import pair_figure

        if not self.pair_scores:
            raise LcifrError("no pair of attributes has a score together, or there are several outputs")
        return pair_figure(self.pair_scores[:PAIRS])

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.display.html import scores_html

        title = f"What each attribute adds to the output, for {len(self.people):,} people"
        return scores_html(title, tuple(self._notes()), self.drawn(), self.pair_scores[:PAIRS])

    def _notes(self) -> Iterator[str]:
        if not self.additive:
            yield NOT_ADDITIVE
        if left := self.scores[SHOWN:]:
            yield f"The {SHOWN} that move most; not drawn: {', '.join(score.attribute for score in left)}."
        if left_out := undrawn_pairs(self.pairs, self.pair_scores):
            yield f"Pairs that have a score together are not drawn: {', '.join(left_out)}."


def undrawn_pairs(names: Sequence[str], scores: Sequence[PairScore]) -> list[str]:
    """The pairs that are left out of the drawing."""
    drawn = {frozenset((score.across.attribute, score.up.attribute)) for score in scores[:PAIRS]}
    return [name for name in names if frozenset(name.split(" × ")) not in drawn]


@dataclass(frozen=True, repr=False)
class PersonExplanation:
    """How one person is decided; shows itself in a notebook.

    Parameters
    ----------
    values : of the attributes. near : what a similar person may have.
    score : contributions, if the model is additive. marked : scores of attributes that a similar person may differ in.
    profiles : the output around the counterexample, where there is one.
    """

    id: str
    values: dict[str, Any]
    near: Surroundings
    score: PersonScore | None
    profiles: tuple[Profile, ...]
    marked: tuple[MarkedScore, ...]

    def __repr__(self) -> str:
        known = [] if self.score is None else [f"output {self.score.output:.4g}"]
        known += ["counterexample in " + ", ".join(p.attribute for p in self.profiles)] if self.profiles else []
        return f"<PersonExplanation of {self.id}: {'; '.join(known) or 'nothing is known'}>"

    def frame(self) -> Any:
        """A pandas frame with a row for each listed attribute: what it adds, and the least and most within φ."""
        import pandas as pd

        listed = () if self.score is None else self.score.contributions
        rows = [(one.attribute, self.values.get(one.attribute), one.adds, one.low, one.high) for one in listed]
        return pd.DataFrame(rows, columns=["attribute", "value", "adds", "low", "high"])

    def plot(self) -> Any:
        """Contributions as a matplotlib figure; for a model that is not additive, what :meth:`plot_around` draws."""
        from lcifr.display.figures import contribution_figure

        if self.score is None:
            return self.plot_around()
        return contribution_figure(self.score, title=f"Person {self.id}")

    def plot_around(self) -> Any:
        """The output around the counterexample, as a matplotlib figure."""
        from lcifr.display.figures import profile_figure

        if not self.profiles:
            raise LcifrError(f"no counterexample is known for person {self.id}, so there is nothing around it to draw")
        return profile_figure(self.profiles, title=f"Person {self.id}")

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.display.html import person_html

        return person_html(self.id, self.values, self.score, self.profiles, self.marked)
