"""Networks that are judged by the folds of trees: which ones, learned from whom, and that no test person takes part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiments.families import crossing
from experiments.families.rules import RULES, within
from experiments.folds import COUNT
from experiments.plan import all_cells, needed
from experiments.store import Store

from lcifr.datasets import Split, load
from tests.experiments.made_up import found

ROW = "german/cat_noise"


def rows(split: Split) -> set[tuple[Any, ...]]:
    return set(pd.DataFrame(split.X).itertuples(index=False, name=None))


def test_chosen_networks_are_learned_anew_for_every_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, draw, data = Store(tmp_path), np.random.default_rng(3), load("german")
    (cell,) = (one for one in all_cells() if one.name == "german-cat_noise/crossed")
    cell = replace(cell, settings={**cell.settings, "folds": [7]})
    for one in all_cells():
        if one.name in cell.needs:
            store.write(one, found(one, draw))
    asked: list[tuple[dict[str, Any], Split]] = []

    def learn(settings: dict[str, Any], schema: Any, learned: Split) -> tuple[dict[str, Any], Split]:
        asked.append((settings, learned))
        return settings, learned

    def seen(settings: dict[str, Any], learned: Split, held_out: Split) -> dict[str, float]:
        assert not set(learned.X.index) & set(held_out.X.index)
        assert not (rows(learned) | rows(held_out)) & (rows(data.test) - rows(data.train) - rows(data.validation))
        assert len(learned.y) + len(held_out.y) == len(data.train.y) + len(data.validation.y)
        return {"accuracy": settings["gamma"], "balanced": settings["heads"][0], "certified": float(len(held_out.y))}

    monkeypatch.setattr(crossing, "learn", learn)
    monkeypatch.setattr(crossing, "seen", seen)
    crossed = crossing.cross_networks(cell, store, data)["crossed"]
    known = needed(cell, store)
    chosen = [choice.point for rule in RULES if (choice := within(ROW, known, "networks", rule)) is not None]
    assert {(one["gamma"], one["head"]) for one in crossed} == {(point.gamma, point.head) for point in chosen}
    assert len(asked) == COUNT * len(crossed)
    assert {settings["seed"] for settings, _ in asked} == {7}
    for one in crossed:
        assert (one["accuracy"], one["balanced"]) == (one["gamma"], float(one["head"]))
        assert one["error"] == 0.0  # every fold says the same here
