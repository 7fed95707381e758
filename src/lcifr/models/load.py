"""Loading of models from Python objects: the entry point to one loader per library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcifr.data import Encoding
from lcifr.models.model import Model, own_model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.models.table_model import TableModel


def read_model(model: Any, groups: Sequence[Sequence[Any]] | None = None, tolerance: float | None = None) -> Model:
    """A network, a torch module, one of our heads, or a fitted scikit-learn model; and what counts as one decision.

    Parameters
    ----------
    groups : class labels that count as one decision, as lists of labels (of class numbers for a plain network).
    tolerance : for regression, in the label's own unit, as the network's output is.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    if _is_torch_module(model):
        model = Network.from_torch(model)
    if isinstance(model, Network):
        return Model(model, Rule.of(model.outputs, groups=groups, tolerance=tolerance))
    own = own_model(model)
    if own is None:
        from lcifr.models.sklearn.estimators import read_sklearn

        own = read_sklearn(model)
    return own.agreeing(groups, tolerance)


def read_table_model(model: Any, table: Any, encoding: Encoding) -> TableModel:
    """A fitted model of another library on the raw columns of a pandas frame.

    Parameters
    ----------
    encoding : the schema of the table, and the scales that formulas speak of.

    Raises
    ------
    NetworkError
        For what is not exactly representable, by the name of the step that stands in the way.
    """
    from lcifr.models.sklearn.tables import read_sklearn_table

    return read_sklearn_table(model, table, encoding)


def _is_torch_module(model: Any) -> bool:
    """By the names of its classes, so that nobody else waits for torch."""
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(model).__mro__)
