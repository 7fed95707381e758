"""The ready formulas: every one reads under its dataset's schema and says what the paper's table says."""

from __future__ import annotations

import pytest

from lcifr import datasets
from lcifr.data.schema import Schema
from lcifr.errors import SimilarityError
from lcifr.phi.formula import Same, Within, attributes_in, print_formula
from lcifr.phi.parser import parse
from lcifr.phi.similarity import ready, ready_names

CONDITIONAL = {"adult", "german", "law_school"}
FREE = {
    "adult": {"sex"},
    "compas": {"race"},
    "crime": {"state"},
    "german": {"sex"},
    "health": {"age", "sex"},
    "law_school": {"race", "gender"},
}


def _names(schema: Schema, kind: str) -> set[str]:
    return {attribute.name for attribute in getattr(schema, kind)}


def test_every_dataset_has_its_families() -> None:
    expected = {f"{name}/{family}" for name in datasets.names() for family in ("noise", "cat", "cat_noise")}
    expected |= {f"{name}/{family}" for name in CONDITIONAL for family in ("attribute", "attribute_only")}
    assert set(ready_names()) == expected | {"law_school/quantiles", "law_school/quantiles_between"}


@pytest.mark.parametrize("name", ready_names())
def test_it_reads_under_its_schema_and_back(name: str) -> None:
    schema = datasets.find(name.split("/")[0]).schema
    formula = parse(ready(name), schema, source=f"{name}.phi")
    assert parse(print_formula(formula), schema) == formula
    assert ready(name).startswith("# ")
    assert all(len(line) <= 120 for line in ready(name).splitlines())


@pytest.mark.parametrize("dataset", sorted(FREE))
def test_cat_keeps_all_but_the_free_attributes_equal(dataset: str) -> None:
    schema = datasets.find(dataset).schema
    formula = parse(ready(f"{dataset}/cat"), schema)
    assert isinstance(formula, Same)
    assert set(schema.names) - set(attributes_in(formula.set, schema)) == FREE[dataset]


@pytest.mark.parametrize("family", ["noise", "cat_noise"])
@pytest.mark.parametrize("dataset", sorted(FREE))
def test_noise_moves_every_number_but_the_counts(dataset: str, family: str) -> None:
    schema = datasets.find(dataset).schema
    formula = parse(ready(f"{dataset}/{family}"), schema)
    parts = (formula,) if isinstance(formula, Within) else formula.parts  # type: ignore[union-attr]
    same = {name for part in parts if isinstance(part, Same) for name in attributes_in(part.set, schema)}
    moved = [part for part in parts if isinstance(part, Within)]
    counts = set(schema.groups.get("counts", ()))
    assert len(moved) == 1
    assert set(attributes_in(moved[0].set, schema)) == _names(schema, "numeric") - counts
    assert (float(moved[0].distance), moved[0].in_sd) == (0.3, True)
    free = FREE[dataset] if family == "cat_noise" else set()
    assert same == _names(schema, "categorical") - free | counts


@pytest.mark.parametrize(
    ("dataset", "attribute", "threshold", "below", "above"),
    [
        ("adult", "age", "37", "0.2", "0.4"),
        ("german", "age", "33", "0.2", "0.4"),
        ("law_school", "gpa", "3.4", "0.4", "0.2"),
    ],
)
def test_attribute_has_the_papers_threshold_and_distances(
    dataset: str, attribute: str, threshold: str, below: str, above: str
) -> None:
    schema = datasets.find(dataset).schema
    for family, same, moved in [
        ("attribute_only", f"all except {attribute}", attribute),
        ("attribute", "categorical", "numeric"),
    ]:
        text = (
            f"same({same}) and"
            f" ({attribute} <= {threshold} and {attribute}' <= {threshold} and {moved} within {below} sd"
            f" or {attribute} > {threshold} and {attribute}' > {threshold} and {moved} within {above} sd)"
        )
        assert parse(ready(f"{dataset}/{family}"), schema) == parse(text, schema)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(SimilarityError, match='Did you mean "adult/cat_noise"'):
        ready("adult/cat-noise")
    for name in ("", "/", "../adult/cat", "adult", "adult/cat/x", "adult/cat.phi"):
        with pytest.raises(SimilarityError, match="there is no ready-made formula"):
            ready(name)
