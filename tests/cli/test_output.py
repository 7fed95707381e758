"""The events of a run on a terminal."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from lcifr.cli import output
from lcifr.workflows.events import StepKind, counting_people, note, step


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that the terminal sees, in a list of one."""
    now = [0.0]
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_the_pace_is_that_of_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    """A hundred thousand people from before the run was stopped, and 50 in ten seconds: 5 per second."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(output, "watched", lambda: True)
    with output.on_terminal(), counting_people(200_000) as advance:
        advance(100_000, worked=False)
        clock[0] = 10.0
        advance(50)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).splitlines()[-1]
    assert "100050/200000" in shown
    assert "5 per second" in shown


def test_no_bar_is_drawn_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with output.on_terminal(), counting_people(10) as advance:
        advance(3, worked=False)
        advance(7)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_said_where_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with step("Reading", StepKind.LONG):
        note("this table is short")
    assert capsys.readouterr() == ("", "")


def test_a_bar_appears_on_stderr_only_after_two_seconds(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with output.on_terminal():
        with step("Comparing people", StepKind.COUNT) as advance:
            advance(1, 4)
        assert capsys.readouterr().err == ""
        with step("Comparing people", StepKind.COUNT) as advance:
            clock[0] += 3
            advance(2, 4)
    captured = capsys.readouterr()
    assert "Comparing people" in captured.err
    assert captured.out == ""


def test_steps_within_steps_end_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    """A step that fails is over too, and the one around it goes on."""
    with output.on_terminal(), step("Outer", StepKind.LONG):
        with pytest.raises(ZeroDivisionError), step("Inner"):
            raise ZeroDivisionError
        note("still here")
    assert capsys.readouterr().err.splitlines() == ["Outer …", "Inner …", "Note: still here"]
