"""Docstrings as they are written here, made what napoleon and reStructuredText expect.

A parameter is `name : meaning` on one line, where napoleon takes what follows the colon for a type. Names that end in
`_` and `|x|` are what they look like, where reStructuredText takes them for references.
"""

from __future__ import annotations

import re
from typing import Any

SECTION = re.compile(r"^(Parameters|Attributes|Other Parameters)$")
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.+)$")
SECOND = re.compile(r"(?<=\. )(\w+) : ")
LITERAL = re.compile(r"(``.*?``|`.*?`)")
REFERENCE = re.compile(r"(?<=\w)_(?!\w)|\|")
ARRAY = re.compile(r"[~.\w]*ndarray\[tuple\[[~.\w]*Any, \.\.\.\], [~.\w]*dtype\[[~.\w]*?(\w+)\]\]")
BEFORE_NAPOLEON = 400


def split_entries(lines: list[str]) -> list[str]:
    """The same docstring, the meaning of each parameter on lines of its own below the name."""
    result: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        underlined = number + 1 < len(lines) and set(lines[number + 1].strip()) == {"-"}
        if underlined:
            inside = bool(SECTION.match(line))
        found = ENTRY.match(line) if inside else None
        result += [line] if found is None else _apart(found[1], found[2])
    return result


def _apart(name: str, meaning: str) -> list[str]:
    """Two parameters that share a line become two entries."""
    first, *rest = SECOND.split(meaning)
    lines = [name, f"    {first.strip()}"]
    for other, text in zip(rest[::2], rest[1::2], strict=True):
        lines += [other, f"    {text.strip()}"]
    return lines


def escaped(line: str) -> str:
    """The line without accidental references, outside of literals."""
    parts = LITERAL.split(line)
    return "".join(
        part if part.startswith("`") else REFERENCE.sub(lambda found: f"\\{found[0]}", part) for part in parts
    )


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = split_entries([line if line.lstrip().startswith((">>>", "...")) else escaped(line) for line in lines])


def _shorten(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Arrays as `NDArray[float64]`, which is how the source writes them."""
    return tuple(text and ARRAY.sub(r"NDArray[\1]", text) for text in (signature, returned))  # type: ignore[return-value]


def setup(app: Any) -> dict[str, bool]:
    """Change docstrings before napoleon reads them."""
    app.connect("autodoc-process-signature", _shorten)
    app.connect("autodoc-process-docstring", _process, priority=BEFORE_NAPOLEON)
    return {"parallel_read_safe": True}
