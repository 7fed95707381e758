"""Truth: `holds` against an independent oracle, on generated formulas."""

from __future__ import annotations

from hypothesis import given

from tests.phi.worlds import World, laws, worlds


@laws
@given(worlds())
def test_holds_is_what_the_language_says(world: World):
    expected = [world.oracle.holds(world.formula, x, o) for x, o in zip(world.xs, world.others, strict=True)]
    assert world.similarity.holds(*world.tables).tolist() == expected
