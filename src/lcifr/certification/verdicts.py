"""Verdicts: certified, a counterexample, or undecided with the reason; as Arrow columns, and how they are displayed."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet

from lcifr.certification.demands import BoolArray, FloatArray
from lcifr.data import Categorical, Individuals, Numeric, Schema
from lcifr.display.text import count, exactly, format_value, percent, quantity
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic, arithmetic_of
from lcifr.models.model import Model
from lcifr.models.rule import Kind

if TYPE_CHECKING:
    from lcifr.certification.explain import Explanation
    from lcifr.certification.handover import FrozenEncoder


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


LISTED = 5
"""Counterexamples in a notebook."""
VerdictTable = TypeVar("VerdictTable", bound="Verdicts")


@dataclass(frozen=True, repr=False, kw_only=True)
class Verdicts(ABC):
    """What certificates and audits share: a verdict for each person; shows itself in a notebook.

    Parameters
    ----------
    ids : (people,)
    verdict : (people,) :class:`Verdict`. reason : (people,) :class:`Reason` of the undecided.
    prediction : (people,) the decision, in the model's own labels.
    margin : (people,) proved distance of every similar person from another decision, in units of the output; negative
        where none is proved.
    vacuous : (people,) whether no one is similar.
    model : the function and what must agree. arithmetic : in which the model is computed.
    left_out : ids of rows with missing values, which are not examined: shares count them as not certified.
    """

    ids: tuple[str | int, ...]
    verdict: NDArray[np.object_]
    reason: NDArray[np.object_]
    prediction: NDArray[Any]
    margin: FloatArray
    vacuous: BoolArray
    model: Model
    arithmetic: Arithmetic
    left_out: tuple[str | int, ...] = ()

    @property
    def certified(self) -> BoolArray:
        """(people,)"""
        return np.asarray(self.verdict == Verdict.CERTIFIED)

    def with_undecided(self: VerdictTable, rows: Any) -> VerdictTable:
        """The same with these people UNDECIDED: what cannot be shown to others is not counted."""
        verdict, reason, margin = self.verdict.copy(), self.reason.copy(), self.margin.copy()
        verdict[rows], reason[rows], margin[rows] = Verdict.UNDECIDED, Reason.UNPROVED, np.minimum(margin[rows], 0.0)
        return replace(self, verdict=verdict, reason=reason, margin=margin)

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The columns that are stored, one row per person; ids are text."""

    def frame(self) -> Any:
        """A pandas frame, one row per person."""
        return self._shown().to_pandas().assign(id=list(self.ids))

    def _shown(self) -> pa.Table:
        return self.to_arrow()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        words = ", ".join(f"{number} {kind}" for kind, number in self._counts().items())
        return f"<{type(self).__name__} of {self._rows} people with respect to φ: {words}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.display.html import verdicts_html

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


def differing_columns(name: str, person: Individuals, other: Individuals) -> Any:
    """A pandas frame of two rows, a person and a similar one, with the columns that differ."""
    import pandas as pd

    both = pd.concat([person.to_pandas(), other.to_pandas()])
    both.index = pd.Index([name, "similar"])
    return both.loc[:, (both.iloc[0] != both.iloc[1]).to_numpy()]


def left_out_words(rows: int) -> str:
    """Rows that were not examined, in words."""
    many = rows > 1
    return f"{rows} {'rows have' if many else 'row has'} missing values and {'are' if many else 'is'} not examined"


# SweepMatch: who is certified by a cell of a sweep instead of a search.

NOT_MATCHED = -1
"""Instead of a cell, for people who were searched for."""


@dataclass(frozen=True)
class SweepMatch:
    """Parameters
    ----------
    sweep : its hash.
    cell : (people,) the number of the cell that certifies each, its row in ``cells.parquet``; -1 for the others.
    checked : (people,) whether an exact checker has confirmed the cell's proof; else the sweep claims it.
    """

    sweep: str
    cell: NDArray[np.int64]
    checked: NDArray[np.bool_]

    @property
    def found(self) -> NDArray[np.bool_]:
        """(people,) who was looked up."""
        return np.asarray(self.cell != NOT_MATCHED)

    def columns(self) -> dict[str, pa.Array]:
        """What the sweep is worth, its hash, and the cell of each person; empty, and -1, for the others."""
        standing = np.where(self.found, np.where(self.checked, 2, 1), 0)
        return {
            "sweep": _coded(standing, ("", "claimed", "checked")),
            "sweep_hash": _coded(self.found.astype(np.int64), ("", self.sweep)),
            "cell": pa.array(self.cell),
        }

    @classmethod
    def from_arrow(cls, rows: pa.Table) -> SweepMatch | None:
        """What :meth:`columns` gave; None of rows without these columns, or without anyone who was looked up."""
        if "cell" not in rows.column_names:
            return None
        cell = rows["cell"].to_numpy()
        found = np.flatnonzero(cell != NOT_MATCHED)
        if not len(found):
            return None
        checked = pc.equal(rows["sweep"].cast(pa.string()), "checked").to_numpy()
        return cls(rows["sweep_hash"][int(found[0])].as_py(), cell, checked)

    def __str__(self) -> str:
        checked = int(self.checked.sum())
        return f"{count(int(self.found.sum()))} people were looked up in a sweep, in checked cells {count(checked)}"


# Certificates of a consumer, and audits.


@dataclass(frozen=True, repr=False, kw_only=True)
class Certificates(Verdicts):
    """What a consumer proved, per person.

    Parameters
    ----------
    ids, verdict, reason, prediction, margin, vacuous, model, arithmetic : as for an :class:`lcifr.Audit`; no verdict is
        COUNTEREXAMPLE, because a latent point is not a person.
    largest_radius : (people,) a radius at which this person would still be certified; NaN where it was not asked for.
    radius_status : (people,) ``claimed`` by the producer, or ``checked`` by an auditor: what the verdict rests on.
    on : ``ball`` or ``box``.
    handover_arithmetic : in which the producer's encoder is computed.
    """

    largest_radius: FloatArray
    radius_status: NDArray[np.str_]
    on: str
    handover_arithmetic: Arithmetic

    def _notes(self) -> Iterator[str]:
        if claimed := int((self.radius_status == "claimed").sum()):
            yield f"{claimed} verdicts rest on a radius that the producer claims and nobody has checked."
        yield from super()._notes()

    @classmethod
    def from_arrow(cls, rows: pa.Table, model: Model, on: str) -> Certificates:
        """What :meth:`to_arrow` gave, read again."""
        return cls(
            ids=tuple(rows["id"].to_pylist()),
            verdict=_words(rows["verdict"], list(Verdict)),
            prediction=_decisions(rows["prediction"]),
            margin=rows["margin"].to_numpy(),
            largest_radius=rows["largest_radius"].to_numpy(),
            reason=_words(rows["reason"], list(Reason)),
            radius_status=np.array(rows["radius"].to_pylist(), np.str_),
            vacuous=np.asarray(rows["vacuous"].to_numpy(), np.bool_),
            on=on,
            model=model,
            arithmetic=arithmetic_of(pc.unique(rows["arithmetic"]).to_pylist()),
            handover_arithmetic=arithmetic_of(pc.unique(rows["handover_arithmetic"]).to_pylist()),
        )

    def to_arrow(self) -> pa.Table:
        """A table of :func:`certificate_schema`."""
        schema = certificate_schema(self.model)
        columns = {
            **_verdict_columns(self, schema),
            "largest_radius": self.largest_radius,
            "radius": [str(one) for one in self.radius_status],
            "vacuous": self.vacuous,
            "arithmetic": _repeated(str(self.arithmetic), len(self)),
            "handover_arithmetic": _repeated(str(self.handover_arithmetic), len(self)),
        }
        return _table(columns, schema)


def words(kind: type[StrEnum], where: dict[StrEnum, NDArray[np.bool_]], otherwise: StrEnum) -> NDArray[np.object_]:
    """(people,) the first word whose mask is true."""
    people = len(next(iter(where.values())))
    found = np.full(people, otherwise, dtype=object)
    for word, mask in reversed(where.items()):
        found[mask] = word
    return found


@dataclass(frozen=True, repr=False, kw_only=True)
class Audit(Verdicts):
    """What an audit found, per person.

    Parameters
    ----------
    ids : (people,)
    verdict : (people,) :class:`Verdict`. reason : (people,) :class:`Reason` of the undecided.
    prediction : (people,) the decision, in the model's own labels.
    margin : (people,) proved distance of every similar person from another decision, in units of the output; negative
        where none is proved.
    vacuous : (people,) whether no one is similar. alone : (people,) whether no one is but the person.
    people : who was audited, in the table's own units.
    others : for every COUNTEREXAMPLE the similar person; meaningless for the others.
    ball, box : (people,) whether the person is certified from the radius or box alone; None where that was not asked.
    model : the function and what must agree.
    arithmetic : in which the model is computed, from the table's values to the decision.
    left_out : ids of rows with missing values, which are not examined: shares count them as not certified.
    encoder : φ and the encoding; None for an audit that was read from files.
    looked_up : who is certified by a sweep, without a search; None where no one is.
    assumptions : what every verdict rests on and no library checks, in sentences.
    radius : (people,) the proved radius of each person's latent ball; None where no hand-over was proved.
    """

    people: Individuals
    alone: BoolArray
    others: Individuals
    ball: BoolArray | None
    box: BoolArray | None
    encoder: FrozenEncoder | None = field(default=None, compare=False)
    looked_up: SweepMatch | None = None
    assumptions: tuple[str, ...] = ()
    radius: FloatArray | None = None

    def _notes(self) -> Iterator[str]:
        if self.looked_up is not None:
            yield f"{self.looked_up}."
        yield from self.assumptions
        yield from super()._notes()

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

    @classmethod
    def from_arrow(cls, rows: pa.Table, people: Individuals, model: Model) -> Audit:
        """What :meth:`to_arrow` gave of these people, read again."""
        verdict = _words(rows["verdict"], list(Verdict))
        return cls(
            ids=tuple(rows["id"].to_pylist()),
            people=people,
            verdict=verdict,
            reason=_words(rows["reason"], list(Reason)),
            prediction=_decisions(rows["prediction"]),
            margin=rows["margin"].to_numpy(),
            vacuous=_mask(rows, "vacuous"),
            alone=_mask(rows, "alone"),
            others=_others(people, rows, np.asarray(verdict == Verdict.COUNTEREXAMPLE)),
            ball=_mask(rows, "certified_on_ball"),
            box=_mask(rows, "certified_on_box"),
            model=model,
            arithmetic=arithmetic_of(pc.unique(rows["arithmetic"]).to_pylist()),
            looked_up=SweepMatch.from_arrow(rows),
            radius=rows["radius"].to_numpy() if "radius" in rows.column_names else None,
        )

    def to_arrow(self) -> pa.Table:
        """A table of :func:`audit_schema`."""
        schema = self._schema()
        return _table(self._columns(schema) | _similar(self.others, self.violated, schema), schema)

    def _shown(self) -> pa.Table:
        """Without the similar people, whom :meth:`counterexample` shows."""
        known = self._columns(schema := self._schema())
        shown = [one for one in schema if one.name in known and one.name not in ("alone", "radius")]
        return _table(known, pa.schema(shown))

    def _schema(self) -> pa.Schema:
        asked = {"modular": self.ball is not None, "radius": self.radius is not None}
        return audit_schema(self.people.schema, self.model, **asked, swept=self.looked_up is not None)

    def _columns(self, schema: pa.Schema) -> dict[str, Any]:
        """All columns but the similar people."""
        return {
            **_verdict_columns(self, schema),
            LEAST: pa.array(self.least_probability, from_pandas=True),
            "vacuous": self.vacuous,
            "arithmetic": _repeated(str(self.arithmetic), len(self)),
            "certified_on_ball": self.ball,
            "certified_on_box": self.box,
            **({} if self.looked_up is None else self.looked_up.columns()),
            "alone": self.alone,
            "radius": self.radius,
        }

    def counterexample(self, name: str | int) -> Any:
        """Two rows, the person and the similar person with another decision, and only the columns that differ."""
        row = self.ids.index(name)
        if not self.violated[row]:
            raise LcifrError(f"{name!r} is {self.verdict[row]}, not a counterexample")
        return differing_columns(str(name), self.people.take([row]), self.others.take([row]))

    def explain(self) -> Explanation:
        """How the model decides about these people, attribute by attribute, and around their counterexamples."""
        from lcifr.certification.counterexample import Pairs
        from lcifr.certification.explain import Explanation

        if self.encoder is None:
            raise LcifrError("an audit that was read from files cannot be explained", fix="lcifr report draws it")
        pairs = Pairs(self.people, self.others, self.violated)
        return Explanation(self.encoder, self.model, self.people, self.ids, pairs)

    def _examples(self) -> Sequence[Sequence[str]]:
        """The first few counterexamples, with what differs."""
        number = self.model.rule.kind is Kind.NUMBER and self.prediction.ndim == 1
        tolerance = self.model.rule.known_tolerance if number else 0.0
        headings = ("decision", "a similar person gets a different decision")
        if number:
            headings = ("prediction", f"a similar person’s is more than {exactly(tolerance)} away")
        rows: list[tuple[str, ...]] = [("counterexample", *headings)]
        for row in np.flatnonzero(self.violated)[:LISTED]:
            pair = self.counterexample(self.ids[row])
            differs = "; ".join(f"{name} {' → '.join(map(format_value, pair[name].tolist()))}" for name in pair.columns)
            own = self.prediction[row]
            rows.append((str(self.ids[row]), quantity(float(own), tolerance) if number else str(own), differs))
        return rows

    def modularity(self) -> dict[str, float]:
        """What modularity cost: shares certified on the ball, on the box, end to end, and really violated.

        They are shares of all rows of the table, those left out included.
        """
        shares = {"end_to_end": self.certified, "violated": self.violated}
        known, rows = {"ball": self.ball, "box": self.box}, len(self) + len(self.left_out)
        return {name: int(mask.sum()) / rows for name, mask in (known | shares).items() if mask is not None}


# Verdicts as Arrow tables with a fixed schema, one row per person, and read again.
#
# The schema follows from the attributes, the model's labels and what is asked alone: it is the same for every chunk of
# people, on every machine.

SIMILAR = "similar:"
"""Before the name of an attribute: its value for the similar person of a counterexample; null where there is none."""


LEAST = "least_probability"
"""Of the certified: no similar person's probability of this decision is smaller. Null for others."""


def audit_schema(schema: Schema, model: Model, *, modular: bool, radius: bool, swept: bool = False) -> pa.Schema:
    """The columns of an audit.

    Parameters
    ----------
    modular : with who is certified on ball and box. radius : with the proved radius. swept : with cells of a sweep.
    """
    asked = [("certified_on_ball", pa.bool_()), ("certified_on_box", pa.bool_())] if modular else []
    looked_up = [("sweep", pa.string()), ("sweep_hash", pa.string()), ("cell", pa.int64())] if swept else []
    proved = [("radius", pa.float64())] if radius else []
    known = [] if model.rule.log_odds is None else [(LEAST, pa.float64())]
    others = [(f"{SIMILAR}{attribute.name}", _similar_type(attribute)) for attribute in schema]
    return pa.schema(
        [
            ("id", pa.string()),
            ("verdict", pa.string()),
            ("prediction", label_type(model)),
            ("margin", pa.float64()),
            *known,
            ("reason", pa.string()),
            ("vacuous", pa.bool_()),
            ("arithmetic", pa.string()),
            *asked,
            *looked_up,
            ("alone", pa.bool_()),
            *proved,
            *others,
        ]
    )


def _similar_type(attribute: Numeric | Categorical) -> pa.DataType:
    """Whole numbers are written as such, other numbers as floats, which print the same decimals as the table's."""
    if not isinstance(attribute, Numeric):
        return pa.string()
    return pa.int64() if attribute.integer else pa.float64()


def certificate_schema(model: Model) -> pa.Schema:
    """The columns of a consumer's certificates."""
    kinds = {"margin": pa.float64(), "largest_radius": pa.float64(), "vacuous": pa.bool_()}
    names = ("id", "verdict", "prediction", "margin", "largest_radius", "reason", "radius", "vacuous")
    typed = kinds | {"prediction": label_type(model)}
    return pa.schema([(name, typed.get(name, pa.string())) for name in (*names, "arithmetic", "handover_arithmetic")])


def label_type(model: Model) -> pa.DataType:
    """The type of decisions: that of the model's labels; numbers, or the numbers of nameless classes."""
    if model.rule.kind is Kind.NUMBER:
        return pa.float64() if model.rule.outputs == 1 else pa.list_(pa.float64())
    if model.labels is None:
        return pa.int64()
    if model.labels.dtype.kind in "OUS":
        plain = {type(label) for label in model.labels.tolist()}
        return {frozenset({int}): pa.int64(), frozenset({bool}): pa.bool_(), frozenset({float}): pa.float64()}.get(
            frozenset(plain), pa.string()
        )
    return pa.from_numpy_dtype(model.labels.dtype)


def _verdict_columns(found: Audit | Certificates, schema: pa.Schema) -> dict[str, Any]:
    decided = np.asarray(found.prediction)
    if decided.ndim > 1:
        decided = decided.tolist()
    elif pa.types.is_string(schema.field("prediction").type):
        named, which = np.unique(decided.astype(str), return_inverse=True)
        decided = _coded(which.reshape(-1), named.tolist())
    return {
        "id": [str(name) for name in found.ids],
        "verdict": _texts(found.verdict, Verdict),
        "prediction": decided,
        "margin": found.margin,
        "reason": _texts(found.reason, Reason),
    }


def _texts(words: NDArray[np.object_], kind: Iterable[StrEnum]) -> pa.Array:
    known, codes = list(kind), np.full(len(words), -1, np.int8)
    rest = np.arange(len(words))
    for code, word in enumerate(known):  # nearly all people have one of the first
        is_it = np.asarray(words[rest] == word)
        codes[rest[is_it]] = code
        rest = rest[~is_it]
    if len(rest):
        raise ValueError(f"{words[rest[0]]!r} is none of {', '.join(known)}")
    return _coded(codes, [str(word) for word in known])


def _coded(codes: NDArray[Any], texts: Sequence[str]) -> pa.Array:
    """Texts by their numbers in a list."""
    return pa.DictionaryArray.from_arrays(codes, list(texts)).cast(pa.string())


def _table(columns: dict[str, Any], schema: pa.Schema) -> pa.Table:
    return pa.table([pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema)


def _repeated(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _similar(others: Individuals, violated: NDArray[np.bool_], schema: pa.Schema) -> dict[str, pa.Array]:
    """For each attribute its value for the similar person, in the column's type; null where there is none."""
    mask, written, differing = pa.array(violated), dict[str, pa.Array](), others.take(violated)
    for attribute in others.schema:
        column, kind = f"{SIMILAR}{attribute.name}", schema.field(f"{SIMILAR}{attribute.name}").type
        if isinstance(attribute, Numeric):
            values = _numbers(differing.number(attribute.name), kind, attribute.name)
        else:
            values = differing.column(attribute.name)
        written[column] = pc.replace_with_mask(pa.nulls(len(violated), kind), mask, values)
    return written


def _numbers(values: NDArray[np.float64], kind: pa.DataType, name: str) -> pa.Array:
    """Numbers in the column's type, none of them rounded."""
    try:
        return pa.array(values).cast(kind)
    except pa.ArrowInvalid:
        raise LcifrError(
            f'a similar person has a value of "{name}" that is not a whole number of 64 bits',
            fix=f'remove "integer = true" from {name} in the schema, or state its range there',
        ) from None


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as the bytes of a Parquet file; equal tables give equal bytes."""
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def _words(column: pa.ChunkedArray, known: Sequence[StrEnum]) -> NDArray[np.object_]:
    """(people,) texts as words; ValueError for a text that is none."""
    meant, texts = np.empty(len(known), dtype=object), pa.array([str(word) for word in known])
    meant[:] = list(known)
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    found = [np.empty(0, dtype=object)]
    for chunk in coded.chunks:
        codes = pc.index_in(chunk.dictionary, texts)
        if codes.null_count or chunk.null_count:
            odd = chunk.dictionary.filter(codes.is_null()).to_pylist()
            raise ValueError(f"{odd[0] if odd else None!r} is none of {', '.join(known)}")
        found.append(meant[codes.to_numpy()[chunk.indices.to_numpy()]])
    return np.concatenate(found)


def _decisions(column: pa.ChunkedArray) -> NDArray[Any]:
    """(people,) decisions, or (people, outputs) where a decision is several numbers."""
    if pa.types.is_list(column.type):
        return np.array(column.to_pylist())
    decided: NDArray[Any] = column.to_numpy()
    return decided


def _mask(rows: pa.Table, name: str) -> Any:
    return rows[name].to_numpy().astype(np.bool_) if name in rows.column_names else None


def _others(people: Individuals, rows: pa.Table, violated: NDArray[np.bool_]) -> Individuals:
    """The similar people as the rows have them; the person, where there is none."""
    numbers, codes = people.numbers.copy(), people.codes.copy()
    written = rows.filter(pa.array(violated))
    for j, numeric in enumerate(people.schema.numeric):
        numbers[violated, j] = written[f"{SIMILAR}{numeric.name}"].cast(pa.float64()).to_numpy()
    for j, categorical in enumerate(people.schema.categorical):
        texts = written[f"{SIMILAR}{categorical.name}"].to_pylist()
        codes[violated, j] = [categorical.values.index(text) for text in texts]
    return Individuals(people.schema, numbers, codes)
