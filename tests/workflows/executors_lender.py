"""A lender's model and people as Parquet, and audits of them by whoever is asked to work: what tests of crews share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from lcifr.workflows import AuditRequest, audit
from tests.workflows.credit import write_credit

SAME = ("audited/audit.parquet", "people.parquet", "labels.parquet", "result.json")
"""Files of an audit that are the same bytes whoever worked; the others name the run and the time."""


def write_lender(folder: Path, people: int = 60, groups: int = 16) -> None:
    """The same as :func:`write_credit`, the people in Parquet with a few row groups."""
    write_credit(folder, people)
    frame = pd.read_csv(folder / "people.csv")
    frame.to_parquet(folder / "people.parquet", index=False, row_group_size=groups)


def request_for(folder: Path, out: str, **options: Any) -> AuditRequest:
    """An audit of the lender's model, eight people to a part unless it is said otherwise."""
    asked: dict[str, Any] = {"table": folder / "people.parquet", "id_column": "person", "chunk": 8} | options
    return AuditRequest(
        model=folder / "model.skops",
        phi=str(folder / "people.phi"),
        reference=folder / "train.csv",
        target="repaid",
        out=Path(out) if "://" in out else folder / out,
        bundle=False,
        baselines=False,
        **asked,
    )


def audited(folder: Path, out: str, **options: Any) -> dict[str, bytes]:
    """The files of an audit that must be the same."""
    audit(request_for(folder, out, **options))
    return results(folder / out)


def results(folder: Path) -> dict[str, bytes]:
    """What :data:`SAME` names in a folder of results."""
    return {name: (folder / name).read_bytes() for name in SAME}
