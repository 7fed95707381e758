"""The pairs of a sweep whose outputs are furthest apart, in the table's own units, with what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.certification.sweep.pairs import Pairs
    from lcifr.certification.sweep.swept_model import SweptModel

LISTED = 20
"""In ``result.json``; ``pairs.csv`` has all."""


@dataclass(frozen=True)
class WorstPair:
    """Two similar people who are decided differently.

    Parameters
    ----------
    x, other : their attributes. decision, other_decision : in the model's own labels.
    apart : how far apart their outputs are: scores by which classes are decided, or the predicted numbers.
    """

    x: Mapping[str, Any]
    other: Mapping[str, Any]
    decision: Any
    other_decision: Any
    apart: float

    @property
    def differs(self) -> dict[str, tuple[Any, Any]]:
        """For each attribute that differs, both values."""
        return {name: (self.x[name], self.other[name]) for name in self.x if self.x[name] != self.other[name]}

    @property
    def alike(self) -> dict[str, Any]:
        """The attributes that both have."""
        return {name: value for name, value in self.x.items() if value == self.other[name]}


def worst_pairs(swept: SweptModel, pairs: list[Pairs], most: int = LISTED) -> tuple[WorstPair, ...]:
    """The pairs with the largest distance between their outputs; one that is another turned round is left out."""
    import numpy as np

    from lcifr.data import Individuals
    from lcifr.data.files import json_value

    if not pairs:
        return ()
    x, other = (Individuals.joined([getattr(pair, who) for pair in pairs]) for who in ("x", "other"))
    apart = np.abs(swept.score(x) - swept.score(other)).max(1)
    seen: set[frozenset[bytes]] = set()
    rows: list[int] = []
    for row in np.argsort(-apart, kind="stable").tolist():
        both = frozenset(one.numbers[row].tobytes() + one.codes[row].tobytes() for one in (x, other))
        if both not in seen:
            seen.add(both)
            rows.append(row)
        if len(rows) == most:
            break
    one, two = (swept.decide(people.take(rows)) for people in (x, other))
    tables = [people.take(rows).to_pandas().to_dict("records") for people in (x, other)]
    plain = [[{str(name): json_value(value) for name, value in row.items()} for row in table] for table in tables]
    return tuple(
        WorstPair(plain[0][place], plain[1][place], json_value(one[place]), json_value(two[place]), float(apart[row]))
        for place, row in enumerate(rows)
    )
