"""Lint: each finding where it is due, none where it is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.phi import Similarity
from lcifr.phi.lint import Severity, lint
from lcifr.phi.neighbours import find_neighbours
from tests.phi.example import ENCODING, PEOPLE, SCHEMA, N, find, place, similarity

REST = "income, score within 0.1 sd"  # keeps every number bounded


GOOD = [
    "same(all except sex, role)",
    "same(categorical except sex, role) and numeric within 2 sd",
    "same(all except age) and (age <= 37 and age' <= 37 and age within 2 or age > 37 and age' > 37 and age within 4)",
    f"same(categorical, age) and {REST}",
    "same(all except sex, role) and |age' - age| <= 3 or same(all except city)",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_formulas_are_not_troubled(text):
    assert [finding for finding in lint(similarity(text)) if finding.severity != Severity.NOTE] == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (f"same(categorical) and age' > age and {REST} and age within 5", "age' > age"),
        (f"same(categorical except city) and age within 5 and {REST} and city' != city", "city' != city"),
        (
            f"same(categorical) and (age <= 40 implies age' >= 50) and age within 60 and {REST}",
            "age <= 40 implies age' >= 50",
        ),
    ],
)
def test_false_on_oneself(text, part):
    (finding,) = find(text, "false-on-oneself")
    assert place(text, finding) == part
    formula = similarity(text)
    assert finding.examples
    for example in finding.examples:
        person = pd.DataFrame([example.x])
        assert example.x == example.other
        assert not formula.holds(person, person).any()


def test_false_on_oneself_for_people_who_are_not_in_the_data():
    text = f"same(categorical) and score >= 0.000001 and age within 5 and {REST}"
    assert similarity(text).holds(PEOPLE, PEOPLE).all()
    (finding,) = find(text, "false-on-oneself")
    assert finding.message.startswith("nobody in the data, but")
    assert all(example.x["score"] < 0.000001 for example in finding.examples)


@pytest.mark.parametrize(
    ("text", "part", "differing"),
    [
        (f"same(categorical) and age within 5 and age' >= age and {REST}", "age' >= age", {"age"}),
        (
            'same(all except sex) and (sex = "male" implies sex\' = "male")',
            'sex = "male" implies sex\' = "male"',
            {"sex"},
        ),
        (f"same(categorical) and (age < 50 implies age within 1) and age within 9 and {REST}", None, {"age"}),
        ("same(all except income) and 0.9*income <= income' <= 1.1*income", None, {"income"}),
        ("same(all except score) and (score <= 50 implies score' <= 50)", None, {"score"}),
    ],
)
def test_not_symmetric_with_a_pair_that_shows_it(text, part, differing):
    (finding,) = find(text, "not-symmetric")
    (example,) = finding.examples
    x, other = pd.DataFrame([example.x]), pd.DataFrame([example.other])
    assert similarity(text).holds(x, other).all()
    assert not similarity(text).holds(other, x).any()
    assert set(example.differing) == differing  # nothing differs that need not
    assert part is None or place(text, finding) == part
    assert str(example) in finding.message


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("same(all)", N),
        ("same(all except age) and age within 0.5", N),  # whole years
        ("same(all) or same(all except score) and score within 0", N),
        ("same(all except score) and (age <= 40 implies same(score))", int((PEOPLE.age <= 40).sum())),
        ("same(all except age) and age within 1", 0),
        ("same(all except score) and score within 0.001", 0),
        ("same(all except city)", 0),
        ('same(all except city) and city\' = "A"', int((PEOPLE.city == "A").sum())),
    ],
)
def test_only_oneself(text, count):
    found = find(text, "only-oneself")
    assert [f"{count} of {N} people" in finding.message for finding in found] == ([True] if count else [])


def test_nobody_at_all():
    (finding,) = find("same(all except age) and (age <= 40 implies age' < age and age' > age - 2)", "false-on-oneself")
    assert f"{(PEOPLE.age <= 40).sum()} of {N}" in finding.message
    (finding,) = find("same(all except age) and age >= 30 and age within 2", "empty-region")
    assert f"{(PEOPLE.age < 30).sum()} of {N} people" in finding.message


def test_free_attributes():
    (finding,) = find(f"same(sex, role) and age within 5 and {REST}", "free-attribute")
    assert finding.message.startswith("city: never mentioned")
    (finding,) = find(f'same(sex, role) and city = "A" and age within 5 and {REST}', "free-attribute")
    assert "for the person alone" in finding.message
    assert find(f"same(categorical except city) and age within 5 and {REST}", "free-attribute") == []
    (finding,) = find("same(categorical) and score within 5", "unbounded")
    assert finding.message.startswith("age and income: free")
    assert finding.severity is Severity.ERROR
    assert find("same(categorical, age) and income within 5", "unbounded") == []  # score has a declared range


def test_a_formula_without_a_region_is_an_error():
    (finding,) = find("same(all except age) and (age <= 40 implies same(age))", "no-region")
    assert finding.severity is Severity.ERROR
    assert "age" in finding.message
    assert "Fix:" in finding.message


def test_without_people_the_formula_itself_is_looked_at():
    bare = Encoding(SCHEMA, ENCODING.means, ENCODING.sds)
    found = lint(Similarity("same(sex) and (age' <= 3 or age' <= 4) and income, score within 2", SCHEMA, bare))
    assert {finding.code for finding in found} == {"contained-branch", "free-attribute"}


def test_findings_come_gravest_first_and_twice_the_same():
    text = "same(sex) and age within 0.02 sd and age' > age"
    found = lint(similarity(text))
    order = [list(Severity).index(finding.severity) for finding in found]
    assert order == sorted(order)
    assert found == lint(similarity(text))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_people(count):
    formula = similarity("same(all except sex) and (age <= 30 or age' >= 30)")
    lint(formula, PEOPLE[:count])
    found = find_neighbours(formula, PEOPLE[:count])
    assert found.people == count
    assert found.counts.shape == (count,)


@pytest.mark.parametrize(
    "schema",
    [
        Schema((Categorical("sex", ("f", "m")), Categorical("town", tuple(map(str, range(60)))))),
        Schema((Numeric("age"), Numeric("tiny"), Numeric("huge"))),
    ],
    ids=["only categories", "only numbers"],
)
def test_odd_schemas(schema):
    random = np.random.default_rng(0)
    scales = {"age": 10.0, "tiny": 1e-140, "huge": 1e99}
    people = pd.DataFrame(
        {
            attribute.name: random.choice(attribute.values, 50)
            if isinstance(attribute, Categorical)
            else np.append(random.normal(size=49), -0.0) * scales[attribute.name]
            for attribute in schema
        }
    )
    formula = Similarity(f"same(all except {schema.names[0]})", schema, Encoding.fit(people, schema))
    assert isinstance(lint(formula), tuple)
    assert find_neighbours(formula, people).people == 50
