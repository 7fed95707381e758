"""Reference: the library's own predictions, compared with the model as it was read; and rows made up for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.demands import Outputs, is_strict
from lcifr.data import Individuals
from lcifr.data.program import Operation, Program, StepFormat
from lcifr.errors import NetworkError
from lcifr.models.model import Model
from lcifr.models.source import TableModel

# Comparison of a model as it was read with the library that it comes from: decisions, outputs, and proved rounding.

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class LibraryComparison:
    """What both say of some people.

    Parameters
    ----------
    read, library : (people,) decisions of the model as it was read, and of the library itself.
    differ : (people,) whether these differ. wrong : (people,) and rounding cannot be the reason.
    largest : the largest difference of an output, where the library gives its outputs. allowed : the largest that
        rounding can make of them, among these people.
    """

    read: NDArray[Any]
    library: NDArray[Any]
    differ: BoolArray
    wrong: BoolArray
    largest: float | None
    allowed: float

    def __len__(self) -> int:
        return len(self.differ)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs but what rounding explains."""
        return not self.wrong.any()

    @property
    def equal(self) -> int:
        """How many people both decide alike."""
        return int((~self.differ).sum())

    def refuse_difference(self, who: str, ids: Sequence[Any] | None) -> None:
        """Nothing is proved about a model that differs from its library in a way that rounding does not explain.

        Raises
        ------
        NetworkError
            With the first of the people (``who``) that both decide differently.
        """
        if self.agrees:
            return
        row = int(self.wrong.argmax())
        named = f"row {row}" if ids is None else f'"{ids[row]}"'
        raise NetworkError(
            f"the library decides otherwise than its model as it was read about {int(self.wrong.sum())} of "
            f"{len(self)} {who}; the first is {named}: {self.library[row]!r}, not {self.read[row]!r}",
            fix="see that the table is the one that the model takes (spaces in texts, dtypes); "
            "`lcifr doctor --model` shows more",
        )


def compare(
    model: Model, outputs: Outputs, library: NDArray[Any], library_outputs: NDArray[Any] | None = None
) -> LibraryComparison:
    """Compare decisions, and outputs where the library gives them.

    Parameters
    ----------
    outputs : of these people by the model as it was read; ``deployment_error`` is what rounding can do in the library.
    library : (people,) its decisions. library_outputs : (people, outputs) its numbers, of the same function.
    """
    found = model.decide(outputs.values)
    if model.labels is None:
        gap = np.abs(np.reshape(found, outputs.values.shape) - np.reshape(library, outputs.values.shape))
        differ, wrong = (gap > 0).any(1), ~(gap <= outputs.error).all(1)
        library_outputs = np.reshape(library, (len(found), -1))
    else:
        differ = np.asarray(found != library)
        wrong = is_strict(model.rule, outputs) & differ
    largest = None
    if library_outputs is not None and len(found):
        gaps = np.abs(np.reshape(library_outputs, outputs.values.shape) - outputs.values)
        wrong = wrong | ~(gaps <= outputs.error).all(1)
        largest = float(gaps.max())
    return LibraryComparison(found, library, differ, wrong, largest, float(outputs.error.max(initial=0.0)))


# Probes: people on whom a model as it was read could differ from its library, if it were read wrongly.
#
# Made up within the ranges of a table; and at the values where something is compared, clipped or rounded to another
# format, with one float to either side: there two computations differ first.

FloatArray = NDArray[np.float64]

HALVINGS = 64
"""Between any two floats there are fewer than 2^64."""
SIGN_BIT = np.int64(np.iinfo(np.int64).min)
MOST_SPLITS = 200
"""Thresholds of trees that are tried for each number; the smallest ones where there are more."""
TRIED = 24
"""People whose numbers are moved to each place, one attribute at a time."""


def make_up_people(read: TableModel, people: Individuals, count: int, seed: int = 0) -> Individuals:
    """Numbers between the smallest and the largest of the table, all categories that the model takes equally often."""
    read.encoding.refuse_overflow()
    generator = np.random.default_rng(seed)
    numbers = np.empty((count, people.numbers.shape[1]))
    for j, attribute in enumerate(people.schema.numeric):
        lower, upper = _range(people, j)
        numbers[:, j] = generator.uniform(lower, upper, count)
        if attribute.integer:
            numbers[:, j] = np.rint(numbers[:, j])
    codes = np.empty((count, people.codes.shape[1]), people.codes.dtype)
    for j, category in enumerate(people.schema.categorical):
        taken = np.flatnonzero(~read.encoding.is_outside(category.name))
        codes[:, j] = generator.permutation(np.resize(generator.permutation(taken), count))
    return Individuals(people.schema, numbers, codes)


def place_at_boundaries(read: TableModel, people: Individuals) -> Individuals:
    """People with one number at a boundary, or one float beside it: of casts, of clips, and of the decision itself.

    Whole numbers stay whole.
    """
    tried = people.take(np.unique(np.linspace(0, len(people) - 1, TRIED).astype(int)))
    found = [tried]
    for j, attribute in enumerate(people.schema.numeric):
        program = read.encoding.programs[j]
        values = [*_clip_values(program), *_cast_values(program, tried.numbers[:, j])]
        if not attribute.integer:
            found += [_moved(tried, j, value) for value in values]
        splits = _split_values(read, people, j)
        if len(splits):  # many: each is tried on one person
            found.append(_moved(tried.take(np.arange(len(splits)) % len(tried)), j, splits))
        found += _decision_places(read, people, tried, j)
    return Individuals.joined(found)


def _range(people: Individuals, j: int) -> tuple[float, float]:
    attribute, values = people.schema.numeric[j], people.numbers[:, j]
    lower = values.min() if attribute.lower is None else attribute.lower
    upper = values.max() if attribute.upper is None else attribute.upper
    return float(lower), float(upper)


def _moved(people: Individuals, j: int, values: FloatArray | float) -> Individuals:
    numbers = people.numbers.copy()
    numbers[:, j] = values
    return replace(people, numbers=numbers)


def _beside(value: FloatArray) -> Iterator[FloatArray]:
    yield np.nextafter(value, -np.inf)
    yield value
    yield np.nextafter(value, np.inf)


def _clip_values(program: Program) -> Iterator[FloatArray]:
    """Where the program begins to clip."""
    for end in program.unclipped:
        if np.isfinite(end):
            yield from _beside(np.float64(end))  # type: ignore[arg-type]


def _cast_values(program: Program, values: FloatArray) -> Iterator[FloatArray]:
    """Halfway between two numbers of float32, where a cast of the table's value rounds the other way."""
    first = program.steps[0] if program.steps else None
    if first is None or first.format is not StepFormat.FLOAT32 or first.operation is not Operation.CAST:
        return
    below = values.astype(np.float32)
    above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    yield from _beside(below.astype(np.float64) / 2 + above / 2)


def _split_values(read: TableModel, people: Individuals, j: int) -> FloatArray:
    """Where trees split a number: the last value that goes one way, the first that goes the other, and their floats."""
    program, attribute = read.encoding.programs[j], people.schema.numeric[j]
    lower, upper = _range(people, j)
    [column] = range(*read.encoding.columns(attribute.name).indices(len(read.encoding.features)))
    found = [split for factor in read.factors if (split := factor.thresholds(column)) is not None]
    thresholds = np.unique(np.concatenate([*found, np.zeros(0)]))[:MOST_SPLITS]
    starts, ends = np.full(len(thresholds), lower), np.full(len(thresholds), upper)
    first = program(starts) <= thresholds

    def is_before(values: FloatArray) -> NDArray[np.bool_]:
        return np.asarray((program(values) <= thresholds) == first)

    places = np.concatenate(_halve(starts, ends, is_before, whole=False))
    if attribute.integer:
        places = np.concatenate([np.floor(places), np.ceil(places)])
        return np.unique(np.concatenate([places - 1, places, places + 1]).clip(lower, upper))
    return np.unique(np.concatenate(list(_beside(places))).clip(lower, upper)) if len(places) else places


def _decision_places(read: TableModel, people: Individuals, tried: Individuals, j: int) -> Iterator[Individuals]:
    """Those whose decision depends on this number, at the last value before it turns and the first behind."""
    if read.model.labels is None:
        return
    lower, upper = _range(people, j)
    ends = read.decide(_moved(tried, j, lower)), read.decide(_moved(tried, j, upper))
    turns = np.flatnonzero(ends[0] != ends[1])
    if not len(turns):
        return
    some, first = tried.take(turns), ends[0][turns]
    whole = people.schema.numeric[j].integer
    low = np.full(len(turns), lower)
    high = np.full(len(turns), upper)
    low, high = _halve(low, high, lambda values: read.decide(_moved(some, j, values)) == first, whole)
    beside = (low - 1, low, high, high + 1) if whole else (*_beside(low), np.nextafter(high, np.inf))
    for values in beside:
        yield _moved(some, j, np.clip(values, lower, upper))


def _halve(
    low: FloatArray, high: FloatArray, is_low: Callable[[FloatArray], NDArray[np.bool_]], whole: bool
) -> tuple[FloatArray, FloatArray]:
    """Two neighbours, floats or whole numbers, between which ``is_low`` ends to hold; for each place by itself."""
    for _ in range(HALVINGS):
        middle = np.floor(low / 2 + high / 2) if whole else _between(low, high)
        below = is_low(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low, high


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    """The float in the middle of those between two, by their number and not by their size."""
    first, last = _order(low), _order(high)
    middle = (first >> 1) + (last >> 1) + (first & last & 1)
    return np.asarray(np.where(middle < 0, SIGN_BIT - middle, middle).view(np.float64))


def _order(values: FloatArray) -> NDArray[np.int64]:
    """Whole numbers in the order of the floats, one after the other."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.where(bits < 0, SIGN_BIT - bits, bits)


# Reference: the library's own predictions, compared with the model as it was read: on made-up rows once a run, and on
# every row of people.

MADE_UP = 256
"""Made-up rows that a model is compared with its library on, at least."""


@dataclass(frozen=True)
class ReferencePredictions:
    """What the library predicts for the people of an audit.

    Parameters
    ----------
    own : (people,) its decisions.
    features, outputs : (people, features) encoded, and what the model as it was read computes; None where the library
        was not compared.
    """

    people: Individuals
    own: NDArray[Any]
    features: FloatArray | None = None
    outputs: Outputs | None = None

    def take(self, rows: NDArray[np.intp]) -> ReferencePredictions:
        """Of some of the people."""
        features = None if self.features is None else self.features[rows]
        outputs = None if self.outputs is None else self.outputs.take(rows)
        return ReferencePredictions(self.people.take(rows), self.own[rows], features, outputs)

    def is_about(self, people: Individuals) -> bool:
        """Whether it is about exactly these people: for others it would be a wrong verdict."""
        mine = self.people
        if mine is people:
            return True
        return np.array_equal(mine.numbers, people.numbers) and np.array_equal(mine.codes, people.codes)


@final
@dataclass(frozen=True, eq=False)
class Reference:
    """The library that a model comes from, without whose predictions nothing counts as a counterexample.

    Parameters
    ----------
    source : the model as its loader read it, with the library's functions.
    made_up : rows on which both were found to agree; None before that comparison.
    """

    source: TableModel
    made_up: Individuals | None = None

    @property
    def runtime(self) -> str:
        """What predicts, and its version; empty where that is a forward pass of ours."""
        return self.source.runtime

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions by the library itself."""
        return self.source.library_decides(people)

    def made_up_among(self, people: Individuals) -> Individuals:
        """Rows within the ranges of these people, as many as it takes to have every category.

        A model that is read wrongly elsewhere would decide alike about those who happen to be in the table.
        """
        count = max([MADE_UP, *(len(category.values) for category in people.schema.categorical)])
        return make_up_people(self.source, people, count)
