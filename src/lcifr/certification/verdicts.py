"""Verdicts: certified, a counterexample, or undecided with the reason; and how they are displayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.demands import BoolArray, FloatArray
from lcifr.data import Individuals
from lcifr.display.text import count, exactly, format_value, percent, quantity
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic, arithmetic_of
from lcifr.models.model import Model
from lcifr.models.rule import Kind

if TYPE_CHECKING:
    from lcifr.certification.deployment import Encoder
    from lcifr.certification.explain import Explanation


# Display of verdicts: a one-line summary, a notebook table, a figure.

LISTED = 5
"""Counterexamples in a notebook."""


class VerdictDisplay:
    """Base class of verdicts that displays them; a subclass provides the arrays and the notes beside the counts."""

    ids: tuple[str | int, ...]
    verdict: NDArray[np.object_]
    reason: NDArray[np.object_]
    margin: NDArray[np.float64]
    vacuous: NDArray[np.bool_]
    left_out: tuple[str | int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        words = ", ".join(f"{number} {kind}" for kind, number in self._counts().items())
        return f"<{type(self).__name__} of {self._rows} people with respect to φ: {words}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.display.notebook import verdicts_html

        counts = self._counts()
        certified, rows = counts["certified"], self._rows
        share = percent(certified / rows if rows else None)
        title = f"{count(certified)} of {count(rows)} people certified with respect to φ ({share})"
        return verdicts_html(title, counts, tuple(self._notes()), self._examples())

    def plot(self) -> Any:
        """The proved margins as a matplotlib figure (``pip install "lcifr[plot]"``): how far from another decision."""
        from lcifr.display.charts import histogram
        from lcifr.display.figures import histogram_figure

        masks = {kind: np.asarray(self._kinds() == kind) for kind in self._counts()}
        shown = histogram(self.margin, {kind: mask for kind, mask in masks.items() if mask.any()}, around_zero=True)
        return histogram_figure(shown, title="Proved margins", axis="margin of the decision")

    def _kinds(self) -> NDArray[np.str_]:
        return np.array([str(word).lower() for word in self.verdict], dtype=np.str_)

    @property
    def _rows(self) -> int:
        """Rows of the table: those with a verdict, and those that were not examined."""
        return len(self.ids) + len(self.left_out)

    def _counts(self) -> dict[str, int]:
        found = Counter(self._kinds().tolist())
        counts = {kind: found[kind] for kind in ("certified", "counterexample", "undecided")}
        return counts | ({"not examined": len(self.left_out)} if self.left_out else {})

    def _notes(self) -> Iterator[str]:
        """Notes shown beside the counts."""
        if self.left_out:
            yield f"{left_out_words(len(self.left_out))}."
        if vacuous := int(self.vacuous.sum()):
            yield f"{count(vacuous)} of the certificates are vacuous: no one is similar to these people."
        for reason, number in Counter(str(reason) for reason in self.reason if str(reason)).most_common():
            yield f"undecided because {reason}: {count(number)}"

    def _examples(self) -> Sequence[Sequence[str]]:
        """People worth looking at, after a row of headings."""
        return ()


def counterexample_rows(found: Any) -> list[tuple[str, ...]]:
    """The first few counterexamples of an audit, with what differs."""
    number = found.model.rule.kind is Kind.NUMBER and found.prediction.ndim == 1
    tolerance = found.model.rule.known_tolerance if number else 0.0
    headings = ("decision", "a similar person gets a different decision")
    if number:
        headings = ("prediction", f"a similar person’s is more than {exactly(tolerance)} away")
    rows: list[tuple[str, ...]] = [("counterexample", *headings)]
    for row in np.flatnonzero(found.violated)[:LISTED]:
        pair = found.counterexample(found.ids[row])
        differs = "; ".join(f"{name} {' → '.join(map(format_value, pair[name].tolist()))}" for name in pair.columns)
        own = found.prediction[row]
        rows.append((str(found.ids[row]), quantity(float(own), tolerance) if number else str(own), differs))
    return rows


def differing_columns(name: str, person: Individuals, other: Individuals) -> Any:
    """A pandas frame of two rows, a person and somebody similar, with the columns that differ."""
    import pandas as pd

    both = pd.concat([person.to_pandas(), other.to_pandas()])
    both.index = pd.Index([name, "similar"])
    return both.loc[:, (both.iloc[0] != both.iloc[1]).to_numpy()]


def left_out_words(rows: int) -> str:
    """Rows of which nothing is said, in words."""
    many = rows > 1
    return f"{rows} {'rows have' if many else 'row has'} missing values and {'are' if many else 'is'} not examined"


# LookedUp: who is certified by a cell of a sweep instead of a search.

NOBODYS = -1
"""Instead of a cell, for whoever was searched for."""


@dataclass(frozen=True)
class LookedUp:
    """Parameters
    ----------
    sweep : its hash.
    cell : (people,) the number of the cell that certifies each, its row in ``cells.parquet``; -1 for the others.
    checked : (people,) whether an exact checker has confirmed the cell's proof; else it is claimed by whoever swept.
    """

    sweep: str
    cell: NDArray[np.int64]
    checked: NDArray[np.bool_]

    @property
    def found(self) -> NDArray[np.bool_]:
        """(people,) who was looked up."""
        return np.asarray(self.cell != NOBODYS)

    def columns(self) -> dict[str, Any]:
        """For a frame of certificates: the sweep, what it is worth, and the cell; empty for the others."""
        import pandas as pd

        found = self.found
        return {
            "sweep": pd.array(np.where(found, np.where(self.checked, "checked", "claimed"), ""), dtype="string"),
            "sweep_hash": pd.array(np.where(found, self.sweep, ""), dtype="string"),
            "cell": self.cell,
        }

    @classmethod
    def of_rows(cls, rows: Any) -> LookedUp | None:
        """What :meth:`columns` gave; None of rows without it, or without anybody who was looked up."""
        if "cell" not in rows.columns:
            return None
        cell = rows["cell"].to_numpy(np.int64)
        if not (cell != NOBODYS).any():
            return None
        first = rows.iloc[int((cell != NOBODYS).argmax())]
        return cls(str(first["sweep_hash"]), cell, np.asarray(rows["sweep"] == "checked", np.bool_))

    def __str__(self) -> str:
        checked = int(self.checked.sum())
        return f"{count(int(self.found.sum()))} people were looked up in a sweep, in checked cells {count(checked)}"


# Verdicts: certified, a counterexample, or undecided with the reason.


class Verdict(StrEnum):
    """What is known about one person. A failed proof is never a counterexample."""

    CERTIFIED = "CERTIFIED"
    COUNTEREXAMPLE = "COUNTEREXAMPLE"
    UNDECIDED = "UNDECIDED"


class Reason(StrEnum):
    """Why a person is undecided; empty for the others."""

    NONE = ""
    TIE = "the person's own decision is a tie"
    ROUNDING = "rounding in the deployed arithmetic may exceed the margin"
    OVERFLOW = "numbers may overflow in the deployed arithmetic"
    EXACT_BALL = "the hand-over is proved for exact arithmetic only, and the model runs in floating point"
    WIDE = "the ball is too wide for this model: it contains points with different decisions"
    BUDGET = "the search budget ran out"
    LOOSE = "the bound is too loose"
    FRACTIONAL = "the only change of decision found is at values that no person can have, such as 2.5 of a whole number"
    UNPROVED = "the search proved it, but the proof written to the bundle is not complete"
    BOX = "the trees decide differently somewhere in the box around z, but no similar person was found there"
    REACHED = "a point of the region gets a different decision; only an audit can tell whether it is a person"


@dataclass(frozen=True, repr=False)
class Certificates(VerdictDisplay):
    """What a consumer proved, per person.

    Parameters
    ----------
    ids : (people,)
    verdict : (people,) :class:`Verdict`; never COUNTEREXAMPLE, because a latent point is not a person.
    prediction : (people,) the decision, in the model's own labels.
    margin : (people,) proved: how far every similar person's outputs stay on the right side, in units of the output.
    largest_radius : (people,) a radius at which this person would still be certified; NaN where it was not asked for.
    reason : (people,) :class:`Reason` of the undecided.
    radius_status : (people,) ``claimed`` by the producer, or ``checked`` by an auditor: what the verdict rests on.
    vacuous : (people,) whether nobody is similar.
    on : ``ball`` or ``box``.
    model : the network and what must agree.
    arithmetic, handover_arithmetic : in which the model, and before it the producer's encoder, is computed.
    """

    ids: tuple[str | int, ...]
    verdict: NDArray[np.object_]
    prediction: NDArray[Any]
    margin: FloatArray
    largest_radius: FloatArray
    reason: NDArray[np.object_]
    radius_status: NDArray[np.str_]
    vacuous: NDArray[np.bool_]
    on: str
    model: Model
    arithmetic: Arithmetic
    handover_arithmetic: Arithmetic

    @property
    def certified(self) -> NDArray[np.bool_]:
        """(people,)"""
        return np.asarray(self.verdict == Verdict.CERTIFIED)

    def _notes(self) -> Iterator[str]:
        if claimed := int((self.radius_status == "claimed").sum()):
            yield f"{claimed} verdicts rest on a radius that the producer claims and nobody has checked."
        yield from super()._notes()

    @classmethod
    def of_rows(cls, rows: Any, model: Model, on: str) -> Certificates:
        """What :meth:`frame` gave, read again."""
        return cls(
            ids=tuple(str(name) for name in rows["id"]),
            verdict=np.array([Verdict(word) for word in rows["verdict"]], dtype=object),
            prediction=rows["prediction"].to_numpy(),
            margin=rows["margin"].to_numpy(np.float64),
            largest_radius=rows["largest_radius"].to_numpy(np.float64),
            reason=np.array([Reason(word) for word in rows["reason"]], dtype=object),
            radius_status=rows["radius"].to_numpy(str),
            vacuous=rows["vacuous"].to_numpy(np.bool_),
            on=on,
            model=model,
            arithmetic=arithmetic_of(rows["arithmetic"]),
            handover_arithmetic=arithmetic_of(rows["handover_arithmetic"]),
        )

    def frame(self) -> Any:
        """A pandas frame, one row per person."""
        import pandas as pd

        return pd.DataFrame(
            {
                "id": list(self.ids),
                "verdict": [str(v) for v in self.verdict],
                "prediction": list(self.prediction),
                "margin": self.margin,
                "largest_radius": self.largest_radius,
                "reason": [str(r) for r in self.reason],
                "radius": self.radius_status,
                "vacuous": self.vacuous,
                "arithmetic": str(self.arithmetic),
                "handover_arithmetic": str(self.handover_arithmetic),
            }
        )


AnyVerdicts = TypeVar("AnyVerdicts", bound=Any)


def unproved(found: AnyVerdicts, rows: Any) -> AnyVerdicts:
    """The same certificates, or audit, with these people UNDECIDED: what cannot be shown to others is not counted."""
    verdict, reason, margin = found.verdict.copy(), found.reason.copy(), found.margin.copy()
    verdict[rows], reason[rows], margin[rows] = Verdict.UNDECIDED, Reason.UNPROVED, np.minimum(margin[rows], 0.0)
    return replace(found, verdict=verdict, reason=reason, margin=margin)


def words(kind: type[StrEnum], where: dict[StrEnum, NDArray[np.bool_]], otherwise: StrEnum) -> NDArray[np.object_]:
    """(people,) the first word whose mask is true."""
    people = len(next(iter(where.values())))
    found = np.full(people, otherwise, dtype=object)
    for word, mask in reversed(where.items()):
        found[mask] = word
    return found


@dataclass(frozen=True, repr=False)
class Audit(VerdictDisplay):
    """What an audit found, per person.

    Parameters
    ----------
    ids : (people,)
    people : who was audited, in the table's own units.
    verdict : (people,) :class:`Verdict`. reason : (people,) why a person is undecided.
    prediction : (people,) the decision, in the model's own labels.
    margin : (people,) proved distance of every similar person from another decision; negative where none is proved.
    vacuous : (people,) whether nobody is similar. alone : (people,) whether nobody but themselves is.
    others : for every COUNTEREXAMPLE the similar person; meaningless for the others.
    ball, box : (people,) whether the person is certified from the radius or box alone; None where that was not asked.
    model : the network and what must agree.
    arithmetic : in which the model is computed, from the table's values to the decision.
    left_out : ids of rows with missing values, which are not examined: shares count them as not certified.
    encoder : φ and the encoding; None for an audit that was read from files.
    looked_up : who is certified by a sweep, without a search; None where nobody is.
    assumptions : what every verdict rests on and no library checks, in sentences.
    """

    ids: tuple[str | int, ...]
    people: Individuals
    verdict: NDArray[np.object_]
    reason: NDArray[np.object_]
    prediction: NDArray[Any]
    margin: FloatArray
    vacuous: BoolArray
    alone: BoolArray
    others: Individuals
    ball: BoolArray | None
    box: BoolArray | None
    model: Model
    arithmetic: Arithmetic
    left_out: tuple[str | int, ...] = ()
    encoder: Encoder | None = field(default=None, compare=False)
    looked_up: LookedUp | None = None
    assumptions: tuple[str, ...] = ()

    def _notes(self) -> Iterator[str]:
        if self.looked_up is not None:
            yield f"{self.looked_up}."
        yield from self.assumptions
        yield from super()._notes()

    @property
    def certified(self) -> BoolArray:
        """(people,)"""
        return np.asarray(self.verdict == Verdict.CERTIFIED)

    @property
    def violated(self) -> BoolArray:
        """(people,) whether there is a counterexample."""
        return np.asarray(self.verdict == Verdict.COUNTEREXAMPLE)

    @property
    def least_probability(self) -> FloatArray:
        """(people,) of the certified: no similar person's probability of this decision is smaller; NaN for others.

        Known where the model computes a probability from its output, see :class:`lcifr.models.rule.Rule`.
        """
        found = np.full(len(self), np.nan)
        if self.model.rule.log_odds is not None:
            rows = np.flatnonzero(self.certified & ~self.vacuous)
            second = self.model.decides_second(self.prediction[rows])
            found[rows] = self.model.rule.least_probability(second, self.margin[rows])
        return found

    def frame(self) -> Any:
        """A pandas frame, one row per person."""
        import pandas as pd

        columns: dict[str, Any] = {
            "id": list(self.ids),
            "verdict": [str(v) for v in self.verdict],
            "prediction": list(self.prediction),
            "margin": self.margin,
            "reason": [str(r) for r in self.reason],
            "vacuous": self.vacuous,
            "arithmetic": str(self.arithmetic),
        }
        if self.model.rule.log_odds is not None:
            columns["least_probability"] = self.least_probability
        modular = {"certified_on_ball": self.ball, "certified_on_box": self.box}
        columns |= {name: mask for name, mask in modular.items() if mask is not None}
        return pd.DataFrame(columns | ({} if self.looked_up is None else self.looked_up.columns()))

    def counterexample(self, name: str | int) -> Any:
        """Two rows, the person and the similar person with another decision, and only the columns that differ."""
        row = self.ids.index(name)
        if not self.violated[row]:
            raise LcifrError(f"{name!r} is {self.verdict[row]}, not a counterexample")
        return differing_columns(str(name), self.people.take([row]), self.others.take([row]))

    def explain(self) -> Explanation:
        """How the model decides about these people, attribute by attribute, and around their counterexamples."""
        from lcifr.certification.explain import Explanation

        if self.encoder is None:
            raise LcifrError("an audit that was read from files cannot be explained", fix="lcifr report draws it")
        return Explanation(self.encoder, self.model, self.people, self.ids, self.others, self.violated)

    def _examples(self) -> Sequence[Sequence[str]]:
        return counterexample_rows(self)

    def modularity(self) -> dict[str, float]:
        """What modularity cost: shares certified on the ball, on the box, end to end, and really violated.

        They are shares of all rows of the table, those left out included.
        """
        shares = {"end_to_end": self.certified, "violated": self.violated}
        known, rows = {"ball": self.ball, "box": self.box}, len(self) + len(self.left_out)
        return {name: int(mask.sum()) / rows for name, mask in (known | shares).items() if mask is not None}
