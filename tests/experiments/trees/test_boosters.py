"""Cells of boosters: what is certified holds over the reals, by the search too, and is confirmed by the checker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from experiments.cells import Cell
from experiments.families.rules import RULES
from experiments.measure import load, measure
from experiments.plan import all_cells
from experiments.store import Store
from experiments.trees.boosters import over_reals
from experiments.trees.plan import tree_cells

from lcifr import FairBooster
from lcifr.data import Encoding
from lcifr.phi.similarity import Similarity

ROW = "german/cat_noise"


def without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: without_times(value) for key, value in found.items() if "seconds" not in key}
    return [without_times(one) for one in found] if isinstance(found, list) else found


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    """A few rounds, and one division into folds."""
    made = {cell.name.split("/")[1]: cell for cell in tree_cells(ROW, rounds=15)}
    return {
        name: replace(cell, settings={**cell.settings, "folds": [7]}) if cell.kind == "booster" else cell
        for name, cell in made.items()
    }


def test_a_booster_cell_made_twice_is_the_same(tmp_path: Path, cells: dict[str, Cell]) -> None:
    once, again = (measure(cells["trees-1x0.5"], Store(tmp_path / name)) for name in ("one", "two"))
    assert without_times(once) == without_times(again)
    (point,) = once["points"]
    assert point["crossed"].keys() >= {"accuracy", "balanced", "certified"}
    assert 0 < point["test"]["certified"] <= point["test"]["end_to_end"] <= 100  # people with whole numbers are fewer


def test_chosen_boosters_are_searched_and_checked_over_the_reals(
    tmp_path: Path, cells: dict[str, Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    few = [cells[name] for name in ("trees_plain", "trees-1x0.25", "trees-5x2")]
    for cell in few:
        store.write(cell, measure(cell, store))
    others = [replace(cell, settings={**cell.settings, "gamma": 9.0}) for cell in few]  # same names, never measured
    monkeypatch.setattr("experiments.trees.confirm.all_cells", lambda quick: others if quick else few)
    confirm = replace(cells["confirm_trees"], settings={**cells["confirm_trees"].settings, "people": 20})
    found = measure(confirm, store)["confirmed"]
    assert set(found) <= set(RULES)
    assert "accurate" in found
    for said in found.values():
        assert said["search"] == said["certified"]
        assert said["lost"] == 0
        assert said["confirmed"] == said["asked"] == 20
        assert said["certified"] + said["violated"] <= 100


def test_a_booster_of_a_stricter_row_certifies_more_in_the_weaker_one_and_is_confirmed_there(
    tmp_path: Path, cells: dict[str, Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, weak = Store(tmp_path), "german/noise"
    plain, confirm = (
        cell for cell in tree_cells(weak, rounds=15) if cell.name.endswith(("/trees_plain", "/confirm_trees"))
    )
    few = [plain, cells["trees-1x0.25"]]
    for cell in few:
        store.write(cell, measure(cell, store))
    found = store.read(cells["trees-1x0.25"])
    assert found is not None
    (own,), (other,) = found["points"], found["weaker_points"]
    for part in ("training", "validation", "test", "crossed"):
        assert own[part]["accuracy"] == other[part]["accuracy"]
        assert own[part]["certified"] <= other[part]["certified"]
    assert {cell.name for cell in few} <= set(confirm.needs)
    monkeypatch.setattr("experiments.trees.confirm.all_cells", lambda quick: few)
    said = measure(replace(confirm, settings={**confirm.settings, "people": 20}), store)["confirmed"]["accurate"]
    assert said["model"] == "german-cat_noise/trees-1x0.25"
    assert said["certified"] == other["test"]["certified"]
    assert said["search"] == said["certified"]
    assert said["confirmed"] == said["asked"] == 20


def test_gradient_boosting_is_certified_refuted_or_open(tmp_path: Path, cells: dict[str, Cell]) -> None:
    short = {**cells["gradient"].settings, "options": {"max_iter": 3, "early_stopping": False}}
    test = measure(replace(cells["gradient"], settings=short), Store(tmp_path))["test"]
    assert 0 <= test["certified"] + test["violated"] <= 100
    assert test["accuracy"] > 60


def test_who_is_similar_does_not_depend_on_how_many_are_learned_from(tmp_path: Path, cells: dict[str, Cell]) -> None:
    """Standard deviations in φ are those of all training people."""
    store, few = Store(tmp_path), {"folds": [], "learners": 100, "seed": 1}
    cell = replace(cells["trees-1x0.5"], settings={**cells["trees-1x0.5"].settings, **few})
    measure(cell, store)
    data = load("german")
    saved = FairBooster.load(store.model_path(cell.name, "booster"))
    assert saved.similarity_.hash == Similarity.ready(ROW, data.schema, Encoding.fit(data.train.X, data.schema)).hash


def test_over_the_reals_no_attribute_is_whole() -> None:
    schema = load("german").schema
    assert any(one.integer for one in schema.numeric)
    reals = over_reals(schema)
    assert not any(one.integer for one in reals.numeric)
    assert reals.names == schema.names
    assert reals.groups == schema.groups


def test_every_row_has_its_boosters_and_a_confirmation_waits_for_what_it_chooses_by() -> None:
    plan = {cell.name: cell for cell in all_cells()}
    confirmations = [cell for cell in plan.values() if cell.kind == "confirm_trees"]
    assert len(confirmations) == 25
    for cell in confirmations:
        kinds = {plan[name].settings["method"] for name in cell.needs}
        assert kinds >= {"trees", "trees_plain", "dl2"}
