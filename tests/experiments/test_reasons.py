"""A row that falls short says why, and the reason is true of the models of that row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from experiments.bars import bars
from experiments.choose import points
from experiments.plan import STRETCHED, all_cells
from experiments.reasons import frontier, why

from tests.experiments.made_up import everything

ROW, PLACE = "compas/cat_noise", "compas-cat_noise"
ASKED = {"accuracy": 60.0, "certified": 80.0}


def with_figures(accuracy: float, certified: float, plain: float) -> str:
    """The reason where every weight of the row has these figures, and the plain model this accuracy."""
    found = everything()
    for name, cell in found.items():
        if name.startswith(f"{PLACE}/") and cell["kind"] == "model":
            mine = accuracy if cell["settings"]["method"] == "bounds" else plain
            for one in cell["points"]:
                one["test"] |= {"accuracy": mine, "balanced": mine, "certified": certified}
    return why(ROW, "bounds", ASKED, found)


@pytest.mark.parametrize(
    ("accuracy", "certified", "plain", "said"),
    [
        (61.0, 85.0, 70.0, "61.0 / 61.0 / 85.0, but validation people preferred another"),
        (55.0, 85.0, 58.0, "even our plain model has no more than 58.0"),
        (55.0, 85.0, 70.0, "no weight with that certified share has more than 55.0"),
        (61.0, 75.0, 70.0, "no weight certifies that many"),
    ],
)
def test_the_other_models_of_the_row_say_why(accuracy: float, certified: float, plain: float, said: str) -> None:
    assert with_figures(accuracy, certified, plain).endswith(said)


def test_a_balanced_accuracy_that_falls_short_alone_is_what_is_said() -> None:
    mine = points(ROW, everything(), "bounds")[:2]
    figures = [{"accuracy": 61.0, "balanced": balanced, "certified": 85.0} for balanced in (52.0, 53.0)]
    tried = [replace(one, test=test) for one, test in zip(mine, figures, strict=True)]
    assert frontier(tried, [], {**ASKED, "balanced": 55.0}).endswith("a balanced accuracy of more than 53.0")


@pytest.mark.parametrize(("certified", "said"), [(90.0, "14.4 points more instead"), (70.0, "over the seeds")])
def test_dl2_has_one_weight(certified: float, said: str) -> None:
    found = everything()
    for name, cell in found.items():
        if name.startswith(f"{PLACE}/dl2-"):
            cell["points"][0]["test"]["certified"] = certified
    assert said in why(ROW, "dl2", ASKED, found)


def test_every_row_that_is_not_reached_says_how_far_and_why() -> None:
    missed = 0
    for bar in bars(everything())[:5]:
        for row, reached in bar.rows.items():
            assert (row in bar.short) is (reached is False)
            if row in bar.short:
                figures, reason = bar.short[row].split(": ", 1)
                assert "of " in figures
                assert len(reason) > 20
                missed += 1
    assert missed > 10


def test_stretched_models_are_points_of_their_own_and_never_chosen() -> None:
    """Same γ, same head, another stretch: another model, added later, so no candidate."""
    from experiments.choose import chosen
    from experiments.plan import eligible

    found = everything()
    (row,) = STRETCHED
    mine = points(row, found, "bounds")
    assert {(one.gamma, one.stretch) for one in mine if one.stretch != 1.0} == set(STRETCHED[row])
    assert all(len(one.cells) == 3 for one in mine)
    assert not any(eligible(row, one.gamma, one.stretch, one.head) for one in mine if one.stretch != 1.0)
    for name, cell in found.items():
        if name.startswith("crime-noise/bounds-") and "x" in name:
            for one in cell["points"]:
                for part in ("training", "validation"):
                    one[part] |= {"accuracy": 99.9, "balanced": 99.9, "certified": 99.9}
    best = chosen(row, found)
    assert best is not None
    assert best.stretch == 1.0
    assert len({cell.name for cell in all_cells()}) == len(all_cells())
