"""Text that is no formula: what was probably meant. Each rule knows one common slip."""

from __future__ import annotations

import re
from collections.abc import Callable

from lcifr.errors import did_you_mean
from lcifr.language.syntax_errors import END, Misread, describe_expected, describe_found, span_of
from lcifr.language.names import KEYWORDS, quote_name
from lcifr.language.diagnostics import Refusal


def explain_token(misread: Misread) -> Refusal:
    """Why this token cannot stand here, in words."""
    for rule in _RULES:
        refusal = rule(misread)
        if refusal is not None:
            return refusal
    return Refusal(f"{describe_found(misread)}; expected {describe_expected(misread)}", misread.span)


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
        return Refusal("double quotes are for the values of categories", span_of(misread.before), fix=fix)
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
            f"the words of the language are in small letters, found {first}", span_of(misread.before), fix=fix
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
    hint = did_you_mean(str(misread.before), ("same", "free", "rank"))
    message = f"only same(…), free(…) and rank(…) take parentheses, {misread.before} does not.{hint}"
    return Refusal(message, misread.span, fix=None if hint else "put a sign or a word between them")


def _reserved_word(misread: Misread) -> Refusal | None:
    word = str(misread.token)
    before = str(misread.before)
    if before in ("same", "free", "rank") and before in misread.schema and misread.token.type != "LPAR":
        said = f'"{before}" is a word of the language, and needs parentheses'
        return Refusal(said, span_of(misread.before), fix=f"the attribute is written `{before}`")  # type: ignore[arg-type]
    if word not in KEYWORDS or word not in misread.schema or not misread.accepted & {"NAME"}:
        return None
    return Refusal(f'"{word}" is a word of the language', misread.span, fix=f"the attribute is written `{word}`")


def _misspelt_word(misread: Misread) -> Refusal | None:
    if misread.token.type != "NAME":
        return None
    hint = did_you_mean(misread.token, [word for word in KEYWORDS if word.upper() in misread.accepted])
    if not hint:
        return None
    return Refusal(f"{describe_found(misread)}; expected {describe_expected(misread)}.{hint}", misread.span)


def _empty(misread: Misread) -> Refusal | None:
    if misread.token.type != END or misread.before is not None:
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
