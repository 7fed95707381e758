"""docs/report.md: its example runs, and it names the sections that a report has."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from lcifr.report.sections import put_into_words
from tests.report import scenes
from tests.report.scenes import tree_report

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
def test_the_examples_run(tmp_path: Path) -> None:
    example = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))  # one goes on where the other ended
    program = tmp_path / "page.py"
    program.write_text(example, encoding="utf-8")
    names = runpy.run_path(str(program))
    assert names["page"].startswith("<!DOCTYPE html>")
    assert names["report"].statement.people == 200
    assert "What each attribute adds" in names["page"]
    assert names["explanation"].additive


def test_every_section_is_named() -> None:
    sections = [s for report in (scenes.small_report(), tree_report(1)) for s in put_into_words(report).sections]
    for section in sections:
        if section.key not in ("data", "limits"):
            assert section.title.split(",")[0].lower() in TEXT.lower()
