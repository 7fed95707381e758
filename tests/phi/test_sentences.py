"""The English of formulas: as recorded for the corpus, and complete for any tree."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcifr import datasets
from lcifr.data.schema import Schema
from lcifr.phi.explain import explain
from lcifr.phi.formula import Formula, Not
from lcifr.phi.free_attributes import free_attributes, sometimes_free_attributes
from lcifr.phi.parser import parse
from lcifr.phi.similarity import ready, ready_names
from tests.phi.corpus import CORPUS, ENGLISH, SCHEMA, SDS, Entry
from tests.phi.strategies import formulas, schemas


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_corpus_english(entry: Entry) -> None:
    assert explain(entry.tree, SCHEMA, SDS) == ENGLISH[entry.name]


def test_every_english_text_belongs_to_an_entry() -> None:
    assert set(ENGLISH) == {entry.name for entry in CORPUS}


@pytest.mark.parametrize("name", ready_names())
def test_ready_formulas_name_every_free_attribute(name: str) -> None:
    schema = datasets.find(name.split("/")[0]).schema
    formula = parse(ready(name), schema)
    text = explain(formula, schema, {attribute.name: 1.0 for attribute in schema.numeric})
    free = free_attributes(formula, schema)
    assert ("No attribute is free." in text) == (not free)
    assert all(attribute in text.split("Free, with any value at all: ")[-1] for attribute in free)


def test_distances_are_said_in_the_datas_units() -> None:
    schema = datasets.find("adult").schema
    text = explain(parse(ready("adult/attribute_only"), schema), schema, {"age": 13.134})
    assert "age may differ by at most 2.63 years (0.2 standard deviations)" in text
    assert "age may differ by at most 5.25 years (0.4 standard deviations)" in text
    assert "the other's age is more than 37 years" in text


@pytest.mark.parametrize(
    ("text", "free", "sometimes"),
    [
        ("same(all except sex)", {"sex"}, set()),
        ("same(age) or same(age, sex)", None, {"sex"}),
        ("age <= 37 implies same(sex)", None, {"sex"}),
        ("not (age <= 37 implies same(sex))", None, set()),
        ("not (same(age, sex) and gpa' = 1)", None, {"age", "sex", "gpa"}),
        ("not (same(age) or gpa' = 1)", None, set()),
        ("rank(gpa' by race' = \"White\") < 3 and age > 3", {"age"}, set()),
        ("0*age' <= 3 and gpa' - gpa <= gpa' and |0*age'| < 1", {"age", "gpa"}, set()),
    ],
)
def test_what_is_free(text: str, free: set[str] | None, sometimes: set[str]) -> None:
    formula = parse(text, SCHEMA)
    assert set(sometimes_free_attributes(formula, SCHEMA)) == sometimes
    assert free is None or free <= set(free_attributes(formula, SCHEMA))


@st.composite
def explained(draw: st.DrawFn) -> tuple[Schema, Formula]:
    schema = draw(schemas())
    return schema, draw(formulas(schema, max_leaves=8))


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(explained())
def test_any_tree_is_said_and_double_negation_changes_nothing(pair: tuple[Schema, Formula]) -> None:
    schema, formula = pair
    text = explain(formula, schema)
    assert explain(Not(Not(formula)), schema) == text
    free, sometimes = free_attributes(formula, schema), sometimes_free_attributes(formula, schema)
    assert not set(free) & set(sometimes)
    assert all(name in text for name in schema.names if name in free or name in sometimes)
