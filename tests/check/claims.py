"""Claims about small networks, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcifr.check.exact import Rejected
from lcifr.check.functions import RationalCell, read_network
from lcifr.check.proof import Problem, examine, follows


def box(*ends: tuple[float, float], rows: Sequence[Sequence[float]] = ()) -> RationalCell:
    """Numeric columns 0, 1, …"""
    return RationalCell({("numeric", c): [(c, low), (c, high)] for c, (low, high) in enumerate(ends)}, rows)


UP = [[0, 1.0]]  # the direction of the one output that all networks here have


def confirm(layers: list, cell: RationalCell, direction: list[float], upper: float, nodes: Any) -> str:
    """Why this proof does not show direction · network(x′) ≤ upper for every x′ in the cell; empty if it does."""
    wanted = tuple((output, value) for output, value in enumerate(direction) if value)
    try:
        found = examine(Problem(read_network(layers), cell), nodes)
    except Rejected as rejected:
        return str(rejected)
    return "" if follows(found, wanted, upper) else f"{found.get(wanted, 'nothing')} is shown"


def leaf(*lines: list, rows: Sequence = (), ends: Sequence = (), direction: list = UP) -> list:
    return ["leaf", list(ends), [[direction, list(lines), list(rows)]]]
