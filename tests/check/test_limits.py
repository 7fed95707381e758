"""Ends and rows of a cell, seen by eye: as far out as somebody similar, and no farther."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lcifr.check.phi import Formula, derive
from tests.check.tables import standardised, table_of

OTHER = [[1, 1], "other", "a0"]
RANK = [*OTHER, "c0", [[[0, 1], [4.0]]]]


@pytest.mark.parametrize(
    ("comparison", "highest"),
    [
        (["!=", [0, 1], [OTHER]], 9),  # everybody but 0
        (["<=", [-4, 1], [OTHER]], 4),
        (["<", [-4, 1], [OTHER]], math.nextafter(4, 0)),
        (["<", [0, 1], [[[-1, 1], *RANK[1:]]]], 9),
        (["<", [1, 1], [[[-1, 1], *RANK[1:]]]], math.nextafter(4, 0)),  # rank 2 is below the only training value
    ],
)
def test_limits_are_as_far_out_as_somebody_similar(comparison: Any, highest: float) -> None:
    table = table_of(1, 1)
    (cell,) = derive(Formula(["compare", *comparison], table), {"a0": 0.0, "c0": 0})
    assert cell.groups["numeric", 0] == [(0, -9.0), (0, highest)]


def test_rows_that_are_one_in_floats_are_one_row_the_tightest() -> None:
    """A proof counts rows by their coefficients as floats: 1/10 and a fraction next to it are the same."""
    table, near = table_of(2, 0), [10**17 + 1, 10**18]
    rows = [
        ["compare", "<=", [-k, 1], [[a, "other", "a0"], [[1, 1], "other", "a1"]]] for k, a in ((3, near), (2, [1, 10]))
    ]
    for order in (1, -1):
        (cell,) = derive(Formula(["all", *rows[::order]], table), {"a0": 0.0, "a1": 0.0})
        ((*G, minus),) = cell.rows
        assert (G, round(minus, 9)) == ([0.1, 1.0], -2.0)


def test_rows_bound_numbers_one_after_another() -> None:
    """a1 by a0 and a2 by a1, where nothing else bounds them; the lower ends by a0 alone."""
    numbers: dict[str, Any] = {"a0": {"lower": -9, "upper": 9}, "a1": {}, "a2": {}}
    attributes = {name: {"kind": "numeric", **ends} for name, ends in numbers.items()}
    table = standardised(attributes)
    rows = [{"a2": 1, "a1": -1}, {"a1": 1, "a0": -1}, {"a1": -1, "a0": -1}, {"a2": -1, "a0": -1}]
    limits = [["compare", "<=", [-1, 1], [[[a, 1], "other", name] for name, a in row.items()]] for row in rows]
    tree = ["all", *limits, ["compare", "<=", [0, 1], [OTHER]]]
    (cell,) = derive(Formula(tree, table), {"a0": 0.0, "a1": 0.0, "a2": 0.0})
    ends = {column: [value for _, value in corners] for (_, column), corners in cell.groups.items()}
    assert ends == {0: [-2.0, 0.0], 1: [-1.0, 1.0], 2: [-1.0, 2.0]}
