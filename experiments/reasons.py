"""Why a row falls short of what was asked: said by the other models of the row, not by opinion."""

from __future__ import annotations

from experiments import paper
from experiments.choose import Point, points
from experiments.store import Found
from experiments.tables import trio

Asked = dict[str, float]
"""The least figures, by name."""


def reaches(point: Point, asked: Asked) -> bool:
    return all(point.test[name] >= least - 1e-9 for name, least in asked.items())


def why(row: str, method: str, asked: Asked, found: dict[str, Found]) -> str:
    """For a row whose model does not reach what is asked; nothing is chosen by this, so it may look at test people."""
    tried = points(row, found, method)
    return _one_weight(row, tried) if method == "dl2" else frontier(tried, points(row, found, "plain"), asked)


def lacking(point: Point, asked: Asked) -> str:
    """The figures that fall short, beside what is asked."""
    missed = [name for name, least in asked.items() if not reaches(point, {name: least})]
    return ", ".join(f"{name} {point.test[name]:.1f} of {asked[name]:.1f}" for name in missed)


def _one_weight(row: str, tried: list[Point]) -> str:
    """``dl2`` has the paper's γ alone."""
    printed = paper.printed(row)
    if not tried or printed is None:
        return ""
    more = tried[0].test["certified"] - printed["lcifr"]["certified"]
    if more > 0:
        return f"at the paper's γ it certifies {more:.1f} points more instead"
    return f"± {tried[0].spread['accuracy']:.1f} over the seeds; the paper has one"


def frontier(tried: list[Point], plain: list[Point], asked: Asked) -> str:
    """Whether another of the tried models would have done, or none; and whether φ is to blame at all."""
    if enough := [point for point in tried if reaches(point, asked)]:
        best = max(enough, key=lambda point: point.test["accuracy"])
        return f"{best.words} has {trio(best.test)}, but validation people preferred another"
    most = max((point.test["accuracy"] for point in plain), default=100.0)
    if most < asked["accuracy"]:
        return f"even our plain model has no more than {most:.1f}"
    near = [point.test for point in tried if point.test["certified"] >= asked["certified"] - 1e-9]
    good = [test["balanced"] for test in near if test["accuracy"] >= asked["accuracy"] - 1e-9]
    if good:
        return f"no weight with that certified share and accuracy has a balanced accuracy of more than {max(good):.1f}"
    if near:
        return f"no weight with that certified share has more than {max(test['accuracy'] for test in near):.1f}"
    return "no weight certifies that many"
