"""Stdout holds results alone, whatever native libraries print past Python."""

from __future__ import annotations

import subprocess
import sys

NOISY = """
import os
import lcifr.cli as cli

def noisy():
    print("before")
    os.write(1, b"a solver's own line\\n")
    print("after")

cli.build = lambda: noisy
cli.main()
"""


def test_what_is_printed_past_python_is_no_result():
    said = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=True)
    assert said.stdout == "before\nafter\n"
    assert said.stderr == "a solver's own line\n"


def test_a_closed_stdout_is_no_fault():
    module = "lcifr.cli.output"
    line = f"{sys.executable} -c 'import {module} as m; m.keep_stdout_for_results()' >&-"
    assert subprocess.run(line, shell=True, capture_output=True, check=False).returncode == 0
