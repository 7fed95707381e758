"""Which cells there are: every model of every table, with its settings, before anything is run.

Time decides the sizes: everything together is to take at most 120 minutes on 2 cores. Health, with its 140,000 people,
has one seed, larger batches and fewer epochs; Law School and Adult have fewer epochs than the small datasets.
"""

from __future__ import annotations

import json
from fnmatch import fnmatch
from hashlib import sha256
from typing import Any

from experiments import paper
from experiments.cells import Cell
from experiments.settings import (
    ARCHITECTURES,
    CONFIRMED,
    DECAY,
    DELTA,
    FARTHER,
    FRESH,
    GAMMAS,
    HEADS,
    LATER,
    LATER_HEADS,
    LINEAR,
    OURS,
    PAPERS,
    ROWS,
    SECONDS,
    SEEDS,
    STRETCHED,
    SWEEP,
    WHOLE,
)
from experiments.store import Found, Store
from experiments.trees.plan import tree_cells
from experiments.trees.settings import folds


def hidden(dataset: str, method: str) -> list[int]:
    """Hidden layers of the encoder; those of ``dl2`` are the paper's."""
    return [] if dataset == "law_school" or (method != "dl2" and dataset in LINEAR) else [20]


def seeds(dataset: str) -> tuple[int, ...]:
    return SEEDS[:1] if dataset == "health" else FRESH.get(dataset, SEEDS)


def heads_of(dataset: str) -> tuple[float, ...]:
    return (*LATER_HEADS.get(dataset, ()), *HEADS)


def gammas(row: str) -> tuple[float, ...]:
    dataset, constraint = row.split("/")
    return (1.0,) if constraint == "cat" else tuple(sorted((*GAMMAS[dataset], *LATER.get(dataset, ()))))


def eligible(row: str, gamma: float, stretch: float, head: str) -> bool:
    """Whether a model may be chosen: its weights were in the plan before any test figure was seen."""
    dataset = row.split("/")[0]
    later = gamma in LATER.get(dataset, ()) or float(head) in LATER_HEADS.get(dataset, ())
    return stretch == 1.0 and not later


def _encoder(row: str, method: str, gamma: float, seed: int, **changes: Any) -> dict[str, Any]:
    dataset = row.split("/")[0]
    if method == "dl2":
        trained = {**PAPERS[dataset], "delta": DELTA, "tie_free": False}
    else:
        trained = {**OURS[dataset], "tie_free": method != "plain"}
    return {
        "row": row,
        "method": method,
        "gamma": gamma,
        "seed": seed,
        "decay": DECAY,
        "training": {"hidden": hidden(dataset, method), **trained, **changes},
    }


def _cost(settings: dict[str, Any], points: int = 1) -> float:
    dataset, method = settings["row"].split("/")[0], settings["method"]
    factor = {"dl2": 2.0, "bounds": 1.0, "whole": 1.0}.get(method, 0.3)
    wide = 3.0 if dataset in ("health", "crime") else 1.0
    return factor * SECONDS[dataset] * float(settings["training"]["epochs"]) + points * wide


# -- the cells ---------------------------------------------------------------------------------------------------------


def constraint_cells(row: str, seeds: tuple[int, ...], gammas: tuple[float, ...], **changes: Any) -> list[Cell]:
    """Both baselines, ``dl2`` and ``bounds`` for every weight and seed; their choice confirmed and cross-validated."""
    dataset, place, cells = row.split("/")[0], row.replace("/", "-"), []
    for seed in seeds:
        for method, gamma in (("plain", 0.0), ("unaware", 0.0), ("dl2", paper.weight(dataset))):
            settings = {**_encoder(row, method, gamma, seed, **changes), "heads": []}
            cells.append(Cell(f"{place}/{method}-{gamma:g}-s{seed}", "model", settings, _cost(settings)))
        for gamma, stretch in (*((gamma, 1.0) for gamma in gammas), *STRETCHED.get(row, ())):
            farther = {**changes, **FARTHER, "stretch": stretch} if stretch != 1.0 else changes
            heads = list(heads_of(dataset))
            settings = {**_encoder(row, "bounds", gamma, seed, **farther), "heads": heads}
            name = f"{gamma:g}" if stretch == 1.0 else f"{gamma:g}x{stretch:g}"
            cells.append(Cell(f"{place}/bounds-{name}-s{seed}", "model", settings, _cost(settings, len(heads))))
    needs = tuple(cell.name for cell in cells)
    of = sha256(json.dumps([cell.settings for cell in cells]).encode()).hexdigest()[:12]  # another plan, another choice
    for seed in seeds:
        settings = {"row": row, "seed": seed, "people": -(-CONFIRMED // len(seeds)), "of": of}
        cells.append(Cell(f"{place}/confirm-s{seed}", "confirm", settings, 60.0, needs))
    if folds(row):
        settings = {"row": row, "folds": list(folds(row)), "of": of}
        cells.append(Cell(f"{place}/crossed", "crossed", settings, 600 * SECONDS[dataset], needs))
    return cells


def whole_cells() -> list[Cell]:
    """``bounds`` about people who can exist: whole numbers, where the schema says so."""
    cells = []
    for row in WHOLE:
        dataset, place = row.split("/")[0], row.replace("/", "-")
        for seed in seeds(dataset):
            for gamma in GAMMAS[dataset]:
                settings = {**_encoder(row, "whole", gamma, seed, whole_numbers=True), "heads": list(HEADS)}
                cells.append(Cell(f"{place}/whole-{gamma:g}-s{seed}", "model", settings, _cost(settings, len(HEADS))))
    return cells


def sweep_cells() -> list[Cell]:
    """Crime, Cat + Noise, every weight of the paper's appendix; one seed."""
    cells = []
    for method in ("dl2", "bounds"):
        for gamma in SWEEP:
            settings = {**_encoder("crime/cat_noise", method, gamma, SEEDS[0]), "heads": [1.0]}
            cells.append(Cell(f"sweep/{method}-{gamma:g}", "model", settings, _cost(settings)))
    return cells


def transfer_cells() -> list[Cell]:
    """One encoder for six labels on Health: the paper's way (its label, a decoder, weight 10 each), and ours."""
    cells = []
    for method, gamma, decoder in (
        ("plain", 0.0, 1.0),
        ("dl2", 10.0, 10.0),
        ("bounds", 1.0, 1.0),
        ("bounds", 0.1, 1.0),
    ):
        settings = {**_encoder("health/cat_noise", method, gamma, SEEDS[0], decoder_weight=decoder), "heads": [1.0]}
        cells.append(Cell(f"transfer/{method}-{gamma:g}", "transfer", settings, 1.2 * _cost(settings, 30)))
    return cells


def consumer_cells() -> list[Cell]:
    """Health, Cat + Noise: logistic regression and a 2×20 network, plain, against one δ, against each radius."""
    settings = _encoder("health/cat_noise", "dl2", paper.weight("health"), SEEDS[0])
    return [
        Cell(f"consumer/{kind}", "consumer", {**settings, "head_hidden": width}, 1.5 * _cost(settings))
        for kind, width in (("linear", []), ("network", [20, 20]))
    ]


def scaling_cells() -> list[Cell]:
    """Adult, Noise, 200 hidden neurons and 200 latent numbers: relaxed and complete."""
    cells = []
    for method, gamma in (("dl2", 10.0), ("bounds", 1.0)):
        wide = {"hidden": [200], "latent_dim": 200, "epochs": 6}
        settings = {**_encoder("adult/noise", method, gamma, SEEDS[0], **wide), "people": 1000}
        cells.append(Cell(f"scaling/{method}", "scaling", settings, 400.0))
    return cells


def architecture_cells() -> list[Cell]:
    """Each of these choices cross-validated without test people."""
    cells = []
    for name, (row, gamma, variants) in ARCHITECTURES.items():
        training = OURS[row.split("/")[0]]
        settings = {"row": row, "gamma": gamma, "training": training, "variants": variants, "decay": DECAY}
        cells.append(Cell(f"architecture/{name}", "architecture", settings, 100.0))
    return cells


def statistics_cells() -> list[Cell]:
    names = ("adult", "compas", "crime", "german", "health", "law_school")
    return [Cell(f"statistics/{name}", "statistics", {"dataset": name}, 10.0) for name in names]


def all_cells(*, quick: bool = False) -> list[Cell]:
    """The whole plan, or a slice of it that takes minutes."""
    if quick:
        row = "german/cat_noise"
        cells = [*constraint_cells(row, SEEDS[:2], (1.0, 4.0), epochs=15), *tree_cells(row, rounds=40)]
        return [*cells, Cell("statistics/german", "statistics", {"dataset": "german"}, 1.0)]
    cells = [cell for row in ROWS for cell in constraint_cells(row, seeds(row.split("/")[0]), gammas(row))]
    return [
        *cells,
        *whole_cells(),
        *sweep_cells(),
        *transfer_cells(),
        *consumer_cells(),
        *scaling_cells(),
        *architecture_cells(),
        *statistics_cells(),
        *(cell for row in ROWS for cell in tree_cells(row, _named(cells, f"{row.replace('/', '-')}/dl2-*"))),
    ]


def needed(cell: Cell, store: Store) -> dict[str, Found]:
    """What is there of the cells that another one needs, by the plan or by its quick slice: names are the same."""
    return store.done(one for quick in (False, True) for one in all_cells(quick=quick) if one.name in cell.needs)


def _named(cells: list[Cell], pattern: str) -> tuple[str, ...]:
    return tuple(cell.name for cell in matching(cells, pattern))


def matching(cells: list[Cell], pattern: str | None) -> list[Cell]:
    """Those whose name matches a shell pattern, such as ``german-*/*`` or ``*/dl2-*``."""
    return [cell for cell in cells if pattern is None or fnmatch(cell.name, pattern)]
