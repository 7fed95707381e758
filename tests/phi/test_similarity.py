"""Laws of a similarity: booleans, free attributes and the canonical text, for truth and regions alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

from lcifr.data import Individuals
from lcifr.phi.formula import And, Implies, Not, Or
from lcifr.phi.similarity import Similarity
from tests.phi.worlds import World, laws, worlds


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
@given(worlds(max_leaves=4))
def test_truth_does_not_depend_on_free_attributes(world: World):
    x, other = (Individuals.read(table, world.schema) for table in world.tables)
    similarity, shifted = world.similarity, other.take(np.roll(np.arange(len(other)), 1))
    free = set(similarity.free_attributes)
    columns = zip((world.schema.numeric, world.schema.categorical), ("numbers", "codes"), strict=True)
    changed = {
        values: np.where([a.name in free for a in attributes], getattr(shifted, values), getattr(other, values))
        for attributes, values in columns
    }
    assert (similarity.holds(x, replace(other, **changed)) == similarity.holds(x, other)).all()
    assert not free & set(similarity.sometimes_free_attributes)


@laws
@given(worlds(max_leaves=4))
def test_the_canonical_text_means_the_same(world: World):
    again = Similarity(world.similarity.canonical_text, world.schema, world.encoding)
    assert again.hash == world.similarity.hash
    assert again.canonical_text == world.similarity.canonical_text
