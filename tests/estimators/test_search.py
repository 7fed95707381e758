"""The folder of a search: resumed as it was left, learned again where it was changed, and one search at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lcifr import FairEncoder, tune
from lcifr.data.files import ChangedFileWarning, LockedError, locked
from lcifr.estimators import Frontier
from tests.learn.populations import FORMULA, SCHEMA, population

pytestmark = pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")


@pytest.fixture(scope="module")
def people() -> tuple[Any, Any]:
    return population(160, seed=0)


def search(people: tuple[Any, Any], folder: Path) -> Frontier:
    X, y = people
    encoder = FairEncoder(FORMULA, schema=SCHEMA, epochs=2, latent_dim=3, hidden=(4,))
    half = len(y) // 2
    training, validation = (X.iloc[:half], y[:half]), (X.iloc[half:], y[half:])
    return tune(encoder, *training, validation=validation, required=0.0, gammas=(1.0,), folder=folder)


def test_a_search_that_was_left_is_not_repeated(people: tuple[Any, Any], tmp_path: Path) -> None:
    before = search(people, tmp_path / "search")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "search").glob("*.encoder")}
    after = search(people, tmp_path / "search")
    assert after.points == before.points
    assert len(times) == 3
    assert {path: path.stat().st_mtime_ns for path in times} == times


@pytest.mark.parametrize("part", ["encoder", "head", "json"])
def test_what_was_changed_is_learned_again(people: tuple[Any, Any], tmp_path: Path, part: str) -> None:
    """Models that somebody exchanged since are not trusted, nor figures without the models that they are about."""
    before = search(people, tmp_path / "search")
    changed = tmp_path / "search" / f"gamma-1.{part}"
    original = changed.read_bytes()
    changed.write_bytes((tmp_path / "search" / f"plain.{part}").read_bytes() if part != "json" else b"{}")
    with pytest.warns(ChangedFileWarning, match="learned again"):
        after = search(people, tmp_path / "search")
    assert after.points == before.points
    assert changed.read_bytes() == original


def test_two_searches_do_not_share_a_folder(people: tuple[Any, Any], tmp_path: Path) -> None:
    with locked(tmp_path / "search", "another search"), pytest.raises(LockedError, match="another search"):
        search(people, tmp_path / "search")
