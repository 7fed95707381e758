"""Ten thousand damaged formulas: each reads, or is refused with a place in it. Nothing else ever comes out."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lcifr.errors import SimilarityError
from lcifr.phi.formula import print_formula
from lcifr.phi.parser import parse
from tests.phi.corpus import CORPUS, SCHEMA

COUNT = 10_000
SLOWEST = 1.0  # seconds for one formula
TOKEN = re.compile(r"\w+|\s+|\"[^\"]*\"|`[^`]*`|<=|>=|!=|.", re.DOTALL)
NOISE = "\"'`()|{}<>=!#*/+-.,0159eE \t\n\r\x00\u2028\ud800ß∧≤'abyAN_\\"
TEXTS = [entry.text for entry in CORPUS]
TOKENS = sorted({token for text in TEXTS for token in TOKEN.findall(text)})


def _delete(tokens: list[str], dice: random.Random) -> list[str]:
    at = dice.randrange(len(tokens))
    return tokens[:at] + tokens[at + dice.randint(1, 3) :]


def _duplicate(tokens: list[str], dice: random.Random) -> list[str]:
    at = dice.randrange(len(tokens))
    return tokens[:at] + tokens[at : at + dice.randint(1, 4)] * dice.randint(2, 5) + tokens[at + 1 :]


def _swap(tokens: list[str], dice: random.Random) -> list[str]:
    swapped = list(tokens)
    first, second = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return swapped


def _replace(tokens: list[str], dice: random.Random) -> list[str]:
    at = dice.randrange(len(tokens))
    return [*tokens[:at], dice.choice(TOKENS), *tokens[at + 1 :]]


def _splice(tokens: list[str], dice: random.Random) -> list[str]:
    other = TOKEN.findall(dice.choice(TEXTS))
    return tokens[: dice.randrange(len(tokens))] + other[dice.randrange(len(other)) :]


def _scatter(tokens: list[str], dice: random.Random) -> list[str]:
    signs = list("".join(tokens))
    for _ in range(dice.randint(1, 4)):
        signs.insert(dice.randrange(len(signs) + 1), dice.choice(NOISE))
    return signs


MUTATIONS: tuple[Callable[[list[str], random.Random], list[str]], ...] = (
    _delete,
    _duplicate,
    _swap,
    _replace,
    _splice,
    _scatter,
)


def damage(text: str, dice: random.Random) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(dice.randint(1, 3)):
        tokens = dice.choice(MUTATIONS)(tokens, dice) or ["x"]
    return "".join(tokens)


def fate(text: str) -> str:
    """``read``: it prints and reads back. ``refused``: by an error with a place in the text. Else what went wrong."""
    try:
        formula = parse(text, SCHEMA)
    except SimilarityError as error:
        return "refused" if _shows_a_place(error, text) else f"refused without a place in the text: {error!r}"
    return "read" if parse(print_formula(formula), SCHEMA) == formula else "read back as something else"


def _shows_a_place(error: SimilarityError, text: str) -> bool:
    lines = re.split(r"\r\n|\r|\n", text)
    str(error).encode("utf-8")
    if error.line is None or error.column is None or not 1 <= error.line <= len(lines):
        return False
    return 1 <= error.column <= len(lines[error.line - 1]) + 1


@pytest.mark.parametrize("part", range(10))
def test_damaged_formulas_are_read_or_refused_with_a_place(part: int) -> None:
    dice = random.Random(part)
    refused = 0
    for _ in range(COUNT // 10):
        text = damage(dice.choice(TEXTS), dice)
        started = time.process_time()
        found = fate(text)
        assert found in ("read", "refused"), text
        refused += found == "refused"
        assert time.process_time() - started < SLOWEST, text
    assert refused > COUNT // 20  # the damage does damage


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60))
@example("\ufeff")
@example("\r\r\n\n(")
@example("age'\u0301 = 3")
@example("٣ = age")
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    assert fate(text) in ("read", "refused")
