"""The bars a reproduction must clear, evaluated on the cells: which row, what was asked, whether it is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from experiments import paper
from experiments.choose import Point, chosen, first, points
from experiments.reasons import Asked, lacking, reaches, why
from experiments.settings import COMPARABLE, ROWS
from experiments.store import Found

CLOSE = 0.5
"""Points by which a figure may fall short and still count as no worse: less than the spread over seeds."""
FIGURES = ("accuracy", "balanced", "certified")
LEARNED = {
    "german/cat_noise": (72.0, 62.0, 94.0),
    "adult/cat_noise": (83.3, 0.0, 97.0),
    "crime/cat_noise": (83.0, 0.0, 67.0),
    "compas/cat_noise": (63.7, 0.0, 76.0),
}
"""Accuracy, balanced accuracy and certified share that learning set out to reach."""
CAT = tuple(row.replace("cat_noise", "cat") for row in LEARNED)


@dataclass(frozen=True)
class Bar:
    """One demand: what, in how many rows at least, and for each row whether it is reached (None: not measured)."""

    title: str
    least: int
    rows: dict[str, bool | None]
    short: dict[str, str] = field(default_factory=dict)
    """For rows that are not reached: which figure is how far from what was asked, and why."""

    @property
    def reached(self) -> int:
        return sum(found is True for found in self.rows.values())

    @property
    def verdict(self) -> str:
        if self.reached >= self.least:
            return "reached"
        return "not measured yet" if None in self.rows.values() else "NOT reached"


def bars(found: dict[str, Found]) -> list[Bar]:
    """All demands on the table of constraints."""
    return [
        Bar(
            "`dl2` comes within 2 points of the paper's accuracy and 5 of its certified share, or is better",
            12,
            {row: dl2_as_printed(row, found) for row in COMPARABLE},
            _shorts(COMPARABLE, "dl2", _near, found),
        ),
        Bar(
            f"`bounds` has the paper's accuracy, balanced accuracy and certified share, all three (less {CLOSE})",
            13,
            {row: _ours(row, found, at_least_printed) for row in COMPARABLE},
            _shorts(COMPARABLE, "bounds", as_printed, found),
        ),
        Bar(
            "`bounds` has the accuracy of the paper's unfair baseline, certified no less than the paper's LCIFR",
            8,
            {row: _ours(row, found, at_least_unfair) for row in COMPARABLE},
            _shorts(COMPARABLE, "bounds", as_unfair, found),
        ),
        Bar(
            f"`bounds` is no worse than our `dl2`: some weight has its accuracy and certified share (less {CLOSE})",
            len(ROWS),
            {row: frontier_no_worse(row, found) for row in ROWS},
            {row: _short_of_dl2(row, found) for row in ROWS if frontier_no_worse(row, found) is False},
        ),
        Bar(
            "`bounds` reaches what learning set out for: "
            + "; ".join(f"{row} {' / '.join(f'{figure:g}' for figure in goal)}" for row, goal in LEARNED.items()),
            len(LEARNED),
            {row: _ours(row, found, at_least_learned) for row in LEARNED},
            _shorts(LEARNED, "bounds", _learned, found),
        ),
        Bar(
            "Under Cat `bounds` certifies everyone and is at most 0.3 points less accurate than the unaware baseline",
            len(CAT),
            {row: as_good_as_unaware(row, found) for row in CAT},
        ),
    ]


# -- what is asked of a row --------------------------------------------------------------------------------------------


def _near(row: str) -> Asked:
    printed = _lcifr(row)
    return {"accuracy": printed["accuracy"] - 2, "certified": printed["certified"] - 5}


def as_printed(row: str) -> Asked:
    return {name: value - CLOSE for name, value in _lcifr(row).items()}


def as_unfair(row: str) -> Asked:
    printed = paper.printed(row)
    assert printed is not None
    return {"accuracy": printed["base"]["accuracy"], "certified": printed["lcifr"]["certified"]}


def _learned(row: str) -> Asked:
    return dict(zip(FIGURES, LEARNED[row], strict=True))


def _lcifr(row: str) -> Asked:
    printed = paper.printed(row)
    assert printed is not None
    return printed["lcifr"]


def _shorts(rows: Iterable[str], method: str, asks: Callable[[str], Asked], found: dict[str, Found]) -> dict[str, str]:
    """What each row lacks, and why; nothing for one that lacks nothing or is not measured."""
    said = {}
    for row in rows:
        asked, point = asks(row), first(row, found, method) if method == "dl2" else chosen(row, found)
        if point is not None and not reaches(point, asked):
            said[row] = f"{lacking(point, asked)}: {why(row, method, asked, found)}"
    return said


def dl2_as_printed(row: str, found: dict[str, Found]) -> bool | None:
    mine = points(row, found, "dl2")
    return reaches(mine[0], _near(row)) if mine else None


def _ours(row: str, found: dict[str, Found], asks: Callable[[Point, str], bool]) -> bool | None:
    mine = chosen(row, found)
    return None if mine is None else asks(mine, row)


def at_least_printed(mine: Point, row: str) -> bool:
    return reaches(mine, as_printed(row))


def at_least_unfair(mine: Point, row: str) -> bool:
    return reaches(mine, as_unfair(row))


def at_least_learned(mine: Point, row: str) -> bool:
    return reaches(mine, _learned(row))


def as_good_as_unaware(row: str, found: dict[str, Found]) -> bool | None:
    mine, blind = chosen(row, found), points(row, found, "unaware")
    if mine is None or not blind:
        return None
    test = mine.test
    return test["certified"] >= 100.0 - 1e-9 and test["accuracy"] >= blind[0].test["accuracy"] - 0.3


def frontier_no_worse(row: str, found: dict[str, Found]) -> bool | None:
    """Whether some weight of ours is at least as good as ``dl2`` in both figures that trade against each other."""
    if not points(row, found, "dl2") or not (ours := points(row, found, "bounds")):
        return None
    return any(reaches(point, _dl2(row, found)) for point in ours)


def _dl2(row: str, found: dict[str, Found]) -> Asked:
    test = points(row, found, "dl2")[0].test
    return {name: test[name] - CLOSE for name in ("accuracy", "certified")}


def _short_of_dl2(row: str, found: dict[str, Found]) -> str:
    asked = _dl2(row, found)
    figures = ", ".join(f"{name} {least:.1f}" for name, least in asked.items())
    return f"of {figures} together: {why(row, 'bounds', asked, found)}"
