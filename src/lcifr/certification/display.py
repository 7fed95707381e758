"""Display of verdicts: a one-line summary, a notebook table, a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Individuals
from lcifr.drawing.text import count, exactly, format_value, percent, quantity
from lcifr.models.rule import Kind

LISTED = 5
"""Counterexamples in a notebook."""


class VerdictDisplay:
    """Base class of verdicts that displays them; a subclass provides the arrays and the notes beside the counts."""

    ids: tuple[str | int, ...]
    verdict: NDArray[np.object_]
    reason: NDArray[np.object_]
    margin: NDArray[np.float64]
    vacuous: NDArray[np.bool_]
    left_out: tuple[str | int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        words = ", ".join(f"{number} {kind}" for kind, number in self._counts().items())
        return f"<{type(self).__name__} of {self._rows} people with respect to φ: {words}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from lcifr.drawing.notebook import verdicts_html

        counts = self._counts()
        certified, rows = counts["certified"], self._rows
        share = percent(certified / rows if rows else None)
        title = f"{count(certified)} of {count(rows)} people certified with respect to φ ({share})"
        return verdicts_html(title, counts, tuple(self._notes()), self._examples())

    def plot(self) -> Any:
        """The proved margins as a matplotlib figure (``pip install "lcifr[plot]"``): how far from another decision."""
        from lcifr.drawing.figures import histogram_figure
        from lcifr.drawing.histogram import histogram

        masks = {kind: np.asarray(self._kinds() == kind) for kind in self._counts()}
        shown = histogram(self.margin, {kind: mask for kind, mask in masks.items() if mask.any()}, around_zero=True)
        return histogram_figure(shown, title="Proved margins", axis="margin of the decision")

    def _kinds(self) -> NDArray[np.str_]:
        return np.array([str(word).lower() for word in self.verdict], dtype=np.str_)

    @property
    def _rows(self) -> int:
        """Rows of the table: those with a verdict, and those that were not examined."""
        return len(self.ids) + len(self.left_out)

    def _counts(self) -> dict[str, int]:
        found = Counter(self._kinds().tolist())
        counts = {kind: found[kind] for kind in ("certified", "counterexample", "undecided")}
        return counts | ({"not examined": len(self.left_out)} if self.left_out else {})

    def _notes(self) -> Iterator[str]:
        """Notes shown beside the counts."""
        if self.left_out:
            yield f"{left_out_words(len(self.left_out))}."
        if vacuous := int(self.vacuous.sum()):
            yield f"{count(vacuous)} of the certificates are vacuous: no one is similar to these people."
        for reason, number in Counter(str(reason) for reason in self.reason if str(reason)).most_common():
            yield f"undecided because {reason}: {count(number)}"

    def _examples(self) -> Sequence[Sequence[str]]:
        """People worth looking at, after a row of headings."""
        return ()


def counterexample_rows(found: Any) -> list[tuple[str, ...]]:
    """The first few counterexamples of an audit, with what differs."""
    number = found.model.rule.kind is Kind.NUMBER and found.prediction.ndim == 1
    tolerance = found.model.rule.known_tolerance if number else 0.0
    headings = ("decision", "a similar person gets a different decision")
    if number:
        headings = ("prediction", f"a similar person’s is more than {exactly(tolerance)} away")
    rows: list[tuple[str, ...]] = [("counterexample", *headings)]
    for row in np.flatnonzero(found.violated)[:LISTED]:
        pair = found.counterexample(found.ids[row])
        differs = "; ".join(f"{name} {' → '.join(map(format_value, pair[name].tolist()))}" for name in pair.columns)
        own = found.prediction[row]
        rows.append((str(found.ids[row]), quantity(float(own), tolerance) if number else str(own), differs))
    return rows


def differing_columns(name: str, person: Individuals, other: Individuals) -> Any:
    """A pandas frame of two rows, a person and somebody similar, with the columns that differ."""
    import pandas as pd

    both = pd.concat([person.to_pandas(), other.to_pandas()])
    both.index = pd.Index([name, "similar"])
    return both.loc[:, (both.iloc[0] != both.iloc[1]).to_numpy()]


def left_out_words(rows: int) -> str:
    """Rows of which nothing is said, in words."""
    many = rows > 1
    return f"{rows} {'rows have' if many else 'row has'} missing values and {'are' if many else 'is'} not examined"
