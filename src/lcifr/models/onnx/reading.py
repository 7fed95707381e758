"""Reading of a graph: its nodes one after the other, from the table's columns to the value that decides."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.dataflow.normalisation import ROUNDINGS
from lcifr.models.dataflow.vectors import LARGEST, FlowVector, new_weights
from lcifr.models.onnx.binding import Bind
from lcifr.models.onnx.calls import Call, Circumstances
from lcifr.models.onnx.graph import Graph, Node
from lcifr.models.onnx.operators.catalogue import apply
from lcifr.models.onnx.tensors import AnyArray
from lcifr.models.onnx.values import Constant, Decided, Exponentials, Hidden, Probabilities, Softmax, Value

MOST_NUMBERS = 2**22
"""Components of all values together, at most: a short file may ask for any number."""
COMPUTED = (Hidden, Exponentials, Probabilities, Softmax, Decided)
"""Values of the function, whose type is that of its arithmetic."""
MALFORMED = (ValueError, TypeError, IndexError, KeyError, OverflowError, AttributeError, ArithmeticError)
"""What numpy says of shapes and indices that do not fit."""


@dataclass(frozen=True)
class ReadGraph:
    """What a graph computes for the output that decides.

    Parameters
    ----------
    value : of that output. values : of everything that it was made of, by name.
    arithmetic : of the function. divisions : nodes whose constants no float64 replaces exactly.
    """

    value: Value
    values: dict[str, Value]
    arithmetic: Arithmetic
    divisions: tuple[str, ...]


def read_value(graph: Graph, output: str, bind: Bind) -> ReadGraph:
    """The value of an output, as a formula of the columns that ``bind`` gives for the graph's inputs.

    Raises
    ------
    NetworkError
        For what is not exactly representable, with the name of the node.
    """
    nodes = graph.needed_for(output)
    merged = _MergedConstants.of(graph, nodes)
    circumstances = Circumstances(graph.version, _people(graph), merged.spare)
    read = {name for node in nodes for name in node.inputs}
    values: dict[str, Value] = {name: Constant(array) for name, array in graph.constants.items() if name in read}
    values |= {one.name: bind(one) for one in graph.inputs if one.name in read}
    numbers, weights = 0, 0
    seen: set[FlowVector] = set()
    for node in nodes:
        given = tuple(values[name] if name else None for name in node.inputs)
        found = _computed(Call(node, given, circumstances))
        values |= {name: value for name, value in zip(node.outputs, found, strict=False) if name}
        numbers += sum(1 if isinstance(one, Constant) else prod(one.shape) for one in found)
        weights += sum(new_weights(one.vector, seen) for one in found if isinstance(one, Hidden))
        if numbers > MOST_NUMBERS or weights > LARGEST:
            raise NetworkError(f"{node.where}: the model is larger than {MOST_NUMBERS} numbers or {LARGEST} weights")
    if output not in values:
        raise NetworkError(f'the output "{output}" is one that its node does not have here')
    computed = [values[name] for name in read | {output} if name in values]  # not what nobody asks for
    single = any(isinstance(value, COMPUTED) and value.dtype == np.float32 for value in computed)
    arithmetic = Arithmetic.FLOAT32 if single or merged.as_float32 else Arithmetic.FLOAT64
    return ReadGraph(values[output], values, arithmetic, tuple(circumstances.divisions))


def _computed(call: Call) -> tuple[Value, ...]:
    try:
        with np.errstate(all="ignore"):  # of what overflows or is NaN operators speak themselves
            return apply(call)
    except NetworkError:
        raise
    except MALFORMED as problem:
        raise call.refuse(f"it does not fit what it is given: {problem}") from None


def _people(graph: Graph) -> int | None:
    sizes = {one.people for one in graph.inputs}
    return sizes.pop() if len(sizes) == 1 else None


@dataclass(frozen=True)
class _MergedConstants:
    """What a runtime may multiply into the weights of a MatMul: batch normalisations, and factors of one number.

    Parameters
    ----------
    spare : roundings that a weight may have more. as_float32 : whether a float64 factor becomes a float32 on the way,
        as in onnxruntime (its fusion of MatMul with a scale has a float32 attribute).
    """

    spare: int
    as_float32: bool

    @classmethod
    def of(cls, graph: Graph, nodes: list[Node]) -> _MergedConstants:
        if not any(node.operator == "MatMul" for node in nodes):
            return cls(0, False)
        factors = dict(graph.constants)
        factors |= {node.outputs[0]: _constant(node) for node in nodes if node.operator == "Constant"}
        scales = [
            (node.operator, factors[name])
            for node in nodes
            if node.operator in ("Mul", "Div")
            for name in node.inputs
            if name in factors and _rounds(factors[name])
        ]
        normalises = any(node.operator == "BatchNormalization" for node in nodes)
        narrowed = [
            operator == "Div" or (array.astype(np.float32) != array).any()
            for operator, array in scales
            if array.dtype == np.float64
        ]
        return cls(ROUNDINGS if scales or normalises else 0, any(narrowed))


def _constant(node: Node) -> AnyArray:
    values = [np.asarray(value) for value in node.attributes.values()]
    return values[0] if values else np.zeros(0)


def _rounds(factor: AnyArray) -> bool:
    """Whether it is one number, and a product with it may be rounded."""
    return factor.size == 1 and factor.dtype.kind == "f" and bool(np.abs(np.frexp(factor)[0]).ravel()[0] != 0.5)
