"""The laws between the readings of a formula: truth, regions, losses and witnesses never contradict one another."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, assume, given, settings

from lcifr.language.formula import And, Implies, Not, Or, Person
from lcifr.semantics.core import AllOf, AnyOf, Category, Compare, Core, SameCategory, is_about, leaves
from lcifr.semantics.holds import PairedPeople, approximate, evaluate
from lcifr.semantics.resolve import resolve
from lcifr.similarity.similarity import Similarity
from tests.similarity.worlds import World, worlds

# Shrinking a whole world takes minutes and seldom helps: the failing one is printed as it was found.
laws = settings(
    deadline=None,
    max_examples=100,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@laws
@given(worlds())
def test_holds_is_what_the_language_says(world: World):
    expected = [world.oracle.holds(world.formula, x, o) for x, o in zip(world.xs, world.others, strict=True)]
    assert world.similarity.holds(*world.tables).tolist() == expected


@laws
@given(worlds())
def test_everybody_similar_is_in_the_region(world: World):
    x, other = world.tables
    inside = world.region().contains(world.encoding.encode(other))
    similar = world.similarity.holds(x, other)
    assert (inside | ~similar).all()


def _closed(core: Core, pair: PairedPeople) -> np.ndarray:
    """Truth with every comparison of x′ closed and a hair wider: what a region may hold at most."""
    if isinstance(core, AllOf | AnyOf):
        parts = [_closed(part, pair) for part in core.parts]
        start = np.full(len(pair), isinstance(core, AllOf))
        return (
            np.logical_and.reduce([start, *parts]) if isinstance(core, AllOf) else np.logical_or.reduce([start, *parts])
        )
    if isinstance(core, Category | SameCategory) or not is_about(core, Person.OTHER):
        return evaluate(core, pair)
    value = approximate(core.form, pair)[0]
    return {"<=": value <= 1e-9, "<": value <= 1e-9, "=": np.abs(value) <= 1e-9, "!=": value == value}[core.operator]


@laws
@given(worlds(ranks=False))
def test_the_region_holds_nobody_else(world: World):
    x, other = world.tables
    inside = world.region().contains(world.encoding.encode(other))
    people = world.similarity.region(x).origin.people
    pair = PairedPeople(people, type(people).read(other, world.schema))
    assert (~inside | _closed(world.similarity.core, pair)).all()


@laws
@given(worlds())
def test_loss_is_zero_exactly_where_the_formula_holds(world: World):
    x, other = (torch.tensor(world.encoding.encode(table)) for table in world.tables)
    loss = world.similarity.loss(x, other)
    assert (loss >= 0).all()
    assert ((loss == 0).numpy() == world.similarity.holds(*world.tables)).all()


@laws
@given(worlds(max_leaves=4))
def test_boolean_laws_hold_for_every_reading(world: World):
    f, schema, encoding = world.formula, world.schema, world.encoding
    g = Not(f)
    equals = [
        (Not(Not(f)), f),
        (Not(And((f, g))), Or((Not(f), Not(g)))),
        (Not(Or((f, g))), And((Not(f), Not(g)))),
        (Implies(f, g), Or((Not(f), g))),
    ]
    for left, right in equals:
        one, two = (Similarity(side, schema, encoding) for side in (left, right))
        assert one.hash == two.hash
        assert (one.holds(*world.tables) == two.holds(*world.tables)).all()
    assert not Similarity(And((f, g)), schema, encoding).holds(*world.tables).any()
    assert Similarity(Or((f, g)), schema, encoding).holds(*world.tables).all()


@laws
@given(worlds(max_leaves=4))
def test_double_negation_has_the_same_region(world: World):
    region = world.region()
    twice = Similarity(Not(Not(world.formula)), world.schema, world.encoding).region(world.tables[0])
    points = world.encoding.encode(world.tables[1])
    assert (region.contains(points) == twice.contains(points)).all()
    assert (region.nonempty == twice.nonempty).all()


@laws
@given(worlds(pairs=2, max_leaves=5))
def test_samples_lie_in_the_region_and_projections_land_there(world: World):
    region = world.region()
    points = region.sample(4, seed=1)
    there = region.nonempty & ~np.isnan(points).any(axis=(1, 2))
    assert region.contains(points, tolerance=1e-9)[there].all()
    landed = region.project(world.encoding.encode(world.tables[1]), tolerance=1e-6)
    assert not np.isnan(landed[there]).any()
    for group in region.cells[0].choices if region.cells else ():
        assert np.allclose(landed[there][:, group.columns].sum(axis=1), 1)
    assert np.allclose(region.project(points[:, 0])[there], points[there, 0], atol=1e-6)


@laws
@given(worlds(pairs=3, max_leaves=4, ranks=False))
def test_decoded_samples_satisfy_the_formula(world: World):
    region = world.region()
    points = region.sample(3, seed=2)
    assume(not np.isnan(points).any())
    witnesses = region.decode(points)
    repeated = region.origin.people.take(np.repeat(np.arange(region.people), 3))
    again = world.similarity.holds(repeated, witnesses.individuals)
    assert (again == witnesses.confirmed.reshape(-1)).all()
    if _always_reachable(world):
        assert witnesses.confirmed.all()


def _always_reachable(world: World) -> bool:
    """Formulas whose every cell has people inside: real numbers, closed comparisons, no equation between attributes."""
    if any(attribute.integer for attribute in world.schema.numeric):
        return False
    return all(
        not isinstance(leaf, Compare) or (leaf.operator == "<=" and len(leaf.form.part(Person.OTHER).numbers) <= 1)
        for leaf in leaves(resolve(world.formula, world.schema, world.encoding))
    )
