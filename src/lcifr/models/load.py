"""Loading of models from Python objects: the entry point to one loader per library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcifr.models.model import Model, own_model
from lcifr.models.network import Network
from lcifr.models.rule import Rule


def read_model(model: Any, groups: Sequence[Sequence[Any]] | None = None, tolerance: float | None = None) -> Model:
    """A network, one of this package's heads, or a fitted scikit-learn model, with what counts as the same decision.

    Parameters
    ----------
    groups : class labels that count as one decision, as lists of labels (of class numbers for a plain network).
    tolerance : for regression, in the label's own unit, as the network's output is.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    if isinstance(model, Network):
        return Model(model, Rule.of(model.outputs, groups=groups, tolerance=tolerance))
    own = own_model(model)
    if own is None:
        from lcifr.models.sklearn.estimators import read_sklearn

        own = read_sklearn(model)
    return own.agreeing(groups, tolerance)
