"""A bundle about a sample of the reader's people: whether it is the one that its seed draws from their table."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from lcifr.check.people import FileComparison

if TYPE_CHECKING:
    from lcifr.certification.bundle import Drawn
    from lcifr.check.people import CanonicalPeople

SAMPLE = "the same, of a sample"
"""Never "the same": whoever chose the seed chose the sample."""


def as_sample(found: FileComparison, yours: CanonicalPeople, drawn: Drawn | None) -> FileComparison:
    """The comparison of people, where all that differs is that others were not drawn; else as it was.

    Parameters
    ----------
    yours : the reader's people in the order of their table. drawn : how the bundle says that it was drawn.
    """
    complete = [name for name, line in yours.lines.items() if None not in dict(json.loads(line)[1:]).values()]
    if drawn is None or drawn.seed < 0 or drawn.of != len(complete) or not 0 < drawn.people < drawn.of:
        return found
    others = {*complete} - {complete[row] for row in drawn.rows()}
    if found.names["strangers"] or found.names["differ"] or set(found.names["missing"]) != others:
        return found
    said = f"the bundle is about {drawn}, as this seed draws them from your table; nothing is known about the others"
    mind = "whoever chose the seed chose the sample: ask for your own seed (--seed), or for everyone (--bundle)"
    return replace(found, status=SAMPLE, details=(said, mind, *found.details))
