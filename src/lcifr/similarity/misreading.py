"""Who counts as similar? Text that is no formula: what was found, what was expected, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lark import Token

from lcifr.data.schema import Schema
from lcifr.errors import did_you_mean
from lcifr.similarity.formula import Span
from lcifr.similarity.names import KEYWORDS, quote_name
from lcifr.similarity.refusal import Refusal

_END = "$END"
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
    ({_END}, "the end of the formula"),
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
class Misread:
    """A token that cannot stand where it stands."""

    token: Token
    before: Token | None
    accepted: frozenset[str]
    schema: Schema

    @property
    def span(self) -> Span:
        if self.token.type == _END:
            end = (self.before.end_pos or 0) if self.before else 0
            return Span(end, end)
        return _span_of(self.token)

    def is_after(self, *kinds: str) -> bool:
        return self.before is not None and self.before.type in kinds


def _span_of(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)


def explain_token(misread: Misread) -> Refusal:
    """Why this token cannot stand here, in words."""
    for rule in _RULES:
        refusal = rule(misread)
        if refusal is not None:
            return refusal
    return Refusal(f"{_describe_found(misread)}; expected {_describe_expected(misread)}", misread.span)


def explain_character(text: str, at: int) -> Refusal:
    """Why the character ``text[at]`` cannot stand there, in words."""
    sign, span = text[at], Span(at, at + 1)
    if sign in '"`':
        what = "quotation mark" if sign == '"' else "backtick"
        return Refusal(f"this {what} is never closed on its line", span, fix=f"put another {sign} after the name")
    if sign in _SIGNS:
        return Refusal(f'"{sign}" is not a sign of the language', span, fix=f"write {_SIGNS[sign]}")
    shown = f'"{sign}"' if sign.isprintable() else f"the character U+{ord(sign):04X}"
    return Refusal(
        f"{shown} is not a sign of the language", span, fix="take it out, or quote the name: `hours per week`"
    )


def _describe_found(misread: Misread) -> str:
    token = misread.token
    if token.type == _END:
        return "the formula ends too early" if misread.before else "the formula is empty"
    if token.type in ("NAME", "QUOTED"):
        return f"found the name {token}"
    if token.type in ("STRING", "NUMBER"):
        return f"found {token}"
    return f'found "{token}"'


def _describe_expected(misread: Misread) -> str:
    accepted, words = set(misread.accepted), []
    for kinds, word in _EXPECTED:
        if kinds <= accepted:
            words.append(word)
            accepted -= {"NUMBER", "VBAR", "NAME", "LPAR", "STRING"} if kinds & {"SAME", "VBAR"} else kinds
    return (" or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)) or "something else"


# -- what was probably meant: each rule knows one common slip ----------------------------------------------------------


def _sd_outside_within(misread: Misread) -> Refusal | None:
    if misread.token.type != "SD":
        return None
    return Refusal(
        "sd belongs to within: it needs an attribute whose standard deviation is meant",
        misread.span,
        fix="write gpa within 0.2 sd for |gpa' - gpa| <= 0.2 sd",
    )


def _stray_prime(misread: Misread) -> Refusal | None:
    if misread.token.type != "PRIME":
        return None
    if misread.is_after("PRIME"):
        return Refusal("two primes: there are only two people, gpa and gpa'", misread.span, fix="write one prime")
    if misread.is_after("NAME", "QUOTED"):
        return Refusal(
            "a set names attributes, not one person's values", misread.span, fix="leave out the prime: same(age)"
        )
    return Refusal(
        "a prime stands where nothing is named", misread.span, fix='values are written in double quotes, "White"'
    )


def _prime_before_within(misread: Misread) -> Refusal | None:
    if misread.token.type == "WITHIN" and misread.is_after("PRIME"):
        message = "within compares the two people by itself: its attributes carry no prime"
        return Refusal(message, misread.span, fix="write gpa within 0.2 for |gpa' - gpa| <= 0.2")
    closes_set = misread.token.type == "RPAR" and misread.accepted <= {"WITHIN", "COMMA", "EXCEPT"}
    if closes_set or (misread.token.type in ("WITHIN", "EXCEPT") and misread.is_after("RPAR")):
        return Refusal("a set is written without parentheses", misread.span, fix="write numeric except age within 5")
    return None


def _missing_sign(misread: Misread) -> Refusal | None:
    if misread.token.type not in ("NAME", "QUOTED") or not misread.is_after("NUMBER"):
        return None
    if misread.token not in misread.schema and did_you_mean(misread.token, KEYWORDS):
        return None
    if "SD" in misread.accepted:
        message = "units are not written: numbers are in the data's own units"
        return Refusal(message, misread.span, fix="leave the unit out, or write sd for standard deviations")
    number = misread.before
    return Refusal(
        "a sign is missing between the number and the name", misread.span, fix=f"write {number}*{misread.token}"
    )


def _text_for_name(misread: Misread) -> Refusal | None:
    token = misread.token
    if token.type == "STRING" and "NAME" in misread.accepted:
        fix = f"attribute names stand in backticks or bare: {quote_name(str(token)[1:-1])}"
        return Refusal(f"found the text {token} where an attribute is named", misread.span, fix=fix)
    if token.type in ("WITHIN", "EXCEPT", "PRIME") and misread.before is not None and misread.is_after("STRING"):
        fix = f"attribute names stand in backticks or bare: {quote_name(str(misread.before)[1:-1])}"
        return Refusal("double quotes are for the values of categories", _span_of(misread.before), fix=fix)
    if token.type in ("NAME", "NUMBER", "QUOTED") and misread.accepted == {"STRING"}:
        return Refusal(f"found {token}; category values stand in double quotes", misread.span, fix=f'write "{token}"')
    if token.type == "LBRACE" and misread.is_after("COMPARE"):
        return Refusal("a list of values follows in, not a comparison sign", misread.span, fix='race\' in {"A", "B"}')
    return None


def _two_names(misread: Misread) -> Refusal | None:
    if misread.before is None or misread.before.type != "NAME" or misread.token.type != "NAME":
        return None
    first = str(misread.before)
    if first.casefold() in KEYWORDS:
        fix = f"write {first.casefold()}"
        return Refusal(
            f"the words of the language are in small letters, found {first}", _span_of(misread.before), fix=fix
        )
    words = f"{first} {misread.token}".casefold()
    meant = [name for name in misread.schema.names if re.sub(r"\W|_", " ", name.casefold()).startswith(words)]
    if not meant:
        return None
    message = f"found the name {misread.token} after the name {first}"
    return Refusal(message, misread.span, fix=f"a name of several words stands in backticks: {quote_name(meant[0])}")


def _unknown_function(misread: Misread) -> Refusal | None:
    if misread.token.type != "LPAR" or not misread.is_after("NAME"):
        return None
    hint = did_you_mean(str(misread.before), ("same", "rank"))
    message = f"only same(…) and rank(…) take parentheses, {misread.before} does not.{hint}"
    return Refusal(message, misread.span, fix=None if hint else "put a sign or a word between them")


def _reserved_word(misread: Misread) -> Refusal | None:
    word = str(misread.token)
    if word not in KEYWORDS or word not in misread.schema or not misread.accepted & {"NAME"}:
        return None
    return Refusal(f'"{word}" is a word of the language', misread.span, fix=f"the attribute is written `{word}`")


def _misspelt_word(misread: Misread) -> Refusal | None:
    if misread.token.type != "NAME":
        return None
    hint = did_you_mean(misread.token, [word for word in KEYWORDS if word.upper() in misread.accepted])
    if not hint:
        return None
    return Refusal(f"{_describe_found(misread)}; expected {_describe_expected(misread)}.{hint}", misread.span)


def _empty(misread: Misread) -> Refusal | None:
    if misread.token.type != _END or misread.before is not None:
        return None
    return Refusal("the formula is empty", misread.span, fix="write a condition, for example same(all)")


_RULES: tuple[Callable[[Misread], Refusal | None], ...] = (
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
