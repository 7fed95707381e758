"""Formulas without the comments behind them: what is a comment, and what is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lcifr.phi.formula import print_formula
from lcifr.phi.parser import drop_last_comments, parse
from tests.phi.strategies import formulas, schemas


def test_what_stands_behind_the_formula_goes() -> None:
    formula = '# draft\n\n  same(all) and  # all of it\n\n  team = "#1 # \\"x\\""'
    assert drop_last_comments(f"\ufeff{formula}\n\n# end\n  # of it\n") == formula


@given(st.data())
def test_the_formula_is_the_same_without_them(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    formula = data.draw(formulas(schema))
    text = "# before\n" + print_formula(formula).replace("\n", " # and\n\n") + "\n# after"
    assert parse(drop_last_comments(text), schema) == formula == parse(text, schema)
    assert "before" in drop_last_comments(text)
    assert "after" not in drop_last_comments(text)
