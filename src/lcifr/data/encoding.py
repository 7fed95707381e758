"""Encoding of individuals as a matrix and back: a column per number and per category value, with bounds on rounding."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data.files import write_json
from lcifr.data.frames import read_frame
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.data.schema import Categorical, Schema
from lcifr.data.table import Individuals, complete_rows, map_in_threads
from lcifr.errors import LEAVE_OUT_FLAT, LcifrError, SchemaError, TableError, TableProblem

# Columns of the encoded matrix: whose they are, and the programs that make them of numbers.


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: a whole numeric attribute, or one value of a categorical one."""

    attribute: str
    value: str | None = None

    def __str__(self) -> str:
        return self.attribute if self.value is None else f"{self.attribute}={self.value}"


@dataclass(frozen=True)
class FeatureColumns:
    """One column for a number, one for each value of a category, in the order of the schema."""

    schema: Schema

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the matrix is."""
        return tuple(
            Feature(attribute.name, value)
            for attribute in self.schema
            for value in (attribute.values if isinstance(attribute, Categorical) else (None,))
        )

    @cached_property
    def _slices(self) -> dict[str, slice]:
        slices, start = {}, 0
        for attribute in self.schema:
            width = len(attribute.values) if isinstance(attribute, Categorical) else 1
            slices[attribute.name] = slice(start, start + width)
            start += width
        return slices

    def columns(self, attribute: str) -> slice:
        """The feature columns of one attribute."""
        return self._slices[self.schema[attribute].name]

    @cached_property
    def numeric_columns(self) -> NDArray[np.intp]:
        """(numeric attributes,) the feature column of each, in the order of ``schema.numeric``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.numeric], dtype=np.intp)

    @cached_property
    def category_starts(self) -> NDArray[np.intp]:
        """(categorical attributes,) the first feature column of each, in the order of ``schema.categorical``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.categorical], dtype=np.intp)


Floats = NDArray[np.float64]
UNIT_ROUNDOFF = 2.0**-53


class BoundPair(NamedTuple):
    """lower, upper : the same shape, one interval each."""

    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class ColumnPrograms:
    """One program for each numeric attribute; values are (…, numeric attributes) throughout."""

    programs: tuple[Program, ...]

    @classmethod
    def standardising(cls, means: Sequence[float] | Floats, sds: Sequence[float] | Floats) -> ColumnPrograms:
        """(value − mean) / sd in float64, attribute by attribute."""
        return cls(tuple(Program.standardising(mean, sd) for mean, sd in zip(means, sds, strict=True)))

    def encode(self, values: Floats) -> Floats:
        """Values of the table to encoded ones; monotone in every value."""
        if not self.programs:
            return values
        return np.stack([program(values[..., j]) for j, program in enumerate(self.programs)], axis=-1)

    def decode(self, encoded: Floats) -> Floats:
        """Encoded values to those of the table, within :meth:`inverse_error` where no program clips."""
        return np.asarray(encoded * self.factors + self.origins)

    @cached_property
    def factors(self) -> Floats:
        """(numeric attributes,) with ``origins``: value ≈ factor · encoded + origin."""
        return np.array([program.factor for program in self.programs])

    @cached_property
    def origins(self) -> Floats:
        """(numeric attributes,) see ``factors``."""
        return np.array([program.origin for program in self.programs])

    @cached_property
    def falling(self) -> NDArray[np.bool_]:
        """(numeric attributes,) whether larger values are encoded as smaller ones."""
        return np.array([program.decreasing for program in self.programs], dtype=np.bool_)

    def ordered(self, first: Floats, second: Floats) -> BoundPair:
        """The images of lower and upper ends as lower and upper ends: those of falling programs change places."""
        if not self.falling.any():
            return BoundPair(first, second)
        return BoundPair(np.where(self.falling, second, first), np.where(self.falling, first, second))

    def inverse_error(self, values: ArrayLike) -> Floats:
        """How far the decoded can be from ``values`` where no program clips."""
        sizes = np.abs(np.asarray(values, dtype=np.float64))
        if not self.programs:
            return sizes
        return np.stack([program.inverse_error(sizes[..., j]) for j, program in enumerate(self.programs)], axis=-1)

    @cached_property
    def flushing_error(self) -> float:
        """The largest of the programs' own (:func:`flushing_error`); 0 where there are none."""
        return max((flushing_error(program) for program in self.programs), default=0.0)

    def beyond(self, j: int, lower: Floats, upper: Floats) -> BoundPair:
        """How far decoded numbers can be from values in [lower, upper] of attribute ``j``, both ways, clips included.

        Where a program clips, people beyond are encoded as the last value that it does not clip: decoded they are
        there, short of their own value by the distance.
        """
        program = self.programs[j]
        first, last = program.unclipped
        size = np.maximum(np.abs(lower), np.abs(upper))
        for end in program.unclipped:
            if np.isfinite(end):
                size = np.maximum(size, abs(end))
        error = program.inverse_error(size)
        room = 4 * UNIT_ROUNDOFF * size  # of the differences below
        short = np.maximum(first - lower, 0.0) if np.isfinite(first) else np.zeros_like(size)
        over = np.maximum(upper - last, 0.0) if np.isfinite(last) else np.zeros_like(size)
        return BoundPair(-(short + error + room), over + error + room)

    def check_fits(self, attributes: int) -> None:
        """Refuse another number of programs than of attributes."""
        if len(self.programs) != attributes:
            raise LcifrError(f"{len(self.programs)} programs for {attributes} numeric attributes")


def standardising_error(values: Floats, means: Floats, sds: Floats) -> Floats:
    """How far sd · ((x − mean) / sd) + mean in float64 may be from x, attribute by attribute.

    Each of −, /, ·, + rounds by a factor within 1 ± u, u = 2⁻⁵³, so the result is off by at most
    3u(1+u)³·|x − m| + u·|x| ≤ 5u·(|x| + |m|), plus one underflow of the quotient (2⁻¹⁰⁷⁴) scaled back by the sd.
    """
    return np.asarray(5 * UNIT_ROUNDOFF * (np.abs(values) + np.abs(means)) + sds * 2.0**-1074)


LOST = 4.0
"""Smallest normal numbers that a step can lose by underflow and flushing, at most."""
ROUND_UP = 1.0 + 1e-12


def flushing_error(steps: Iterable[ProgramStep]) -> float:
    """How far a machine that flushes numbers below the smallest normal one to 0 can end from these very steps.

    Infinite where it is not known. Rounding may pull two close numbers apart, but two different numbers of a format are
    never close, so whatever differs is tiny; docs/design/arithmetic.md has the recursion and its proof.
    """
    error, held = StepFormat.FLOAT64.smallest, StepFormat.FLOAT64
    for step in steps:
        if held is StepFormat.FLOAT64 and step.format is StepFormat.FLOAT32:  # the operand is cast
            error = 2.0**31 * error + LOST * step.format.smallest
        held = step.format
        error = (_behind(step, error) + LOST * held.smallest) * ROUND_UP
        if error > 1.0:
            return math.inf
    return error


def _behind(step: ProgramStep, error: float) -> float:
    """What the operation and its rounding make of an error."""
    if step.operation in (Operation.ADD, Operation.SUBTRACT):
        return 8.0 * error / step.format.unit
    if step.operation not in (Operation.MULTIPLY, Operation.DIVIDE):
        return error
    constant = abs(step.constants[0])
    if constant < step.format.smallest:  # may be read as 0
        return math.inf
    return 4.0 * (error * constant if step.operation is Operation.MULTIPLY else error / constant)


# Encoding of tables as matrices: a program for each number, one-hot categories, and the inverse.

FORMAT = 3  # of the JSON form
FORMAT_WITHOUT_PROGRAMS = 2  # every number was standardised; still read, and written as programs
ENCODED_AT_ONCE = 8192  # people: their part of the matrix stays in the cache while it is filled


@dataclass(frozen=True)
class Encoding(FeatureColumns):
    """The scales of the training data, how each number is computed, and which feature column is which attribute.

    Our own encoders take (value − mean) / sd: scikit-learn's scalers divide by the n-denominator deviation and cannot
    say how exact their inverse is. A model from elsewhere brings the programs that its library computes. Categories
    are one-hot in either case; what a model makes of them is the first layer of its function (docs/design/models.md).

    Parameters
    ----------
    schema
        What is encoded.
    means, sds : (numeric attributes,)
        Mean and (n − 1) standard deviation of the training data: what ``sd`` in a formula means. Each is taken from
        every row that has a value there. It is 0 for a number that is the same for everyone, or varies too little to be
        squared: then it is no unit for a distance.
    programs
        How each number is computed; left out, it is (value − mean) / sd in float64.
    outside
        Categories at which the model raises: no one with one of them is in the universe.
    training
        The people it was fitted on, where they are at hand; of a table with gaps, the complete ones.
        Never saved.
    with_gaps
        All rows of a table with gaps (:meth:`Individuals.read_with_gaps`); None where it has none, or is not at hand.
    """

    means: NDArray[np.float64]
    sds: NDArray[np.float64]
    training: Individuals | None = field(default=None, repr=False, compare=False)
    programs: tuple[Program, ...] = ()
    outside: frozenset[Feature] = frozenset()
    with_gaps: Individuals | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.programs:
            object.__setattr__(self, "programs", self._standardising.programs)
        self.numbers.check_fits(len(self.schema.numeric))
        if unknown := self.outside - set(self.features):
            raise LcifrError(f"the schema has no {min(map(str, unknown))}, so nothing can be said about it")

    @cached_property
    def _standardising(self) -> ColumnPrograms:
        return ColumnPrograms.standardising(self.means, self.units)

    @cached_property
    def units(self) -> NDArray[np.float64]:
        """(numeric attributes,) the standard deviations, and 1 where there is none: what sizes are compared with."""
        return np.where(self.sds > 0, self.sds, 1.0)

    @cached_property
    def standardises(self) -> bool:
        """Whether every number is (value − mean) / sd in float64."""
        return self.programs == self._standardising.programs

    @cached_property
    def numbers(self) -> ColumnPrograms:
        """The programs of all numeric attributes."""
        return ColumnPrograms(self.programs)

    @property
    def ranked(self) -> Individuals | None:
        """The people among whom formulas take ranks: all rows of the table; those with gaps have NaN or −1 there."""
        return self.training if self.with_gaps is None else self.with_gaps

    @classmethod
    def fit(cls, source: Any, schema: Schema, *, skip_missing: bool = False) -> Encoding:
        """Take means and standard deviations from a table of training people.

        Parameters
        ----------
        skip_missing
            Whether values may be missing; each scale is then taken from all rows that have a value in that attribute.

        Raises
        ------
        TableError
            For everything the gate reports.
        """
        if skip_missing and not isinstance(source, Individuals):
            source = read_frame(source)
            if not (complete := complete_rows(source, schema)).all():
                return cls._fit_with_gaps(Individuals.read_with_gaps(source, schema), complete)
        people = Individuals.read(source, schema)
        if len(people) < 2:
            raise TableError([TableProblem("one row has no standard deviation")], fix="fit on at least two people")
        same = (people.numbers == people.numbers[0]).all(axis=0)  # whose computed mean and sd may be off by roundoff
        means = np.where(same, people.numbers[0], people.numbers.mean(axis=0))
        sds = np.where(same, 0.0, people.numbers.std(axis=0, ddof=1))
        return cls(schema, means, sds, people)

    def refuse_flat(self) -> None:
        """Refuse to standardise numbers that do not vary.

        Raises
        ------
        TableError
            Which names them, and says what to do.
        """
        flat = [name for name, sd in zip(self.schema.names_numeric, self.sds, strict=True) if sd == 0]
        if flat:
            message = "varies too little to have a standard deviation, by which it would be scaled"
            raise TableError([TableProblem(message, column=name) for name in flat], fix=LEAVE_OUT_FLAT)

    def refuse_overflow(self) -> None:
        """Refuse declared ranges whose ends a program makes infinite; it is monotone, so all between them is finite.

        Raises
        ------
        SchemaError
            Which names the attribute.
        """
        for attribute, program in zip(self.schema.numeric, self.programs, strict=True):
            for end in (attribute.lower, attribute.upper):
                if end is not None and not np.isfinite(program(end)):
                    raise SchemaError(
                        f'the range of "{attribute.name}" is too large for the model: {end:g} overflows ({program})',
                        fix="declare a smaller range in the schema: the least and largest value that a person can have",
                    )

    @classmethod
    def _fit_with_gaps(cls, everyone: Individuals, complete: NDArray[np.bool_]) -> Encoding:
        schema, problems = everyone.schema, list[TableProblem]()
        means, sds = (np.zeros(len(schema.numeric)) for _ in range(2))
        for j, name in enumerate(schema.names_numeric):
            values = everyone.numbers[~np.isnan(everyone.numbers[:, j]), j]
            if len(values) < 2:
                few = f"{len(values)} of {len(everyone)} rows have a value, too few for a standard deviation"
                problems.append(TableProblem(few, column=name))
                continue
            same = values.min() == values.max()
            means[j], sds[j] = (values[0], 0.0) if same else (values.mean(), values.std(ddof=1))
        if problems:
            raise TableError(problems)
        training = everyone.take(np.flatnonzero(complete)) if complete.any() else None
        return cls(schema, means, sds, training, with_gaps=everyone)

    def rows_of(self, attribute: str) -> tuple[int, int] | None:
        """How many rows a standard deviation was taken from, and of how many; None where they are not at hand."""
        if self.ranked is None:
            return None
        return int(np.count_nonzero(~np.isnan(self.ranked.number(attribute)))), len(self.ranked)

    def is_outside(self, attribute: str) -> NDArray[np.bool_]:
        """(values,) which categories of an attribute the model raises at."""
        return np.array([feature in self.outside for feature in self.features[self.columns(attribute)]])

    def mean(self, attribute: str) -> float:
        return float(self.means[self.schema.names_numeric.index(attribute)])

    def sd(self, attribute: str) -> float:
        return float(self.sds[self.schema.names_numeric.index(attribute)])

    def encode(self, source: Any, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """People as a matrix: each number by its program, one-hot for categories.

        Parameters
        ----------
        source
            A table of people.
        out : (people, features) float64, contiguous
            Where to write; so that encoding chunk after chunk takes no fresh memory each time.

        Returns
        -------
        (people, features) float64

        Raises
        ------
        TableError
            For what the gate reports, for categories outside, and for numbers that a program makes infinite.
        """
        people = Individuals.read(source, self.schema)
        _refuse_outside(people, self.outside)
        matrix = (
            np.zeros((len(people), len(self.features)))
            if out is None
            else _checked_output(out, (len(people), len(self.features)))
        )
        at_once = min(ENCODED_AT_ONCE, len(people))
        places = (np.arange(at_once) * len(self.features))[:, None] + self.category_starts

        def fill(start: int) -> None:
            rows = slice(start, start + ENCODED_AT_ONCE)
            part = matrix[rows]
            if out is not None:
                part[:] = 0.0
            part[:, self.numeric_columns] = self.scale(people.numbers[rows])
            part.reshape(-1)[(places[: len(part)] + people.codes[rows]).reshape(-1)] = 1.0

        map_in_threads(fill, range(0, len(people), ENCODED_AT_ONCE), rows=len(people))
        if not self.standardises:
            _refuse_infinite(people, matrix[:, self.numeric_columns], self.programs)
        return matrix

    def scale(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(…, numeric attributes) raw values to encoded ones; monotone in every value, as float arithmetic is."""
        if self.standardises:  # all columns at once is quicker, and the same bits
            return np.asarray((numbers - self.means) / self.units)
        return self.numbers.encode(numbers)

    def unscale(self, encoded: NDArray[np.float64]) -> NDArray[np.float64]:
        """(…, numeric attributes) encoded values to raw ones, within ``decode_error`` where no program clips."""
        return self.numbers.decode(encoded)

    def scale_bounds(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> BoundPair:
        """Intervals of raw values (…, numeric attributes) to the intervals that hold what they are encoded to."""
        return self.numbers.ordered(self.scale(lower), self.scale(upper))

    def unscale_bounds(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> BoundPair:
        """Encoded intervals back to intervals of raw values, as exact as :meth:`unscale`."""
        return self.numbers.ordered(self.unscale(lower), self.unscale(upper))

    def decode(self, matrix: ArrayLike) -> Individuals:
        """A matrix back to people: categories and whole numbers exactly, other numbers within ``decode_error``.

        A category is the largest entry of its group, so that a point of the relaxed simplex decodes too.
        """
        array = np.asarray(matrix, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != len(self.features) or not np.isfinite(array).all():
            raise LcifrError(
                f"cannot decode an array of shape {array.shape}",
                fix=f"give finite values, (people, {len(self.features)})",
            )
        numbers = self.unscale(array[:, self.numeric_columns])
        whole = np.array([attribute.integer for attribute in self.schema.numeric], dtype=bool)
        numbers[:, whole] = np.rint(numbers[:, whole])
        codes = np.zeros((len(array), len(self.schema.categorical)), np.int32)
        for j, category in enumerate(self.schema.categorical):
            codes[:, j] = array[:, self.columns(category.name)].argmax(axis=1)
        return Individuals(self.schema, numbers, codes)

    def decode_error(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """How far ``decode(encode(x))`` may be from raw values x that no program clips: (…, numeric attributes).

        Below one half this rounds away, which is why whole numbers come back exactly.
        """
        if self.standardises:
            return standardising_error(np.asarray(numbers, dtype=np.float64), self.means, self.units)
        return self.numbers.inverse_error(numbers)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; JSON writes floats so that not one bit is lost."""
        scales = {
            attribute.name: {"mean": float(mean), "sd": float(sd)}
            for attribute, mean, sd in zip(self.schema.numeric, self.means, self.sds, strict=True)
        }
        programs = {name: one.to_list() for name, one in zip(self.schema.names_numeric, self.programs, strict=True)}
        outside = sorted([feature.attribute, feature.value] for feature in self.outside)
        known = {"format": FORMAT, "schema": self.schema.to_dict(), "scales": scales}
        return known | {"programs": programs, "outside": outside}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Encoding:
        """What :meth:`to_dict` made, checked."""
        try:
            if values["format"] not in (FORMAT, FORMAT_WITHOUT_PROGRAMS):
                raise LcifrError(f"an encoding of format {values['format']!r}; this version reads {FORMAT}")
            schema = Schema.from_dict(values["schema"])
            scales = [values["scales"][attribute.name] for attribute in schema.numeric]
            means, sds = (np.array([float(scale[key]) for scale in scales]) for key in ("mean", "sd"))
            if not (np.isfinite(means).all() and np.isfinite(sds).all() and (sds >= 0).all()):
                raise LcifrError("not an encoding: means must be finite, standard deviations too, and not negative")
            if values["format"] == FORMAT_WITHOUT_PROGRAMS:
                return cls(schema, means, sds)
            programs = tuple(Program.from_list(values["programs"][name]) for name in schema.names_numeric)
            outside = frozenset(Feature(attribute, value) for attribute, value in values["outside"])
            return cls(schema, means, sds, programs=programs, outside=outside)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, LcifrError):
                raise
            raise LcifrError(f"not an encoding: {type(error).__name__}: {error}") from None

    def to_bytes(self) -> bytes:
        """The canonical form, attributes in their order: it is that of the feature columns."""
        return json.dumps(self.to_dict()).encode()

    @cached_property
    def hash(self) -> str:
        """sha256 of the canonical form."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write it as JSON, for :meth:`load`."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Encoding:
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise LcifrError(f"{path}: cannot be read as an encoding: {error}") from None


def _refuse_outside(people: Individuals, outside: Collection[Feature]) -> None:
    """Raise an error that names all people with one of these categories."""
    problems = [
        TableProblem(f'the model raises an error at the category "{value}"', attribute.name, int(row))
        for attribute in (people.schema.categorical if outside else ())
        for code, value in enumerate(attribute.values)
        if Feature(attribute.name, value) in outside
        for row in np.flatnonzero(people.code(attribute.name) == code)
    ]
    if problems:
        raise TableError(problems, fix="leave these people out: the model decides nothing about them")


def _refuse_infinite(people: Individuals, encoded: NDArray[np.float64], programs: Sequence[Program]) -> None:
    """Raise an error that names every number that its program makes infinite; encoded (people, numeric attributes)."""
    if np.isfinite(encoded).all():
        return
    names = people.schema.names_numeric
    raise TableError(
        [
            TableProblem(f"{people.numbers[row, j]:g} overflows: {programs[j]}", names[j], int(row))
            for row, j in np.argwhere(~np.isfinite(encoded))
        ]
    )


def _checked_output(out: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """The array that people are to be encoded into, if it can hold them."""
    if out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise LcifrError(
            f"out is {out.dtype} of shape {out.shape}", fix=f"give a contiguous float64 array of shape {shape}"
        )
    return out
