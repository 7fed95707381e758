"""The rules of both families: what they prefer, and that test figures have no say."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from experiments.choose import Seen
from experiments.families.rules import METHODS, RULES, accurate, across, certified, within

from tests.experiments.made_up import everything, made_up_figures


def itself(one: Seen) -> Seen:
    return one


def test_accurate_is_the_most_accurate_that_certifies_enough() -> None:
    tried = [Seen(90, 90, 80), Seen(85, 70, 91), Seen(84, 88, 95), Seen(80, 80, 100)]
    assert accurate(tried, 90.0, itself) == tried[1]
    assert accurate(tried, 100.0, itself) == tried[3]


def test_where_nothing_certifies_enough_the_most_certified_that_is_not_trivial() -> None:
    tried = [Seen(90, 90, 60), Seen(85, 85, 70), Seen(71, 50, 89)]
    assert accurate(tried, 90.0, itself) == tried[1]
    assert accurate(tried[2:], 90.0, itself) == tried[2]
    assert accurate([], 90.0, itself) is None


@pytest.mark.parametrize(("plain", "place"), [(62.0, 2), (66.0, 1), (70.0, 0)])
def test_certified_may_cost_four_points_of_balanced_accuracy_and_never_goes_below_sixty(
    plain: float, place: int
) -> None:
    tried = [Seen(80, 67, 70), Seen(80, 62, 80), Seen(80, 60, 90), Seen(80, 59.9, 99)]
    assert certified(tried, plain, itself) == tried[place]
    assert certified(tried, 72.0, itself) is None


@pytest.mark.parametrize("row", ["german/cat_noise", "compas/noise", "adult/cat", "law_school/quantiles"])
def test_other_test_figures_change_no_choice(row: str) -> None:
    found = everything()
    other, draw = copy.deepcopy(found), np.random.default_rng(1)
    for cell in other.values():
        for point in (*cell.get("points", ()), *cell.get("weaker_points", ())):
            point["test"] = made_up_figures(draw)
    for rule in RULES:
        for choose in (across, *(lambda row, found, rule, one=one: within(row, found, one, rule) for one in METHODS)):
            before, after = choose(row, found, rule), choose(row, other, rule)
            assert (before is None) == (after is None)
            if before is not None and after is not None:
                assert (before.family, before.point.cells, before.point.head) == (
                    after.family,
                    after.point.cells,
                    after.point.head,
                )


def same_for_all(found: dict[str, Any]) -> None:
    """On German, Cat + Noise, every model the same but for the folds of one booster, which is the best by them."""
    for name, cell in found.items():
        if not name.startswith("german-cat_noise/") or "points" not in cell:
            continue
        best = name == "german-cat_noise/trees-5x2"
        for point in cell["points"]:
            for part in ("training", "validation"):
                point[part] |= {"accuracy": 70.0, "balanced": 70.0, "certified": 99.0}
            if "crossed" in point:
                point["crossed"] |= {"accuracy": 80.0 if best else 75.0, "balanced": 70.0, "certified": 99.0}


def family_of(found: dict[str, Any], rule: str = "accurate") -> str:
    both = across("german/cat_noise", found, rule)
    assert both is not None
    return both.family


def test_folds_decide_within_trees_and_across_families() -> None:
    found = everything()
    same_for_all(found)
    choice = within("german/cat_noise", found, "trees", "accurate")
    assert choice is not None
    assert choice.point.cells == ("german-cat_noise/trees-5x2",)
    for accuracy, family in ((79.0, "trees"), (81.0, "networks")):
        for one in found["german-cat_noise/crossed"]["crossed"]:
            one |= {"accuracy": accuracy, "balanced": 70.0, "certified": 99.0}
        found["german-cat_noise/trees-5x2"]["points"][0]["validation"]["accuracy"] = 150.0 - accuracy
        assert family_of(found) == family


def test_without_folds_of_networks_validation_people_decide_across_families() -> None:
    found = everything()
    same_for_all(found)
    del found["german-cat_noise/crossed"]
    for accuracy, family in ((71.0, "trees"), (69.0, "networks")):
        found["german-cat_noise/trees-5x2"]["points"][0]["validation"]["accuracy"] = accuracy
        assert family_of(found) == family


def test_a_model_of_a_stricter_row_is_chosen_by_what_it_does_in_this_one() -> None:
    found, row = everything(), "compas/noise"
    for name, cell in found.items():
        if cell["kind"] == "booster" and name.startswith("compas-"):
            best = name == "compas-cat_noise/trees-3x0.5"
            for key, accuracy in (("points", 75.0), ("weaker_points", 80.0 if best else 70.0)):
                for point in cell.get(key, ()):
                    point["crossed"] |= {"accuracy": accuracy, "balanced": 70.0, "certified": 99.0}
    choice = within(row, found, "trees", "accurate")
    assert choice is not None
    assert choice.point.cells == ("compas-cat_noise/trees-3x0.5",)
    assert choice.weights == "3 / 0.5, stricter φ"
    found["compas-cat_noise/trees-3x0.5"]["weaker_points"][0]["crossed"]["certified"] = 0.0
    other = within(row, found, "trees", "accurate")
    assert other is not None
    assert other.point.cells[0].startswith("compas-noise/")
    stern = within("compas/cat_noise", found, "trees", "accurate")
    assert stern is not None
    assert stern.point.cells[0].startswith("compas-cat_noise/")
