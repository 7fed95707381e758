"""The page's tables in Markdown, from cells: figures in per cent, a dash where a cell is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import paper
from experiments.choose import Point, chosen, first
from experiments.families.rules import within
from experiments.settings import ARCHITECTURES, ROWS, SWEEP, TRANSFER, WHOLE
from experiments.store import Found

NAMES = {
    "adult": "Adult",
    "compas": "Compas",
    "crime": "Crime",
    "german": "German",
    "health": "Health",
    "law_school": "Law School (part)",
}
CONSTRAINTS = {
    "noise": "Noise",
    "cat": "Cat",
    "cat_noise": "Cat + Noise",
    "attribute": "Attribute, all numbers",
    "attribute_only": "Attribute, one number",
    "quantiles": "Quantiles",
}


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def title(row: str) -> str:
    dataset, constraint = row.split("/")
    return f"{CONSTRAINTS[constraint]}, {NAMES[dataset]}"


def trio(figures: dict[str, float] | None) -> str:
    """accuracy / balanced / certified."""
    if figures is None:
        return "–"
    return " / ".join(f"{figures[name]:.1f}" for name in ("accuracy", "balanced", "certified"))


def _test(point: Point | None) -> dict[str, float] | None:
    return None if point is None else point.test


def constraints(found: dict[str, Found]) -> str:
    """Paper, baselines, dl2 and both of ours side by side."""
    rows = []
    for row in ROWS:
        printed = paper.printed(row) or {}
        ours, trees = chosen(row, found), within(row, found, "trees", "accurate")
        rows.append(
            [
                title(row),
                trio(printed.get("base")),
                trio(printed.get("lcifr")),
                *(trio(_test(first(row, found, method))) for method in ("plain", "unaware", "dl2")),
                f"**{trio(_test(ours))}**",
                "–" if ours is None else f"{ours.gamma:g} / {ours.head}",
                f"**{trio(_test(trees and trees.point))}**",
                "–" if trees is None else trees.weights,
            ]
        )
    heads = ["row", "paper: base", "paper: LCIFR", "plain", "unaware", "dl2", "bounds (ours)", "γ / head"]
    return table([*heads, "trees (ours)", "γ / stretch"], rows)


def details(found: dict[str, Found]) -> str:
    """Certified on ball, box and end to end, violated, spread and time, for dl2 and ours."""
    rows = []
    for row in ROWS:
        for name, point in (("dl2", first(row, found, "dl2")), ("bounds", chosen(row, found))):
            if point is None:
                rows.append([title(row), name, *["–"] * 7])
                continue
            test, spread = point.test, point.spread
            shares = [f"{test[key]:.1f}" for key in ("certified", "box", "end_to_end", "violated")]
            about = [f"{spread[key]:.1f}" for key in ("accuracy", "certified")]
            rows.append([title(row), name, *shares, *about, milliseconds(test["seconds"])])
    heads = ["row", "method", "ball", "box", "end to end", "violated", "± accuracy", "± ball", "ms per person"]
    return table(heads, rows)


def whole_numbers(found: dict[str, Found]) -> str:
    """``bounds`` about reals and about whole numbers, each chosen by the same rule."""
    rows = []
    for row in WHOLE:
        both = [chosen(row, found, method) for method in ("bounds", "whole")]
        weights = ["–" if point is None else f"{point.gamma:g} / {point.head}" for point in both]
        rows.append([title(row), *(trio(_test(point)) for point in both), *weights])
    return table(["row", "reals", "whole numbers", "γ / head, reals", "γ / head, whole"], rows)


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f}" if seconds < 0.01 else f"{1000 * seconds:.1f}"


def transfer(found: dict[str, Found]) -> str:
    cells = {name.split("/")[1]: cell for name, cell in sorted(found.items()) if cell["kind"] == "transfer"}
    rows = []
    for label in TRANSFER:
        mine = [trio(cell["labels"][label]["test"]) for cell in cells.values()]
        rows.append([label, trio(paper.figures()["transfer"][label]), *mine])
    return table(["label", "paper", *(name.replace("-", ", γ = ") for name in cells)], rows)


def sweep(found: dict[str, Found]) -> str:
    printed = {float(one["gamma"]): one for one in paper.figures()["sweep"]}
    rows = []
    for gamma in SWEEP:
        said = printed[gamma]
        row = [f"{gamma:g}", f"{said['accuracy']:.1f} / {said['certified']:.1f}"]
        for method in ("dl2", "bounds"):
            cell = found.get(f"sweep/{method}-{gamma:g}")
            test = cell["points"][0]["test"] if cell else None
            row.append("–" if test is None else f"{test['accuracy']:.1f} / {test['certified']:.1f}")
        rows.append(row)
    return table(["γ", "paper", "dl2", "bounds"], rows)


def consumer(found: dict[str, Found]) -> str:
    rows = []
    for name, words in (("linear", "logistic regression"), ("network", "2 × 20 network")):
        cell = found.get(f"consumer/{name}")
        rows += [[words, against, trio(one["test"])] for against, one in (cell or {"against": {}})["against"].items()]
    return table(["consumer", "trained against", "accuracy / balanced / certified"], rows)


def scaling(found: dict[str, Found]) -> str:
    said = paper.figures()["scaling"]
    rows = [["paper", f"{said['accuracy']:.1f}", *_both(said), "–"]]
    for method in ("dl2", "bounds"):
        cell = found.get(f"scaling/{method}")
        if cell:
            rows.append([method, f"{cell['accuracy']:.1f}", *_both(cell), f"{100 - cell['refuted']:.1f}"])
    heads = ["encoder 200 + 200", "accuracy", "relaxed, certified", "s per person", "complete, certified"]
    return table([*heads, "s per person", "no method can pass"], rows)


def _both(cell: Any) -> list[str]:
    return [text for way in ("relaxed", "complete") for text in (f"{cell[way]['certified']:.1f}", _seconds(cell[way]))]


def _seconds(way: dict[str, float]) -> str:
    return f"{way['seconds']:.4g}"


def statistics(found: dict[str, Found]) -> str:
    rows = []
    for name, words in NAMES.items():
        said, cell = paper.figures()["statistics"][name], found.get(f"statistics/{name}")
        printed = [f"{size:.0f} ({positive} %)" for size, positive in zip(said[::2], said[1::2], strict=True)]
        mine = [f"{size} ({positive} %)" for size, positive in cell["splits"]] if cell else ["–"] * 3
        rows.append([words, *mine, str(cell["features"]) if cell else "–", " · ".join(printed)])
    return table(["dataset", "train", "validation", "test", "features", "paper: train · validation · test"], rows)


def architecture(found: dict[str, Found]) -> str:
    rows = []
    for name, (row, gamma, variants) in ARCHITECTURES.items():
        cell = found.get(f"architecture/{name}")
        for variant in variants:
            one = cell["variants"][variant] if cell else None
            shown = (
                ["–", "–"]
                if one is None
                else [f"{one['accuracy']:.1f} ± {one['error']:.1f}", f"{one['certified']:.1f}"]
            )
            rows.append([title(row), f"{gamma:g}", variant, *shown])
    return table(["row", "γ", "variant", "accuracy", "certified by plain bounds"], rows)


def seconds(found: dict[str, Found]) -> str:
    """Mean certification time per person over a dataset's rows, as the paper reports it."""
    rows = []
    for name, words in NAMES.items():
        mine = [chosen(row, found) for row in ROWS if row.startswith(f"{name}/")]
        theirs = [first(row, found, "dl2") for row in ROWS if row.startswith(f"{name}/")]
        shown = []
        for some in (theirs, mine):
            times = [point.test["seconds"] for point in some if point is not None]
            shown.append(milliseconds(float(np.mean(times))) if times else "–")
        rows.append([words, f"{1000 * paper.figures()['seconds'][name]:.0f}", *shown])
    return table(["dataset", "paper, ms", "dl2, ms", "bounds, ms"], rows)


def confirmations(found: dict[str, Found]) -> str:
    rows = []
    for row in ROWS:
        cells = [cell for name, cell in found.items() if name.startswith(f"{row.replace('/', '-')}/confirm-")]
        if not cells:
            rows.append([title(row), "–", "–", "–"])
            continue
        asked, sure = sum(cell["asked"] for cell in cells), sum(cell["confirmed"] for cell in cells)
        slow = float(np.mean([cell["seconds_checking"] for cell in cells]))
        rows.append([title(row), str(asked), str(sure), milliseconds(slow)])
    return table(["row", "certified people drawn", "confirmed", "ms per person to check"], rows)
