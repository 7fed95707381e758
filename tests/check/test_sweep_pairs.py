"""Two decisions as one network: its outputs are those of the two people, exactly."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from lcifr.check.functions import read_function
from lcifr.check.phi import Formula
from lcifr.check.sweep import PairTable
from lcifr.check.table import AttributeTable
from tests.certification.sweep.tiny import ENCODING, TinyUniverse, everybody

TABLE = AttributeTable(json.loads(ENCODING.to_bytes()))


def person(row: int) -> dict[str, float]:
    found = everybody()
    return {n: (found.number(n) if n in TABLE.numbers else found.code(n))[row].item() for n in found.schema.names}


@pytest.mark.parametrize("outputs", [1, 3])
def test_crossings_are_the_smaller_of_both_scores(outputs: int):
    """What is shared is the same in both; scores are leads of one class over another, or the output less 0.25."""
    universe = TinyUniverse.with_network(3, outputs=outputs)
    whole = read_function(json.loads(universe.function.to_bytes()), TABLE.width)
    tree = json.loads(universe.similarity.to_bytes())["formula"]
    space = PairTable(Formula(tree, TABLE), universe.swept.pairs.others)
    scores = [[1.0, -0.25]] if outputs == 1 else [[-1.0, 1.0, 0.0, 0.0], [0.0, -1.0, 1.0, 0.0]]
    product = space.crossings(whole.network, scores)
    for one, two in ((0, 1), (5, 71), (33, 12), (40, 40)):
        x, other = person(one), {**person(two), "race": person(one)["race"]}
        row = {**{space_name: other[name] for name, space_name in universe.swept.pairs.others.items()}, **x}
        here, there = whole.at(TABLE.point(x)), whole.at(TABLE.point(other))
        expected = []
        for *score, constant in scores:
            s, t = (
                sum(Fraction(c) * y for c, y in zip(score, values, strict=True)) + Fraction(constant)
                for values in (here, there)
            )
            expected += [min(s, -t), min(-s, t)]
        assert product.at(space.table.point(row)) == expected
