"""docs/language.md: every formula on the page does what the page says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from lcifr.data.schema import Schema
from lcifr.errors import SimilarityError
from lcifr.phi.explain import explain
from lcifr.phi.formula import KEYWORDS, print_formula
from lcifr.phi.parser import MAX_LENGTH, MAX_NESTING, parse
from lcifr.phi.similarity import ready_names

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)\n```$", PAGE, flags=re.DOTALL | re.MULTILINE)
SCHEMA = Schema.from_dict(tomllib.loads(next(text for kind, text in BLOCKS if kind == "toml")))


def _cells(section: str) -> list[str]:
    """The code in the first column of the table in a section."""
    table = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    rows = [line.replace("\\|", "¦").split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [code.replace("¦", "|") for row in rows for code in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "phi"])
def test_formulas_read(text: str) -> None:
    formula = parse(text, SCHEMA)
    assert parse(print_formula(formula), SCHEMA) == formula


def test_english_is_that_of_the_formula_before_it() -> None:
    pairs = [(BLOCKS[i - 1], text) for i, (kind, text) in enumerate(BLOCKS) if kind == "english"]
    assert len(pairs) >= 2
    for (kind, formula), text in pairs:
        assert kind == "phi"
        assert explain(parse(formula, SCHEMA), SCHEMA) == text


def test_errors_are_those_of_the_formula_before_them() -> None:
    pairs = [(BLOCKS[i - 1], text) for i, (kind, text) in enumerate(BLOCKS) if kind == "error"]
    assert pairs
    for (kind, formula), text in pairs:
        assert kind == "refused"
        with pytest.raises(SimilarityError) as caught:
            parse(formula, SCHEMA, source="similar.phi")
        assert str(caught.value) == text


@pytest.mark.parametrize("code", _cells("Conditions"))
def test_conditions_of_the_table_read(code: str) -> None:
    formula = parse(f"{code} < 3" if code.startswith("rank") else code, SCHEMA)
    assert parse(print_formula(formula), SCHEMA) == formula


@pytest.mark.parametrize("code", _cells("What is refused, and why"))
def test_what_the_table_calls_refused_is_refused(code: str) -> None:
    with pytest.raises(SimilarityError):
        parse(code, SCHEMA)


def test_words_limits_and_names_are_the_real_ones() -> None:
    assert all(re.search(rf"`[^`]*\b{word}\b[^`]*`", PAGE) for word in KEYWORDS)
    assert f"`{' '.join(KEYWORDS)}`" in PAGE
    assert f"{MAX_NESTING} levels" in PAGE
    assert f"{MAX_LENGTH:,} characters" in PAGE
    mentioned = re.findall(r"`((?:adult|law_school)/\w+)`", PAGE)
    assert set(mentioned) <= set(ready_names())
