"""docs/report.md: its example runs, and it names the sections that a report has."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from lcifr.report.wording import put_into_words
from tests.report import scenes

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::lcifr.learn.score.DegenerateModelWarning")
def test_the_example_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    program = tmp_path / "page.py"
    program.write_text(example, encoding="utf-8")
    names = runpy.run_path(str(program))
    assert names["page"].startswith("<!DOCTYPE html>")
    assert names["report"].proved.people == 200


def test_every_section_is_named() -> None:
    for section in put_into_words(scenes.small_report()).sections:
        if section.key not in ("data", "limits"):
            assert section.title.split(",")[0].lower() in TEXT.lower()
