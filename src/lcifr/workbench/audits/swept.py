"""Sweeps on the page: shares of everybody who can exist, the map of them, and the pairs that are furthest apart."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.display.charts import KINDS, Shares, ValueParts
from lcifr.display.text import format_value, visible
from lcifr.runs.auditing.result import ModelSummary
from lcifr.runs.sweeps.folder import SweepResult
from lcifr.runs.sweeps.worst_pairs import WorstPair
from lcifr.workbench.command_lines import command_line
from lcifr.workbench.work_folder import WorkFolder


@dataclass(frozen=True)
class PartShares:
    """Of one part of an attribute's values: shares in the order of the standings."""

    label: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class MapStrip:
    """Along one attribute."""

    name: str
    parts: tuple[PartShares, ...]


@dataclass(frozen=True)
class MapGrid:
    """Over two attributes: rows of the one that goes down, each with parts of the one that goes across."""

    across: str
    down: str
    rows: tuple[MapStrip, ...]


@dataclass(frozen=True)
class OpenedSweep:
    """A sweep in words, and its map.

    Parameters
    ----------
    standings : what may be known of somebody, with the class that colours it. lines : shares and universe, in words.
    strips : attribute by attribute, first the one along which most changes. worst : pairs in a line each.
    """

    sweep: str
    lines: tuple[str, ...]
    formula: str
    standings: tuple[tuple[str, str], ...]
    strips: tuple[MapStrip, ...]
    grid: MapGrid | None
    worst: tuple[str, ...]
    commands: tuple[str, ...]


def open_sweep(folder: WorkFolder, name: str) -> OpenedSweep:
    """What a sweep found, once its cells are known to be those that were written."""
    result = SweepResult.read(folder.folder(name))
    found = result.sweep.map()
    grid = found.grid
    checked = () if result.checked is None else (str(result.checked),)
    commands = [command_line("report", name)]
    if result.checked is not None:
        commands.append(command_line("check", f"{name}/bundle"))
    return OpenedSweep(
        name,
        (*str(result.sweep).splitlines(), *result.people_lines, *checked),
        result.model.phi.text,
        tuple(KINDS.items()),
        tuple(MapStrip(_title(strip.bins), _parts(strip.bins, strip.shares)) for strip in found.strips),
        None
        if grid is None
        else MapGrid(
            _title(grid.across),
            _title(grid.down),
            tuple(
                MapStrip(visible(label), _parts(grid.across, row))
                for label, row in zip(grid.down.labels, grid.shares, strict=True)
            ),
        ),
        tuple(visible(_pair(pair, result.model)) for pair in result.worst),
        tuple(commands),
    )


def _title(bins: ValueParts) -> str:
    return visible(f"{bins.attribute} ({bins.unit})" if bins.unit else bins.attribute)


def _parts(bins: ValueParts, shares: tuple[Shares, ...]) -> tuple[PartShares, ...]:
    return tuple(
        PartShares(visible(label), tuple(one.get(standing, 0.0) for standing in KINDS))
        for label, one in zip(bins.labels, shares, strict=True)
    )


def _pair(pair: WorstPair, model: ModelSummary) -> str:
    differs = "; ".join(
        f"{name} {format_value(own)} → {format_value(other)}" for name, (own, other) in pair.differs.items()
    )
    alike = ", ".join(f"{name} {format_value(value)}" for name, value in pair.alike.items())
    own, other = model.shown(pair.decision), model.shown(pair.other_decision)
    return f"{differs}: the decisions are {own} and {other}. Both: {alike or 'nothing'}"
