"""Which cells of boosters there are: every setting of every row, both baselines, gradient boosting, confirmations."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from experiments.cells import Cell
from experiments.folds import COUNT
from experiments.settings import CONFIRMED
from experiments.trees.settings import (
    DRAWN,
    GRADIENT,
    GRADIENT_NODES,
    LEARNERS,
    MORE,
    SCHEDULES,
    SEARCHED,
    SECONDS,
    folds,
    richer,
    stricter,
    weights,
)


def tree_cells(row: str, goal: tuple[str, ...] = (), **changes: Any) -> list[Cell]:
    """All of a row; ``changes`` of the schedule make a slice that takes less.

    ``goal`` names the cells by which the share that is to be certified is known, where the paper does not say it.
    Without noise the unaware booster is the one with γ, and without freed attributes it is the plain one.
    """
    dataset, place = row.split("/")[0], row.replace("/", "-")
    cells = [
        _booster(row, "trees_plain", 0.0, 1.0, {**changes, "tie_free": False}),
        *([_booster(row, "trees_unaware", 0.0, 1.0, changes)] if row.endswith("/cat_noise") else []),
        *_tried(row, changes),
    ]
    stern = stricter(row)
    chosen_by = [*cells, *(_tried(stern, changes) if stern else [])]
    needs = tuple(cell.name for cell in chosen_by)
    settings = json.dumps([cell.settings for cell in chosen_by])
    of = sha256(settings.encode()).hexdigest()[:12]  # another plan, another choice
    drawn = {"row": row, "seed": DRAWN, "searched": SEARCHED}
    confirmed = {**drawn, "people": CONFIRMED, "of": of}
    gradient = {**drawn, "method": "gradient", "options": GRADIENT, "nodes": GRADIENT_NODES}
    return [
        *cells,
        Cell(f"{place}/confirm_trees", "confirm_trees", confirmed, 10 * SECONDS[dataset] ** 0.5, (*needs, *goal)),
        Cell(f"{place}/gradient", "gradient", gradient, 10 * SECONDS[dataset] ** 0.5),
    ]


def _tried(row: str, changes: dict[str, Any]) -> list[Cell]:
    """The boosters among which one is chosen."""
    return [
        *(_booster(row, "trees", gamma, stretch, changes) for gamma, stretch in weights(row)),
        *(
            _booster(row, "trees", gamma, stretch, {**changes, **MORE[reads]}, reads)
            for reads, gamma, stretch in richer(row)
        ),
    ]


def _booster(row: str, method: str, gamma: float, stretch: float, changes: dict[str, Any], reads: str = "") -> Cell:
    dataset, place = row.split("/")[0], row.replace("/", "-")
    divisions, weaker = list(folds(row)), f"{dataset}/noise"
    settings = {
        "row": row,
        "method": method,
        "gamma": gamma,
        "stretch": stretch,
        "options": {**SCHEDULES[dataset], **changes},
        "folds": divisions,
        "reads": reads,
        **({"weaker": weaker} if method == "trees" and stricter(weaker) == row else {}),
        **({"learners": LEARNERS[dataset], "seed": DRAWN} if dataset in LEARNERS else {}),
    }
    name = f"{method}-{gamma:g}x{stretch:g}" if method == "trees" else method
    name += f"-{reads}" if reads else ""
    return Cell(f"{place}/{name}", "booster", settings, SECONDS[dataset] * (1 + COUNT * len(divisions)))
