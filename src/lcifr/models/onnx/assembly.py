"""Assembly of a table model from what was read: encoding, look-up layer, chain of networks, rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.chain import chain_of
from lcifr.models.columns import Block, ConstantColumn, encoding_of, inputs_of
from lcifr.models.dataflow.layering import layer_out
from lcifr.models.dataflow.tree_outputs import build_sum, outputs_behind
from lcifr.models.model import Model
from lcifr.models.onnx.decision import ReadDecision
from lcifr.models.table_model import TableModel
from lcifr.models.trees.tables import identity


@dataclass(frozen=True)
class LibraryWord:
    """What computes the model elsewhere: its decisions about a pandas frame, and its name and version.

    Parameters
    ----------
    outputs : its numbers, where it says those of the function.
    """

    predict: Callable[[Any], NDArray[Any]]
    runtime: str
    outputs: Callable[[Any], NDArray[np.float64]] | None = None


def assembled(
    decision: ReadDecision,
    arithmetic: Arithmetic,
    divisions: tuple[str, ...],
    library: LibraryWord,
    table: Any,
    encoding: Encoding,
) -> TableModel:
    """The model on the raw columns of a pandas frame.

    Parameters
    ----------
    arithmetic : in which the library computes it. divisions : the steps whose constants no float64 replaces exactly.
    """
    if outputs_behind(decision.scores):
        return _of_trees(decision, arithmetic, divisions, library, table, encoding)
    layers = layer_out(decision.scores, arithmetic)
    block = Block((*layers.columns, *(ConstantColumn(0.0),) * layers.spare))
    divides = divisions[0] if divisions else ""
    function = chain_of(replace(network, divides=divides) for network in layers.networks)
    return TableModel(
        encoding_of(block, encoding),
        inputs_of(block, encoding).of_runtime(arithmetic),
        Model(function, decision.rule, decision.labels),
        library.predict,
        table,
        library.runtime,
        library.outputs,
    )


def _of_trees(
    decision: ReadDecision,
    arithmetic: Arithmetic,
    divisions: tuple[str, ...],
    library: LibraryWord,
    table: Any,
    encoding: Encoding,
) -> TableModel:
    if divisions:
        raise NetworkError(
            f"{divisions[0]} divides the outputs of trees", fix="multiply their leaves before the export"
        )
    built = build_sum(decision.scores, arithmetic, encoding)
    return TableModel(
        built.encoding,
        identity(len(built.encoding.features)),
        Model(built.function, decision.rule, decision.labels),
        library.predict,
        table,
        library.runtime,
        library.outputs,
    )
