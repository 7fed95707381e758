"""Descriptions of syntax errors: what was found and what was expected."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token

from lcifr.data.schema import Schema
from lcifr.similarity.language.diagnostics import Diagnostic
from lcifr.similarity.language.formula import Span

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
