"""docs/learning.md: every block on the page runs, one after the other."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
def test_the_page_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python\n(.*?)\n```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    names = runpy.run_path(str(program))
    assert "unaware" in capsys.readouterr().out
    assert names["head"].certified(names["test"].latent, names["test"].radius).mean() > 0.5
