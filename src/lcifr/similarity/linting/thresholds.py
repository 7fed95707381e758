"""Thresholds and distances of a formula outside the range of the data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lcifr.data import Categorical, Individuals, Numeric
from lcifr.similarity.language.formula import Comparison, Within, subformulas
from lcifr.similarity.language.names import attributes_in
from lcifr.similarity.linting.finding import Finding, Severity
from lcifr.similarity.semantics.core import Compare, PairedPeople, leaves
from lcifr.similarity.semantics.holds import decimal_of, evaluate
from lcifr.similarity.semantics.resolve import resolve
from lcifr.similarity.similarity import Similarity


def find_odd_thresholds(similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    """Comparisons of one attribute with a number that nobody in the data lies beyond, and distances alike."""
    for part in subformulas(similarity.formula):
        if isinstance(part, Within):
            yield from _odd_distances(part, similarity, people)
        elif isinstance(part, Comparison):
            yield from _odd_threshold(part, similarity, people)


def _odd_threshold(atom: Comparison, similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    leaf = next(leaves(resolve(atom, similarity.schema, similarity.encoding)))
    assert isinstance(leaf, Compare)
    form = leaf.form
    if form.ranks or form.absolutes or len(form.numbers) != 1:
        return
    (_, name, coefficient), values = form.numbers[0], people.number(form.numbers[0][1])
    threshold = -form.constant / coefficient
    least, most = float(values.min()), float(values.max())
    if decimal_of(least) <= threshold <= decimal_of(most):
        return
    met = bool(evaluate(leaf, PairedPeople(people, people))[0])  # beyond the range, everybody is on the same side
    attribute = similarity.schema[name]
    assert isinstance(attribute, Numeric)
    yield Finding(
        "threshold-outside-data",
        Severity.NOTE if met else Severity.WARNING,
        f"{'everybody' if met else 'nobody'} in the data meets this: {name} lies between {least:.6g} and "
        f"{_amount(most, attribute)}, and the threshold is {float(threshold):.6g}",
        atom.span,
    )


def _odd_distances(atom: Within, similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    wide, narrow = [], []
    for name in attributes_in(atom.set, similarity.schema):
        attribute, values = similarity.schema[name], people.number(name)
        if isinstance(attribute, Categorical):
            continue
        distance = float(atom.distance) * (similarity.encoding.sd(name) if atom.in_sd else 1.0)
        if distance >= np.ptp(values) > 0:
            wide.append(f"{name} ({_amount(distance, attribute)})")
        if attribute.integer and 0 < distance < 1:
            narrow.append(f"{name} ({distance:.2g})")
    if wide:
        yield Finding(
            "distance-beyond-data",
            Severity.WARNING,
            f"this allows more than the whole range of the data, so it asks for nothing there: {', '.join(wide)}",
            atom.span,
        )
    if narrow:
        yield Finding(
            "distance-below-one",
            Severity.NOTE,
            f"whole numbers cannot differ by less than 1, so these are equal for every real pair, although the "
            f"radius of a hand-over covers the fractions between: {', '.join(narrow)}",
            atom.span,
        )


def _amount(number: float, attribute: Numeric) -> str:
    return f"{number:.6g}{f' {attribute.unit}' if attribute.unit else ''}"
