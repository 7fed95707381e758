"""Small ONNX graphs for tests, what they compute in exact fractions, and what onnxruntime says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from lcifr.data import Encoding, Numeric, Schema
from lcifr.models.description import DescribedInput, DescribedOutput, InputKind, Meaning, ModelDescription
from lcifr.models.source import TableModel

KINDS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE}
Step = tuple[Any, ...]
"""An operator, what it reads (names, or arrays for constants), what it is called, and its attributes."""


@dataclass
class GraphBuilder:
    """A graph over one tensor ``x`` of numbers, written down step by step."""

    width: int
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))
    version: int = 17
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, operator: str, *reads: Any, domain: str = "", outputs: int = 1, **attributes: Any) -> str:
        """A node; the name of its first output, the others have numbers behind it."""
        names = [one if isinstance(one, str) else self.constant(one) for one in reads]
        out = f"v{len(self.nodes)}"
        made = [out, *(f"{out}_{i}" for i in range(1, outputs))]
        self.nodes.append(helper.make_node(operator, names, made, name=out, domain=domain, **attributes))
        return out

    def constant(self, array: Any) -> str:
        found = np.asarray(array)
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(found, name))
        return name

    def numbers(self, *values: Any) -> NDArray[Any]:
        return np.array(values if len(values) > 1 else values[0], dtype=self.dtype)

    def model(self, output: str, kind: int | None = None, people: int | None = None) -> onnx.ModelProto:
        start = helper.make_tensor_value_info("x", KINDS[self.dtype], [people, self.width])
        end = helper.make_tensor_value_info(output, kind or KINDS[self.dtype], None)
        graph = helper.make_graph(self.nodes, "tested", [start], [end], self.constants)
        versions = [helper.make_opsetid("", self.version), helper.make_opsetid("ai.onnx.ml", 3)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)


def names(width: int) -> list[str]:
    return [f"a{i}" for i in range(width)]


def encoding(width: int) -> Encoding:
    """Of numbers a0, a1, … without scales of their own."""
    schema = Schema(tuple(Numeric(name) for name in names(width)))
    return Encoding(schema, np.zeros(width), np.ones(width))


def description(width: int, output: DescribedOutput | None = None) -> ModelDescription:
    """Column ai feeds position i, as it is."""
    entries = tuple(DescribedInput(InputKind.NUMBER, name) for name in names(width))
    return ModelDescription(entries, output)


NUMBERS = DescribedOutput(Meaning.NUMBER)


def run(model: onnx.ModelProto, rows: NDArray[Any]) -> NDArray[Any]:
    """What onnxruntime says, with its usual optimisations."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": rows})[0])


def exactly(model: TableModel, encoded: NDArray[np.float64]) -> list[tuple[Fraction, ...]]:
    """The outputs of a read model at encoded people, without rounding."""
    found = []
    for row in encoded.tolist():
        values: Sequence[Fraction] = [Fraction(value) for value in row]
        for factor in model.factors:
            for number, layer in enumerate(factor.layers):  # type: ignore[attr-defined]
                rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
                values = [
                    sum((Fraction(w) * v for w, v in zip(ws, values, strict=True) if w), Fraction(b)) for ws, b in rows
                ]
                if number < len(factor.layers) - 1:  # type: ignore[attr-defined]
                    values = [max(value, Fraction(0)) for value in values]
        found.append(tuple(values))
    return found


def interpreted(model: onnx.ModelProto, rows: NDArray[Any]) -> list[list[Fraction]]:
    """What the graph computes in real numbers, operator by operator; written without looking at the reader."""
    exact = np.vectorize(lambda value: Fraction(float(value)), otypes=[object])
    values: dict[str, Any] = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    values["x"] = exact(rows)
    for node in model.graph.node:
        given = [values[name] if name else None for name in node.input]
        given = [exact(one) if one is not None and one.dtype.kind == "f" else one for one in given]
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        values |= zip(node.output, _result(node.op_type, given, attributes, len(node.output)), strict=True)
    last = values[model.graph.output[0].name]
    return [list(one) for one in np.asarray(last).reshape(len(rows), -1)]


def _result(operator: str, given: list[Any], attributes: dict[str, Any], outputs: int) -> list[Any]:
    zero = Fraction(0)
    first = given[0]
    second = given[1] if len(given) > 1 else None
    match operator:
        case "Gemm":
            weight = second.T if attributes.get("transB") else second
            alpha, beta = (Fraction(attributes.get(name, 1.0)) for name in ("alpha", "beta"))
            return [alpha * (first @ weight) + (beta * given[2] if len(given) > 2 else zero)]
        case "MatMul":
            return [first @ second]
        case "Add":
            return [first + second]
        case "Sub":
            return [first - second]
        case "Mul":
            return [first * second]
        case "Div":
            return [first / second]
        case "Neg":
            return [-first]
        case "Relu":
            return [np.maximum(first, zero)]
        case "LeakyRelu":
            return [np.where(first > 0, first, Fraction(attributes["alpha"]) * first)]
        case "PRelu":
            return [np.where(first > 0, first, second * first)]
        case "Abs":
            return [np.abs(first)]
        case "Clip":
            low = first if second is None else np.maximum(first, second)
            return [low if len(given) < 3 else np.minimum(low, given[2])]
        case "Max" | "Min":
            for other in given[1:]:
                first = (np.maximum if operator == "Max" else np.minimum)(first, other)
            return [first]
        case "Sum":
            return [sum(given[1:], first)]
        case "Identity" | "Dropout":
            return [first]
        case "Concat":
            return [np.concatenate(given, attributes["axis"])]
        case "Gather":
            return [np.take(first, second, attributes["axis"])]
        case "Slice":
            index = [slice(None)] * first.ndim
            for start, end, axis in zip(second, given[2], given[3], strict=True):
                index[axis] = slice(int(start), int(end))
            return [first[tuple(index)]]
        case "Split":
            return list(np.split(first, np.cumsum(second)[:-1], attributes["axis"])) if outputs > 1 else [first]
        case "Reshape":
            return [first.reshape([len(first) if n == 0 else int(n) for n in second])]
        case "Flatten":
            return [first.reshape(len(first), -1)]
        case "Squeeze":
            return [np.squeeze(first, tuple(second))]
        case "Unsqueeze":
            return [np.expand_dims(first, tuple(second))]
        case "Transpose":
            return [np.transpose(first, attributes["perm"])]
    raise AssertionError(operator)
