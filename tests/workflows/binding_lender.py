"""A lender's audit of 28 people with its bundle, and bundles that cheat: what the tests of binding share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd

from lcifr.data import Categorical, Numeric, Schema
from tests.certification.made_bundles import contents_of, rewritten
from tests.story import Said, lcifr
from tests.workflows.credit import write_credit

SCHEMA = Schema(
    (
        Numeric("age", unit="years", lower=18, upper=80, integer=True),
        Numeric("income", lower=0),
        Numeric("debt", lower=0),
        Categorical("job", ("clerk", "cook", "pilot")),
        Categorical("sex", ("female", "male")),
        Categorical("region", ("north", "south")),
    ),
    target="repaid",
)
AUDIT = ("--phi", "rule.phi", "--reference", "train.csv", "--id", "person", "--workers", "1", "--no-baselines")
OWN = {"people": "people.csv", "id": "person", "phi": "rule.phi", "schema": "rule.toml", "train": "train.csv"}
OWN |= {"model": "model.skops"}
"""The reader's own files, by option."""
Plain = dict[str, Any]


@cache
def lender() -> Path:
    """The reader's own files, and ``audit`` with the bundle that was made from them."""
    folder = Path(mkdtemp())
    write_credit(folder, people=30)
    pd.read_csv(folder / "people.csv").dropna().to_csv(folder / "people.csv", index=False)
    (folder / "people.phi").rename(folder / "rule.phi")
    SCHEMA.save(folder / "rule.toml")
    lcifr("audit", "people.csv", "--model", "model.skops", *AUDIT, "--out", "audit", cwd=folder, expect=1)
    return folder


def check(bundle: Path | str = "audit", *more: str, expect: int | None = None, **files: Any) -> Said:
    """``lcifr check`` with the reader's own files, or others in their place; None for one that is not given."""
    words = [word for name, file in (OWN | files).items() if file is not None for word in (f"--{name}", file)]
    return lcifr("check", bundle, *words, *more, cwd=lender(), expect=expect)


def statuses(bundle: Path | str = "audit", **files: Any) -> dict[str, str]:
    """What is said of each kind of file."""
    return {one["what"]: one["status"] for one in check(bundle, "--json", **files).json["compared"]}


def changed(tmp_path: Path, change: Callable[[Plain], None]) -> Path:
    """The bundle with other contents, all hashes redone."""
    plain = copy.deepcopy(contents_of(lender() / "audit" / "bundle"))
    change(plain)
    plain["manifest"]["people"] = len(plain["lines"])
    return rewritten(tmp_path, plain)


def verdict(line: Any) -> str:
    return str(line["decision"]["verdict"])


def violated(plain: Plain) -> list[str]:
    """Who has a counterexample."""
    return [line["id"] for line in plain["lines"] if verdict(line) == "counterexample"]
