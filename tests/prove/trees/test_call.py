"""Calls of the search over trees: one compiled signature, and a word where it is compiled first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lcifr.prove import maximize
from lcifr.prove.networks.kernel.jit import digest
from lcifr.prove.trees import call
from lcifr.prove.trees.call import Announcer, kernel
from tests.prove.trees.ensembles import random_case


@pytest.mark.parametrize("kind", [{}, {"rows": True}, {"whole": True, "cells": 2}], ids=str)
def test_every_question_uses_the_code_that_was_compiled_at_set_up(kind):
    case = random_case(3, **kind)
    for proof in (False, True):
        maximize(case.trees, case.directions, case.region, method="branch", proof=proof)
    assert len(kernel().overloads) == 1


def test_compiling_is_announced_once(capsys):
    announcer = Announcer()
    for _ in range(3):
        announcer.on_start(object())
        announcer.on_end(object())
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("compiling the search over trees") == 1


def test_another_version_keeps_its_code_in_another_file():
    """numba unpickles names of classes from the file, so one that an older version has left must not be opened."""
    sources = digest(Path(call.__file__).parent)
    assert sources[:16] in kernel().py_func.__qualname__


@pytest.mark.long
def test_the_first_question_on_a_machine_says_what_takes_so_long(tmp_path: Path):
    found = [
        subprocess.run(
            [sys.executable, "-m", "lcifr.prove"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert [one.stderr.count("compiling") for one in found] == [1, 0]
    assert not found[0].stdout
