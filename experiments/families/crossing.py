"""Networks cross-validated by the folds of trees, so that both families of a row are judged by the same people.

Small tables have few validation people: Crime has 319, on whom an accuracy has a standard error of two points. Their
trees are cross-validated anyway. Of networks, only the points that the rules choose within the family are.
"""

from __future__ import annotations

from experiments.cells import Cell
from experiments.families.rules import RULES, within
from experiments.folds import folds, means
from experiments.networks import learn
from experiments.plan import needed
from experiments.store import Found, Store
from experiments.verdicts import seen
from lcifr.datasets import Dataset


def cross_networks(cell: Cell, store: Store, data: Dataset) -> Found:
    """The networks that a row's rules choose, each learned anew for every fold with the fold's seed."""
    row, found = cell.settings["row"], needed(cell, store)
    choices = [choice for rule in RULES if (choice := within(row, found, "networks", rule)) is not None]
    points = {(choice.point.gamma, choice.point.head): choice.point for choice in choices}
    crossed = []
    for (gamma, head), point in points.items():
        settings = {**found[point.cells[0]]["settings"], "heads": [float(head)]}
        figures = [
            seen(*learn({**settings, "seed": fold.seed}, data.schema, fold.learned), fold.held_out)
            for fold in folds(data, cell.settings["folds"])
        ]
        crossed.append({"gamma": gamma, "head": head, **means(figures)})
    return {"crossed": crossed}
