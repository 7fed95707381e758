"""Proofs written by hand, for networks that fit in the head; each is tight, so the next smaller bound must fail."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lcifr.check import Cell, Problem, Rejected, examine, follows, read_network

TENT = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])]  # x up to 1, then down again
ABSOLUTE = [([[1.0, 1.0], [-1.0, -1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]  # |x + y|
# −relu(1 − 2·relu(x)) − 2·relu(x): −1 up to ½, then falling
DEEP = [([[1.0]], [0.0]), ([[-2.0], [1.0]], [1.0, 0.0]), ([[-1.0, -2.0]], [0.0])]
COLOURS = [([[1.0, 9.0, -3.0]], [0.5]), ([[-1.0]], [0.0])]  # −relu(…) of a category
LINE = Cell([0], [-1.0], [2.0])
SQUARE = Cell([0, 1], [-1.0, -1.0], [1.0, 1.0])
CUT = Cell([0, 1], [-1.0, -1.0], [1.0, 1.0], G=[[1.0, 1.0]], g=[-0.5])
NOWHERE = Cell([0, 1], [-1.0, -1.0], [1.0, 1.0], G=[[1.0, 1.0], [-1.0, -1.0]], g=[-0.5, 0.25])
COLOUR = Cell([], [], [], [[0, 1, 2]], [[True, False, True]])
HALF, ONE = "0x1p-1", "0x1p+0"


def confirm(layers: list, cell: Cell, direction: list[float], upper: float, proof: Any) -> str:
    """Why this proof does not show direction · network(x′) ≤ upper for every x′ in the cell; empty if it does."""
    wanted = tuple((output, value) for output, value in enumerate(direction) if value)
    try:
        found = examine(Problem(read_network(layers), cell), proof)
    except Rejected as rejected:
        return str(rejected)
    return "" if follows(found, wanted, upper) else f"{found.get(wanted, 'nothing')} is shown"


def proof(direction: list, upper: float, *nodes: Any, bounds: dict | None = None) -> dict:
    claim = {"direction": direction, "upper": upper.hex(), "nodes": list(nodes)}
    return {"cell": 0, "bounds": bounds or {}, "claims": [claim]}


TIGHT = {
    "an affine layer": ([([[2.0]], [1.0])], LINE, [1.0], 5.0, [{"leaf": {}}], {}),
    "an affine layer by its interval": ([([[2.0]], [1.0])], LINE, [1.0], 5.0, [{"leaf": None}], {}),
    "the interval of the output": (TENT, LINE, [1.0], 2.0, [{"leaf": None}], {}),
    "split at the kink, both sides": (
        *(TENT, LINE, [1.0], 1.0),
        # left of 1 the line ½x + ½ lies above relu(x); right of it the tent is 2 − x
        [{"numeric": [0, ONE]}, {"leaf": {"slopes": [[0, 0, HALF]]}}, {"leaf": {}}],
        {},
    ),
    "split on the ReLU, with its multiplier": (
        *(TENT, LINE, [1.0], 1.0),
        [
            {"relu": [0, 1]},
            {"numeric": [0, "0x0p+0"]},
            {"leaf": {}},  # x ≤ 0: both are off
            {"leaf": {"beta": [[0, 1, "-0x1p+0"]]}},  # x + (1 − x), the second of which is ≥ 0 on this side
            {"numeric": [0, ONE]},
            {"leaf": {"slopes": [[0, 0, HALF]]}},  # x ≤ 1 ≤ x: the second is 0, and ½x + ½ ≤ 1
            {"leaf": {}},  # x − 2(x − 1) from 1 on
        ],
        {},
    ),
    "shared lines": (
        *(ABSOLUTE, SQUARE, [1.0], 2.0, [{"leaf": {}}]),
        {"upper": [[0, 0, HALF], [0, 1, HALF]]},
    ),
    "a linear row": ([([[1.0, 1.0]], [0.0])], CUT, [1.0], -0.5, [{"leaf": {"rows": [[0, ONE]]}}], {}),
    "a row that makes a ReLU stable": (
        *(ABSOLUTE, CUT, [-1.0], -0.5, [{"leaf": {"rows": [[0, ONE]]}}]),
        {"neurons": [[0, "upper", [0], {"rows": [[0, ONE]]}], [0, "lower", [1], {"rows": [[0, ONE]]}]]},
    ),
    "a split that makes a deeper ReLU stable": (
        *(DEEP, Cell([0], [-1.0], [1.0]), [1.0], -1.0),
        [{"relu": [0, 0]}, {"leaf": {}}, {"leaf": {"slopes": [[1, 0, ONE]]}}],
        {},
    ),
    "what is proved at a node reaches the layers below it": (
        *(DEEP, Cell([0], [-1.0], [1.0], G=[[1.0]], g=[0.0]), [1.0], -1.0),
        [
            {"relu": [1, 1], "bounds": {}},
            {"leaf": {}, "bounds": {"neurons": [[0, "upper", [0], {"rows": [[0, ONE]]}]]}},
            {"leaf": {}, "bounds": {"neurons": [[0, "upper", [0], {"rows": [[0, ONE]]}]]}},
        ],
        {},
    ),
    "categories, split": (
        *(COLOURS, COLOUR, [1.0], 0.0),
        [{"choice": [0, [0, 1]]}, {"leaf": {}}, {"leaf": {}}],
        {},
    ),
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_tight_proof_is_confirmed_and_the_next_smaller_bound_is_not(name: str) -> None:
    network, cell, direction, upper, nodes, bounds = TIGHT[name]
    entries = [[output, value.hex()] for output, value in enumerate(direction) if value]
    assert confirm(network, cell, direction, upper, proof(entries, upper, *nodes, bounds=bounds)) == ""
    below = math.nextafter(upper, -math.inf)
    assert confirm(network, cell, direction, below, proof(entries, below, *nodes, bounds=bounds)) != ""


def test_nothing_falls_between_the_halves_of_a_numeric_split() -> None:
    """The top of the tent is a hair to the right of the threshold, and the claim is a hair too small."""
    hair = 2.0**-31
    nodes = [{"numeric": [0, (1.0 - hair).hex()]}, {"numeric": [0, "0x0p+0"]}, {"leaf": {}}, {"leaf": {}}]
    nodes.append({"leaf": {"slopes": [[0, 1, ONE]]}})
    assert confirm(TENT, LINE, [1.0], 1.0 + 2 * hair, proof([[0, ONE]], 1.0 + 2 * hair, *nodes)) == ""
    assert "is shown" in confirm(TENT, LINE, [1.0], 1.0 - hair / 2, proof([[0, ONE]], 1.0 - hair / 2, *nodes))


def test_a_proof_of_a_smaller_bound_serves_for_a_larger_one_and_not_the_other_way_round() -> None:
    shown = proof([[0, ONE]], 5.0, {"leaf": {}})
    assert confirm([([[2.0]], [1.0])], LINE, [1.0], 6.0, shown) == ""
    assert "5 is shown" in confirm([([[2.0]], [1.0])], LINE, [1.0], 4.0, shown)
    assert "nothing is shown" in confirm([([[2.0]], [1.0])], LINE, [-1.0], 9.0, shown)


def test_an_empty_cell_satisfies_every_bound() -> None:
    shown = proof([], -1.0, {"empty": {"rows": [[0, ONE], [1, ONE]]}})
    assert confirm(ABSOLUTE, NOWHERE, [1.0], -1e300, shown) == ""
    for damaged in ([[0, ONE]], [[0, ONE], [1, HALF]], [[0, HALF], [1, ONE]]):
        shown["claims"][0]["nodes"] = [{"empty": {"rows": damaged}}]
        assert "no point is left" in confirm(ABSOLUTE, NOWHERE, [], -1.0, shown)
    nobody = Cell([0], [0.0], [1.0], [[1, 2]], [[False, False]])
    assert confirm([([[1.0, 2.0, 3.0]], [0.0])], nobody, [1.0], -1e300, proof([], -1.0, {"leaf": None})) == ""


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([], "lacks 1"),
        ([{"relu": [0, 0]}, {"leaf": {}}], "lacks 1"),
        ([{"leaf": None}, {"leaf": None}], "no place"),
        ([{"relu": [0, 0]}, {"leaf": None}, {"leaf": None}, {"leaf": None}], "no place"),
        ([{"relu": [1, 0]}, {"leaf": None}, {"leaf": None}], "not an integer in 0 … 0"),
        ([{"relu": [-1, 0]}, {"leaf": None}, {"leaf": None}], "not an integer in 0 … 0"),
        ([{"leaf": {"beta": [[0, 1, "nan"]]}}], "finite"),
        ([{"leaf": {"beta": [[0, 1, "0x1p+5000"]]}}], "not as the format says"),
        ([{"empty": {}}], "no point is left"),
        ([{"leaf": None, "empty": {}}], "not as the format says"),
        ([{"surprise": [1, 1]}], "no node surprise"),
    ],
)
def test_what_does_not_fit_is_rejected_with_the_reason(nodes: list, reason: str) -> None:
    assert reason in confirm(TENT, LINE, [1.0], 2.0, proof([[0, ONE]], 2.0, *nodes))


@pytest.mark.parametrize(
    "nodes",
    [
        [{"leaf": {"rows": [[0, ONE]]}}],  # there is no such row, neuron, layer, column, choice
        [{"leaf": {"slopes": [[0, 2, ONE], [0, -1, "-0x1p+9"], [1, 0, ONE], [0, 0, ONE], [0, 0, HALF]]}}],
        [{"leaf": {"slopes": [[0, 1, "0x1.8p+0"]]}}],  # a line below ReLU cannot be steeper than 1
        [{"leaf": {"slopes": [[0, 1, "-0x1p+9"]]}}],
        [{"numeric": [3, ONE]}, {"leaf": {}}, {"leaf": {}}],
        [{"choice": [0, []]}, {"leaf": {}}, {"leaf": {}}],
        [{"choice": [-1, [5]]}, {"leaf": {}}, {"leaf": {}}],
        [{"relu": [0, 7]}, {"leaf": {}}, {"leaf": {}}],
        [{"relu": [0, -1]}, {"leaf": {}}, {"leaf": {}}],
    ],
)
def test_what_is_about_nothing_shows_nothing_false(nodes: list) -> None:
    assert confirm(TENT, LINE, [1.0], math.nextafter(1.0, 0.0), proof([[0, ONE]], 1.0, *nodes)) != ""
    assert confirm(TENT, LINE, [1.0], 1e6, proof([[0, ONE]], 1.0, *nodes)) == ""


def test_splits_on_what_cannot_move_change_nothing() -> None:
    """An engine may split where rounding alone leaves room; to the checker both halves are everything."""
    nodes = [{"numeric": [1, HALF]}, {"choice": [0, [1]]}, {"leaf": {}}, {"leaf": {}}, {"leaf": {}}]
    still = Cell([0, 1], [0.0, 1.0], [1.0, 1.0], [[2, 3]], [[True, False]])
    assert confirm([([[1.0, 2.0, 4.0, 8.0]], [0.0])], still, [1.0], 7.0, proof([[0, ONE]], 7.0, *nodes)) == ""
    assert confirm([([[1.0, 2.0, 4.0, 8.0]], [0.0])], still, [1.0], 6.9, proof([[0, ONE]], 6.9, *nodes)) != ""


def test_a_negative_multiplier_of_a_row_is_rejected() -> None:
    shown = proof([[0, ONE]], -5.0, {"leaf": {"rows": [[0, "-0x1p+3"]]}})
    assert "negative" in confirm([([[1.0, 1.0]], [0.0])], CUT, [1.0], -5.0, shown)


def test_a_cell_that_does_not_fit_the_network_is_rejected() -> None:
    assert "exactly once" in confirm(TENT, SQUARE, [1.0], 2.0, proof([[0, ONE]], 2.0, {"leaf": None}))
    assert "exactly once" in confirm(TENT, Cell([0], [0.0], [1.0], [[0]], [[True]]), [1.0], 2.0, {})
