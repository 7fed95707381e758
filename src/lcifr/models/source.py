"""What loaders return: a model read for a table's columns, trees on latents, and a model's outline in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding, Individuals
from lcifr.data.frames import is_missing, text_of
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import DescribedOutput
from lcifr.models.function import FloatArray, Function
from lcifr.models.model import Model
from lcifr.models.network import Chain, Network
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import NUMBER, Trees

# TableModel: a fitted model of another library, read for the raw columns of a table, with everything a proof needs.


class ColumnOrderWarning(UserWarning):
    """A table has its columns in another order than a model reads them, and the library does not notice."""


@dataclass(frozen=True)
class PositionalColumns:
    """Columns that a library reads by position, without comparing their names.

    Parameters
    ----------
    why : which model or library does so, as the beginning of a sentence. names : in the order of the model's columns.
    """

    why: str
    names: tuple[str, ...]

    @property
    def assumption(self) -> str:
        """What every statement about the model assumes."""
        return (
            f"{self.why} by position and does not check their names: every statement is about its decisions for "
            f"columns in {_order(self.names)}."
        )

    def warning(self, table: str, columns: Iterable[str]) -> str | None:
        """The warning about a table with its columns in another order than the model's; None if the order is the same.

        ``table`` : its name, for the message.
        """
        there = [str(name) for name in columns if name in self.names]
        if there == list(self.names):
            return None
        return (
            f"the model reads its columns by position, in {_order(self.names)}; {table} has them in {_order(there)}. "
            "For the table as it stands, predict computes something else, about which nothing is stated: put the "
            "columns in the model's order before predict"
        )


def _order(names: Iterable[str]) -> str:
    return "the order " + ", ".join(f'"{name}"' for name in names)


@dataclass(frozen=True)
class LibraryAnswer:
    """A library's own predictions: decisions (people,), and outputs (people, outputs) or None."""

    decisions: NDArray[Any]
    outputs: NDArray[np.float64] | None


@dataclass(frozen=True)
class TableModel:
    """A model read for a table's columns, with the library's own predictions to compare against.

    Parameters
    ----------
    encoding : how numbers of the table are computed, and the categories at which the model raises.
    inputs : the first layer: encoded people to the numbers that the model's function takes. It holds the tables of
        categories, and a 1 for each number.
    model : the function behind, and the rule.
    predict : the library's own decisions for a pandas frame such as ``table``.
    table : the frame that the model was read with; generated rows are written with its dtypes and spellings.
    runtime : the library that computes ``predict``, and its version; empty where lcifr computes it.
    predict_with_outputs : the same with the library's own outputs (people, outputs); None where it does not give the
        function's.
    positional : the columns, where the library reads them by position and checks no names; None where it checks.
    predict_people : the library's decisions, where it takes a matrix of numbers and no frame; else None.
    """

    encoding: Encoding
    inputs: Network
    model: Model
    predict: Callable[[Any], NDArray[Any]] = field(repr=False, compare=False)
    table: Any = field(repr=False, compare=False)
    runtime: str = ""
    predict_with_outputs: Callable[[Any], LibraryAnswer] | None = field(default=None, repr=False, compare=False)
    predict_people: Callable[[Individuals], NDArray[Any]] | None = field(default=None, repr=False, compare=False)
    positional: PositionalColumns | None = None

    @property
    def factors(self) -> tuple[Function, ...]:
        """The functions that are applied in turn to encoded people: the look-up layer, then the model's."""
        function = self.model.function
        return (self.inputs, *(function.factors if isinstance(function, Chain) else (function,)))

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions by a plain forward pass, in the model's own labels."""
        return self.model.predict(self.inputs(self.encoding.encode(people)))

    def library_says(self, people: Individuals, frame: Any = None) -> LibraryAnswer:
        """The library's own decisions, with its outputs where it gives them.

        ``frame`` : the people as the library takes them, if the caller has that already.
        """
        if frame is None and self.predict_people is not None:
            return LibraryAnswer(self.predict_people(people), None)
        frame = self.frame(people) if frame is None else frame
        if self.predict_with_outputs is not None:
            return self.predict_with_outputs(frame)
        return LibraryAnswer(np.asarray(self.predict(frame)), None)

    def library_decides(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions by the library itself."""
        if self.predict_people is not None:
            return self.predict_people(people)
        return np.asarray(self.predict(self.frame(people)))

    def frame(self, people: Individuals) -> Any:
        """People as the library takes them: a pandas frame with the columns and dtypes of the table."""
        import pandas as pd

        known = {name: self._column(people, name) for name in self.table.columns if name in people.schema}
        return pd.DataFrame(known)

    @cached_property
    def _spellings(self) -> dict[str, dict[str, Any]]:
        """Of each column of the table, its values by the texts that name them in the schema."""
        return {
            str(name): {text_of(value).strip(): value for value in column.unique() if not is_missing(value)}
            for name, column in self.table.items()
        }

    def _column(self, people: Individuals, name: str) -> Any:
        import pandas as pd

        like, attribute = self.table[name], people.schema[name]
        if not isinstance(attribute, Categorical):
            values = people.number(name)
            whole = (values == np.rint(values)).all()
            return pd.Series(values).astype(like.dtype if whole or like.dtype.kind == "f" else np.float64)
        seen = self._spellings[name]
        written = [seen.get(text, text) for text in attribute.values]
        codes = people.code(name)
        there = np.flatnonzero(np.bincount(codes, minlength=len(written)))  # each value that occurs, once
        column = pd.Series([written[code] for code in there], dtype=object)
        if isinstance(like.dtype, pd.StringDtype):  # the same dtype, but libraries that want objects need no new ones
            column = column.astype(pd.StringDtype("python", na_value=like.dtype.na_value))
        elif not isinstance(like.dtype, pd.CategoricalDtype):
            column = column.astype(like.dtype)
        return pd.Series(column.array.take(np.searchsorted(there, codes)))


# LatentTrees: trees over the numbers z of a hand-over, as they are stored.

PROBES = 256
"""Thresholds at which a model is compared with its library, at and one float64 beside each."""


@dataclass(frozen=True)
class LatentTrees:
    """A tree model on latents z, read from a file.

    Parameters
    ----------
    model : as proofs see it, with the names of its classes.
    scores : (people, width) z -> (people, outputs), the library's own sums; None where it is not installed.
    predict : (people, width) z -> (people,) the library's own decisions, where it gives no sums.
    """

    model: Model
    scores: Callable[[FloatArray], NDArray[Any]] | None = field(default=None, repr=False)
    predict: Callable[[FloatArray], NDArray[Any]] | None = field(default=None, repr=False)

    @property
    def trees(self) -> Trees:
        assert isinstance(self.model.function, Trees)
        return self.model.function

    def probes(self, z: FloatArray) -> FloatArray:
        """(3 · probes, width) rows of z (people, width), each with a number at a threshold or one float64 beside."""
        nodes, rng = self.trees.nodes, np.random.default_rng(0)
        splits = np.flatnonzero(nodes.kind == NUMBER)
        splits = rng.permutation(splits)[:PROBES]
        at = nodes.threshold[splits]
        made = z[rng.integers(len(z), size=3 * len(splits))].copy()
        beside = np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])
        made[np.arange(len(made)), np.tile(nodes.column[splits], 3)] = beside
        return made


# ModelOutline: summary of a loaded model in words: inputs, steps, outputs, rule, runtime.

SHOWN = 8  # columns, steps and classes that are listed before "…"
LONGEST = 80
"""Characters of a text from a file that are shown."""
PLAIN = re.compile(r"[\w.+-]+")
"""Names that can stand in a sentence without quotes."""


@dataclass(frozen=True)
class ModelInput:
    """An input of a model: a column by its name, or a tensor of numbers.

    Parameters
    ----------
    width : numbers in it. dtype : as the model stores it; empty where any will do.
    is_column : whether the name is that of a column of the table.
    is_category : whether it is taken as a category; None where the model takes it either way.
    values : of a category, those that the model knows.
    """

    name: str
    width: int = 1
    dtype: str = ""
    is_column: bool = True
    is_category: bool | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelOutline:
    """What a model is, as far as its file says it without a table.

    Parameters
    ----------
    library : what wrote it, such as ``scikit-learn 1.7.2``. runtime : what computes its own decisions here, to compare
        with and to confirm counterexamples; empty where that is not installed.
    inputs : in the model's order. steps : what happens to them, one after the other, in words.
    outputs : how many numbers the last step gives. classes : empty for numbers, and where they are not known.
    is_number : whether the decision is a number, so that a tolerance must be given.
    knows_codes : False where the file holds codes of categories, but not which code stands for which category.
    assumptions : what the file does not say and lcifr assumes, in sentences.
    rule : how outputs become a decision, in words. arithmetic : in which it is computed by default.
    output : what a description would say of the output, as far as the file says it; None where that is a guess.
    reads_raw : whether the inputs are the numbers of the table themselves: trees compare them, or the file scales them.
    metadata : texts of the file about itself, by name. Nothing checks them, so no sentence contains them.
    """

    library: str
    runtime: str
    inputs: tuple[ModelInput, ...]
    steps: tuple[str, ...]
    outputs: int
    rule: str
    arithmetic: Arithmetic
    classes: tuple[Any, ...] = ()
    is_number: bool = False
    notes: tuple[str, ...] = field(default=())
    knows_codes: bool = True
    output: DescribedOutput | None = None
    reads_raw: bool = False
    metadata: tuple[tuple[str, str], ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns that it reads, where it knows their names."""
        return tuple(one.name for one in self.inputs) if all(one.is_column for one in self.inputs) else None

    @property
    def needs_description(self) -> bool:
        """Whether a description must say which column feeds which input, or which code stands for which category."""
        return self.columns is None or not self.knows_codes

    @property
    def width(self) -> int:
        """Numbers and columns that it takes in all."""
        return sum(one.width for one in self.inputs)

    def sentences(self) -> Iterator[str]:
        """A paragraph, sentence by sentence."""
        yield f"A model of {self.library}."
        yield self._inputs()
        yield f"Then: {'; '.join(self.steps)}." if self.steps else "Nothing is computed before the decision."
        yield f"{_counted(self.outputs, 'output')}; {self.rule}."
        yield f"Computed in {self.arithmetic}." if self.arithmetic is not Arithmetic.EXACT else EXACT
        yield f"Its own decisions come from {self.runtime}." if self.runtime else NO_RUNTIME
        yield from self.notes
        yield from self.assumptions

    def _inputs(self) -> str:
        if self.columns is not None:
            return f"It reads {_counted(len(self.inputs), 'column')}: {listed(self.columns)}."
        parts = [
            f"{quoted(one.name)} ({_counted(one.width, 'number')}{one.dtype and ', ' + one.dtype})"
            for one in self.inputs
        ]
        return f"It takes {listed(parts, quotes=False)}, and does not say which columns these are."


EXACT = "lcifr knows no float arithmetic for it, so verdicts are about real numbers on the stored weights."
NO_RUNTIME = "Its library is not installed here, so its decisions come from lcifr's exact forward pass."


def rule_words(rule: Rule, labels: NDArray[Any] | None) -> str:
    """How outputs become a decision, with the names of the classes where they are known."""
    names = None if labels is None else [plainly(label) for label in labels]
    if rule.kind is Kind.NUMBER:
        return "the decision is the number"
    if rule.kind is Kind.CLASS:
        tie = (
            f"within {rule.band[1]:.1g} of another, rounding decides" if rule.band[1] else "at a tie, the first of them"
        )
        classes = f" ({listed(names, quotes=False)})" if names else ""
        return f"the decision is the class{classes} with the largest output ({tie})"
    first, second = names or ("class 0", "class 1")
    near = f" (within {(rule.band[1] - rule.band[0]) / 2:.1g} of that, rounding decides)"
    width = rule.band[1] - rule.band[0]
    threshold = 0.0 if abs(rule.middle) < width else rule.middle
    return f"the decision is {second} where the output is above {threshold:.6g}{near if width else ''}, else {first}"


def listed(names: Any, *, quotes: bool = True) -> str:
    """The first few names, and how many more."""
    shown = [quoted(name) if quotes else str(name) for name in names[:SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def quoted(text: object) -> str:
    """A text of a file in quotes, in one line, with everything escaped that could be mistaken for lcifr's own text."""
    known = str(text)
    shown = known if len(known) <= LONGEST else f"{known[:LONGEST]}…"
    escaped = json.dumps(shown, ensure_ascii=False)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in escaped)


def plainly(label: object) -> str:
    """The name of a class, in quotes where it is no plain word."""
    return str(label) if PLAIN.fullmatch(str(label)) and len(str(label)) <= LONGEST else quoted(label)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
