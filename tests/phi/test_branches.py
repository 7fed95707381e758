"""Alternatives of a formula that never hold or that another contains."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from lcifr.data import Individuals
from lcifr.phi.core import PairedPeople, resolve
from lcifr.phi.formula import And, Formula, Not, Or
from lcifr.phi.holds import evaluate
from lcifr.phi.lint import Severity, subsumes
from tests.phi.example import find, place
from tests.phi.worlds import World, worlds


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
