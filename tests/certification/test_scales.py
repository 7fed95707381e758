"""Standard deviations and ranks of tables with gaps: from every row that has the values, and named with its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.certification.population import scale_sources
from lcifr.certification.saved_models import read_similarity, similarity_arrays
from lcifr.cli.statements import scale_words
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.data.codec import Arrays
from lcifr.phi import Similarity
from lcifr.phi.lint import lint

SCHEMA = Schema((Numeric("gpa"), Numeric("age"), Categorical("school", ("a", "b"))))
RANKED = "age within 1 sd and |rank(gpa by school) - rank(gpa' by school')| <= 1 and gpa within 9"


def with_gaps(seed: int, people: int = 40) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "gpa": draw.integers(10, 40, people) / 10.0,
            "age": draw.integers(18, 60, people).astype(float),
            "school": draw.choice(["a", "b"], people).astype(object),
        }
    )
    for name in table:
        table.loc[draw.random(people) < 0.3, name] = None
    return table


@pytest.mark.parametrize("seed", range(4))
def test_ranks_are_taken_among_all_rows_that_have_both_values(seed: int) -> None:
    table = with_gaps(seed)
    similarity = Similarity(RANKED, SCHEMA, Encoding.fit(table, SCHEMA, skip_missing=True))
    people = Individuals.read(with_gaps(99, 200).dropna(), SCHEMA)
    x, other = people.take(slice(0, len(people) // 2)), people.take(slice(len(people) // 2, 2 * (len(people) // 2)))

    def rank(one: Individuals) -> np.ndarray:
        known = [table[table["school"] == name]["gpa"].dropna().unique() for name in ("a", "b")]
        groups, values = one.code("school"), one.number("gpa")
        return np.array([1 + (known[g] > v).sum() for g, v in zip(groups, values, strict=True)])

    expected = (abs(rank(x) - rank(other)) <= 1) & (
        abs(x.number("age") - other.number("age")) <= table["age"].std() * (1 - 1e-12)
    )
    assert 0 < expected.sum() < len(expected)
    np.testing.assert_array_equal(similarity.holds(x, other), expected)


def test_every_scale_is_named_with_its_rows() -> None:
    table = with_gaps(0)
    sd, rank = scale_sources(Similarity(RANKED, SCHEMA, Encoding.fit(table, SCHEMA, skip_missing=True)), "people.csv")
    both = int(table[["gpa", "school"]].notna().all(axis=1).sum())
    assert (
        scale_words(sd) == f"sd of age: {table['age'].std():.4g}, from {table['age'].count()} of 40 rows of people.csv"
    )
    assert scale_words(rank) == f"rank of gpa by school: from {both} of 40 rows of people.csv"
    whole = table.dropna()
    [first, _] = scale_sources(Similarity(RANKED, SCHEMA, Encoding.fit(whole, SCHEMA)), "people.csv")
    assert scale_words(first).endswith(f"from all {len(whole)} rows of people.csv")


@pytest.mark.parametrize("text", ["same(all)", "age within 3", "free(school) and gpa within 0.5"])
def test_a_formula_without_scales_names_none(text: str) -> None:
    assert scale_sources(Similarity(text, SCHEMA, Encoding.fit(with_gaps(0), SCHEMA, skip_missing=True)), "t") == ()


def test_workers_get_the_same_ranks_and_lint_sees_complete_rows() -> None:
    similarity = Similarity(RANKED, SCHEMA, Encoding.fit(with_gaps(0), SCHEMA, skip_missing=True))
    sent = Arrays()
    assert read_similarity(similarity_arrays(similarity, sent), sent).hash == similarity.hash
    lint(similarity)
