"""The result of a sweep: its cells with their status, the map of them, and the files that hold them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lcifr.certification.counterexample import Pairs
from lcifr.certification.demands import FloatArray
from lcifr.certification.subject import Hashes
from lcifr.data import Categorical, Individuals, Numeric, Schema
from lcifr.display.charts import ShareGrid, Shares, ShareStrip, SweepMap, ValueParts
from lcifr.display.text import short
from lcifr.models.arithmetic import Arithmetic
from lcifr.regions.universe import CellIndex, UniverseCells

# The map of a sweep: which values of which attributes are proved, violating and open.

PARTS = 20
"""Of a number; one with at most this many whole values has a part for each."""
TRIED = 6
"""Attributes of which all pairs are tried for the grid: those that separate best alone."""


def map_cells(cells: UniverseCells, shares: Mapping[str, FloatArray]) -> SweepMap:
    """Shares along every attribute, and over the two that separate best.

    A cell counts in each part by how much of it lies there, as all people who can exist count alike.

    Parameters
    ----------
    shares : for each status (cells,) the share of everyone who is in the cell and has it.
    """
    weights = _Weights(tuple(shares), np.stack(list(shares.values())))
    layouts = [_CellParts(cells, name) for name in cells.schema.names]
    strips = [weights.along(one) for one in layouts]
    order = np.argsort([-weights.separation(counted) for counted in strips], kind="stable").tolist()
    found = tuple(ShareStrip(layouts[place].bins, weights.shares(strips[place])) for place in order)
    return SweepMap(found, weights.best_grid([layouts[place] for place in order[:TRIED]]))


class _CellParts:
    """How much of each cell lies in each part of an attribute's values.

    ``parts`` : (cells, parts) shares of the cell, 1 together.
    """

    def __init__(self, cells: UniverseCells, name: str) -> None:
        attribute = cells.schema[name]
        if isinstance(attribute, Categorical):
            mask = cells.allowed[cells.schema.names_categorical.index(name)]
            there = np.atleast_1d(mask.any(0))  # values at which the model raises are in no cell
            labels = tuple(value for value, here in zip(attribute.values, there, strict=True) if here)
            self.bins = ValueParts(name, "", labels)
            self.parts: FloatArray = mask[:, there] / mask.sum(1, keepdims=True)
            return
        place = cells.schema.names_numeric.index(name)
        lower, upper = cells.lower[:, place], cells.upper[:, place]
        if cells.counted[place]:
            self._lay_whole_numbers(attribute, lower, upper)
        else:
            self._lay_reals(attribute, lower, upper)

    def _lay_whole_numbers(self, attribute: Numeric, lower: FloatArray, upper: FloatArray) -> None:
        first, last = float(lower.min()), float(upper.max())
        starts = np.unique(np.floor(np.linspace(first, last + 1, min(PARTS, int(last - first) + 1) + 1)))
        ends = starts[1:] - 1
        here = np.minimum(upper[:, None], ends) - np.maximum(lower[:, None], starts[:-1]) + 1
        labels = tuple(
            short(low) if low == high else f"{short(low)} to {short(high)}"
            for low, high in zip(starts[:-1], ends, strict=True)
        )
        self.bins = ValueParts(attribute.name, attribute.unit or "", labels, tuple(starts.tolist()))
        self.parts = np.maximum(here, 0.0) / (upper - lower + 1)[:, None]

    def _lay_reals(self, attribute: Numeric, lower: FloatArray, upper: FloatArray) -> None:
        first, last = float(lower.min()), float(upper.max())
        edges = np.unique(np.linspace(first, last, PARTS + 1)) if last > first else np.array([first, first])
        labels = tuple(f"{short(low)} to {short(high)}" for low, high in pairwise(edges.tolist()))
        self.bins = ValueParts(attribute.name, attribute.unit or "", labels, tuple(edges.tolist()))
        here = np.maximum(np.minimum(upper[:, None], edges[1:]) - np.maximum(lower[:, None], edges[:-1]), 0.0)
        length = (upper - lower)[:, None]
        inside = (edges[:-1] <= lower[:, None]) & (upper[:, None] <= edges[1:])
        single = inside & (np.cumsum(inside, axis=1) == 1)  # a point counts once, also between two parts
        self.parts = np.where(length > 0, here / np.where(length > 0, length, 1.0), single)


@dataclass(frozen=True)
class _Weights:
    """``of`` : (standings, cells) the share of each cell of everyone, in the row of its status."""

    standings: tuple[str, ...]
    of: FloatArray

    def along(self, layout: _CellParts) -> FloatArray:
        """(parts, standings) shares of everyone."""
        return np.asarray((self.of @ layout.parts).T)

    def over(self, down: _CellParts, across: _CellParts) -> FloatArray:
        """(parts down, parts across, standings) shares of everyone."""
        return np.stack([(down.parts * weight[:, None]).T @ across.parts for weight in self.of], axis=-1)

    def best_grid(self, layouts: list[_CellParts]) -> ShareGrid | None:
        """Of the two attributes whose parts separate the standings best."""
        pairs = list(combinations(layouts, 2))
        if not pairs:
            return None
        counted = [self.over(*pair) for pair in pairs]
        best = int(np.argmax([self.separation(one.reshape(-1, len(self.standings))) for one in counted]))
        down, across = pairs[best]
        grid = counted[best]
        if len(down.bins) > len(across.bins):  # the longer one across the page
            down, across, grid = across, down, grid.swapaxes(0, 1)
        return ShareGrid(across.bins, down.bins, tuple(self.shares(row) for row in grid))

    def separation(self, counted: FloatArray) -> float:
        """How much of the variance of the standings lies between parts (parts, standings).

        That of the violating ones first; where there are none, the question is where proofs are missing.
        """
        mass = counted.sum(1)
        shares = counted / np.where(mass > 0, mass, 1.0)[:, None]
        between = (mass[:, None] * (shares - counted.sum(0)) ** 2).sum(0)
        return float(between[self.standings.index("violating")] + 1e-3 * between.sum())

    def shares(self, counted: FloatArray) -> tuple[Shares, ...]:
        """(parts, standings) shares of everyone as shares of each part."""
        mass = counted.sum(1, keepdims=True)
        each = counted / np.where(mass > 0, mass, 1.0)
        return tuple(dict(zip(self.standings, row, strict=True)) for row in each.tolist())


# What a sweep knows of everyone who can exist, as cells, as shares, and for the people of a table.


class CellStatus(StrEnum):
    """What is known of one individual."""

    PROVED = "proved"
    """No similar person is decided otherwise."""
    CROSSINGS = "strict crossings only"
    """No strict violation in exact arithmetic; ties and rounding are not covered."""
    VIOLATING = "violating"
    """A similar person is."""
    OPEN = "open"


@dataclass(frozen=True)
class SweptCell:
    """One cell with its share of all people who can exist.

    Parameters
    ----------
    pair : of people that refutes it, where one is known.
    strict : of a proved cell, whether ties count too, else only strict crossings are excluded; of a violating one,
        whether its pair crosses strictly, else by a tie.
    """

    cell: UniverseCells
    share: Fraction
    pair: Pairs | None = None
    strict: bool = True


@dataclass(frozen=True)
class SweepLimit:
    """What stopped a sweep before everything was decided: ``cells`` or ``seconds``, and how many were allowed."""

    name: str
    allowed: float

    def __str__(self) -> str:
        counted = "examined cells" if self.name == "cells" else self.name  # cells that were split count too
        return f"stopped at its limit of {self.allowed:,g} {counted}; a larger --{self.name} leaves less open"


@dataclass(frozen=True)
class Sweep:
    """What is known of everyone who can exist: three lists of cells that are the universe together.

    Parameters
    ----------
    proved : everyone in them is decided as all similar people are, ties included unless a cell is not strict.
    violating : everyone in them has a similar person who is decided otherwise; with a pair of each cell.
    open : the rest; with a pair where one is known.
    whole : whether whole-number attributes hold whole numbers only.
    arithmetic : in which the model is computed.
    hashes : of the model, the encoding with its schema, and φ with its tables; None where it is not to be looked up.
    limit : what stopped the sweep while cells were open; None where it ran to its end, or where that is not known.
    """

    proved: tuple[SweptCell, ...]
    violating: tuple[SweptCell, ...]
    open: tuple[SweptCell, ...]
    whole: bool
    arithmetic: Arithmetic
    hashes: Hashes | None = None
    limit: SweepLimit | None = None

    def cells(self, standing: CellStatus) -> tuple[SweptCell, ...]:
        """Those of one list."""
        if standing in (CellStatus.PROVED, CellStatus.CROSSINGS):
            return tuple(one for one in self.proved if one.strict is (standing is CellStatus.PROVED))
        return self.violating if standing is CellStatus.VIOLATING else self.open

    def share(self, standing: CellStatus) -> Fraction:
        """Of all people who can exist: by count where numbers are whole, by length where they are not."""
        return sum((one.share for one in self.cells(standing)), Fraction(0))

    @property
    def individuals(self) -> int | None:
        """How many people can exist; None where a number is not whole, so that there is no end of them."""
        cells = self.index.cells
        ranged = cells.lower.min(0, initial=np.inf) < cells.upper.max(0, initial=-np.inf)
        return None if (ranged & ~cells.counted).any() else int(sum(cells.measures()))

    @property
    def pairs(self) -> list[Pairs]:
        """All pairs that are known, of violating and open cells."""
        return [one.pair for one in (*self.violating, *self.open) if one.pair is not None]

    @property
    def refuted(self) -> bool:
        """Whether a pair is known that is decided differently."""
        return bool(self.pairs)

    @property
    def is_lower_end(self) -> bool:
        """Whether more people than the violating share may have someone similar who is decided differently."""
        return bool(self.open or self.cells(CellStatus.CROSSINGS))

    @property
    def refuted_cells(self) -> int:
        """How many open cells hold one person of a known pair; that says nothing about the volume of the cell."""
        return sum(one.pair is not None for one in self.open)

    def locate(self, X: Any) -> NDArray[np.object_]:
        """(people,) the :class:`CellStatus` of the people of a table.

        A person beyond declared ranges is refused, as in every table; one at whose category the model raises is open.
        A person on the border of two cells has the better status of the two: both hold them.
        """
        standings = [standing for standing in CellStatus for _ in self.cells(standing)]
        cell = self.index.find(Individuals.read(X, self.index.cells.schema))
        return np.array([*standings, CellStatus.OPEN], dtype=object)[cell]  # the last of them for people in none

    def map(self) -> SweepMap:
        """Where it is proved, violating and open: shares along every attribute, and over the two that matter most."""
        known = [standing for standing in CellStatus for _ in self.cells(standing)]
        shares = np.array([float(one.share) for standing in CellStatus for one in self.cells(standing)])
        masks = {standing: np.array([one is standing for one in known]) for standing in CellStatus}
        return map_cells(self.index.cells, {str(one): np.where(mask, shares, 0.0) for one, mask in masks.items()})

    @cached_property
    def index(self) -> CellIndex:
        """All cells in the order in which they are numbered: proved, violating, open."""
        return CellIndex(UniverseCells.joined([one.cell for standing in CellStatus for one in self.cells(standing)]))

    @cached_property
    def hash(self) -> str:
        """sha256 of what is claimed: about what, in which universe, and every cell with its status."""
        cells = self.index.cells
        counts = [len(self.cells(standing)) for standing in CellStatus]
        about = [None if self.hashes is None else asdict(self.hashes), self.whole, str(self.arithmetic), counts]
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        for array in (cells.lower, cells.upper, *cells.allowed):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def counterexamples(self) -> Any:
        """A pandas frame of all known pairs: two rows each, x and x′, in the table's own units."""
        import pandas as pd

        parts = []
        for number, pair in enumerate(self.pairs):
            for who, person in (("x", pair.x), ("x'", pair.other)):
                frame = person.to_pandas()
                frame.insert(0, "who", who, allow_duplicates=True)  # the table may have such a column too
                frame.insert(0, "pair", number, allow_duplicates=True)
                parts.append(frame)
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def __str__(self) -> str:
        shares = {one: self.share(one) for one in CellStatus if one is not CellStatus.CROSSINGS or self.cells(one)}
        lines = []
        for standing, share in shares.items():
            least = "at least " if standing is CellStatus.VIOLATING and self.is_lower_end else ""
            lines.append(f"{standing}: {least}{_percent(share)} of everyone who could exist")
        cells = len(self.proved) + len(self.violating) + len(self.open)
        lines.append(f"{cells:,} cells; pairs of similar people with different decisions: {len(self.pairs):,}")
        if self.refuted_cells:
            lines.append(
                f"{self.refuted_cells:,} of the open cells are refuted by a pair: not everyone there is decided alike; "
                "how many are not is unknown"
            )
        universe = "whole numbers where the schema says so" if self.whole else "all real numbers"
        stopped = [] if self.limit is None else [str(self.limit)]
        return "\n".join([*lines, *stopped, f"universe: {universe}; arithmetic: {self.arithmetic}"])


def _percent(share: Fraction) -> str:
    """With as many digits as it takes not to call a little nothing, or not quite everything all."""
    for digits in (1, 2, 4, 8):
        text = f"{float(100 * share):.{digits}f} %"
        if (float(text[:-2]) not in (0.0, 100.0)) or share in (0, 1):
            return text
    return "almost none" if share < Fraction(1, 2) else "almost all"


# Cells of a sweep as an Arrow table and back: one row a cell, its ends, values, share and pair.


def to_table(sweep: Sweep, schema: Schema) -> pa.Table:
    """``standing``, ``share``, ``strict``; of a number ``age from`` and ``age to``, of a category the list ``sex in``;
    of a cell with a pair also ``x``'s and ``x'``'s values."""
    kept = [(standing, one) for standing in CellStatus for one in sweep.cells(standing)]
    columns: dict[str, Any] = {
        "standing": [str(standing) for standing, _ in kept],
        "share": [str(one.share) for _, one in kept],
        "strict": [one.strict for _, one in kept],
    }
    cells = [one.cell for _, one in kept]
    for j, name in enumerate(schema.names_numeric):
        columns[f"{name} from"] = [float(cell.lower[0, j]) for cell in cells]
        columns[f"{name} to"] = [float(cell.upper[0, j]) for cell in cells]
    for j, attribute in enumerate(schema.categorical):
        masks = [np.flatnonzero(cell.allowed[j][0]).tolist() for cell in cells]
        columns[f"{attribute.name} in"] = [[attribute.values[code] for code in codes] for codes in masks]
    for who in ("x", "x'"):
        people = [None if one.pair is None else one.pair.x if who == "x" else one.pair.other for _, one in kept]
        columns |= person_columns(who, people, schema)
    return pa.table(columns)


def person_columns(who: str, people: list[Individuals | None], schema: Schema) -> dict[str, Any]:
    """One column an attribute, ``x age`` or ``x' age``, in the schema's own types; null where there is no person."""
    found: dict[str, Any] = {}
    for attribute in schema:
        name = attribute.name
        if isinstance(attribute, Categorical):
            values: list[Any] = [None if p is None else attribute.values[int(p.code(name)[0])] for p in people]
            found[f"{who} {name}"] = pa.array(values, pa.string())
        else:
            numbers = [None if p is None else float(p.number(name)[0]) for p in people]
            found[f"{who} {name}"] = pa.array(numbers, pa.float64())
    return found


def from_table(
    table: pa.Table, schema: Schema, *, whole: bool, arithmetic: Arithmetic, hashes: Hashes | None = None
) -> Sweep:
    """What :func:`to_table` gave."""
    found: dict[CellStatus, list[SweptCell]] = {standing: [] for standing in CellStatus}
    for standing, cell in _read(table.to_pylist(), schema, whole):
        found[standing].append(cell)
    proved = (*found[CellStatus.PROVED], *found[CellStatus.CROSSINGS])
    violating, rest = (tuple(found[one]) for one in (CellStatus.VIOLATING, CellStatus.OPEN))
    return Sweep(proved, violating, rest, whole, arithmetic, hashes)


def _read(rows: list[dict[str, Any]], schema: Schema, whole: bool) -> Iterator[tuple[CellStatus, SweptCell]]:
    for row in rows:
        ends = np.array([[row[f"{name} from"], row[f"{name} to"]] for name in schema.names_numeric], dtype=np.float64)
        lower, upper = ends.reshape(-1, 2).T[:, None]
        allowed = tuple(np.isin(a.values, row[f"{a.name} in"])[None] for a in schema.categorical)
        cell = UniverseCells(schema, lower, upper, allowed, whole)
        x, other = (read_person(row, who, schema) for who in ("x", "x'"))
        pair = None if x is None or other is None else Pairs(x, other, np.ones(1, np.bool_))
        yield CellStatus(row["standing"]), SweptCell(cell, Fraction(row["share"]), pair, bool(row["strict"]))


def read_person(row: dict[str, Any], who: str, schema: Schema) -> Individuals | None:
    """The person in a row with the columns that :func:`person_columns` gave; None where there is none."""
    if any(row[f"{who} {name}"] is None for name in schema.names):
        return None
    numbers = np.array([[row[f"{who} {name}"] for name in schema.names_numeric]], dtype=np.float64)
    codes = np.array([[a.values.index(row[f"{who} {a.name}"]) for a in schema.categorical]], dtype=np.int32)
    return Individuals(schema, numbers.reshape(1, -1), codes.reshape(1, -1))
