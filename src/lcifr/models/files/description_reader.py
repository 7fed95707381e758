"""Strict reader of the TOML file of a ModelDescription: every error names the entry."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError, did_you_mean, no_such_file
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.files.description import (
    COMPARED,
    FORMAT,
    DescribedInput,
    DescribedOutput,
    DescriptionError,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
    UnknownValue,
)

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
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise no_such_file(path, EXAMPLE) from None
    except UnicodeDecodeError as error:
        raise DescriptionError(f"{path}: cannot be read: {error}", fix="give a text file, saved as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(f"{path}: not a TOML file: {error}", fix=EXAMPLE) from None
    return description_of(found, str(path))


def description_of(plain: Mapping[str, Any], source: str) -> ModelDescription:
    """The content of a file, checked; an error names the entry in ``source``."""
    whole = _FileEntry(source, plain)
    whole.refuse_unknown(OF_FILE)
    if whole.get("format", str) != FORMAT:
        raise whole.error(f"format is {plain.get('format')!r}, expected {FORMAT!r}", f'begin with format = "{FORMAT}"')
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
        value = self.get(key, str, default=default)
        if value not in set(words):
            known = [str(word) for word in words]
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
