"""Proofs written by hand, for networks that fit in the head; each is tight, so the next smaller bound must fail."""

from __future__ import annotations

import math

import pytest

from lcifr.check.functions import RationalCell
from tests.check.claims import UP, box, confirm, leaf

TENT = [[[1.0, 0.0], [1.0, -1.0]], [[1.0, -2.0, 0.0]]]  # x up to 1, then down again
ABSOLUTE = [[[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]], [[1.0, 1.0, 0.0]]]  # |x + y|
# −relu(1 − 2·relu(x)) − 2·relu(x): −1 up to ½, then falling
DEEP = [[[1.0, 0.0]], [[-2.0, 1.0], [1.0, 0.0]], [[-1.0, -2.0, 0.0]]]
COLOURS = [[[1.0, 9.0, -3.0, 0.5]], [[-1.0, 0.0]]]  # −relu(…) of a category


LINE, SQUARE = box((-1.0, 2.0)), box((-1.0, 1.0), (-1.0, 1.0))
CUT = box((-1.0, 1.0), (-1.0, 1.0), rows=[[1.0, 1.0, 0.5]])
NOWHERE = box((-1.0, 1.0), (-1.0, 1.0), rows=[[1.0, 1.0, 0.5], [-1.0, -1.0, -0.25]])
COLOUR = RationalCell({("choice", 0): [(0, 1.0), (2, 1.0)]})  # the second category is not allowed
ZERO, HALF, ONE, MINUS = 0.0, 0.5, 1.0, -1.0


def line(layer: int, neuron: int, slope: float = ZERO, beta: object = ZERO) -> list:
    return [layer, neuron, slope, slope, beta]


def by_rows(layer: int, place: int) -> list:
    """An end that follows from the first row of the cell."""
    return [layer, [place], [], [[0, ONE]]]


ON = [line(0, 0, ONE), line(0, 1, ONE)]  # both neurons of the first layer as if they were on
TIGHT = {
    "an affine layer": ([[[2.0, 1.0]]], LINE, [1.0], 5.0, [leaf()]),
    "the interval of the output": (TENT, LINE, [1.0], 2.0, [leaf()]),
    "split at the kink, both sides": (
        *(TENT, LINE, [1.0], 1.0),
        # left of 1 the line ½x + ½ lies above relu(x); right of it the tent is 2 − x
        [["numeric", 0, ONE], leaf(line(0, 0, HALF)), leaf(*ON)],
    ),
    "split on the ReLU, with its multiplier": (
        *(TENT, LINE, [1.0], 1.0),
        [
            ["relu", 0, 1],
            ["numeric", 0, ZERO],
            leaf(),  # x ≤ 0: both are off
            leaf(line(0, 0, ONE), line(0, 1, ZERO, MINUS)),  # x + (1 − x), the second of which is ≥ 0 on this side
            ["numeric", 0, ONE],
            leaf(line(0, 0, HALF)),  # x ≤ 1 ≤ x: the second is 0, and ½x + ½ ≤ 1
            leaf(*ON),  # x − 2(x − 1) from 1 on
        ],
    ),
    "one coefficient for a neuron, whatever its slope": (
        *(TENT, LINE, [1.0], 1.0),
        # x − 2·relu(x − 1) = 1 − (x − 1) from 1 on; left of 1 it is x: −1·y of the second does both
        [["numeric", 0, ZERO], leaf(), ["numeric", 0, ONE], leaf(line(0, 0, ONE), line(0, 1, ZERO, MINUS)), leaf(*ON)],
    ),
    "lines above": (ABSOLUTE, SQUARE, [1.0], 2.0, [leaf(line(0, 0, HALF), line(0, 1, HALF))]),
    "a linear row": ([[[1.0, 1.0, 0.0]]], CUT, [1.0], -0.5, [leaf(rows=[[0, ONE]])]),
    "a row that makes a ReLU stable": (
        *(ABSOLUTE, CUT, [-1.0], -0.5),
        [
            leaf(
                line(0, 1, ONE),
                rows=[[0, ONE]],
                ends=[by_rows(0, 0), by_rows(0, 3)],
                direction=[[0, MINUS]],
            )
        ],
    ),
    "a split that makes a deeper ReLU stable": (
        *(DEEP, box((-1.0, 1.0)), [1.0], -1.0),
        [["relu", 0, 0], leaf(), leaf(line(1, 0, ONE), line(1, 1, ONE), line(0, 0, ONE))],
    ),
    "what is proved of a layer reaches the layers after it": (
        *(DEEP, box((-1.0, 1.0), rows=[[1.0, 0.0]]), [1.0], -1.0),
        [["relu", 1, 1], *[leaf(ends=[by_rows(0, 0)])] * 2],
    ),
    "a pass to a deeper neuron": (
        # relu(x + 5) − relu(x + 5) is 0, but each of the two by itself is only known to be in [4, 7]
        *([[[1.0, 5.0], [1.0, 5.0]], [[1.0, -1.0, 0.0]], [[1.0, 0.0]]], LINE, [1.0], 0.0),
        [leaf(ends=[[1, [0], ON, []]])],
    ),
    "categories, split": (COLOURS, COLOUR, [1.0], 0.0, [["choice", 0, [0, 1]], leaf(), leaf()]),
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_tight_proof_is_confirmed_and_the_next_smaller_bound_is_not(name: str) -> None:
    network, cell, direction, upper, nodes = TIGHT[name]
    assert confirm(network, cell, direction, upper, nodes) == ""
    assert "is shown" in confirm(network, cell, direction, math.nextafter(upper, -math.inf), nodes)


def test_nothing_falls_between_the_halves_of_a_numeric_split() -> None:
    """The top of the tent is a hair to the right of the threshold, and the claim is a hair too small."""
    hair = 2.0**-31
    nodes = [["numeric", 0, 1.0 - hair], ["numeric", 0, ZERO], leaf(), leaf(line(0, 0, ONE)), leaf(*ON)]
    assert confirm(TENT, LINE, [1.0], 1.0 + 2 * hair, nodes) == ""
    assert "is shown" in confirm(TENT, LINE, [1.0], 1.0 - hair / 2, nodes)


def test_a_proof_of_a_smaller_bound_serves_for_a_larger_one_and_not_the_other_way_round() -> None:
    assert confirm([[[2.0, 1.0]]], LINE, [1.0], 6.0, [leaf()]) == ""
    assert "5 is shown" in confirm([[[2.0, 1.0]]], LINE, [1.0], 4.0, [leaf()])
    assert "nothing is shown" in confirm([[[2.0, 1.0]]], LINE, [-1.0], 9.0, [leaf()])


def test_a_direction_must_be_shown_at_every_leaf() -> None:
    """A leaf may speak about several directions; what some leaf does not speak about is not shown."""
    both = ["leaf", [], [[UP, [], []], [[[0, MINUS]], [], []]]]
    split = ["numeric", 0, ONE]
    layers = [[[2.0, 1.0]]]
    assert confirm(layers, LINE, [-1.0], 1.0, [split, both, both]) == ""
    assert confirm(layers, LINE, [1.0], 5.0, [split, both, leaf()]) == ""
    assert "nothing is shown" in confirm(layers, LINE, [-1.0], 99.0, [split, both, leaf()])
    assert "nothing is shown" in confirm(layers, LINE, [-1.0], 99.0, [split, leaf(), both])
    assert "nothing is shown" in confirm(layers, LINE, [1.0], 99.0, [split, both, ["leaf", [], []]])


def test_an_empty_cell_satisfies_every_bound() -> None:
    def empty(*rows: list) -> list:
        return [leaf(rows=rows, direction=[])]

    assert confirm(ABSOLUTE, NOWHERE, [1.0], -1e300, empty([0, ONE], [1, ONE])) == ""
    for damaged in ([[0, ONE]], [[0, ONE], [1, HALF]], [[0, HALF], [1, ONE]], []):
        assert "is shown" in confirm(ABSOLUTE, NOWHERE, [1.0], 1e300, empty(*damaged))
    nobody = RationalCell({("numeric", 0): [(0, 0.0), (0, 1.0)], ("choice", 1): []})
    assert confirm([[[1.0, 2.0, 3.0, 0.0]]], nobody, [1.0], -1e300, [leaf()]) == ""


def test_a_part_that_is_empty_says_nothing_of_the_other() -> None:
    """One half is beyond the box, so nothing has to be shown there; the other half is everything."""
    nodes = [["numeric", 0, -8.0], ["leaf", [], []], leaf()]
    assert confirm(TENT, LINE, [1.0], 2.0, nodes) == ""
    assert "2 is shown" in confirm(TENT, LINE, [1.0], 1.9, nodes)
    assert confirm(TENT, LINE, [1.0], 2.0, [["numeric", 0, -8.0], *nodes, leaf()]) == ""


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([], "lacks 1"),
        ([["relu", 0, 0], leaf()], "lacks 1"),
        ([leaf(), leaf()], "no place"),
        ([["relu", 0, 0], leaf(), leaf(), leaf()], "no place"),
        ([["relu", 1, 0], leaf(), leaf()], "not an integer in 0 … 0"),
        ([["relu", -1, 0], leaf(), leaf()], "not an integer in 0 … 0"),
        ([["relu", 0, 2], leaf(), leaf()], "not an integer in 0 … 1"),
        ([["relu", 0, -1], leaf(), leaf()], "not an integer in 0 … 1"),
        ([["relu", 0, True], leaf(), leaf()], "not an integer in 0 … 1"),
        ([leaf(line(0, 1, ZERO, math.nan))], "finite"),
        ([leaf(line(0, 1, ZERO, "0x1p+3"))], "finite"),
        ([leaf([0, 1, ONE])], "not a list of 3"),
        ([leaf(direction=[[1, ONE]])], "not an integer in 0 … 0"),
        ([leaf(direction=[[-1, ONE]])], "not an integer in 0 … 0"),
        ([leaf(ends=[[0, [-1], [], []]])], "not an integer in 0 … 3"),
        ([leaf(ends=[[0, [4], [], []]])], "not an integer in 0 … 3"),
        ([leaf(ends=[[0, "upper", [], []]])], "not an integer in 0 … 3"),
        ([["leaf", []]], "not as the format says"),
        ([["leaf", [], [], []]], "not as the format says"),
        ([["leaf", [], [[[[0, ONE]], [], [], 0]]]], "not as the format says"),
        ([["leaf", [[0, [0], [], [], 0]], []]], "not as the format says"),
        ([{"leaf": []}], "not as the format says"),
        ([["surprise", 0, 1.0], leaf(), leaf()], "of no kind"),
        ([["numeric", 3, ONE], leaf(), leaf()], "does not have"),  # there is no such column, choice
        ([["numeric", -1, ONE], leaf(), leaf()], "does not have"),
        ([["choice", -1, [5]], leaf(), leaf()], "does not have"),
        ([["choice", 0, [0]], leaf(), leaf()], "does not have"),  # the column is a number's
    ],
)
def test_what_does_not_fit_is_rejected_with_the_reason(nodes: list, reason: str) -> None:
    assert reason in confirm(TENT, LINE, [1.0], 2.0, nodes)


@pytest.mark.parametrize(
    "nodes",
    [
        [leaf(rows=[[0, ONE]])],  # there is no such row, neuron, layer
        [leaf(line(0, 2, ONE), line(0, -1, -512.0), line(1, 0, ONE), line(0, 0, ONE), line(0, 0, HALF))],
        [leaf(line(0, 1, 1.5))],  # steeper than ReLU, and falling: the constant pays for it
        [leaf(line(0, 1, -512.0))],
        [leaf(line(0, 0, -512.0, 512.0))],
        [leaf(ends=[[7, [0], [], []]])],
    ],
)
def test_what_is_about_nothing_shows_nothing_false(nodes: list) -> None:
    assert "is shown" in confirm(TENT, LINE, [1.0], math.nextafter(1.0, 0.0), nodes)
    assert confirm(TENT, LINE, [1.0], 1e6, nodes) == ""


def test_a_choice_is_not_split_like_a_number() -> None:
    """Two categories are two corners, as are the ends of a number: only one of the two can be halved."""
    layers = [[[3.0, 5.0, 0.0]]]
    cell = RationalCell({("choice", 0): [(0, 1.0), (1, 1.0)]})
    for border in (HALF, ONE, -8.0):
        assert confirm(layers, cell, [1.0], 4.0, [["numeric", 0, border], leaf(), leaf()]).endswith("does not have")
    assert confirm(layers, cell, [1.0], 4.0, [["choice", 0, [1]], leaf(), leaf()]) == "5 is shown"


def test_splits_on_what_cannot_move_change_nothing() -> None:
    """An engine may split where rounding alone leaves room; to the checker both halves are everything."""
    nodes = [["numeric", 1, HALF], ["choice", 2, [3]], leaf(), leaf(), leaf()]
    still = RationalCell(
        {("numeric", 0): [(0, 0.0), (0, 1.0)], ("numeric", 1): [(1, 1.0)] * 2, ("choice", 2): [(2, 1.0)]}
    )
    assert confirm([[[1.0, 2.0, 4.0, 8.0, 0.0]]], still, [1.0], 7.0, nodes) == ""
    assert confirm([[[1.0, 2.0, 4.0, 8.0, 0.0]]], still, [1.0], 6.9, nodes) == "7 is shown"


def test_a_negative_multiplier_of_a_row_is_none() -> None:
    layers = [[[1.0, 1.0, 0.0]]]
    assert confirm(layers, CUT, [1.0], 1.5, [leaf(rows=[[0, -8.0]])]) == "2 is shown"
    ends = [[0, [0], [], [[0, -8.0]]]]
    assert confirm(ABSOLUTE, CUT, [1.0], 3.5, [leaf(ends=ends)]) == "4 is shown"
