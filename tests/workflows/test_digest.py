"""The digest of people: of the same table in CSV and in Parquet it is the same."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from lcifr.data import Categorical, Numeric, Schema
from lcifr.workflows.binding import DigestRequest, digest_people


def test_what_is_blank_is_missing_in_parquet_as_in_csv(tmp_path: Path) -> None:
    """Audits leave such people out of both; so they must be missing for whoever compares, not of another category."""
    Schema((Numeric("age"), Categorical("job", ("clerk", "cook")))).save(tmp_path / "people.toml")
    frame = pd.DataFrame({"id": ["a", "b", "c"], "age": [1, 2, 3], "job": ["clerk", "", "  "]})
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    files = (tmp_path / "people.csv", tmp_path / "people.parquet")
    csv, parquet = (digest_people(DigestRequest(file, str(tmp_path / "people.toml"), "id")) for file in files)
    assert csv == parquet
    assert parquet.incomplete == 2
