"""Of whom no proof can be written is undecided in everything that ``lcifr audit`` writes and says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.certification import demands
from lcifr.certification.verdicts import Reason
from lcifr.prove import maximize
from tests.story import lcifr


def giving_up(*arguments: Any, **options: Any) -> Any:
    """A search for proofs that ends without a bound for every other person."""
    found = maximize(*arguments, **options)
    if not options.get("proof"):
        return found
    upper = found.upper.copy()
    upper[::2] = np.inf
    return replace(found, upper=upper)


def test_nobody_is_counted_as_certified_whose_proof_stops_short(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = json.loads((story / "audit/result.json").read_text())
    monkeypatch.setattr(demands, "maximize", giving_up)
    said = lcifr("audit", story / "producer", story / "consumer", "--out", "audit", cwd=tmp_path, expect=None)
    result = json.loads((tmp_path / "audit/result.json").read_text())
    lost = result["reasons"][str(Reason.UNPROVED)]
    assert lost > 0
    assert result["checked"]["rejected"] == {}
    assert result["certified"] == result["checked"]["certified"] == before["certified"] - lost > 0
    assert result["undecided"] == before["undecided"] + lost
    assert said.code == (1 if result["violated"] else 3)
    assert f"undecided because: {Reason.UNPROVED} ({lost})" in said.out
    rows = pd.read_parquet(tmp_path / "audit/audited/audit.parquet")
    assert (rows["verdict"] == "CERTIFIED").sum() == result["certified"]
    short = rows["reason"] == str(Reason.UNPROVED)
    assert (short == ((rows["verdict"] == "UNDECIDED") & short)).all()
    assert (rows.loc[short, "margin"] <= 0).all()
    lcifr("report", "audit", cwd=tmp_path)  # which reads the folder again and refuses what does not add up
