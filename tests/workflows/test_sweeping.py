"""``lcifr sweep`` from the shell: the folder, exit codes, stopping and going on."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.workflows import SweepRequest, sweep
from lcifr.workflows.folders import RunStopped
from lcifr.workflows.sweeping import CELLS, SweepResult
from tests.certification.sweep.tiny import SCHEMA, everybody, fitted
from tests.story import lcifr
from tests.workflows.swept_place import ASKED


def test_shares_count_the_people_of_a_table_that_is_everybody(swept: Path) -> None:
    result = json.loads((swept / "result.json").read_text())
    assert result["shares"]["open"] == 0
    assert sum(result["people"].values()) == len(everybody())
    for standing, count in result["people"].items():
        assert result["shares"][standing] == pytest.approx(count / len(everybody()), abs=1e-12)


def test_pairs_are_decided_differently_by_the_library(swept: Path) -> None:
    pairs, model = pd.read_csv(swept / "pairs.csv"), fitted(LogisticRegression(), 1)
    x, other = (pairs[pairs["who"] == who][list(SCHEMA.names)] for who in ("x", "x'"))
    assert len(x) > 0
    assert (model.predict(x) != model.predict(other)).all()


def test_a_stopped_sweep_goes_on_and_ends_with_the_same_shares(
    tiny_place: Path, swept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = SweepRequest(
        table=tiny_place / "people.csv",
        model=tiny_place / "model.skops",
        phi=str(tiny_place / "people.phi"),
        schema=str(tiny_place / "people.toml"),
        out=tiny_place / "stopped",
    )
    honest = Sweeper.state
    looked: list[Sweep] = []

    def stop(self: Sweeper) -> Sweep:
        looked.append(honest(self))
        if len(looked) == 4:
            raise KeyboardInterrupt
        return looked[-1]

    monkeypatch.setattr("lcifr.workflows.sweeping.KEPT_EVERY", 0.0)
    monkeypatch.setattr(Sweeper, "state", stop)
    with pytest.raises(RunStopped):
        sweep(asked)
    kept = pq.read_table(tiny_place / ".stopped.work" / CELLS)
    assert 1 < len(kept) < len(pq.read_table(swept / CELLS))
    monkeypatch.setattr(Sweeper, "state", honest)
    found = sweep(asked).sweep
    before = json.loads((swept / "result.json").read_text())["exact_shares"]
    assert {str(one): str(found.share(one)) for one in CellStatus} == before


def test_what_cannot_be_swept_is_said(tiny_place: Path) -> None:
    (tiny_place / "none.toml").write_text((tiny_place / "people.toml").read_text().replace("lower = 0\n", ""))
    asked = [word if word != "people.toml" else "none.toml" for word in ASKED]
    said = lcifr("sweep", "people.csv", *asked, "--out", "none", cwd=tiny_place, expect=2)
    assert "add lower" in said.err
    said = lcifr("sweep", "people.csv", "--out", "none", cwd=tiny_place, expect=2)
    assert "an argument is missing after it" in said.err


@pytest.mark.parametrize("limit", [{"cells": 2}, {"cells": 9, "seconds": 0.0}])
def test_the_limit_that_stopped_a_sweep_is_named(limit: dict[str, float], tiny_place: Path) -> None:
    name, allowed = list(limit.items())[-1]
    asked = SweepRequest(
        table=tiny_place / "people.csv",
        model=tiny_place / "model.skops",
        phi=str(tiny_place / "people.phi"),
        schema=str(tiny_place / "people.toml"),
        out=tiny_place / f"limited-{name}",
        **limit,  # type: ignore[arg-type]
    )
    found = sweep(asked)
    counted = "examined cells" if name == "cells" else name
    words = f"stopped at its limit of {allowed:g} {counted}; a larger --{name} leaves less open"
    assert found.sweep.open
    assert words in str(found.sweep)
    assert found.to_dict()["stopped_by"] == {"name": name, "allowed": allowed}
    assert SweepResult.read(asked.out).sweep.limit == found.sweep.limit
    lcifr("report", asked.out, "--out", tiny_place / "limited.md", cwd=tiny_place)
    assert words in (tiny_place / "limited.md").read_text(encoding="utf-8")


def test_a_sweep_that_ran_to_its_end_names_no_limit(swept: Path) -> None:
    assert json.loads((swept / "result.json").read_text())["stopped_by"] is None
    assert "limit" not in str(SweepResult.read(swept).sweep)
