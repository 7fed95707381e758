"""A description of a model that knows no columns, guessed from a table: inputs, scales, codes, and outputs.

Most of it is a guess: the file is marked as a draft, and says so entry by entry. What the model itself tells is how
many numbers it takes, whether it takes them as they are (trees do), and often what it gives: a class, or probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError
from lcifr.models.description import (
    DescribedInput,
    DescribedOutput,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
    UnknownValue,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.models.source import ModelOutline
    from lcifr.workflows.options import DeclaredByOption

PROBABILITIES = ("sigmoid", "softmax", "probabilit", "logistic")
"""Words by which a step of an outline names what makes probabilities of scores."""


@dataclass(frozen=True)
class ProposedDescription:
    """A description, the comments that stand in its file, and what a reader should look at first."""

    description: ModelDescription
    comments: dict[str, str]
    to_know: tuple[str, ...]


def propose_description(outline: ModelOutline, schema: Schema, frame: pa.Table) -> ProposedDescription:
    """Guess how the columns of a table feed a model; ``schema`` has the columns that may, ``frame`` their values."""
    inputs, fits = _inputs(outline, schema, frame) if outline.columns is None else (_named(outline, schema), True)
    tensor = [one.name for one in outline.inputs]
    if len(tensor) > 1 and outline.columns is None:  # no way to guess which column feeds which: all to the first
        inputs = tuple(replace(one, input=tensor[0]) for one in inputs)
    output = _output(outline, schema, frame)
    given = sum(one.width for one in inputs)
    counted = f"{outline.width} numbers, and the entries below give {given}"
    fit = f"The model takes {counted}." if fits else f"THIS CANNOT BE RIGHT YET: the model takes {counted}."
    comments = {
        "file": f"{HEAD}\n{fit}",
        "output": OUTPUT_WORDS[output.meaning],
        **{str(one.column): _said(one) for one in inputs},
    }
    guessed = RAW_GUESSED if outline.reads_raw else ORDER_GUESSED
    to_know = (
        guessed if outline.columns is None else CODES_GUESSED,
        *(() if fits else (f"the model takes {counted}",)),
        DRAFT,
    )
    return ProposedDescription(ModelDescription(inputs, output, draft=True), comments, to_know)


ORDER_GUESSED = "the model does not name its columns: their order, scaling and codes are guessed; please correct them"
RAW_GUESSED = (
    "the model does not name its columns, and takes their numbers as they are: order and codes are guessed; please "
    "correct them"
)
DRAFT = "audits stop until the line `draft = true` of the description is deleted"
CODES_GUESSED = (
    "the model does not say which code stands for which category: guessed, in ascending order; please correct it"
)
HEAD = (
    "Which column feeds which input of the model, in the order of its inputs, and what its output means.\n"
    "Drafted by lcifr init, with guesses. Compare it with the code that trained the model, correct it, delete the\n"
    "line draft = true, and test it: lcifr doctor --model MODEL --describe THIS --data TABLE --target LABELS"
)
OUTPUT_WORDS = {
    Meaning.SCORE: "The second class is decided if the output is > threshold (>= if a tie counts as above).",
    Meaning.PROBABILITY: "The second class is decided if its probability is >= threshold (> if a tie counts as below).",
    Meaning.SCORES: "The decision is the class with the largest output; in a tie, the first of them.",
    Meaning.CLASS: "The output is the class itself. The classes are listed in the model's own order, which is guessed.",
    Meaning.NUMBER: "The output is the decision.",
}


def _said(one: DescribedInput) -> str:
    if one.kind is InputKind.NUMBER and one.steps:
        return "Mean and standard deviation of this table; write those of the training code, or delete the steps."
    if one.kind is InputKind.ONE_HOT:
        left_out = " The first value has no input of its own." if one.unknown is UnknownValue.ZEROS else ""
        return f"One input for each value, in this order.{left_out}"
    return "The number of each value." if one.kind is InputKind.CODE else ""


def _inputs(outline: ModelOutline, schema: Schema, frame: pa.Table) -> tuple[tuple[DescribedInput, ...], bool]:
    """Layouts in the order in which they are usual; the first that gives as many numbers as the model takes."""
    raw = outline.reads_raw
    known = {one.name: _raw(one.name) if raw else _number(one.name, frame) for one in schema.numeric}
    numbers = list(known.values())
    one_hot = [_one_hot(one, one.values) for one in schema.categorical]
    dropped = [_one_hot(one, one.values[1:]) for one in schema.categorical if len(one.values) > 1]
    codes = [known[one.name] if isinstance(one, Numeric) else _code(one) for one in schema]
    layouts = [[*numbers, *one_hot], [*numbers, *dropped], codes, numbers, one_hot]
    if raw:  # trees need no columns of 0 and 1
        layouts = [codes, *layouts]
    for layout in layouts:
        if layout and sum(one.width for one in layout) == outline.width:
            return tuple(layout), True
    return tuple(layouts[0]), False


def _raw(name: str) -> DescribedInput:
    return DescribedInput(InputKind.NUMBER, name)


def _named(outline: ModelOutline, schema: Schema) -> tuple[DescribedInput, ...]:
    """For a model that knows its columns but not the codes of their categories: ascending, as pandas numbers them."""
    known = [(one, schema[one.name]) for one in outline.inputs]
    return tuple(
        _code(replace(attribute, values=_rising(attribute.values)), own=False)
        if one.is_category and isinstance(attribute, Categorical)
        else DescribedInput(InputKind.NUMBER, one.name)
        for one, attribute in known
    )


def _rising(values: Sequence[str]) -> tuple[str, ...]:
    """Numbers by their value, texts by their letters."""
    try:
        return tuple(sorted(values, key=float))
    except ValueError:
        return tuple(sorted(values))


def _number(name: str, frame: pa.Table) -> DescribedInput:
    values = np.asarray(frame[name].drop_null().to_numpy(), np.float64)
    mean, sd = float(values.mean()), float(values.std())
    steps = [(Operation.SUBTRACT, mean), *([(Operation.DIVIDE, sd)] if sd > 0 else [])]
    known = tuple(ProgramStep(operation, StepFormat.FLOAT64, (constant,)) for operation, constant in steps)
    return DescribedInput(InputKind.NUMBER, name, steps=known)


def _one_hot(one: Categorical, values: Sequence[str]) -> DescribedInput:
    unknown = UnknownValue.ERROR if len(values) == len(one.values) else UnknownValue.ZEROS
    return DescribedInput(InputKind.ONE_HOT, one.name, values=tuple(values), unknown=unknown)


def _code(one: Categorical, *, own: bool = True) -> DescribedInput:
    """Places in their order; where ``own``, categories that are numbers already as these."""
    numbers = [_finite(value) if own else None for value in one.values]
    known = [float(k) if None in numbers else number for k, number in enumerate(numbers)]
    return DescribedInput(
        InputKind.CODE,
        one.name,
        codes=tuple(zip(one.values, known, strict=True)),  # type: ignore[arg-type]
    )


def _finite(text: str) -> float | None:
    try:
        found = float("no" if "_" in text else text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _classes(schema: Schema, frame: pa.Table) -> tuple[Any, ...]:
    """The different labels of the table, sorted, as label encoders number them; empty where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if schema.target is None or schema.target not in frame.column_names:
        return ()
    if pa.types.is_floating(frame[schema.target].type):
        return ()
    return tuple(sorted(pc.unique(frame[schema.target]).drop_null().to_pylist()))


def _output(outline: ModelOutline, schema: Schema, frame: pa.Table) -> DescribedOutput:
    """What the model says of its output; names of classes that it does not have are those of the table."""
    classes = _classes(schema, frame)
    if outline.output is not None and outline.output.meaning is Meaning.CLASS:
        return replace(outline.output, classes=_renamed(outline.classes, classes))
    if outline.output is not None:
        count = 2 if outline.output.meaning is Meaning.PROBABILITY else outline.outputs
        return replace(outline.output, classes=classes if len(classes) == count else ())
    if outline.outputs > 1:
        named = classes if len(classes) == outline.outputs else ()
        return DescribedOutput(Meaning.SCORES, classes=named)
    labelled = schema.target is not None and schema.target in frame.column_names
    if outline.is_number and (outline.reads_raw or labelled) and len(classes) != 2:
        return DescribedOutput(Meaning.NUMBER)
    named = classes if len(classes) == 2 else ()
    last = " ".join(outline.steps[-1:]).lower()
    if any(word in last for word in PROBABILITIES):
        return DescribedOutput(Meaning.PROBABILITY, None, None, named, ScoreComparison.AT_LEAST, 0.5)
    return DescribedOutput(Meaning.SCORE, None, None, named, ScoreComparison.ABOVE, 0.0)


def _renamed(own: tuple[Any, ...], classes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Names for the classes of a model that only numbers them, where the table has as many others; else none."""
    numbered = all(isinstance(one, int) for one in own) and own == tuple(range(len(own)))
    return classes if numbered and len(classes) == len(own) and set(classes) != set(own) else ()


def with_declared(
    model: Path, description: ModelDescription | None, declared: DeclaredByOption
) -> ModelDescription | None:
    """The description, or a new one, with what options say; see :func:`open_model`."""
    from lcifr.models.description import ModelDescription

    if not (given := declared.words()):
        return description
    known = ModelDescription(source=" and ".join(given)) if description is None else description
    if declared.missing is not None:
        known = _with_missing(model, known, declared.missing)
    if declared.threshold is not None or declared.score_threshold is not None:
        known = _with_threshold(known, declared)
    return known


def _with_missing(model: Path, known: ModelDescription, missing: float) -> ModelDescription:
    from lcifr.models.loading import ModelFormat, recognise

    if (found := recognise(model)) is not ModelFormat.XGBOOST:
        raise LcifrError(
            f"--missing is for XGBoost files, and {model} is a {found} model",
            fix="leave --missing out: such a file states which values are missing, or takes none",
        )
    if known.missing is not None and repr(known.missing) != repr(missing):
        raise LcifrError(
            f"--missing {missing:g}, and {known.source} says missing = {known.missing:g}", fix="leave one of them out"
        )
    return replace(known, missing=missing)


def _with_threshold(known: ModelDescription, declared: DeclaredByOption) -> ModelDescription:
    """With a cut-off at which the second class is decided for, whatever else the description says of the output."""
    from lcifr.models.description import DescribedOutput, Meaning, ScoreComparison

    probability, score, least = declared.threshold, declared.score_threshold, ScoreComparison.AT_LEAST
    if probability is not None and score is not None:
        raise LcifrError("--threshold and --score-threshold are both given", fix="leave one of them out")
    if probability is not None and not 0 < probability < 1:
        raise LcifrError(
            f"--threshold {probability:g} is not a probability between 0 and 1",
            fix="correct it, or use --score-threshold for a cut-off of the score",
        )
    if score is not None and not math.isfinite(score):
        raise LcifrError(f"--score-threshold {score:g} is not a number", fix="give a finite number")
    if probability is not None:
        asked = DescribedOutput(Meaning.PROBABILITY, comparison=least, threshold=probability)
    else:
        asked = DescribedOutput(Meaning.SCORE, comparison=least, threshold=float(score or 0.0))
    own = known.output
    if own is None:
        return replace(known, output=asked)
    if len(own.classes) > 2:
        raise LcifrError(
            f"{declared.words()[0]} is for two classes, and {known.source} names {len(own.classes)}",
            fix="leave it out",
        )
    found = replace(own, meaning=asked.meaning, comparison=least, threshold=asked.threshold)
    if (own.has_threshold or own.meaning is Meaning.NUMBER) and own != found:
        raise LcifrError(
            f"{known.source} says how the output decides, and {' and '.join(declared.words())} says otherwise",
            fix="leave one of them out",
        )
    return replace(known, output=found)
