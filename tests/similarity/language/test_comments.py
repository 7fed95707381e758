"""Formulas without their comments: what is a comment, and what is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lcifr.similarity.language.comments import drop_comments
from lcifr.similarity.language.parser import parse
from lcifr.similarity.language.printer import print_formula
from tests.similarity.language.strategies import formulas, schemas


def test_only_lines_of_the_formula_stay() -> None:
    text = '\ufeff# draft\n\n  same(all) and  # all of it\n\n  team = "#1 # \\"x\\""\n# end'
    assert drop_comments(text) == '  same(all) and\n  team = "#1 # \\"x\\""'


@given(st.data())
def test_the_formula_is_the_same_without_them(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    formula = data.draw(formulas(schema))
    text = "# before\n" + print_formula(formula).replace("\n", " # and\n\n") + "\n# after"
    assert parse(drop_comments(text), schema) == formula == parse(text, schema)
    assert "before" not in drop_comments(text)
