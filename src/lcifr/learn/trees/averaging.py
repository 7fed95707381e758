"""Averages of additive models, which are additive models again: step functions and grids average bin by bin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from lcifr.models.additive import AdditiveModel, PairFunction, ShapeFunction

Term = TypeVar("Term", ShapeFunction, PairFunction)


def average(models: Sequence[AdditiveModel]) -> AdditiveModel:
    """The model whose scores are the mean of theirs, for everybody, up to rounding.

    A term is divided wherever one of them divides it, and a model that lacks it adds 0. Its worst value over a region
    is no worse than the mean of theirs, which each may be taken elsewhere. Trees stay as they are but for their values.
    """
    return AdditiveModel(
        np.mean([model.base for model in models], axis=0),
        _means((shape for model in models for shape in model.shapes), len(models)),
        models[0].features,
        _means((pair for model in models for pair in model.pairs), len(models)),
        tuple(replace(tree, values=tree.values / len(models)) for model in models for tree in model.trees),
    )


def _means(terms: Iterable[Term], models: int) -> tuple[Term, ...]:
    """One term for each attribute or pair, in the order of the schema."""
    known: dict[tuple[int, ...], list[Term]] = {}
    for term in terms:
        known.setdefault(tuple(axis.columns.start for axis in term.bins.axes), []).append(term)
    return tuple(_mean(known[columns], models) for columns in sorted(known))


def _mean(terms: list[Term], models: int) -> Term:
    bins = terms[0].bins
    for term in terms[1:]:
        bins = bins.joined(term.bins)
    values = np.sum([term.on(bins) for term in terms], axis=0) / models
    return replace(terms[0], bins=bins, values=values).without_idle_thresholds()
