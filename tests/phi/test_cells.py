"""Lowering: a region holds everybody similar and, beyond rounding, nobody else."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from lcifr.phi.core import AllOf, AnyOf, Category, Core, PairedPeople, SameCategory, approximate, is_about
from lcifr.phi.formula import Person
from lcifr.phi.holds import evaluate
from tests.phi.worlds import World, laws, worlds


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
