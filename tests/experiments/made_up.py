"""Made-up cells, so that choosing, bars and the page are tested without training anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments import paper
from experiments.cells import Cell
from experiments.families.rules import RULES
from experiments.plan import all_cells, gammas
from experiments.settings import HEADS
from experiments.store import Found

FIGURES = ("accuracy", "balanced", "certified", "box", "end_to_end", "violated", "ball_open")


def made_up_figures(draw: np.random.Generator) -> dict[str, float]:
    shares = {name: round(float(draw.uniform(40, 100)), 3) for name in FIGURES}
    return {**shares, "seconds": 1e-4, "seconds_end_to_end": 2e-4}


def found(cell: Cell, draw: np.random.Generator) -> Found:
    """What a run might have written for this cell."""
    whole: dict[str, Any] = {"name": cell.name, "kind": cell.kind, "settings": cell.settings, "cpu_seconds": 1.0}
    if cell.kind == "model":
        heads = [f"{head:g}" for head in cell.settings["heads"]] or ["plain"]
        whole["people"] = [100, 50, 50]
        parts = ("training", "validation", "test")
        whole["points"] = [{"head": head, **{part: made_up_figures(draw) for part in parts}} for head in heads]
    elif cell.kind == "booster":
        whole["people"] = [100, 50, 50]
        parts = ("training", "validation", "test", *(["crossed"] if cell.settings["folds"] else []))
        head = cell.settings["reads"]
        for key in ("points", *(["weaker_points"] if "weaker" in cell.settings else [])):
            whole[key] = [{"head": head, **{part: made_up_figures(draw) for part in parts}}]
    elif cell.kind == "crossed":
        weights = [(gamma, f"{head:g}") for gamma in gammas(cell.settings["row"]) for head in HEADS]
        whole["crossed"] = [{"gamma": gamma, "head": head, **made_up_figures(draw)} for gamma, head in weights]
    elif cell.kind == "gradient":
        whole["test"] = {**made_up_figures(draw), "certified": 40.0, "violated": 55.0}
    elif cell.kind == "confirm_trees":
        said = {"certified": 90.0, "search": 90.0, "violated": 10.0, "searched": 500, "asked": 200, "confirmed": 200}
        whole["confirmed"] = {
            rule: {"model": f"{cell.name.split('/')[0]}/nothing", "seconds_checking": 0.02, **said} for rule in RULES
        }
    elif cell.kind == "transfer":
        labels = paper.figures()["transfer"]
        whole["labels"] = {
            label: {"test": made_up_figures(draw), "validation": made_up_figures(draw)} for label in labels
        }
    elif cell.kind == "consumer":
        whole["against"] = {name: {"test": made_up_figures(draw)} for name in ("nothing", "delta", "radius")}
    elif cell.kind == "scaling":
        way = {"certified": 90.0, "seconds": 0.01}
        whole |= {"accuracy": 82.0, "balanced": 70.0, "relaxed": way, "complete": way, "refuted": 5.0}
    elif cell.kind == "statistics":
        whole |= {"splits": [[10, 50.0], [5, 50.0], [5, 40.0]], "features": 3, "partial": None}
    elif cell.kind == "architecture":
        figures = {"accuracy": 70.0, "certified": 80.0, "error": 0.5}
        whole["variants"] = dict.fromkeys(cell.settings["variants"], figures)
    elif cell.kind == "confirm":
        whole |= {"asked": 67, "confirmed": 67, "seconds_checking": 0.02}
    return whole


def everything(seed: int = 0) -> dict[str, Found]:
    draw = np.random.default_rng(seed)
    return {cell.name: found(cell, draw) for cell in all_cells()}
