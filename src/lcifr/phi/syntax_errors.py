"""Errors in the text of a formula: positions, what was found and what was expected, and suggested fixes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from lark import Token

from lcifr.data.schema import Schema
from lcifr.errors import SimilarityError, did_you_mean
from lcifr.phi.formula import KEYWORDS, Span, quote_name

# Diagnostics of a formula: positions in the text, messages and fixes, collected into one error.

MOST = 20  # diagnostics that are kept; a reader starts with these
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


# Descriptions of syntax errors: what was found and what was expected.

END = "$END"
_EXPECTED = (  # terminals that mean one thing to a person, most telling first
    ({"SAME"}, "a condition"),
    ({"WITHIN", "COMPARE"}, "within or a comparison such as ="),
    ({"NUMBER", "VBAR"}, "a number or an attribute"),
    ({"NUMBER"}, "a number"),
    ({"COMPARE"}, "a comparison such as = or <="),
    ({"WITHIN"}, "within"),
    ({"AND"}, "and"),
    ({"OR"}, "or"),
    ({"IMPLIES"}, "implies"),
    ({"IN"}, "in"),
    ({"BY"}, "by"),
    ({"SD"}, "sd"),
    ({"STRING"}, "a value in double quotes"),
    ({"NAME"}, "the name of an attribute"),
    ({"COMMA"}, "a comma"),
    ({"LPAR"}, "("),
    ({"RPAR"}, ")"),
    ({"LBRACE"}, "{"),
    ({"RBRACE"}, "}"),
    ({"VBAR"}, "the closing |"),
    ({END}, "the end of the formula"),
)
_SIGNS = {  # what people type or their word processor makes of it, and what the language writes
    "&": "and",
    "!": "not",
    "¬": "not",
    "∧": "and",
    "∨": "or",
    "⇒": "implies",
    "→": "implies",
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "*",
    "·": "*",
    "÷": "*",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "’": "'",
    "‘": "'",
    "′": "'",
    "´": "'",
    "[": "( or {",
    "]": ") or }",
    ";": "and",
    "%": "a number in the data's own units",
}


@dataclass(frozen=True)
class MisplacedToken:
    """An unexpected token, with those that would be accepted in its place."""

    token: Token
    before: Token | None
    accepted: frozenset[str]
    schema: Schema

    @property
    def span(self) -> Span:
        if self.token.type == END:
            end = (self.before.end_pos or 0) if self.before else 0
            return Span(end, end)
        return Span.of(self.token)

    def is_after(self, *kinds: str) -> bool:
        return self.before is not None and self.before.type in kinds


def explain_character(text: str, at: int) -> Diagnostic:
    """Why the character ``text[at]`` is unexpected, in words."""
    sign, span = text[at], Span(at, at + 1)
    if sign in '"`':
        what = "quotation mark" if sign == '"' else "backtick"
        return Diagnostic(f"this {what} is never closed on its line", span, fix=f"put another {sign} after the name")
    if sign in _SIGNS:
        return Diagnostic(f'"{sign}" is not a symbol of the language', span, fix=f"write {_SIGNS[sign]}")
    shown = f'"{sign}"' if sign.isprintable() else f"the character U+{ord(sign):04X}"
    return Diagnostic(
        f"{shown} is not a symbol of the language", span, fix="take it out, or quote the name: `hours per week`"
    )


def describe_found(misplaced: MisplacedToken) -> str:
    """The unexpected token, in words."""
    token = misplaced.token
    if token.type == END:
        return "the formula ends too early" if misplaced.before else "the formula is empty"
    if token.type in ("NAME", "QUOTED"):
        return f"found the name {token}"
    if token.type in ("STRING", "NUMBER"):
        return f"found {token}"
    return f'found "{token}"'


def describe_expected(misplaced: MisplacedToken) -> str:
    """The tokens that would be accepted, in words."""
    accepted, words = set(misplaced.accepted), []
    for kinds, word in _EXPECTED:
        if kinds <= accepted:
            words.append(word)
            accepted -= {"NUMBER", "VBAR", "NAME", "LPAR", "STRING"} if kinds & {"SAME", "VBAR"} else kinds
    return (" or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)) or "something else"


# Suggested fixes for common syntax errors, one rule for each.


def explain_token(misplaced: MisplacedToken) -> Diagnostic:
    """Why this token is unexpected, in words."""
    for rule in _RULES:
        diagnostic = rule(misplaced)
        if diagnostic is not None:
            return diagnostic
    return Diagnostic(f"{describe_found(misplaced)}; expected {describe_expected(misplaced)}", misplaced.span)


def _sd_outside_within(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type != "SD":
        return None
    return Diagnostic(
        "sd belongs to within: it needs an attribute whose standard deviation is meant",
        misplaced.span,
        fix="write gpa within 0.2 sd for |gpa' - gpa| <= 0.2 sd",
    )


def _stray_prime(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type != "PRIME":
        return None
    if misplaced.is_after("PRIME"):
        return Diagnostic("two primes: there are only two people, gpa and gpa'", misplaced.span, fix="write one prime")
    if misplaced.is_after("NAME", "QUOTED"):
        return Diagnostic(
            "a set names attributes, not one person's values", misplaced.span, fix="leave out the prime: same(age)"
        )
    return Diagnostic(
        "a prime stands where nothing is named", misplaced.span, fix='values are written in double quotes, "White"'
    )


def _prime_before_within(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type == "WITHIN" and misplaced.is_after("PRIME"):
        message = "within compares the two people by itself: its attributes carry no prime"
        return Diagnostic(message, misplaced.span, fix="write gpa within 0.2 for |gpa' - gpa| <= 0.2")
    closes_set = misplaced.token.type == "RPAR" and misplaced.accepted <= {"WITHIN", "COMMA", "EXCEPT"}
    if closes_set or (misplaced.token.type in ("WITHIN", "EXCEPT") and misplaced.is_after("RPAR")):
        return Diagnostic(
            "a set is written without parentheses", misplaced.span, fix="write numeric except age within 5"
        )
    return None


def _missing_sign(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type not in ("NAME", "QUOTED") or not misplaced.is_after("NUMBER"):
        return None
    if misplaced.token not in misplaced.schema and did_you_mean(misplaced.token, KEYWORDS):
        return None
    if "SD" in misplaced.accepted:
        message = "units are not written: numbers are in the data's own units"
        return Diagnostic(message, misplaced.span, fix="leave the unit out, or write sd for standard deviations")
    number = misplaced.before
    return Diagnostic(
        "a sign is missing between the number and the name", misplaced.span, fix=f"write {number}*{misplaced.token}"
    )


def _text_for_name(misplaced: MisplacedToken) -> Diagnostic | None:
    token = misplaced.token
    if token.type == "STRING" and "NAME" in misplaced.accepted:
        fix = f"attribute names stand in backticks or bare: {quote_name(str(token)[1:-1])}"
        return Diagnostic(f"found the text {token} where an attribute is named", misplaced.span, fix=fix)
    if token.type in ("WITHIN", "EXCEPT", "PRIME") and misplaced.before is not None and misplaced.is_after("STRING"):
        fix = f"attribute names stand in backticks or bare: {quote_name(str(misplaced.before)[1:-1])}"
        return Diagnostic("double quotes are for the values of categories", Span.of(misplaced.before), fix=fix)
    if token.type in ("NAME", "NUMBER", "QUOTED") and misplaced.accepted == {"STRING"}:
        return Diagnostic(
            f"found {token}; category values stand in double quotes", misplaced.span, fix=f'write "{token}"'
        )
    if token.type == "LBRACE" and misplaced.is_after("COMPARE"):
        return Diagnostic(
            "a list of values follows in, not a comparison sign", misplaced.span, fix='race\' in {"A", "B"}'
        )
    return None


def _two_names(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.before is None or misplaced.before.type != "NAME" or misplaced.token.type != "NAME":
        return None
    first = str(misplaced.before)
    if first.casefold() in KEYWORDS:
        fix = f"write {first.casefold()}"
        return Diagnostic(
            f"the words of the language are in small letters, found {first}", Span.of(misplaced.before), fix=fix
        )
    words = f"{first} {misplaced.token}".casefold()
    meant = [name for name in misplaced.schema.names if re.sub(r"\W|_", " ", name.casefold()).startswith(words)]
    if not meant:
        return None
    message = f"found the name {misplaced.token} after the name {first}"
    return Diagnostic(
        message, misplaced.span, fix=f"a name of several words stands in backticks: {quote_name(meant[0])}"
    )


def _unknown_function(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type != "LPAR" or not misplaced.is_after("NAME"):
        return None
    hint = did_you_mean(str(misplaced.before), ("same", "free", "rank"))
    message = f"only same(…), free(…) and rank(…) take parentheses, {misplaced.before} does not.{hint}"
    return Diagnostic(message, misplaced.span, fix=None if hint else "put a sign or a word between them")


def _reserved_word(misplaced: MisplacedToken) -> Diagnostic | None:
    word = str(misplaced.token)
    before = str(misplaced.before)
    if before in ("same", "free", "rank") and before in misplaced.schema and misplaced.token.type != "LPAR":
        found = f'"{before}" is a word of the language, and needs parentheses'
        return Diagnostic(found, Span.of(misplaced.before), fix=f"the attribute is written `{before}`")
    if word not in KEYWORDS or word not in misplaced.schema or not misplaced.accepted & {"NAME"}:
        return None
    return Diagnostic(f'"{word}" is a word of the language', misplaced.span, fix=f"the attribute is written `{word}`")


def _misspelt_word(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type != "NAME":
        return None
    hint = did_you_mean(misplaced.token, [word for word in KEYWORDS if word.upper() in misplaced.accepted])
    if not hint:
        return None
    return Diagnostic(f"{describe_found(misplaced)}; expected {describe_expected(misplaced)}.{hint}", misplaced.span)


def _empty(misplaced: MisplacedToken) -> Diagnostic | None:
    if misplaced.token.type != END or misplaced.before is not None:
        return None
    return Diagnostic("the formula is empty", misplaced.span, fix="write a condition, for example same(all)")


_RULES: tuple[Callable[[MisplacedToken], Diagnostic | None], ...] = (
    _empty,
    _reserved_word,
    _text_for_name,
    _sd_outside_within,
    _stray_prime,
    _prime_before_within,
    _missing_sign,
    _unknown_function,
    _two_names,
    _misspelt_word,
)
