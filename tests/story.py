"""The three parties on one German table: what the tests of the commands share."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from lcifr.cli import build
from lcifr.datasets import load
from tests.dates import undated

PHI = "# whatever their sex\nsame(categorical except sex) and\nnumeric within 0.3 sd\n"
QUICK = ("--latent", "4", "--hidden", "8", "--batch", "8")
# Learned without a weight for the promise: some people are certified and some refuted.
CARELESS = (*QUICK, "--epochs", "20", "--gamma", "0", "--held-out", "0.3", "--seed", "1")


@dataclass(frozen=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def lcifr(*words: Any, cwd: Path, expect: int | None = 0) -> Said:
    """Run a command in this process."""
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(build(), [str(word) for word in words])
    said = Said(result.exit_code, result.stdout, result.stderr)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in said.err
    assert expect is None or said.code == expect, f"exit {said.code}\n{said.out}\n{said.err}"
    return said


SLOWLY = """import time; from lcifr.workflows import parts as large; write = large.write_atomic
large.write_atomic = lambda *part: (time.sleep(0.3), write(*part))
"""
"""Parts are made in no time: a run that is to be stopped between two of them must wait before it writes one."""


def start(*words: Any, cwd: Path, first: str = SLOWLY, own_group: bool = False) -> subprocess.Popen[str]:
    """Run a command in a process of its own, with one thread, in no hurry to write parts; or after other lines."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", first + "from lcifr.cli import main; main()", *(str(word) for word in words)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=cwd, env=environment, start_new_session=own_group, **pipes)


def write_german(place: Path, people: int = 100) -> None:
    """``people.csv`` (the first of German's people), ``new.csv`` (others, without the label), ``people.phi``."""
    data = load("german")
    table = data.train.X.assign(repaid=data.train.y.map({0: "no", 1: "yes"}))
    table.head(people).to_csv(place / "people.csv", index=False)
    data.test.X.head(12).to_csv(place / "new.csv", index=False)
    (place / "people.phi").write_text(PHI, encoding="utf-8")


def write_made_up(place: Path, *, signal: float, share: float, people: int = 160) -> None:
    """``some people.csv``, in which ``share`` have paid, as far as ``signal`` tells, and ``who.phi``."""
    random = np.random.default_rng(5)
    income, debt = random.standard_normal((2, people))
    score = signal * (income - debt) + random.standard_normal(people)
    table = {
        "income": income.round(3),
        "debt": debt.round(3),
        "sex": random.choice(["f", "m"], people),
        "job": random.choice(["a", "b"], people),
        "paid": np.where(score > np.quantile(score, 1 - share), "yes", "no"),
    }
    pd.DataFrame(table).to_csv(place / "some people.csv", index=False)
    (place / "who.phi").write_text("same(categorical except sex) and numeric within 0.2 sd\n", encoding="utf-8")


def tell(place: Path) -> Path:
    """The producer's, the consumer's and the auditor's work, each in its own folder of ``place``."""
    write_german(place)
    lcifr(
        "produce", "people.csv", "--phi", "people.phi", "--target", "repaid", *CARELESS, "--out", "producer", cwd=place
    )
    alone = place / "elsewhere"  # the consumer's machine: the hand-over and labels, nothing else
    alone.mkdir()
    shutil.copytree(place / "producer" / "handover", alone / "handover")
    shutil.copyfile(place / "producer" / "labels.csv", alone / "labels.csv")
    consumer = start("consume", "handover", "labels.csv", "--out", "consumer", cwd=alone)
    out, err = consumer.communicate()
    assert consumer.returncode == 0, err
    (alone / "printed").write_text(out, encoding="utf-8")
    shutil.copytree(alone / "consumer", place / "consumer")
    words = ("audit", "producer", "consumer", "--out", "audit", "--json")
    said = lcifr(*words, cwd=place, expect=None)
    (place / "audit.printed.json").write_text(said.out, encoding="utf-8")
    (place / "audit.code").write_text(str(said.code), encoding="utf-8")
    return place


def contents(folder: Path) -> dict[str, bytes]:
    files_there = (file for file in folder.rglob("*") if file.is_file() and file.name != "settings.json")
    return {str(file.relative_to(folder)): undated(file) for file in files_there}
