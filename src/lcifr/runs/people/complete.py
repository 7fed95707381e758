"""Tables in memory without the rows in which a value is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lcifr.errors import LcifrError
from lcifr.runs.people.loading import LoadedTable

if TYPE_CHECKING:
    from lcifr.data import Schema


def complete_table(loaded: LoadedTable, path: Path, schema: Schema) -> tuple[LoadedTable, int]:
    """The rows in which nothing is missing, known by their numbers in the file; and how many others there are."""
    from lcifr.data.table import complete_rows

    kept = np.flatnonzero(complete_rows(loaded.frame, schema))
    if not len(kept):
        fix = "give at least one row without missing values"
        if loaded.drawn is not None:
            few = f"{path}: each of the {len(loaded.drawn):,} rows that were drawn has a missing value"
            raise LcifrError(few, fix=f"draw more with --sample, or {fix}")
        raise LcifrError(f"{path}: every row has a missing value", fix=fix)
    if len(kept) == len(loaded.frame):
        return loaded, 0
    rows = range(len(loaded.frame)) if loaded.drawn is None else loaded.drawn
    written = None if loaded.written is None else loaded.written.take(kept)
    drawn = tuple(rows[row] for row in kept)
    return replace(loaded, frame=loaded.frame.take(kept), written=written, drawn=drawn), len(loaded.frame) - len(kept)
