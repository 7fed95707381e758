"""What the paper states, on its data: the conditional constraint at age 38.6, and ranks computed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Encoding, Numeric, Schema
from lcifr.phi import Similarity, ready_names
from lcifr.phi.lint import lint

AGE = 38.6


@pytest.fixture(scope="module")
def adult(dataset):
    """Adult with ages between whole years allowed, as the paper's example has them."""
    found = dataset("adult")
    attributes = tuple(replace(a, integer=False) if isinstance(a, Numeric) else a for a in found.schema.attributes)
    schema = Schema(attributes, found.schema.groups, found.schema.target)
    return schema, Encoding.fit(found.train.X, schema), found.train.X.iloc[[0]].assign(age=AGE)


@pytest.mark.parametrize("name", ["adult/attribute", "adult/attribute_only"])
def test_the_conditional_constraint_stays_on_its_side_of_37(adult, name):
    schema, encoding, person = adult
    similarity = Similarity.ready(name, schema, encoding)
    top = AGE + 0.4 * encoding.sd("age")
    ages = np.array([30.0, 36.9, 37.0, 37.0001, AGE - 1, AGE, AGE + 1, top - 1e-6, top + 1e-6, 60.0])
    others = pd.concat([person.assign(age=age) for age in ages])
    expected = (ages > 37) & (ages <= top)
    assert similarity.holds(person, others).tolist() == expected.tolist()
    everybody = person.loc[np.repeat(person.index, len(ages))]
    inside = similarity.region(everybody).contains(encoding.encode(others))
    assert (inside == (expected | (ages == 37.0))).all()  # the region is closed: 37 itself is its edge


@pytest.mark.parametrize("name", ["adult/attribute", "adult/attribute_only"])
def test_its_region_is_exactly_that_interval(adult, name):
    schema, encoding, person = adult
    region = Similarity.ready(name, schema, encoding).region(person)
    assert len(region.cells) == 1  # at 38.6 the other branch is switched off
    j = schema.names_numeric.index("age")
    ends = [
        float(end[0, j] * encoding.sds[j] + encoding.means[j]) for end in (region.cells[0].lower, region.cells[0].upper)
    ]
    assert ends == pytest.approx([37.0, AGE + 0.4 * encoding.sd("age")], abs=1e-9)
    moves = region.cells[0].upper[0] - region.cells[0].lower[0] > 1e-9
    assert moves.sum() == (1 if name.endswith("only") else len(schema.numeric))


def test_the_other_side_of_37(adult):
    schema, encoding, person = adult
    region = Similarity.ready("adult/attribute_only", schema, encoding).region(person.assign(age=36.0))
    j = schema.names_numeric.index("age")
    cell = region.cells[0]
    ends = [float(end[0, j] * encoding.sds[j] + encoding.means[j]) for end in (cell.lower, cell.upper)]
    assert ends == pytest.approx([36 - 0.2 * encoding.sd("age"), 37.0], abs=1e-9)


# -- ranks -------------------------------------------------------------------------------------------------------------


def _rank(train: pd.DataFrame, person: pd.Series) -> int:
    """By hand: 1 + the distinct grades above, among the white people or among the others."""
    group = (train.race == "White") == (person.race == "White")
    return 1 + len(set(train.gpa[group & (train.gpa > person.gpa)]))


def test_ranks_on_law_school_are_those_counted_by_hand(dataset):
    law = dataset("law_school")
    train = law.train.X
    similarity = Similarity.ready("law_school/quantiles", law.schema, Encoding.fit(train, law.schema))
    random = np.random.default_rng(0)
    x = train.iloc[random.integers(0, len(train), 60)].reset_index(drop=True)
    other = x.copy()
    other["race"] = random.choice(train.race.unique(), len(x))
    # Grades of the training data, and grades that nobody there has.
    other["gpa"] = np.round(x.gpa + random.uniform(-0.4, 0.4, len(x)), random.integers(2, 5)).clip(0, 4.33)
    unseen = ~other.gpa.isin(train.gpa)
    ranks = [(_rank(train, a), _rank(train, b)) for (_, a), (_, b) in zip(x.iterrows(), other.iterrows(), strict=True)]
    expected = [abs(one - two) < 24 for one, two in ranks]
    assert unseen.any()
    assert similarity.holds(x, other).tolist() == expected
    assert 0 < sum(expected) < len(expected)
    inside = similarity.region(x).contains(similarity.encoding.encode(other))
    assert (inside | ~np.array(expected)).all()


def test_ranks_of_grades_beyond_and_between_the_training_data():
    train = pd.DataFrame({"gpa": [1.0, 2.0, 2.0, 3.0, 4.0, 1.5, 2.5, 3.5], "race": ["White"] * 5 + ["Black"] * 3})
    schema = Schema.infer(train, ranges={"gpa": (0, 5)})
    encoding = Encoding.fit(train, schema)
    people = pd.DataFrame(
        [(gpa, race) for gpa in (0.0, 1.0, 1.2, 2.0, 2.9, 3.0, 3.99, 4.0, 4.5) for race in ("White", "Black")],
        columns=["gpa", "race"],
    )
    ranks = np.array([_rank(train, person) for _, person in people.iterrows()])
    assert set(ranks) == {1, 2, 3, 4, 5}
    for apart in range(5):
        text = f'|rank(gpa\' by race\' = "White") - rank(gpa by race = "White")| <= {apart}'
        similarity = Similarity(text, schema, encoding)
        for i in range(len(people)):
            truth = similarity.holds(people.iloc[[i]], people)
            assert truth.tolist() == (np.abs(ranks - ranks[i]) <= apart).tolist()
            region = similarity.region(people.iloc[np.full(len(people), i)])
            assert region.contains(encoding.encode(people))[truth].all()


# -- lint of the paper's formulas --------------------------------------------------------------------------------------

# What is true of them and a regulator would want to hear; everything else would be a false alarm.
KNOWN = {
    "adult/cat": {"proxy"},
    "adult/cat_noise": {"proxy"},
    "crime/cat_noise": {"free-attribute"},
    "health/cat_noise": {"free-attribute"},
    "law_school/quantiles_between": {"false-on-oneself", "empty-region"},
}


@pytest.mark.parametrize("name", [name for name in ready_names() if not name.startswith("health")])
def test_lint_raises_no_false_alarm(dataset, name):
    found = dataset(name.split("/")[0])
    similarity = Similarity.ready(name, found.schema, Encoding.fit(found.train.X, found.schema))
    loud = {finding.code for finding in lint(similarity) if finding.severity != "note"}
    assert loud == KNOWN.get(name, set())


def test_lint_names_husbands(dataset):
    found = dataset("adult")
    similarity = Similarity.ready("adult/cat", found.schema, Encoding.fit(found.train.X, found.schema))
    (proxy,) = [finding for finding in lint(similarity) if finding.code == "proxy"]
    husbands = found.train.X[found.train.X.relationship == "Husband"]
    assert f'{len(husbands)} people with relationship = "Husband"' in proxy.message
