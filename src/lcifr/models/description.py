"""Descriptions of models: which column feeds which input, and what the output means; read from and written as TOML.

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

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from numpy.typing import NDArray

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError, did_you_mean, no_such_file
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.rule import Kind, Rule

# Rules and class names that a description declares for a model whose file has a rule of its own.


def check_meaning(described: DescribedOutput, rule: Rule, where: str) -> None:
    """Refuse a meaning that outputs cannot have which decide by ``rule`` when nothing is declared.

    Raises
    ------
    DescriptionError
        For numbers described as classes and the reverse, and for one score where there are several.
    """
    is_number = rule.kind is Kind.NUMBER
    if is_number != (described.meaning is Meaning.NUMBER):
        decides = "predicts a number" if is_number else f"decides between {rule.classes} classes"
        fix = 'meaning = "number"' if is_number else 'use meaning = "class", or "probability" with a threshold'
        raise DescriptionError(f'{where} {decides}: meaning = "{described.meaning}" is for other models', fix=fix)
    if described.has_threshold and rule.kind is not Kind.SIGN:
        raise DescriptionError(
            f"{where} decides between {rule.classes} classes by {rule.outputs} numbers: threshold = "
            f"{described.threshold!r} is for two classes and one number",
            fix='use meaning = "scores", without comparison and threshold',
        )
    if described.meaning is Meaning.SCORES and rule.kind is Kind.SIGN:
        raise DescriptionError(
            f'{where} decides between two classes by one number: meaning = "scores" is for one number per class',
            fix='use meaning = "class" for the library\'s own rule, or "probability" with comparison and threshold',
        )


def declared_labels(
    described: DescribedOutput, own: Sequence[Any] | NDArray[Any], where: str, *, named: bool = False
) -> NDArray[Any]:
    """The names of the classes that a description gives, else the model's own.

    Parameters
    ----------
    named : whether the model's own names mean something: then other names may replace them, but not the same ones in
        another order.
    """
    labels = list(own)
    if not described.classes:
        return np.asarray(own)
    if len(described.classes) != len(labels):
        raise DescriptionError(
            f"{where} has {len(labels)} classes, its description {len(described.classes)}",
            fix="name each class once, in the order of the model's",
        )
    texts, given = [str(label) for label in labels], [str(label) for label in described.classes]
    if named and texts != given and set(texts) & set(given):
        raise DescriptionError(
            f"{where} has the classes {', '.join(texts)}, its description {', '.join(given)}",
            fix="leave classes out, or name them in the order of the model's",
        )
    return renamed(described.classes)


def renamed(classes: Sequence[Label]) -> NDArray[Any]:
    """Names of classes as an array: of one type, else as they are."""
    kinds = {type(one) for one in classes}
    return np.array(classes, dtype=None if len(kinds) == 1 else object)


# What a description holds.

FORMAT = "lcifr-model-1"
Label = str | int | bool


def is_description(path: Path) -> bool:
    """Whether a file has entries of a description; a schema, or a file that cannot be read, has none."""
    try:
        found = _toml(path) if path.is_file() else {}
    except (OSError, DescriptionError):
        return False
    return not _is_schema(found) and not found.keys().isdisjoint(OF_FILE)


def description_beside(model: Path) -> Path | None:
    """The .toml of the same name as a model, unless there is none or it is a schema.

    Whatever else it is, it counts as the description: one that cannot be read must be an error, never be passed over.
    """
    beside = model.with_suffix(".toml")
    try:
        return None if not beside.is_file() or _is_schema(_toml(beside)) else beside
    except (OSError, DescriptionError):
        return beside


def _is_schema(found: Mapping[str, Any]) -> bool:
    return "attributes" in found and "format" not in found


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
    def given(self) -> tuple[str, ...]:
        """The names of its entries, in their order in a file."""
        always = ("meaning", "comparison", "threshold") if self.has_threshold else ("meaning",)
        return tuple(one.name for one in fields(self) if one.name in {*always, *_given(self)})

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
            for name in self.output.given:
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


# Strict reader of the TOML file of a ModelDescription: every error names the entry.

OF_FILE = ("format", "draft", "arithmetic", "missing", "inputs", "output")
OF_KIND: dict[InputKind, tuple[str, ...]] = {
    InputKind.NUMBER: ("column", "steps", "computed_in"),
    InputKind.ONE_HOT: ("column", "values", "unknown", "steps", "computed_in"),
    InputKind.CODE: ("column", "codes"),
    InputKind.AS_IS: ("column",),
    InputKind.CONSTANT: ("value",),
}
OF_OUTPUT = ("meaning", "name", "position", "classes", "comparison", "threshold")
NAMED = {
    bool: "true or false",
    str: "a text",
    float: "a number",
    int: "a whole number",
    list: "a list",
    dict: "a table",
}
EXAMPLE = "lcifr init people.csv --model model.onnx writes one to begin with"


def read_description(path: Path) -> ModelDescription:
    """A file, checked."""
    return description_of(_toml(path), str(path))


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise no_such_file(path, EXAMPLE) from None
    except UnicodeDecodeError as error:
        raise DescriptionError(f"{path}: cannot be read: {error}", fix="give a text file, saved as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(f"{path}: not a TOML file: {error}", fix=EXAMPLE) from None


def description_of(plain: Mapping[str, Any], source: str) -> ModelDescription:
    """The content of a file, checked; an error names the entry in ``source``."""
    whole = _FileEntry(source, plain)
    if plain.get("format") != FORMAT:
        found = f"format is {plain['format']!r}" if "format" in plain else "it has no format"
        raise whole.error(
            f"{found}, expected {FORMAT!r}",
            f'begin with format = "{FORMAT}"; if it does not describe the model, give it another name',
        )
    whole.refuse_unknown(OF_FILE)
    inputs = plain.get("inputs", [])
    if not isinstance(inputs, list) or not (inputs or plain.keys() & {"arithmetic", "missing", "output"}):
        raise whole.error("there are no [[inputs]]", f"write one for each column that the model reads; {EXAMPLE}")
    entries = tuple(_input(_FileEntry(f"{source}: [[inputs]] {place}", one)) for place, one in enumerate(inputs, 1))
    output = _output(_FileEntry(f"{source}: [output]", plain["output"])) if "output" in plain else None
    arithmetic = whole.choice("arithmetic", Arithmetic) if "arithmetic" in plain else None
    missing = whole.floating("missing") if "missing" in plain else None
    draft = bool(whole.get("draft", bool, default=False))
    return ModelDescription(entries, output, arithmetic, source, missing, draft)


class _FileEntry:
    """A table of the file; ``where`` begins every message about it."""

    def __init__(self, where: str, plain: object) -> None:
        self.where = where
        if not isinstance(plain, Mapping):
            raise self.error(f"found {plain!r}, expected entries like column = …", EXAMPLE)
        self.plain = plain

    def error(self, message: str, fix: str) -> DescriptionError:
        return DescriptionError(f"{self.where}: {message}", fix=fix)

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        for key in self.plain:
            if key not in known:
                raise self.error(
                    f'unknown entry "{key}".{did_you_mean(key, known)}', f"allowed here: {', '.join(known)}"
                )

    def get(self, key: str, *kinds: type, default: Any = None) -> Any:
        """A value of one of these kinds; true and false are no numbers."""
        if key not in self.plain:
            if default is None:
                raise self.error(f'"{key}" is missing', f"write {key} = …")
            return default
        value = self.plain[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.error(f"{key} = {value!r} is not {NAMED[kinds[0]]}", f"correct {key}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.floating(key, default)
        if not math.isfinite(value):
            raise self.error(f"{key} = {value} is not finite", f"correct {key}")
        return value

    def floating(self, key: str, default: float | None = None) -> float:
        """As a float64, NaN and infinity too."""
        value = self.get(key, float, int, default=default)
        try:
            return float(value)
        except OverflowError:
            raise self.error(f"{key} = {value} is beyond float64", f"correct {key}") from None

    def choice(self, key: str, words: Any, default: Any = None) -> Any:
        known = [str(word) for word in words]
        if key not in self.plain and default is None:
            raise self.error(f'"{key}" is missing', f"write {key} = …, one of {', '.join(known)}")
        value = self.get(key, str, default=default)
        if value not in set(words):
            raise self.error(
                f"{key} = {value!r} is not one of {', '.join(known)}.{did_you_mean(value, known)}", f"correct {key}"
            )
        return words(value)

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.get(key, list)
        if not values or not all(isinstance(value, str) for value in values) or len(set(values)) < len(values):
            raise self.error(f"{key} = {values!r} is not a list of different texts", f'{key} = ["female", "male"]')
        return tuple(values)


def _input(entry: _FileEntry) -> DescribedInput:
    kind: InputKind = entry.choice("kind", InputKind)
    entry.refuse_unknown(("kind", "input", *OF_KIND[kind]))
    known: dict[str, Any] = {"kind": kind}
    if "input" in entry.plain:
        known["input"] = entry.get("input", str)
    if kind is not InputKind.CONSTANT:
        known["column"] = entry.get("column", str)
    if kind is InputKind.NUMBER:
        known["steps"] = _steps(entry)
    elif kind is InputKind.ONE_HOT:
        values = entry.texts("values")
        known |= {"values": values, "unknown": entry.choice("unknown", UnknownValue, UnknownValue.ERROR)}
        programs = tuple(_steps(entry, place, len(values)) for place in range(len(values)))
        known["value_steps"] = programs if any(programs) else ()
    elif kind is InputKind.CODE:
        known["codes"] = _codes(entry)
    elif kind is InputKind.CONSTANT:
        known["value"] = entry.number("value")
    return DescribedInput(**known)


def _steps(entry: _FileEntry, value: int = 0, values: int = 0) -> tuple[ProgramStep, ...]:
    """``[["subtract", 38.6], …]`` in the format of the entry; constants are rounded to it, as a library holds them.

    ``value``, ``values`` : of a one-hot category, for which of how many values; a constant may be a list of them.
    """
    computed: StepFormat = entry.choice("computed_in", StepFormat, StepFormat.FLOAT64)
    if "computed_in" in entry.plain and not entry.plain.get("steps"):
        raise entry.error("computed_in is the format of steps, and there are none", 'add steps, such as [["cast"]]')
    steps = []
    for place, one in enumerate(entry.get("steps", list, default=[]), 1):
        inside = _FileEntry(f"{entry.where}, step {place}", {"step": one})
        if not isinstance(one, list) or not one or one[0] not in set(Operation):
            raise inside.error(
                f"found {one!r}, expected an operation and its numbers",
                f'one of {", ".join(Operation)}, such as ["subtract", 38.6]',
            )
        if values and any(isinstance(c, list) and len(c) != values for c in one[1:]):
            raise inside.error(
                f"found {one!r}, expected one number, or a list with one for each of the {values} values",
                "give the numbers in the order of values",
            )
        chosen = [c[value] if values and isinstance(c, list) else c for c in one[1:]]
        if not all(isinstance(c, int | float) and not isinstance(c, bool) for c in chosen):
            raise inside.error(f"found {one!r}, expected numbers after the operation", 'such as ["divide", 13.6]')
        with np.errstate(over="ignore"):
            try:
                constants = tuple(float(np.dtype(computed.value).type(constant)) for constant in chosen)
            except OverflowError:
                raise inside.error(f"found {one!r}, a number beyond float64", "correct the step") from None
        try:
            steps.append(ProgramStep(Operation(one[0]), computed, constants))
        except LcifrError as problem:
            raise inside.error(str(problem), "correct the step") from None
    return tuple(steps)


def _codes(entry: _FileEntry) -> tuple[tuple[str, float], ...]:
    codes = entry.get("codes", dict)
    inside = _FileEntry(f"{entry.where}, codes", codes)
    if not codes:
        raise inside.error("there are none", 'codes = { "A" = 0, "B" = 1 }')
    return tuple((value, inside.number(value)) for value in codes)


def _output(entry: _FileEntry) -> DescribedOutput:
    entry.refuse_unknown(OF_OUTPUT)
    meaning: Meaning = entry.choice("meaning", Meaning)
    known: dict[str, Any] = {"meaning": meaning}
    if "name" in entry.plain:
        known["name"] = entry.get("name", str)
    if "position" in entry.plain:
        known["position"] = entry.get("position", int)
        if known["position"] < 0:
            raise entry.error(f"position = {known['position']} is below 0", "count columns of the output from 0")
    if "classes" in entry.plain:
        known["classes"] = _classes(entry, meaning)
    if meaning in COMPARED:
        known["comparison"] = entry.choice("comparison", ScoreComparison)
        known["threshold"] = entry.number("threshold")
        if meaning is Meaning.PROBABILITY and not 0 < known["threshold"] < 1:
            raise entry.error(
                f"threshold = {known['threshold']:g} is not a probability between 0 and 1",
                'correct it, or use meaning = "score"',
            )
    elif stray := [key for key in ("comparison", "threshold", "position") if key in entry.plain]:
        raise entry.error(
            f'{stray[0]} is for meaning = "score" or "probability", not for "{meaning}"', f"leave {stray[0]} out"
        )
    return DescribedOutput(**known)


def _classes(entry: _FileEntry, meaning: Meaning) -> tuple[Any, ...]:
    values = entry.get("classes", list)
    if len(set(map(repr, values))) < len(values) or not all(isinstance(one, str | int) for one in values):
        raise entry.error(f"classes = {values!r} is not a list of different names", 'classes = ["refused", "granted"]')
    if meaning is Meaning.NUMBER:
        raise entry.error("numbers have no classes", "leave classes out")
    if len(values) < 2 or (meaning in COMPARED and len(values) > 2):
        expected = (
            "two, the second of them the one that the output speaks for" if meaning in COMPARED else "two or more"
        )
        raise entry.error(f"found {len(values)} classes, expected {expected}", "correct classes")
    return tuple(values)


# Writer of the TOML file of a ModelDescription, for a person to correct.


def write_description(
    description: ModelDescription, path: str | Path, comments: Mapping[str, str] | None = None
) -> None:
    """Write the file; ``comments`` as for :func:`description_text`."""
    Path(path).write_text(description_text(description, comments or {}), encoding="utf-8")


def description_text(description: ModelDescription, comments: Mapping[str, str]) -> str:
    """The file's text.

    Parameters
    ----------
    comments : lines to stand above an entry, by ``"file"``, a column's name, or ``"output"``.
    """
    return "\n".join(_paragraphs(description, comments))


def _paragraphs(description: ModelDescription, comments: Mapping[str, str]) -> Iterator[str]:
    head: dict[str, Any] = {"format": FORMAT}
    if description.draft:
        head["draft"] = True
    if description.arithmetic is not None:
        head["arithmetic"] = str(description.arithmetic)
    if description.missing is not None:
        head["missing"] = description.missing
    yield _commented(comments.get("file")) + _entries(head)
    for one in description.inputs:
        comment = comments.get(one.column) if one.column is not None else None
        yield f"{_commented(comment)}[[inputs]]\n{_entries(_plain_input(one))}"
    if description.output is not None:
        yield f"{_commented(comments.get('output'))}[output]\n{_entries(_plain_output(description.output))}"


def _commented(text: str | None) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in (text or "").splitlines())


def _entries(plain: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in plain.items())


def _key(key: str) -> str:
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")


def _value(value: Any) -> str:
    """In one line, lists and tables too."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")


def _plain_input(one: DescribedInput) -> dict[str, Any]:
    plain: dict[str, Any] = {} if one.column is None else {"column": one.column}
    plain["kind"] = str(one.kind)
    if one.input is not None:
        plain["input"] = one.input
    if one.steps:
        plain |= _plain_steps((one.steps,))
    if one.kind is InputKind.ONE_HOT:
        plain |= {"values": list(one.values), "unknown": str(one.unknown)}
        plain |= _plain_steps(one.value_steps) if one.value_steps else {}
    if one.kind is InputKind.CODE:
        plain["codes"] = dict(one.codes)
    if one.kind is InputKind.CONSTANT:
        plain["value"] = one.value
    return plain


def _plain_steps(programs: Sequence[tuple[ProgramStep, ...]]) -> dict[str, Any]:
    """Programs of the same operations: a constant is a number where all have the same, else a list with one of each."""
    steps = []
    for same in zip(*programs, strict=True):
        rows = zip(*(map(_shortest(step), step.constants) for step in same), strict=True)
        steps.append([str(same[0].operation), *(row[0] if len(set(row)) == 1 else list(row) for row in rows)])
    computed = programs[0][0].format
    return {"steps": steps} | ({} if computed is StepFormat.FLOAT64 else {"computed_in": str(computed)})


def _shortest(step: ProgramStep) -> Any:
    """A constant with no more digits than its format has."""
    return lambda constant: float(str(np.dtype(step.format.value).type(constant)))


def _plain_output(one: DescribedOutput) -> dict[str, Any]:
    known = {name: getattr(one, name) for name in one.given}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in known.items()}
