"""The rule by which one model of a row is chosen, written down before anything was run.

    Of all weights tried (γ of the encoder, weight of the consumer's head), take those that certify at least the
    **goal** among training and validation people, by exact verdicts: half a point more than the paper's method
    certified. Of these, the model with the largest mean of accuracy and balanced accuracy on validation people. Where
    none reaches the goal, the one that certifies most of those that do not decide nearly the same for everyone.

To count who is certified needs no labels, so training people serve as well as validation people, and there are more of
them; accuracy is measured on validation people alone. Figures are means over the seeds: one choice for a row. Where the
paper's row is another constraint (Attribute, Quantiles), the goal is what our own ``dl2`` certifies of the same people.
The rule never sees a test figure; a test changes all of them and asks for the same choice. Weights that joined the plan
after test figures had been seen are no candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from experiments import paper
from experiments.plan import eligible
from experiments.store import Found

LEARNED = ("model", "booster")
"""Kinds of cells that hold points of a frontier."""
STRICTER = "stricter φ"
MORE = 0.5
TRIVIAL = 55.0
"""A balanced accuracy, in per cent, below which a model decides nearly the same for everyone."""


@dataclass(frozen=True)
class Seen:
    """What is known of a model without test people, in per cent."""

    accuracy: float
    balanced: float
    certified: float

    @classmethod
    def of(cls, figures: dict[str, float]) -> Seen:
        """Out of all figures of a model."""
        return cls(figures["accuracy"], figures["balanced"], figures["certified"])


@dataclass(frozen=True)
class Point:
    """One weight of a row: figures in per cent, means over the seeds, and the cells behind them.

    Parameters
    ----------
    head : of a network; of a booster ``pairs`` or ``deeper`` trees if it reads some, ``stricter φ`` if of another row.
    seen : certified share of training and validation people together.
    spread : standard deviation over the seeds of the test figures; 0 for one seed.
    crossed : figures by cross-validation among training and validation people, where there are some.
    """

    method: str
    gamma: float
    stretch: float
    head: str
    cells: tuple[str, ...]
    seen: float
    validation: dict[str, float]
    test: dict[str, float]
    spread: dict[str, float]
    crossed: dict[str, float] | None = None

    @property
    def words(self) -> str:
        """Which one of its row it is."""
        if self.method == "trees":
            about = f" ({self.head})" if self.head else ""
            return f"the booster with γ = {self.gamma:g}, stretch {self.stretch:g}{about}"
        return f"γ = {self.gamma:g} with head {self.head}"

    @property
    def end_to_end(self) -> Point:
        """The same with its certified share end to end over whole numbers, in place of the one over the reals."""
        return replace(self, test={**self.test, "certified": self.test["end_to_end"]})

    @property
    def on_validation(self) -> Seen:
        """Accuracies of validation people, certified share of training and validation people."""
        return Seen(self.validation["accuracy"], self.validation["balanced"], self.seen)

    @property
    def judged(self) -> Seen:
        """The same by cross-validation, where there is one: it judges by more people."""
        return self.on_validation if self.crossed is None else Seen.of(self.crossed)


def points(row: str, found: dict[str, Found], method: str) -> list[Point]:
    """Every weight of a method in a row, averaged over the seeds that are there."""
    groups: dict[tuple[float, float, str], list[tuple[str, Any, Any]]] = {}
    for name in sorted(found):
        cell = found[name]
        if cell["kind"] not in LEARNED or cell["settings"]["method"] != method:
            continue
        settings = cell["settings"]
        weights = settings["gamma"], settings.get("stretch", settings.get("training", {}).get("stretch", 1.0))
        for point in _points_of(row, cell):
            groups.setdefault((*weights, point["head"]), []).append((name, cell["people"], point))
    return [
        Point(
            method,
            gamma,
            stretch,
            head,
            tuple(name for name, _, _ in members),
            _average([_seen(people, point) for _, people, point in members]),
            _each([point["validation"] for _, _, point in members], _average),
            _each([point["test"] for _, _, point in members], _average),
            _each([point["test"] for _, _, point in members], _spread),
            members[0][2].get("crossed"),
        )
        for (gamma, stretch, head), members in sorted(groups.items())
    ]


def _points_of(row: str, cell: Found) -> list[Any]:
    """A cell's points in a row: its own, or those of a model that was learned for a stricter φ."""
    if cell["name"].startswith(f"{row.replace('/', '-')}/"):
        return list(cell["points"])
    if cell["settings"].get("weaker") != row:
        return []
    heads = (", ".join(filter(None, (point["head"], STRICTER))) for point in cell["weaker_points"])
    return [{**point, "head": head} for point, head in zip(cell["weaker_points"], heads, strict=True)]


def first(row: str, found: dict[str, Found], method: str) -> Point | None:
    """The model of a method that has one weight; None where there is none yet."""
    return next(iter(points(row, found, method)), None)


def _seen(people: list[int], point: Any) -> float:
    training, validation = people[:2]
    sure = training * point["training"]["certified"] + validation * point["validation"]["certified"]
    return float(sure / (training + validation))


def _each(figures: list[dict[str, float]], how: Callable[[list[float]], float]) -> dict[str, float]:
    return {key: how([one[key] for one in figures]) for key in figures[0]}


def _average(values: list[float]) -> float:
    """Of a few numbers, for which numpy takes ten times as long."""
    return sum(values) / len(values)


def _spread(values: list[float]) -> float:
    """Standard deviation."""
    middle = _average(values)
    return math.sqrt(_average([(value - middle) ** 2 for value in values]))


def goal(row: str, dl2: list[Point]) -> float:
    """The certified share asked for among training and validation people."""
    printed = paper.printed(row)
    if printed is not None and row.endswith(("/noise", "/cat", "/cat_noise")):
        return min(100.0, printed["lcifr"]["certified"] + MORE)
    return max((point.seen for point in dl2), default=0.0)


def choose(candidates: list[Point], goal: float) -> Point | None:
    """The rule; None without candidates."""
    good = [point for point in candidates if point.seen >= goal - 1e-9]
    if good:
        return max(good, key=lambda p: (p.validation["accuracy"] + p.validation["balanced"], p.seen))
    alive = [point for point in candidates if point.validation["balanced"] >= TRIVIAL] or candidates
    return max(alive, key=lambda p: (p.seen, p.validation["accuracy"]), default=None)


def chosen(row: str, found: dict[str, Found], method: str = "bounds") -> Point | None:
    """Our model of a row."""
    ours = points(row, found, method)
    candidates = [point for point in ours if eligible(row, point.gamma, point.stretch, point.head)]
    return choose(candidates, goal(row, points(row, found, "dl2")))
