"""Explanation: how a model decides, attribute by attribute and person by person, for notebooks and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lcifr.certification.deployment import Encoder, is_raw
from lcifr.certification.explanations.additive_trees import followed_by, read_additive, term_name
from lcifr.certification.explanations.attribute_scores import attribute_scores
from lcifr.certification.explanations.contributions import Contributions
from lcifr.certification.explanations.neighbours import Surroundings, surroundings
from lcifr.certification.explanations.pair_scores import pair_scores
from lcifr.certification.explanations.profiles import profiles
from lcifr.data import Individuals
from lcifr.drawing.scores import AttributeScore, MarkedScore, PairScore, PersonScore, Profile
from lcifr.errors import LcifrError
from lcifr.learn.trees.additive import AdditiveModel
from lcifr.models.model import Model
from lcifr.models.trees.trees import Trees
from lcifr.regions.region import BoolArray
from lcifr.similarity.linting.finding import values_of

SHOWN = 8
"""Attributes that are drawn, those that move the output most."""
PAIRS = 4
"""Pairs of attributes that are drawn."""
EVERYBODY = 100_000
"""People whose mean and histogram are taken; of more, evenly spaced ones."""
NOT_ADDITIVE = (
    "This model is not a sum of scores of single attributes and pairs, so no attribute has a score of its own. "
    "explanation.person(id) shows the output around a counterexample."
)


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a model does with the attributes of some people; shows itself in a notebook.

    Parameters
    ----------
    encoder : encoding and φ. others : of each person a counterexample, where ``violated`` (people,); None for no audit.
    """

    encoder: Encoder
    model: Model
    people: Individuals
    ids: tuple[str | int, ...]
    others: Individuals | None = field(default=None, repr=False)
    violated: BoolArray | None = None

    def __repr__(self) -> str:
        kind = "an additive model" if self.additive else "a model that is not additive"
        return f"<Explanation of {kind} with {len(self.people)} people>"

    @property
    def additive(self) -> bool:
        """Whether the output is a sum of scores of single attributes and pairs of them."""
        return self.terms is not None

    @cached_property
    def terms(self) -> AdditiveModel | None:
        """What is added up, in encoded units; None where the model is not additive."""
        first, encoding = self.encoder.function, self.encoder.encoding
        if isinstance(self.model.function, Trees):
            return read_additive(self.model.function, encoding) if is_raw(self.encoder) else None
        if not isinstance(first, Trees) or any(len(factor.layers) > 1 for factor in self.model.factors):
            return None
        if (found := read_additive(first, encoding)) is None:
            return None
        for factor in self.model.factors:  # a linear model on scores
            found = followed_by(found, factor.layers[0].weight, factor.layers[0].bias)
        return found

    @cached_property
    def everybody(self) -> Individuals:
        """Whose mean is 0 in every score: all people, or evenly spaced ones of very many."""
        return self.people.take(slice(None, None, -(-len(self.people) // EVERYBODY) or 1))

    @cached_property
    def scores(self) -> tuple[AttributeScore, ...]:
        """What every attribute adds, those first that move the output most; none where the model is not additive."""
        if self.terms is None:
            return ()
        return attribute_scores(self.terms, self.model, self.encoder.encoding, self.everybody)

    @cached_property
    def pair_scores(self) -> tuple[PairScore, ...]:
        """What every pair adds, those first that move the output most; only of models with one output."""
        return () if self.terms is None else pair_scores(self.terms, self.encoder.encoding, self.everybody)

    @property
    def pairs(self) -> tuple[str, ...]:
        """Pairs of attributes that have a score together, beside those of each alone."""
        return () if self.terms is None else tuple(map(term_name, self.terms.pairs))

    def person(self, name: str | int) -> PersonExplanation:
        """Of one person: what speaks for and against, how far that could move within φ, and the counterexample."""
        if name not in self.ids:
            raise LcifrError(f"there is no person {name!r}", fix=f"one of {', '.join(map(repr, self.ids[:3]))} …")
        row = self.ids.index(name)
        one = self.people.take([row])
        near, values = surroundings(self.encoder.similarity, one)[0], values_of(one, 0)
        score = None if self.terms is None else self._contributions.of(one, self.encoder.similarity)[0]
        around: tuple[Profile, ...] = ()
        if self.others is not None and self.violated is not None and self.violated[row]:
            around = profiles(self.encoder, self.model, one, self.others.take([row]))
        free = [score for score in self.scores if score.attribute in near.may]
        marked = tuple(MarkedScore(s, values[s.attribute], near.may[s.attribute]) for s in free[:SHOWN])
        return PersonExplanation(str(name), values, near, score, around, marked)

    @cached_property
    def _contributions(self) -> Contributions:
        assert self.terms is not None
        return Contributions(self.terms, self.model, self.encoder.encoding, self.everybody)

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
        from lcifr.drawing.figures import score_figure

        if not self.additive:
            raise LcifrError(NOT_ADDITIVE, fix="explanation.person(id).plot()")
        return score_figure(self.drawn(attributes, person))

    def plot_pairs(self) -> Any:
        """What pairs of attributes add together, as a matplotlib figure."""
        from lcifr.drawing.figures import pair_figure

        if not self.pair_scores:
            raise LcifrError("no pair of attributes has a score together, or there are several outputs")
        return pair_figure(self.pair_scores[:PAIRS])

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.drawing.notebook import scores_html

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
    """The pairs for which there is no room."""
    drawn = {frozenset((score.across.attribute, score.up.attribute)) for score in scores[:PAIRS]}
    return [name for name in names if frozenset(name.split(" × ")) not in drawn]


@dataclass(frozen=True, repr=False)
class PersonExplanation:
    """Of one person; shows itself in a notebook.

    Parameters
    ----------
    values : of the attributes. near : what somebody similar may have.
    score : contributions, of an additive model. marked : the scores that somebody similar could have otherwise.
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
        """A pandas frame with a row for each attribute that is listed: adds, and the least and most within φ."""
        import pandas as pd

        listed = () if self.score is None else self.score.contributions
        rows = [(one.attribute, self.values.get(one.attribute), one.adds, one.low, one.high) for one in listed]
        return pd.DataFrame(rows, columns=["attribute", "value", "adds", "low", "high"])

    def plot(self) -> Any:
        """Contributions as a matplotlib figure; of a model that is not additive, what :meth:`plot_around` draws."""
        from lcifr.drawing.figures import contribution_figure

        if self.score is None:
            return self.plot_around()
        return contribution_figure(self.score, title=f"Person {self.id}")

    def plot_around(self) -> Any:
        """The output around the counterexample, as a matplotlib figure."""
        from lcifr.drawing.figures import profile_figure

        if not self.profiles:
            raise LcifrError(f"no counterexample is known for person {self.id}, so there is nothing around it to draw")
        return profile_figure(self.profiles, title=f"Person {self.id}")

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.drawing.notebook import person_html

        return person_html(self.id, self.values, self.score, self.profiles, self.marked)
