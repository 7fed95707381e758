"""Who counts as selected: the favourable class, or a number above the median."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.errors import LcifrError
from lcifr.evidence.pack import SelectedPeople


@dataclass
class Said:
    """As much of an audit's result as is looked at."""

    classes: tuple[Any, ...]
    group_decisions: dict[str, Any] = field(default_factory=dict)
    subgroups: Any = None
    labels: dict[str, str] = field(default_factory=dict)

    def shown(self, decision: Any) -> str:
        return self.labels.get(str(decision), str(decision))

    @property
    def model(self) -> Said:
        return self

    @property
    def statement(self) -> Said:
        return self


def folder(place: Path, predictions: list[Any]) -> Path:
    (place / "audited").mkdir()
    pd.DataFrame({"sex": ["f", "m"] * (len(predictions) // 2)}).to_parquet(place / "people.parquet")
    pd.DataFrame({"prediction": predictions}).to_parquet(place / "audited" / "audit.parquet")
    return place


def read(place: Path, said: Said, favourable: str | None = None) -> SelectedPeople:
    return SelectedPeople.read(place, said, favourable)  # type: ignore[arg-type]


def test_of_two_classes_the_second_is_favourable_unless_it_is_said(tmp_path: Path) -> None:
    place = folder(tmp_path, ["no", "yes", "yes", "no"])
    assert read(place, Said(("no", "yes"))).selected.tolist() == [False, True, True, False]
    assert read(place, Said(("no", "yes")), "no").selected.tolist() == [True, False, False, True]


def test_of_three_classes_somebody_must_say_which(tmp_path: Path) -> None:
    place = folder(tmp_path, ["a", "b", "c", "c"])
    with pytest.raises(LcifrError, match="which one is favourable"):
        read(place, Said(("a", "b", "c")))
    assert read(place, Said(("a", "b", "c")), "c").selected.sum() == 2


def test_numbers_are_compared_with_their_median(tmp_path: Path) -> None:
    groups = pd.DataFrame({"attribute": ["sex", "sex"]})
    found = read(folder(tmp_path, [1.0, 2.0, 3.0, 10.0]), Said((), subgroups=groups))
    assert found.selected.tolist() == [False, False, True, True]
    assert found.groups == ("sex",)
    rates = found.rates(None, ())
    assert [row.rate for row in rates.rows] == [0.5, 0.5]
    assert np.isclose(sum(row.people for row in rates.rows), 4)


def test_a_name_that_is_not_there_is_told_which_are(tmp_path: Path) -> None:
    place, said = folder(tmp_path, ["no", "yes"]), Said(("no", "yes"))
    with pytest.raises(LcifrError, match="Fix: one of sex"):
        read(place, said).rates(("region",), ())
    with pytest.raises(LcifrError, match="Fix: say --favourable 'yes'"):
        read(place, said, "granted")


def test_a_decision_may_be_given_by_its_name(tmp_path: Path) -> None:
    place, said = folder(tmp_path, [0, 1, 1, 0]), Said((0, 1), labels={"0": "refused", "1": "granted"})
    for favourable in ("refused", "0"):
        found = read(place, said, favourable)
        assert found.selected.tolist() == [True, False, False, True]
        assert found.favourable == "the decision is 'refused'"
