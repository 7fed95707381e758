"""docs/evidence.md as a compliance officer and a regulator follow it: every command, in the order of the page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from lcifr.check.openings import DRAW, chance
from tests.evidence.keys import SSH_KEYGEN
from tests.pages import ROOT, blocks
from tests.story import lcifr

PAGE = (ROOT / "docs/evidence.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run(story: Path, tmp_path: Path) -> None:
    if SSH_KEYGEN is None or shutil.which("sha256sum") is None:
        pytest.skip("there is no ssh-keygen, or no sha256sum, here")
    shutil.copytree(story / "audit", tmp_path / "audit")
    said = {}
    for block in blocks():
        if (block.page, block.kind) == ("docs/evidence.md", "bash"):
            for line in block.text.splitlines():
                said[line] = run(line, tmp_path)
    answers = "\n".join(said.values())
    assert 'Good "lcifr-evidence" signature for auditor' in answers
    assert "files in SHA256SUMS of evidence.zip are what this key signed" in answers
    assert "files in SHA256SUMS of audit are what this key signed" in answers
    assert re.search(r"with confidence 0\.95 at least \d+ of the 30 committed lines are certified", answers)
    assert len(said) >= 13


def run(line: str, place: Path) -> str:
    """One line of the page: of lcifr in this process, all others in a shell."""
    if line.startswith("lcifr "):
        return lcifr(*shlex.split(line)[1:], cwd=place).out
    tools = place / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "python3").exists():
        (tools / "python3").symlink_to(sys.executable)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


def test_the_figures_of_the_page() -> None:
    found = re.search(
        r"of ([\d,]+) lines with (\d+) false ones, (\d+) draws find one with a chance of ([\d.]+) %", PAGE
    )
    assert found is not None
    size, false, count = (int(text.replace(",", "")) for text in found.groups()[:3])
    expected = 1 - Fraction(comb(size - false, count), comb(size, count))
    assert 1 - chance(size, size - false, count, count) == expected
    assert f"{float(expected):.1%}" == f"{found[4]}%"
    assert f"`{DRAW.decode()}` ({len(DRAW)} bytes of ASCII)" in PAGE
