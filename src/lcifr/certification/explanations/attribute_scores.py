"""Scores of attributes: the step function of a number and the bars of a category, in the table's own units."""

from __future__ import annotations

import numpy as np

from lcifr.certification.explanations.thresholds import in_table_units
from lcifr.data import Categorical, Encoding, Individuals, Numeric
from lcifr.drawing.histogram import histogram, whole_histogram
from lcifr.drawing.scores import AttributeScore
from lcifr.learn.trees.additive import AdditiveModel, ShapeFunction
from lcifr.models.model import Model
from lcifr.regions.region import FloatArray

MOST_OUTPUTS = 6
"""Outputs with a line each, the first of them; of more classes nobody could tell the lines apart."""


def attribute_scores(
    found: AdditiveModel, model: Model, encoding: Encoding, people: Individuals
) -> tuple[AttributeScore, ...]:
    """What every attribute adds, those first whose score moves most among these people."""
    x, names = encoding.encode(people), output_names(model)
    scores = [_score(term, encoding, people, x, names) for term in found.shapes]
    return tuple(sorted(scores, key=lambda score: -score.moves))


def output_names(model: Model) -> tuple[str, ...]:
    """Of several outputs, as far as they are drawn; none for a single one."""
    outputs = model.function.outputs
    if outputs == 1:
        return ()
    labels = range(outputs) if model.labels is None or len(model.labels) != outputs else model.labels
    return tuple(str(label) for label in labels)[:MOST_OUTPUTS]


def _score(
    term: ShapeFunction, encoding: Encoding, people: Individuals, x: FloatArray, names: tuple[str, ...]
) -> AttributeScore:
    drawn = max(len(names), 1)
    own = term(x)[:, :drawn]
    values = term.values[:, :drawn] - own.mean(0)
    moves = float((own.max(0) - own.min(0)).max())
    name, attribute = term.bins.attribute, encoding.schema[term.bins.attribute]
    if isinstance(attribute, Categorical):
        known = ~encoding.is_outside(name)
        counts = np.bincount(people.code(name), minlength=len(known))[known]
        texts = tuple(value for value, here in zip(attribute.values, known, strict=True) if here)
        return AttributeScore(name, "", (), texts, _lines(values[known]), names, None, tuple(counts.tolist()), moves)
    thresholds = term.bins.thresholds
    assert thresholds is not None
    numbers, steps = people.number(name), in_table_units(thresholds, encoding, name)
    shown = whole_histogram(numbers) if isinstance(attribute, Numeric) and attribute.integer else None
    shown = shown or histogram(numbers, {"people": np.ones(len(numbers), np.bool_)})
    assert shown is not None
    edges, pieces = steps.between(shown.edges[0], shown.edges[-1])
    values = values[pieces]
    unit = (attribute.unit if isinstance(attribute, Numeric) else None) or ""
    return AttributeScore(name, unit, edges, (), _lines(values), names, shown, (), moves)


def _lines(values: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(line) for line in values.T.tolist())
