"""Trees of scikit-learn: decision trees, forests, gradient boosting and histogram boosting, with their rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.program import StepFormat
from lcifr.errors import NetworkError
from lcifr.models.loaders.tree_ensembles import (
    BOOSTED,
    HISTOGRAM,
    SINGLE,
    LibraryNode,
    LibrarySplit,
    TreeSource,
    codes_of,
    grow,
)
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import TreeLeaf

IDENTITY_LINKS = ("squared_error", "absolute_error", "huber", "quantile")
"""Losses of regression whose prediction is the sum itself."""
UNIT = 2.0**-53


def read_source(estimator: Any) -> TreeSource:
    """The trees of a fitted estimator of scikit-learn.

    Raises
    ------
    NetworkError
        For several labels at once, initial estimators of boosting, and losses with a link of their own.
    """
    read = _read(estimator)
    runtime = f"scikit-learn {version('scikit-learn')}"
    return replace(read, runtime=runtime, width=int(estimator.n_features_in_))


def _read(model: Any) -> TreeSource:
    name = type(model).__name__
    classes = getattr(model, "classes_", None)
    if getattr(model, "n_outputs_", 1) != 1 or isinstance(classes, list):
        raise NetworkError(f"{name} predicts several labels at once", fix="fit one at a time")
    if classes is not None and len(classes) < 2:
        raise NetworkError(f"{name} was fitted on one class only")
    if name in HISTOGRAM:
        return _histogram(model, classes)
    if name in BOOSTED:
        return _boosted(model, classes)
    estimators = [model] if name in SINGLE else list(model.estimators_)
    trees = [one.tree_ for one in estimators]
    if classes is None:
        return _forest([tree.value[:, 0, :1] for tree in trees], trees, Rule(Kind.NUMBER, 1))
    return _votes(trees, np.asarray(classes))


def share_trees(model: Any, place: int) -> tuple[LibraryNode, ...]:
    """The trees of a forest, or a single one, whose leaves are the shares of one class."""
    trees = [one.tree_ for one in ([model] if type(model).__name__ in SINGLE else model.estimators_)]
    return tuple(_tree(tree, tree.value[:, 0, place : place + 1]) for tree in trees)


def _votes(trees: Sequence[Any], classes: NDArray[Any]) -> TreeSource:
    """Shares of classes, added up: the first of the largest decides."""
    count, shares = len(classes), [tree.value[:, 0, :] for tree in trees]
    if len(trees) == 1:  # each leaf has decided already, so that it has no ties
        shares = [np.eye(count)[shares[0].argmax(1)]]
    leaves = [one[tree.children_left < 0] for one, tree in zip(shares, trees, strict=True)]
    pure = all(bool(np.isin(one, (0.0, 1.0)).all()) for one in leaves)
    if count == 2 and pure:  # whole numbers: at a tie, 0, the first class is certain
        votes = _forest(
            [one[:, 1:] - one[:, :1] for one in shares], trees, Rule(Kind.SIGN, 1, band=(0.5, 0.5)), classes
        )
        return replace(votes, scale=Fraction(1))
    lead = 0.0 if len(trees) == 1 else 4 * UNIT  # a mean of numbers up to 1 is rounded once more
    rule = Rule(Kind.CLASS, count, tuple((c,) for c in range(count)), band=(-lead, lead))
    return _forest(shares, trees, rule, classes)


def _forest(
    values: Sequence[NDArray[np.float64]], trees: Sequence[Any], rule: Rule, classes: NDArray[Any] | None = None
) -> TreeSource:
    """The mean of trees with these values (nodes, outputs) each."""
    return TreeSource(
        trees=tuple(_tree(tree, one) for tree, one in zip(trees, values, strict=True)),
        base=np.zeros(rule.outputs),
        scale=Fraction(1, len(trees)),
        rule=rule,
        labels=classes,
        cast=StepFormat.FLOAT32,
    )


def _boosted(model: Any, classes: NDArray[Any] | None) -> TreeSource:
    name, rounds = type(model).__name__, model.estimators_
    if type(model.init_).__name__ not in ("DummyClassifier", "DummyRegressor") and model.init != "zero":
        raise NetworkError(f"{name} starts from a {type(model.init_).__name__}", fix="leave init out")
    if getattr(model.init_, "strategy", "") == "stratified":
        raise NetworkError(f"{name} starts from random votes, drawn anew for every row", fix="leave init out")
    if classes is None and model.loss not in IDENTITY_LINKS:
        raise NetworkError(f'{name} with loss="{model.loss}"', fix=f"use one of {', '.join(IDENTITY_LINKS)}")
    if classes is not None and model.loss == "exponential":
        raise NetworkError(f'{name} with loss="exponential" is not read', fix='use loss="log_loss"')
    base = np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32)), np.float64)[0]
    outputs = rounds.shape[1]
    trees = tuple(
        _tree(one.tree_, one.tree_.value[:, 0, :1] * np.eye(outputs)[k])
        for stage in rounds
        for k, one in enumerate(stage)
    )
    return TreeSource(
        trees=trees,
        base=base,
        scale=Fraction(float(model.learning_rate)),
        rule=_scores(classes),
        labels=classes,
        cast=StepFormat.FLOAT32,
    )


def _histogram(model: Any, classes: NDArray[Any] | None) -> TreeSource:
    name = type(model).__name__
    if classes is None and model.loss not in (*IDENTITY_LINKS,):
        raise NetworkError(f'{name} with loss="{model.loss}"', fix=f"use one of {', '.join(IDENTITY_LINKS)}")
    base = np.asarray(model._baseline_prediction, np.float64).reshape(-1)
    known = model._bin_mapper.make_known_categories_bitsets()
    trees = tuple(
        _histogram_tree(one, k, len(base), known) for stage in model._predictors for k, one in enumerate(stage)
    )
    return TreeSource(trees=trees, base=base, rule=_scores(classes), labels=classes)


def _scores(classes: NDArray[Any] | None) -> Rule:
    if classes is None:
        return Rule(Kind.NUMBER, 1)
    return Rule(Kind.SIGN, 1, log_odds=(1.0, 0.0)) if len(classes) == 2 else Rule.of(len(classes))


def _tree(tree: Any, values: NDArray[np.float64]) -> LibraryNode:
    """``values`` : (nodes, outputs)."""
    left, right, missing = tree.children_left, tree.children_right, getattr(tree, "missing_go_to_left", None)

    def look(node: int) -> LibraryNode | tuple[int, int]:
        return (int(left[node]), int(right[node])) if left[node] >= 0 else TreeLeaf(tuple(values[node].tolist()))

    def join(node: int, first: LibraryNode, second: LibraryNode) -> LibraryNode:
        missing_first = missing is not None and bool(missing[node])
        return LibrarySplit(
            int(tree.feature[node]), float(tree.threshold[node]), first, second, missing_first=missing_first
        )

    return grow(0, look, join)


def _histogram_tree(predictor: Any, output: int, outputs: int, known: tuple[Any, Any]) -> LibraryNode:
    nodes = predictor.nodes

    def look(place: int) -> LibraryNode | tuple[int, int]:
        node = nodes[place]
        if node["is_leaf"]:
            return TreeLeaf(tuple(float(node["value"]) if o == output else 0.0 for o in range(outputs)))
        return int(node["left"]), int(node["right"])

    def join(place: int, first: LibraryNode, second: LibraryNode) -> LibraryNode:
        node = nodes[place]
        feature, missing = int(node["feature_idx"]), bool(node["missing_go_to_left"])
        if not node["is_categorical"]:
            return LibrarySplit(feature, float(node["num_threshold"]), first, second, missing_first=missing)
        codes, seen = codes_of(predictor.raw_left_cat_bitsets[node["bitset_idx"]]), known[0][known[1][feature]]
        if missing:  # values that it has not seen are missing to it
            codes |= frozenset(range(256)) - codes_of(seen)
        return LibrarySplit(feature, 0.0, first, second, codes=codes, missing_first=missing)

    return grow(0, look, join)
