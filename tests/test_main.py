"""``python -m lcifr`` is the command line."""

import subprocess
import sys

import lcifr


def test_the_package_runs_as_the_command() -> None:
    printed = subprocess.run([sys.executable, "-m", "lcifr", "--version"], capture_output=True, text=True, check=True)
    assert printed.stdout == f"lcifr {lcifr.__version__}\n"
    assert printed.stderr == ""
