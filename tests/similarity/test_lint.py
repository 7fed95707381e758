"""Lint: each finding where it is due, none where it is not; and how many are similar to whom, against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.language.formula import And, Formula, Not, Or
from lcifr.semantics.holds import PairedPeople, evaluate
from lcifr.semantics.resolve import resolve
from lcifr.similarity import Similarity
from lcifr.similarity.linting.branches import subsumes
from lcifr.similarity.linting.finding import Finding, Severity
from lcifr.similarity.linting.linter import lint
from lcifr.similarity.linting.neighbours import find_neighbours
from lcifr.similarity.linting.proxies import find_proxies

from .worlds import World, worlds

RANDOM = np.random.default_rng(5)
N = 400
SCHEMA = Schema(
    (
        Numeric("age", unit="years", integer=True),
        Numeric("income"),
        Numeric("score", lower=0.0, upper=100.0),
        Categorical("sex", ("female", "male")),
        Categorical("role", ("wife", "husband", "none")),
        Categorical("city", ("A", "B", "C")),
    )
)
SEX = RANDOM.integers(0, 2, N)
PEOPLE = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, N),
        "income": np.round(RANDOM.normal(30_000, 8_000, N), 2),
        "score": np.round(RANDOM.uniform(0, 100, N), 1),
        "sex": np.array(["female", "male"])[SEX],
        "role": np.where(RANDOM.random(N) < 0.5, "none", np.array(["wife", "husband"])[SEX]),
        "city": np.array(["A", "B", "C"])[RANDOM.integers(0, 3, N)],
    }
)
ENCODING = Encoding.fit(PEOPLE, SCHEMA)
REST = "income, score within 0.1 sd"  # keeps every number bounded


def similarity(text: str) -> Similarity:
    return Similarity(text, SCHEMA, ENCODING)


def find(text: str, code: str) -> list[Finding]:
    return [finding for finding in lint(similarity(text)) if finding.code == code]


def place(text: str, finding: Finding) -> str:
    assert finding.span is not None
    return text[finding.span.start : finding.span.end]


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


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("same(all except age) and age within 5 and age' >= 17", "note"),
        ("same(all except age) and age within 5 and age' <= 17", "warning"),
        ("same(all except age) and age within 5 and 2*age < 400", "note"),
        ("same(all except age) and age within 5 and age' = 200", "warning"),
        ("same(all except age) and age within 5 and age' != 200", "note"),
        (f"same(all except age) and age within 5 and age' <= {PEOPLE.age.max()}", None),
        (f"same(all except age) and age within 5 and age' >= {PEOPLE.age.min()}", None),
        ("same(all except age) and age within 5 and income' <= 1e7", "note"),
    ],
)
def test_thresholds_outside_the_data(text, severity):
    found = find(text, "threshold-outside-data")
    assert [str(finding.severity) for finding in found] == ([severity] if severity else [])
    for finding in found:
        assert place(text, finding) == text.split(" and ")[-1]


def test_distances_beyond_or_below_what_can_differ():
    (wide,) = find("same(all except age) and age within 70", "distance-beyond-data")
    assert "70 years" in wide.message
    (narrow,) = find("same(all except age) and age within 0.02 sd", "distance-below-one")
    assert narrow.severity is Severity.NOTE
    assert find("same(all except age) and age within 10", "distance-beyond-data") == []


@pytest.mark.parametrize(
    ("parts", "gone"),
    [
        (("age' <= 30", "age' <= 40"), [0]),
        (("age' <= 40", "age' <= 30"), [1]),
        (("age' < 40", "age' <= 40"), [0]),
        (("age' <= 40", "age' < 40"), [1]),
        (("age within 3", "age within 5"), [0]),
        (("age within 3 and same(sex)", "age within 3"), [0]),
        (("same(sex) and same(city)", "same(sex, city)"), [0]),
        (('city\' = "A"', 'city\' in {"A", "B"}'), [0]),
        (("age <= 30 and same(sex)", "age <= 40 and same(sex)"), [0]),
        (("2*age <= 60 and same(sex)", "age <= 40 and same(sex)"), [0]),
        (("age <= 40 and same(sex)", "2*age <= 60 and same(sex)"), [1]),
        (("age' <= income", "age' <= income + 1"), [0]),
        (("age' + score' <= 3", "age' + score' <= 3 and same(sex)"), [1]),
        # What must not be said to be contained:
        (("age' <= 40", "age' >= 30"), []),
        (("age' != 3", "age' <= 40"), []),
        (("age' + score' < 3", "age' + score' <= 3"), [0]),
        (("age' + score' <= 3", "age' + score' < 3"), [1]),
        (("age' <= 40 and same(sex)", "age' <= 30"), []),
        (("same(sex)", "same(city)"), []),
    ],
)
def test_contained_branches(parts, gone):
    text = f"same(role) and ({parts[0]} or {parts[1]})"
    found = find(text, "contained-branch")
    assert [place(text, finding) for finding in found] == [parts[i] for i in gone]


def _subformulas(formula: Formula) -> list[Formula]:
    below = formula.parts if isinstance(formula, And | Or) else (formula.part,) if isinstance(formula, Not) else ()
    return [formula, *(inner for part in below for inner in _subformulas(part))]


@settings(
    deadline=None,
    max_examples=60,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(worlds(max_leaves=5))
def test_whoever_is_in_a_contained_branch_is_in_the_other(world: World):
    pair = PairedPeople(*(Individuals.read(table, world.schema) for table in world.tables))
    some = _subformulas(world.formula)[:6]
    some += [Or((some[0], some[-1])), And((some[0], some[-1])), Not(some[-1])]
    cores = [resolve(formula, world.schema, world.encoding) for formula in some]
    for smaller in cores:
        for larger in cores:
            if subsumes(larger, smaller, world.schema):
                assert (~evaluate(smaller, pair) | evaluate(larger, pair)).all()


def test_alternatives_that_can_never_hold():
    text = "same(all except age) and (age' < 20 and age' > 30 or age within 2)"
    (finding,) = find(text, "never-true")
    assert place(text, finding) == "age' < 20 and age' > 30"
    (finding,) = find('sex\' = "male" and sex\' = "female" and same(all except sex)', "never-true")
    assert finding.severity is Severity.ERROR


# -- proxies -----------------------------------------------------------------------------------------------------------


def test_an_obvious_proxy_is_named():
    (finding,) = find("same(all except sex)", "proxy")
    assert "role gives it away" in finding.message
    assert 'role = "husband"' in finding.message
    assert find("same(all except sex, role)", "proxy") == []  # what is free itself gives nothing away
    assert find("same(all)", "proxy") == []


def test_a_number_can_be_a_proxy_too():
    people = PEOPLE.assign(score=np.where(SEX == 1, 80.0, 20.0) + RANDOM.uniform(-20, 20, N))
    people = pd.concat([people] * 3)
    proxies = find_proxies(Individuals.read(people, SCHEMA), "sex", "score")
    assert {proxy.given_away for proxy in proxies} == {"female", "male"}
    assert all(proxy.share >= 0.95 and proxy.base < 0.6 for proxy in proxies)


def test_chance_is_no_proxy():
    """Many categories with few people each: some are pure by luck, and that must not be taken for knowledge."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        schema = Schema((Categorical("sex", ("f", "m")), Categorical("town", tuple(map(str, range(60))))))
        codes = np.stack([random.random(1500) < 0.1, random.integers(0, 60, 1500)], axis=1).astype(np.int32)
        assert find_proxies(Individuals(schema, np.zeros((1500, 0)), codes), "sex", "town") == ()


# -- without people, and odd people ------------------------------------------------------------------------------------


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


# -- neighbours --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "same(categorical except sex) and numeric within 1 sd",
        "age within 3 or same(all)",
        "same(all)",
        "age' > age and same(city)",
    ],
)
def test_neighbours_are_those_of_brute_force(text):
    formula = similarity(text)
    found = find_neighbours(formula, PEOPLE[:90])
    people = PEOPLE[:90].reset_index(drop=True)
    truth = np.array([formula.holds(people.iloc[[i]], people) for i in range(90)])
    np.fill_diagonal(truth, False)
    assert not found.is_sample
    assert found.counts.tolist() == truth.sum(axis=1)[found.asked].tolist()
    assert found.largest == truth.sum(axis=1).max()
    assert found.median == np.median(truth.sum(axis=1))
    assert found.share_isolated == (truth.sum(axis=1) == 0).mean()
    for example in found.similar:
        row, other = example.rows
        assert row is not None
        assert formula.holds(pd.DataFrame([example.x]), pd.DataFrame([example.other])).all()
        assert other is None or truth[row, other]
    for example in found.missed:
        row, other = example.rows
        assert not truth[row, other]
        assert row != other
        assert not formula.holds(pd.DataFrame([example.x]), pd.DataFrame([example.other])).any()


def test_a_sample_is_said_to_be_one():
    seen = []
    found = find_neighbours(similarity("same(city)"), PEOPLE, most=7, progress=lambda *done: seen.append(done))
    assert found.is_sample
    assert len(found.asked) == len(set(found.asked)) == 7
    sizes = PEOPLE.groupby("city").size()
    assert found.counts.tolist() == [sizes[PEOPLE.city[row]] - 1 for row in found.asked]
    assert seen[-1] == (7, 7)


def test_made_up_pairs_where_the_data_has_none():
    found = find_neighbours(similarity("same(all except sex)"), PEOPLE)
    assert found.largest == 0
    assert len(found.similar) == 3
    assert all(example.rows[1] is None and example.differing == ("sex",) for example in found.similar)
