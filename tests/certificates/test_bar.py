"""The bar of a large run: who was found done says nothing about the pace."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from lcifr.runs import progress_bar as bar


def test_the_pace_is_that_of_the_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred thousand people from before the run was stopped, and 50 in ten seconds: 5 per second."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "120")
    now = iter([0.0])
    monkeypatch.setattr(bar, "time", SimpleNamespace(monotonic=lambda: next(now, 10.0)))
    with bar.people_bar(True, 200_000) as advance:
        advance(100_000, worked=False)
        advance(50)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).splitlines()[-1]
    assert "100050/200000" in shown
    assert "5 per second" in shown


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with bar.people_bar(False, 10) as advance:
        advance(3, worked=False)
        advance(7)
    assert capsys.readouterr() == ("", "")
