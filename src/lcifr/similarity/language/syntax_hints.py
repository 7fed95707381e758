"""Suggested fixes for common syntax errors, one rule for each."""

from __future__ import annotations

import re
from collections.abc import Callable

from lcifr.errors import did_you_mean
from lcifr.similarity.language.diagnostics import Diagnostic
from lcifr.similarity.language.formula import Span
from lcifr.similarity.language.names import KEYWORDS, quote_name
from lcifr.similarity.language.syntax_errors import END, MisplacedToken, describe_expected, describe_found


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
        said = f'"{before}" is a word of the language, and needs parentheses'
        return Diagnostic(said, Span.of(misplaced.before), fix=f"the attribute is written `{before}`")
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
