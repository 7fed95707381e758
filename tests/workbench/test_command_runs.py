"""Commands as processes: started, watched, stopped, resumed; and in the end the same as the command's own."""

from __future__ import annotations

import sys
import time

import pandas as pd
import pytest

from lcifr.errors import LcifrError
from lcifr.workbench.command_runs import CommandRuns
from lcifr.workbench.work_folder import WorkFolder
from tests.story import lcifr
from tests.workbench.bench import PLAN, Client, write_folder

PATIENCE = 240.0
EVENTS = """import os, signal, sys, time
from pathlib import Path
from lcifr.workflows.events import VARIABLE, EventLog
from lcifr.workflows.events import counting_people, listening, note, step
with listening(EventLog(Path(os.environ[VARIABLE]))):
    note("begun"); print(sys.argv[1:], flush=True)
    with counting_people(10) as advance:
        advance(3, worked=False); advance(4)
        try:
            time.sleep(float(sys.argv[1]))
        except KeyboardInterrupt:
            sys.exit(130)
sys.exit(int(sys.argv[2]))
"""


def until(ask, wanted):
    """What ``ask`` gives once it is as wanted."""
    deadline = time.monotonic() + PATIENCE
    while not wanted(state := ask()):
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    return state


@pytest.fixture
def runs(tmp_path):
    made = CommandRuns(WorkFolder(tmp_path), (sys.executable, "-c", EVENTS))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("code", "state"), [(0, "finished"), (1, "finished"), (2, "refused"), (3, "finished"), (70, "failed")]
)
def test_a_run_tells_how_far_it_is_and_how_it_ended(runs, code, state):
    assert runs.state() is None
    runs.start(["0", str(code)], "out")
    found = until(runs.state, lambda one: one.state != "running")
    assert found.state == state
    assert found.messages == ("begun",)
    [people] = found.steps
    assert (people.done, people.total, people.resumed, people.ended) == (7, 10, 3, True)
    assert found.printed.startswith(f"['0', '{code}']")


def test_one_at_a_time_and_stopped_as_by_ctrl_c(runs):
    runs.start(["60", "0"], "out")
    until(runs.state, lambda one: one.steps and one.steps[0].done == 7)
    with pytest.raises(LcifrError, match="out is still running"):
        runs.start(["0", "0"], "other")
    runs.stop()
    assert until(runs.state, lambda one: one.state != "running").state == "stopped"
    runs.start(["0", "0"], "other")
    assert until(runs.state, lambda one: one.state != "running").state == "finished"


def test_what_runs_is_stopped_when_the_workbench_ends(tmp_path):
    made = CommandRuns(WorkFolder(tmp_path), (sys.executable, "-c", EVENTS))
    made.start(["60", "0"], "out")
    until(made.state, lambda one: one.steps)
    begun = time.monotonic()
    made.close()
    assert time.monotonic() - begun < 9


@pytest.mark.long
def test_an_audit_that_is_stopped_and_resumed_is_the_commands(tmp_path):
    write_folder(tmp_path, people=400)
    lcifr(
        "audit",
        "people.csv",
        "--model=model.skops",
        "--phi=people.phi",
        "--schema=people.toml",
        "--id=person",
        "--out=command",
        cwd=tmp_path,
        expect=1,
    )
    client = Client(tmp_path)
    try:
        client.ask("audit/start", **PLAN, out="page")
        some = until(lambda: client.ask("run/state"), lambda one: 0 < sum(one["verdicts"].values()) < 398)
        assert some["state"] == "running"
        client.ask("run/stop")
        stopped = until(lambda: client.ask("run/state"), lambda one: one["state"] != "running")
        assert stopped["state"] == "stopped"
        [left] = client.ask("folder")["stopped"]
        assert (left["out"], left["here"]) == ("page", True)
        assert not (tmp_path / "page").exists()
        client.ask("audit/resume", name="page")
        found = until(lambda: client.ask("run/state"), lambda one: one["state"] != "running")
        assert found["state"] == "finished", found["printed"]
        people = next(one for one in found["steps"] if one["name"] == "people")
        assert people["resumed"] > 0
    finally:
        client.desk.close()
    ours, theirs = (pd.read_parquet(tmp_path / name / "audited" / "audit.parquet") for name in ("page", "command"))
    pd.testing.assert_frame_equal(ours, theirs)
    for name in ("result.json", "people.parquet", "similar.phi", "schema.toml"):
        assert (tmp_path / "page" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    assert sum(found["verdicts"].values()) == len(theirs)
