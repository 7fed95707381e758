"""Reports as pages, for all tests of this folder that look at one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lcifr.report import Report, render
from tests.report.browser import Browser, Page


@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Callable[..., Page]:
    """``look(report, width=390, dark=True)`` opens the page as a double click would."""

    def opened(report: Report, **options: object) -> Page:
        path = tmp_path / "report.html"
        path.write_text(render(report), encoding="utf-8")
        return browser.open(path, **options)  # type: ignore[arg-type]

    return opened
