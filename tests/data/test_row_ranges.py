"""Ranges of rows: those of the table that was looked at, and of no other one that takes its place."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lcifr.data import store
from lcifr.data.ingest import Chunk
from lcifr.errors import LcifrError
from lcifr.workflows.jobs import AuditJob
from tests.workflows.executors_lender import audited, write_lender


def test_a_table_that_is_replaced_meanwhile_is_never_mixed_with_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends, what was made of the old table stays, and with that table in its place all is as it should be."""
    write_lender(tmp_path)
    whole, file = audited(tmp_path, "whole", workers=1), tmp_path / "people.parquet"
    before, honest, done = file.read_bytes(), AuditJob.work, list[int]()

    def replaced(self: AuditJob, chunk: Chunk) -> bytes:
        if chunk.number == 3:
            pd.read_parquet(file)[::-1].to_parquet(file, index=False)
            store._reader.cache_clear()  # as of a worker that comes to it now
        return honest(self, chunk)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(AuditJob, "work", replaced)
        with pytest.raises(LcifrError, match=r"people\.parquet has changed(.|\n)*Fix: "):
            audited(tmp_path, "mixed", workers=1)
    file.write_bytes(before)
    monkeypatch.setattr(AuditJob, "work", lambda self, chunk: done.append(chunk.number) or honest(self, chunk))
    assert audited(tmp_path, "mixed", workers=1) == whole
    assert 0 < len(done) < 8
