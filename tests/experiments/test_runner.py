"""The runner goes on where it was stopped or killed, and a cell made twice is the same but for the times."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from experiments import runner
from experiments.__main__ import main
from experiments.cells import Cell
from experiments.measure import measure
from experiments.plan import all_cells, matching
from experiments.runner import run
from experiments.store import Store, merge

ROOT = Path(__file__).parents[2]
GERMAN = Cell("statistics/german", "statistics", {"dataset": "german"}, 1.0)


def small(name: str) -> Cell:
    """A cell of the quick slice, two epochs long."""
    cell = next(cell for cell in all_cells(quick=True) if cell.name == name)
    training = {**cell.settings["training"], "epochs": 2}
    return replace(cell, settings={**cell.settings, "training": training})


def without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: without_times(value) for key, value in found.items() if "seconds" not in key}
    return [without_times(one) for one in found] if isinstance(found, list) else found


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are made in this process: others would import torch first."""
    monkeypatch.setattr(runner, "_pool", lambda jobs, device: ThreadPoolExecutor(jobs))


def test_a_cell_made_twice_is_the_same(tmp_path: Path) -> None:
    cell = small("german-cat_noise/bounds-1-s101")
    once, again = (measure(cell, Store(tmp_path / name)) for name in ("one", "two"))
    assert without_times(once) == without_times(again)
    assert once["points"][0]["test"].keys() >= {"accuracy", "balanced", "certified", "box", "end_to_end", "violated"}
    for point in once["points"]:
        test = point["test"]
        assert test["certified"] <= test["box"] <= 100.0
        assert test["end_to_end"] + test["violated"] <= 100.0 + 1e-9


@pytest.mark.usefixtures("here")
def test_what_is_done_is_not_done_again_unless_its_settings_change(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert run([GERMAN], store).made == 1
    summary = run([GERMAN], store)
    assert (summary.before, summary.made) == (1, 0)
    assert store.read(replace(GERMAN, settings={"dataset": "adult"})) is None


@pytest.mark.usefixtures("here")
def test_a_broken_cell_is_reported_and_ends_nothing_else(tmp_path: Path) -> None:
    broken = Cell("statistics/nothing", "statistics", {"dataset": "nothing"}, 9.0)
    after = Cell("statistics/after", "statistics", {"dataset": "german"}, 9.0, needs=("statistics/nothing",))
    summary = run([broken, after, GERMAN], Store(tmp_path))
    assert summary.made == 1
    assert set(summary.failed) == {"statistics/nothing", "statistics/after"}
    assert "nothing" in summary.failed["statistics/nothing"]


@pytest.mark.usefixtures("here")
def test_nothing_is_started_that_would_end_too_late(tmp_path: Path) -> None:
    long = replace(GERMAN, name="statistics/long", cost=1e6)
    summary = run([long, GERMAN], Store(tmp_path), minutes=1.0)
    assert summary.left == ("statistics/long",)
    assert summary.made == 1


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_goes_on_where_it_stopped(tmp_path: Path, how: signal.Signals) -> None:
    only = ["--quick", "--only", "german-cat_noise/[pu]*", "--results", str(tmp_path)]
    command = [sys.executable, "-m", "experiments", "run", "--jobs", "1", *only]
    cells, log = tmp_path / "cells", tmp_path / "log"
    with log.open("w") as said:
        process = subprocess.Popen(command, cwd=ROOT, stderr=said, start_new_session=True)
    deadline = time.monotonic() + 120
    while not list(cells.rglob("[!.]*.json")):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    if how == signal.SIGKILL:
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
    assert process.wait(60) in (-signal.SIGKILL, 130), log.read_text()
    kept = {path: path.stat().st_mtime_ns for path in cells.rglob("[!.]*.json")}
    assert 1 <= len(kept) < 4
    assert main(["run", "--jobs", "1", *only]) == 0
    assert len(list(cells.rglob("[!.]*.json"))) == 4
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


def test_patterns_pick_cells() -> None:
    assert {cell.kind for cell in matching(all_cells(), "scaling/*")} == {"scaling"}
    assert len(matching(all_cells(), None)) == len({cell.name for cell in all_cells()})


@pytest.mark.long
def test_the_quick_slice(tmp_path: Path) -> None:
    """`make paper-quick`: trained, chosen, confirmed by the exact checker, and on a page."""
    assert main(["run", "--quick", "--jobs", "1", "--results", str(tmp_path)]) == 0
    assert main(["render", "--quick", "--results", str(tmp_path), "--page", str(tmp_path / "results.md")]) == 0
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "| Cat + Noise, German | 200 | 200 |" in page


def test_nothing_is_rendered_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page that is there stays."""
    page = tmp_path / "results.md"
    page.write_text("what was found")
    assert main(["render", "--results", str(tmp_path / "nowhere"), "--page", str(page)]) == 2
    assert "holds no cell" in capsys.readouterr().err
    assert page.read_text() == "what was found"


def test_unpacked_cells_count_as_done_where_settings_are_the_plans(tmp_path: Path) -> None:
    known, other = all_cells(quick=True)[0], all_cells(quick=True)[1]
    cells = {
        known.name: {"name": known.name, "kind": known.kind, "settings": known.settings, "points": []},
        other.name: {"name": other.name, "kind": other.kind, "settings": {**other.settings, "seed": -1}, "points": []},
    }
    merged = tmp_path / "cells.json"
    merged.write_text(merge(cells), encoding="utf-8")
    store = Store(tmp_path / "store")
    assert main(["unpack", "--quick", "--merged", str(merged), "--results", str(store.folder)]) == 0
    assert store.read(known) == cells[known.name]
    assert store.read(other) is None
