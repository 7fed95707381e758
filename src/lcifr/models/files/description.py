"""ModelDescription: which column feeds which input of a model, and what its outputs mean; a small TOML file.

A model of numbers alone knows no columns: position 3 is whatever the training code put there. This file says it::

    format = "lcifr-model-1"
    draft = true                        # not corrected yet: audits stop until this line is deleted
    arithmetic = "float32"              # left out: what the model's weights are stored in
    missing = -9                        # of XGBoost's files: what stands for a missing value; NaN if left out

    [[inputs]]                          # one entry after the other, in the order of the model's inputs
    column = "age"
    kind = "number"                     # one input: the value behind the steps
    steps = [["subtract", 38.6], ["divide", 13.6]]
    computed_in = "float64"             # the format of the steps; float64 where it is left out

    [[inputs]]
    column = "sex"
    kind = "one-hot"                    # one input for each value, in this order
    values = ["female", "male"]
    unknown = "error"                   # or "zeros": what the model makes of another value
    steps = [["subtract", [0.3, 0.7]]]  # what each 0 or 1 goes through: a number for each value, or one for all

    [[inputs]]
    column = "grade"
    kind = "code"                       # one input: the number of the value; other values are refused
    codes = { A = 0, B = 1, C = 2 }

    [[inputs]]
    kind = "constant"                   # one input that no column feeds
    value = 1.0

    [output]
    meaning = "probability"             # see Meaning
    classes = ["refused", "granted"]    # in the order of the outputs; the second is the one that a score is for
    comparison = ">="                   # granted where the output is >= the threshold; at a tie too
    threshold = 0.5

An entry with ``input = "NAME"`` feeds the tensor of that name, where a model has several; ``kind = "as is"`` hands the
column on as the table holds it, for models that scale and code by themselves.

No entry is ever skipped: each loader names the entries that it obeys (:class:`TakenEntries`), and any other is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.program import ProgramStep
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic

FORMAT = "lcifr-model-1"
Label = str | int | bool


def is_description(path: Path) -> bool:
    """Whether a file describes a model; a schema, or a file that cannot be read, does not."""
    try:
        return path.is_file() and f'"{FORMAT}"' in path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False


class DescriptionError(LcifrError, ValueError):
    """A description of a model that cannot be read, or that contradicts itself."""


class InputKind(StrEnum):
    """How a column becomes inputs of the model."""

    NUMBER = "number"
    ONE_HOT = "one-hot"
    CODE = "code"
    AS_IS = "as is"
    CONSTANT = "constant"


class UnknownValue(StrEnum):
    """What a model makes of a category that it has no input for: it raises, or all inputs are 0."""

    ERROR = "error"
    ZEROS = "zeros"


class Meaning(StrEnum):
    """What the outputs are."""

    SCORE = "score"
    """One number: the second class where it compares with the threshold."""
    PROBABILITY = "probability"
    """The same; the number is a probability of the second class."""
    SCORES = "scores"
    """One number for each class: the largest decides, of several the first."""
    CLASS = "class"
    """The class itself."""
    NUMBER = "number"
    """The decision is the number."""


class ScoreComparison(StrEnum):
    """How a score is compared with its threshold: what happens at a tie."""

    ABOVE = ">"
    AT_LEAST = ">="


@dataclass(frozen=True)
class DescribedInput:
    """What feeds the next inputs of the model.

    Parameters
    ----------
    column : of the table; None for a constant.
    input : the name of the tensor, where the model has several.
    steps : of a number, what it goes through before the model sees it.
    values : of a one-hot category, in the order of the inputs. unknown : what becomes of other values.
    value_steps : of each of these values, what its 0 or 1 goes through; empty for nothing.
    codes : of a coded category, the number of each value.
    value : the constant.
    """

    kind: InputKind
    column: str | None = None
    input: str | None = None
    steps: tuple[ProgramStep, ...] = ()
    values: tuple[str, ...] = ()
    unknown: UnknownValue = UnknownValue.ERROR
    codes: tuple[tuple[str, float], ...] = ()
    value: float = 0.0
    value_steps: tuple[tuple[ProgramStep, ...], ...] = ()

    @property
    def width(self) -> int:
        """How many inputs it feeds."""
        return len(self.values) if self.kind is InputKind.ONE_HOT else 1


@dataclass(frozen=True)
class DescribedOutput:
    """What the outputs mean.

    Parameters
    ----------
    name : of the tensor that decides, where the model has several.
    position : of a score or probability, the column of the tensor that is compared; None for the last.
    classes : in the order of the outputs; empty for numbers, and where classes are 0, 1, ….
    comparison, threshold : of a score or probability.
    """

    meaning: Meaning
    name: str | None = None
    position: int | None = None
    classes: tuple[Label, ...] = ()
    comparison: ScoreComparison = ScoreComparison.ABOVE
    threshold: float = 0.0

    @property
    def has_threshold(self) -> bool:
        """Whether one number is compared with the threshold."""
        return self.meaning in COMPARED

    def is_second(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each score or probability decides for the second class, compared in its own format as numpy does."""
        found = scores > self.threshold if self.comparison is ScoreComparison.ABOVE else scores >= self.threshold
        return np.asarray(found)

    def rule_words(self, first: object, second: object) -> str:
        """How a score or probability is compared, in words, with the names of both classes."""
        what = "its probability" if self.meaning is Meaning.PROBABILITY else "the score"
        return f"the decision is {second} where {what} is {self.comparison} {self.threshold!r}, else {first}"


@dataclass(frozen=True)
class ModelDescription:
    """Inputs in the order of the model's, the output, and the arithmetic that the model is computed in.

    Parameters
    ----------
    inputs : empty where the model knows its columns. output : None where it says itself what its outputs mean.
    arithmetic : None for that of the model's weights.
    source : the file, for messages.
    missing : the number that stands for a missing value, NaN for NaN alone; None where nothing is declared.
    draft : whether it is a guess that has been neither corrected nor adopted as it is.
    """

    inputs: tuple[DescribedInput, ...] = ()
    output: DescribedOutput | None = None
    arithmetic: Arithmetic | None = None
    source: str = "the description"
    missing: float | None = None
    draft: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the model reads, each once, in the order of its inputs."""
        return tuple(dict.fromkeys(one.column for one in self.inputs if one.column is not None))

    @property
    def draft_notice(self) -> str:
        """That a draft was accepted, for notes and results."""
        return f"{self.source} is still a draft, accepted with --accept-draft: its guesses may be wrong"

    def refuse_draft(self, fix: str) -> None:
        """Refuse a draft: whatever is proved with it would be about a model that was guessed.

        Raises
        ------
        DescriptionError
            Which says how to adopt it; ``fix`` : how to go on with it as it is.
        """
        if self.draft:
            raise DescriptionError(
                f"{self.source} is still a draft: its order of inputs, scales, codes and output are guesses, so that a "
                "certificate could be about a misread model",
                fix="compare it with the code that trained the model, correct it, and delete its line `draft = true`; "
                f"{fix}",
            )

    def of_input(self, name: str | None) -> tuple[DescribedInput, ...]:
        """The entries that feed one tensor."""
        return tuple(one for one in self.inputs if one.input == name)

    def entries(self) -> Iterator[tuple[str, str]]:
        """Every entry that it has: its name, such as ``output.threshold``, and where it stands."""
        for name in ("arithmetic", "missing"):
            if getattr(self, name) is not None:
                yield name, name
        for place, one in enumerate(self.inputs, 1):
            for name in _given(one):
                yield f"inputs.{name}", f"{name} of [[inputs]] {place}"
        if self.output is not None:
            always = ("meaning", "comparison", "threshold") if self.output.has_threshold else ("meaning",)
            for name in dict.fromkeys((*always, *_given(self.output))):
                yield f"output.{name}", f"{name} of [output]"


def _given(part: DescribedInput | DescribedOutput) -> list[str]:
    """The names of its entries that are not left at their default."""
    return [NAMES.get(one.name, one.name) for one in fields(part) if getattr(part, one.name) != one.default]


NAMES = {"value_steps": "steps"}
COMPARED = (Meaning.SCORE, Meaning.PROBABILITY)
OF_INPUTS = frozenset(f"inputs.{NAMES.get(one.name, one.name)}" for one in fields(DescribedInput))
THRESHOLD_ENTRIES = frozenset(f"output.{name}" for name in ("meaning", "classes", "comparison", "threshold"))


@dataclass(frozen=True)
class TakenEntries:
    """The entries of a description that models of one kind obey; any other is refused by name, whatever it is.

    Parameters
    ----------
    names : as :meth:`ModelDescription.entries` has them. instead : of entries that are refused, what to do; a prefix
        such as ``inputs`` stands for all below it.
    """

    names: frozenset[str]
    instead: Mapping[str, str] = field(default_factory=dict)

    def check(self, description: ModelDescription | None, kind: str) -> None:
        """Refuse what is not taken; ``kind`` : of model, in words.

        Raises
        ------
        DescriptionError
            With every entry that this kind of model does not take.
        """
        refused = [] if description is None else [one for one in description.entries() if one[0] not in self.names]
        if description is not None and refused:
            fixes = (self.instead.get(name) or self.instead.get(name.split(".")[0]) for name, _ in refused)
            raise DescriptionError(
                f"{description.source}: {kind} does not take {', '.join(where for _, where in refused)}",
                fix="; ".join(dict.fromkeys(one or "leave it out" for one in fixes)),
            )
