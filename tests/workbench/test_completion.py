"""Completion: attributes, values and words that fit, with the text they replace; and what is taken can be read."""

from __future__ import annotations

import pytest

from lcifr.data import Categorical, Numeric, Schema
from lcifr.phi.parser import diagnose
from lcifr.workbench import completion
from lcifr.workbench.completion import SHOWN, complete

SCHEMA = Schema(
    (
        Numeric("age", unit="years"),
        Numeric("hours per week"),
        Categorical("sex", ("female", "male")),
        Categorical("job title", ('so-called "chief"', "cook")),
    ),
    {"effort": ("hours per week",)},
)


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ("ag", "age"),
        ("age within 5 an", "age within 5 and"),
        ("sa", "same("),
        ("same(cat", "same(categorical"),
        ("hou", "`hours per week`"),
        ("`hou", "`hours per week`"),
        ("eff", "effort"),
        ("AG", "age"),
        ("sex' = ", 'sex\' = "female"'),
        ("sex' = \"m", 'sex\' = "male"'),
        ('sex in {"female", "m', 'sex in {"female", "male"'),
        ("sex' not in {", 'sex\' not in {"female"'),
        ("`job title`' != ", '`job title`\' != "so-called \\"chief\\""'),
        ("# a comment\nag", "# a comment\nage"),
    ],
)
def test_the_first_suggestion(typed, after):
    one = complete(typed, len(typed), SCHEMA)[0]
    assert typed[: one.start] + one.text == after


def test_nothing_is_suggested_inside_a_comment():
    assert complete("# ag", 4, SCHEMA) == ()


@pytest.mark.parametrize("text", ["", "age within 5 ", 'sex = "male"', "same("])
def test_nothing_comes_by_itself_where_nothing_is_typed(text):
    assert complete(text, len(text), SCHEMA, anything=False) == ()
    assert complete(text, len(text), SCHEMA) != ()


def test_numbers_have_no_values_to_suggest():
    assert "female" not in str(complete("age = ", 6, SCHEMA))


def test_only_text_before_the_caret_counts():
    [first, *_] = complete("ag within 5", 2, SCHEMA)
    assert (first.text, first.start) == ("age", 0)


def test_every_name_and_value_that_is_offered_is_read_by_the_parser():
    names = [one.text for one in complete("", 0, SCHEMA) if one.about in ("category", "years", "number")]
    assert len(names) == len(SCHEMA)
    for name in names:
        assert diagnose(f"same({name})", SCHEMA) == ()
    for attribute in ("sex", "`job title`"):
        text = f"{attribute}' = "
        for one in complete(text, len(text), SCHEMA):
            assert diagnose(text[: one.start] + one.text, SCHEMA) == ()


def test_a_long_list_is_cut():
    many = Schema(tuple(Numeric(f"a{number}") for number in range(100)))
    assert len(complete("a", 1, many)) == SHOWN


def test_far_into_a_long_text_it_is_the_same_and_tries_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of somebody else can be one endless word, from each letter of which a pattern would be tried."""
    long = "age within 5 and\n" * 3_000
    for typed in ("ag", "sex' = \"m"):
        [near, *_], [far, *_] = (complete(text, len(text), SCHEMA) for text in (typed, long + typed))
        assert (far.text, far.start) == (near.text, near.start + len(long))
    tried: list[int] = []

    class Counted:
        def search(self, text: str) -> None:
            tried.append(len(text))

    for name in ("_COMMENT", "_VALUE", "_WORD"):
        monkeypatch.setattr(completion, name, Counted())
    complete("a" * 50_000 + " ", 50_001, SCHEMA)
    assert max(tried) <= completion.NEAR
