"""One change for a whole cell: where nobody is left of whom φ is false, φ admits it for everybody in the cell."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.exact import Limit, Rejected
from lcifr.check.phi import Formula, cells_of
from lcifr.check.table import Unknown
from tests.check.random_formulas import Formulas, true_of
from tests.check.tiny_universes import Person, Universe
from tests.effort import sampled

FORMULAS = 20  # of each universe


def cell_of(dice: random.Random, universe: Universe) -> tuple[dict[Any, Any], list[Person]]:
    """Some of everybody, as the checker has them, and one by one."""
    part, held = universe.table.everybody(whole=True), dict[str, list[Any]]()
    for name, values in universe.values.items():
        if name in universe.table.codes:
            held[name] = dice.sample(values, dice.randint(1, len(values)))
            part[name] = frozenset(held[name])
        else:
            first, last = sorted(dice.choices(range(len(values)), k=2))
            held[name] = values[first : last + 1]
            part[((name, -1),)], part[((name, 1),)] = -values[first], values[last]
    return part, [one for one in universe.everybody if all(one[name] in held[name] for name in held)]


def outcomes(seed: int) -> list[tuple[bool, bool]]:
    """Whether a change is shown to be admitted in a cell, and whether it is, for many formulas."""
    dice, found = random.Random(seed), []
    universe = Universe.draw(dice)
    table = universe.table
    for _ in range(FORMULAS):
        part, people = cell_of(dice, universe)
        x, other = dice.choice(people), dice.choice(universe.everybody)
        codes = {name: other[name] for name in table.codes if dice.random() < 0.7}
        moves = {name: other[name] - x[name] for name in table.numbers if universe.is_whole(name)}
        tree = Formulas(dice, universe).draw()
        unknown: Person = {name: Unknown(name) for name in universe.values}
        changed = {**unknown, **codes, **{name: Unknown(name, Fraction(by)) for name, by in moves.items()}}
        try:
            shown = not cells_of(Formula(tree, table), {"self": unknown, "other": changed}, part, true=False)
        except (Limit, Rejected):  # a rank changes
            continue
        afterwards = ({**one, **codes, **{name: one[name] + by for name, by in moves.items()}} for one in people)
        found.append((shown, all(true_of(tree, *pair) for pair in zip(people, afterwards, strict=True))))
    return found


@sampled(200)
@given(st.integers(0, 2**32))
def test_what_is_shown_of_a_change_is_true_of_everybody_in_the_cell(seed: int) -> None:
    assert all(true or not shown for shown, true in outcomes(seed))


def test_changes_that_are_admitted_are_shown() -> None:
    """All but those that rest on two numbers together, or on a plane that is left out."""
    found = Counter(one for seed in range(40) for one in outcomes(seed))
    assert found[True, True] > 100
    assert found[False, False] > 100
    assert found[False, True] < found[True, True] / 5
