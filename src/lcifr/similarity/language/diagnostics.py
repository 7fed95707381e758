"""Diagnostics of a formula: positions in the text, messages and fixes, collected into one error."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from lcifr.errors import SimilarityError
from lcifr.similarity.language.formula import Span

MOST = 20  # diagnostics that are noted; whoever wrote more will start with these
_WIDEST = 110  # characters of the offending line that are shown; longer lines are cut around the place
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Diagnostic:
    """One error in a formula: message, span and suggested fix."""

    message: str
    span: Span
    fix: str | None = None


@dataclass
class Diagnostics:
    """The errors found in one text."""

    text: str
    source: str
    found: list[Diagnostic] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether enough errors were found; suggesting similar names for more would only take time."""
        return len(self.found) >= MOST

    def add(self, message: str, span: Span, *, fix: str | None = None) -> None:
        if not self.is_full:
            self.found.append(Diagnostic(message, span, fix))

    def error(self) -> SimilarityError:
        """One error that shows every diagnostic, in the order of the text; its position is the first one's."""
        ordered = sorted(self.found, key=lambda diagnostic: diagnostic.span.start)
        places = [find_position(self.text, diagnostic.span.start) for diagnostic in ordered]
        shown = [self._show(diagnostic, place) for diagnostic, place in zip(ordered, places, strict=True)]
        only_fix = ordered[0].fix if len(ordered) == 1 else None
        if len(ordered) > 1:
            shown = [
                part + (f"\nFix: {diagnostic.fix}" if diagnostic.fix else "")
                for part, diagnostic in zip(shown, ordered, strict=True)
            ]
        if self.is_full:
            shown.append("… and there may be more")
        return SimilarityError(
            _printable("\n".join(shown)),
            fix=only_fix and _printable(only_fix),
            source=self.source,
            line=places[0].line,
            column=places[0].column,
        )

    def _show(self, diagnostic: Diagnostic, place: TextPosition) -> str:
        head = f"{self.source}, line {place.line}, column {place.column}: {diagnostic.message}"
        return f"{head}\n{_underline(place, diagnostic.span.end - diagnostic.span.start)}"


@dataclass(frozen=True)
class TextPosition:
    """A position in a text; lines and columns count from 1."""

    line: int
    column: int
    line_text: str


def find_position(text: str, offset: int) -> TextPosition:
    """The line and column of a character; lines end in LF, CRLF or CR."""
    start, line = 0, 1
    for end in _LINE_END.finditer(text):
        if end.end() > offset:
            return TextPosition(line, offset - start + 1, text[start : end.start()])
        start, line = end.end(), line + 1
    return TextPosition(line, offset - start + 1, text[start:])


def point_at(text: str, span: Span) -> str:
    """The line of the text on which a part begins, and carets below it."""
    return _underline(find_position(text, span.start), span.end - span.start)


def _underline(place: TextPosition, length: int) -> str:
    """The line, and carets below the ``length`` characters from the place on."""
    text, at = place.line_text, min(place.column - 1, len(place.line_text))
    cut = max(0, at - _WIDEST // 2) if len(text) > _WIDEST else 0
    before, marked, after = text[cut:at], text[at : at + length], text[at + length :]
    room = max(0, _WIDEST - len(before) - len(marked))
    shown = ("…" if cut else "") + before
    line = shown + marked[:_WIDEST] + after[:room] + ("…" if len(after) > room or len(marked) > _WIDEST else "")
    return f"    {_printable(line)}\n    {' ' * _width(shown)}{'^' * max(1, _width(marked[:_WIDEST]))}"


def _printable(text: str) -> str:
    """Control characters as spaces and lone surrogates as text, so that any terminal or file can show the message."""
    plain = "".join(" " if unicodedata.category(sign) == "Cc" and sign != "\n" else sign for sign in text)
    return plain.encode("utf-8", "backslashreplace").decode("utf-8")


def _width(text: str) -> int:
    """The width of the text in terminal columns."""
    signs = [sign for sign in _printable(text) if not unicodedata.combining(sign)]
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in signs)
