"""Explainable boosting machines of interpret-core: terms over one attribute or two, read as a sum of trees.

A term is a table of scores by bins. Bin 0 is for missing values, the last one for values not seen in training; numbers
are in bin 1 + (how many cuts are at most the number), and a category is in the bin that the model keeps for its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical
from lcifr.data.frames import text_of
from lcifr.errors import NetworkError
from lcifr.models.columns import Block, Column, RawColumn, TableColumn, as_numbers
from lcifr.models.loaders.tree_ensembles import LibraryNode, LibrarySplit, TreeSource
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import TreeLeaf

CLASSIFIER, REGRESSOR = "ExplainableBoostingClassifier", "ExplainableBoostingRegressor"
UNSEEN = -1
"""The bin of values that the model does not know, counted from the end."""
MOST_CELLS = 2**20
"""Scores of one term."""

_TRUTH = {"false": "0", "true": "1"}
"""What the library makes of truth values, as the schema writes them."""

ColumnBins = NDArray[np.float64] | Mapping[Any, int]


def read_source(model: Any) -> TreeSource:
    """The terms of a fitted machine: one tree for each, over the features in the model's order.

    Raises
    ------
    NetworkError
        For terms over three features or more, links of regression other than identity, and a single class.
    """
    name = type(model).__name__
    if name not in (CLASSIFIER, REGRESSOR):
        raise NetworkError(f"{name} of interpret is not supported", fix=f"use {CLASSIFIER} or {REGRESSOR}")
    base = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    classes = np.asarray(model.classes_) if name == CLASSIFIER else None
    if classes is not None and len(classes) < 2:
        raise NetworkError(f"{name} was fitted on one class only")
    if classes is not None and len(base) != (1 if len(classes) == 2 else len(classes)):
        raise NetworkError(f"{name} knows {len(classes)} classes and has {len(base)} scores")
    if classes is None and (model.link_ != "identity" or len(base) != 1):
        raise NetworkError(f'{name} with the link "{model.link_}"', fix='use objective="rmse", whose link is identity')
    trees = tuple(_term(model, number, len(base)) for number in range(len(model.term_features_)))
    rule = Rule(Kind.NUMBER, 1) if classes is None else Rule.of(len(base))
    if rule.kind is Kind.SIGN and model.link_ == "logit":
        rule = replace(rule, log_odds=(1.0, 0.0))
    return TreeSource(
        trees=trees,
        base=base,
        rule=rule,
        labels=classes,
        runtime=f"interpret-core {version('interpret-core')}",
        width=len(model.feature_names_in_),
        matrix=partial(matrix_of, model),
    )


def matrix_of(model: Any, columns: tuple[RawColumn, ...] | Block, where: str) -> Block:
    """The features: numbers as they are, categories as the number of their bin."""
    kinds = list(model.feature_types_in_)
    if isinstance(columns, Block):
        if any(kind != "continuous" for kind in kinds):
            raise NetworkError(f"{where} takes numbers of a transformer as categories", fix="set feature_types=…")
        return columns
    found: list[Column] = []
    for column, kind, levels in zip(columns, kinds, model.bins_, strict=True):
        if kind == "continuous":
            found += as_numbers((column,), where).columns
        else:
            found.append(_coded(column, levels, where))
    return Block(tuple(found))


def _coded(column: RawColumn, levels: Sequence[Mapping[Any, int]], where: str) -> TableColumn:
    name = column.attribute.name
    if not isinstance(column.attribute, Categorical):
        raise NetworkError(
            f'"{name}" is a category to {where} and a number in the schema', fix="declare it as categorical"
        )
    if column.dtype.kind == "f":
        raise NetworkError(f'{where} takes the floats of "{name}" as categories', fix="make them texts")
    if any(dict(level) != dict(levels[0]) for level in levels):
        raise NetworkError(f'{where} has several bins for the values of "{name}", one for each kind of term')
    bins: dict[str, int] = {}
    for value, number in levels[0].items():
        text = text_of(value).strip()
        if bins.setdefault(text, int(number)) != int(number):
            raise NetworkError(f'{where} tells two values "{text}" of "{name}" apart, by blanks around them')
    values = column.attribute.values
    texts = [_TRUTH.get(value, value) if column.dtype.kind == "b" else value for value in values]
    if any(text not in bins and _TRUTH.get(text) in bins for text in texts):
        raise NetworkError(
            f'{where} was fitted with truth values of "{name}", and the table may hold texts',
            fix="give the column the dtype bool",
        )
    return TableColumn(name, tuple(float(bins.get(text, UNSEEN)) for text in texts))


def _term(model: Any, number: int, outputs: int) -> LibraryNode:
    features = tuple(int(one) for one in model.term_features_[number])
    scores = np.asarray(model.term_scores_[number], dtype=np.float64)
    if len(features) > 2:
        names = ", ".join(str(model.feature_names_in_[one]) for one in features)
        raise NetworkError(f"a term is about {len(features)} features at once: {names}", fix="use pairs, or none")
    axes = [_axis(model, feature, len(features)) for feature in features]
    scores = scores.reshape(*scores.shape[: len(features)], outputs)
    if scores.shape[:-1] != tuple(axis.size for axis in axes) or scores.size > MOST_CELLS:
        raise NetworkError(f"the scores of term {number} have the shape {scores.shape}, its bins another one")
    if not np.isfinite(scores).all():
        raise NetworkError(f"the scores of term {number} hold NaN or infinity")
    return _over(axes, scores)


@dataclass(frozen=True)
class _Axis:
    """A feature's bins that can be reached, in their order, and what separates each from the next.

    Parameters
    ----------
    last : of all but the last bin, the split that it is on the first side of. strict : whether that is < or ≤.
    size : of all bins, those for missing and unseen values included.
    """

    feature: int
    bins: tuple[int, ...]
    last: tuple[float, ...]
    strict: bool
    size: int


def _axis(model: Any, feature: int, features: int) -> _Axis:
    levels = model.bins_[feature]
    bins: ColumnBins = levels[min(len(levels), features) - 1]
    if isinstance(bins, Mapping):
        kept = sorted({int(number) for number in bins.values()})
        size = kept[-1] + 2 if kept else 2
        return _Axis(feature, (UNSEEN, *kept), (float(UNSEEN), *map(float, kept[:-1])), False, size)
    cuts = np.asarray(bins, dtype=np.float64)
    if np.isnan(cuts).any() or (np.diff(cuts) <= 0).any():
        raise NetworkError(f'the cuts of "{model.feature_names_in_[feature]}" are not increasing')
    return _Axis(feature, tuple(range(1, len(cuts) + 2)), tuple(cuts.tolist()), True, len(cuts) + 3)


def _over(axes: Sequence[_Axis], scores: NDArray[np.float64]) -> LibraryNode:
    """A balanced tree over the bins of the first axis, below each of which is one over the next."""
    if not axes:
        return TreeLeaf(tuple(scores.tolist()))
    axis = axes[0]
    below = [_over(axes[1:], scores[place]) for place in axis.bins]

    def between(start: int, stop: int) -> LibraryNode:
        if stop - start == 1:
            return below[start]
        middle = (start + stop) // 2
        at = axis.last[middle - 1]
        return LibrarySplit(axis.feature, at, between(start, middle), between(middle, stop), strict=axis.strict)

    return between(0, len(below))
