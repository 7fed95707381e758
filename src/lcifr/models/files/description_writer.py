"""Writer of the TOML file of a ModelDescription, for a person to correct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from lcifr.data.program import ProgramStep, StepFormat
from lcifr.models.files.description import FORMAT, DescribedInput, DescribedOutput, InputKind, ModelDescription


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
        said = comments.get(one.column) if one.column is not None else None
        yield f"{_commented(said)}[[inputs]]\n{_entries(_plain_input(one))}"
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
    plain: dict[str, Any] = {"meaning": str(one.meaning)}
    if one.name is not None:
        plain["name"] = one.name
    if one.position is not None:
        plain["position"] = one.position
    if one.classes:
        plain["classes"] = list(one.classes)
    if one.has_threshold:
        plain |= {"comparison": str(one.comparison), "threshold": one.threshold}
    return plain
