"""Ctrl-C: what is proved and found so far comes back, with the exception."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.prove.interrupting import CASES


@pytest.mark.parametrize("case", CASES)
def test_what_is_known_comes_back(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.prove.interrupting", case], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
