"""The corpus: formulas with their trees, their English, and pairs of people that are similar or not.

Every reader of a formula is tested on all of it. The English stands in ``english.toml``, by the entries' names, so that
it can be read as text; ``SDS`` are the standard deviations it was written with.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.phi.corpus import categories, comparisons, free_clauses, logic, ranks, sets, writing
from tests.phi.corpus.entry import BASE, SCHEMA, TRAINING, Entry, Pair, Row

__all__ = ["BASE", "CORPUS", "ENGLISH", "SCHEMA", "SDS", "TRAINING", "Entry", "Pair", "Row"]

CORPUS: tuple[Entry, ...] = (
    *sets.ENTRIES,
    *comparisons.ENTRIES,
    *categories.ENTRIES,
    *free_clauses.ENTRIES,
    *logic.ENTRIES,
    *ranks.ENTRIES,
    *writing.ENTRIES,
)
SDS = {"age": 10.0, "gpa": 0.834, "hours per week": 8.46}  # größe has none: such distances stay in sd
ENGLISH: dict[str, str] = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
