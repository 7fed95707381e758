"""Export of models of this package to ONNX: encoding, networks and rule as a graph of standard operators.

The graph takes the table's own columns by their names, numbers as float64 and categories as texts, so that the caller
need not know how people are encoded. The encoding's steps are computed in their formats; the networks in
float32, unless float64 is asked for. A certificate in that arithmetic covers what a runtime says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding
from lcifr.data.files import write_atomic
from lcifr.data.program import Operation, Program, StepFormat
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.loaders.onnx.graph import DOUBLE, FLOAT, INT64, STRING, require_onnx
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule

OPSETS = (("", 17), ("ai.onnx.ml", 3))
IR_VERSION = 8  # of the file format: what onnxruntime 1.12 and later read
LATENT, SCORE, LABEL = "z", "score", "label"
_NAMES = {
    Operation.ADD: "Add",
    Operation.SUBTRACT: "Sub",
    Operation.MULTIPLY: "Mul",
    Operation.DIVIDE: "Div",
    Operation.CLIP: "Clip",
}
_FLOATS = {StepFormat.FLOAT32: (FLOAT, np.float32), StepFormat.FLOAT64: (DOUBLE, np.float64)}


@dataclass(frozen=True)
class ExportedRule:
    """How the outputs of the last network decide; without one they are latents.

    Parameters
    ----------
    labels : of the classes; None for 0, 1, … and for numbers.
    """

    rule: Rule
    labels: NDArray[Any] | None = None


def export_onnx(
    path: str | Path,
    encoding: Encoding,
    networks: Sequence[Network],
    decision: ExportedRule | None = None,
    arithmetic: Arithmetic = Arithmetic.FLOAT32,
) -> None:
    """Write an ONNX file with one input for each column; see :func:`to_onnx`."""
    write_atomic(path, to_onnx(encoding, networks, decision, arithmetic))


def to_onnx(
    encoding: Encoding,
    networks: Sequence[Network],
    decision: ExportedRule | None = None,
    arithmetic: Arithmetic = Arithmetic.FLOAT32,
) -> bytes:
    """The bytes of an ONNX file.

    Parameters
    ----------
    networks : applied in turn to encoded people: an encoder, and perhaps a head.
    decision : with one, the outputs are ``score`` and, for classes, ``label``; without, ``z``.

    Raises
    ------
    NetworkError
        For a weight that the arithmetic does not hold, and for ``exact``, in which no runtime computes.
    """
    if arithmetic is Arithmetic.EXACT:
        raise NetworkError("no runtime computes in exact arithmetic", fix="use float32 or float64")
    require_onnx("a model is written as ONNX by the onnx package")
    graph = _GraphWriter(arithmetic)
    hidden = graph.encode(encoding)
    for network in networks:
        hidden = graph.apply(network, hidden)
    outputs = [graph.renamed(hidden, LATENT if decision is None else SCORE, graph.number)]
    if decision is not None and decision.rule.kind is not Kind.NUMBER:
        outputs.append(graph.label(SCORE, decision))
    return graph.finished(outputs)


@dataclass
class _GraphWriter:
    """A graph while it is written: nodes, constants and inputs."""

    arithmetic: Arithmetic
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)

    @property
    def number(self) -> int:
        return FLOAT if self.arithmetic is Arithmetic.FLOAT32 else DOUBLE

    @property
    def dtype(self) -> Any:
        return np.float32 if self.arithmetic is Arithmetic.FLOAT32 else np.float64

    def add(self, operator: str, *reads: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(reads), [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, array: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def encode(self, encoding: Encoding) -> str:
        """Encoded people, as the networks take them."""
        from onnx import helper

        programs = dict(zip(encoding.schema.names_numeric, encoding.programs, strict=True))
        parts = []
        for name in encoding.schema.names:
            attribute = encoding.schema[name]
            kind = STRING if isinstance(attribute, Categorical) else DOUBLE
            self.inputs.append(helper.make_tensor_value_info(name, kind, [None, 1]))
            if isinstance(attribute, Categorical):
                parts.append(self._one_hot(encoding, attribute))
            else:
                parts.append(self.add("Cast", self._stepwise(name, programs[name]), to=self.number))
        return self.add("Concat", *parts, axis=1)

    def _one_hot(self, encoding: Encoding, attribute: Categorical) -> str:
        """A 1 among 0s; the runtime raises at any other text, and at a category outside."""
        known = zip(attribute.values, encoding.is_outside(attribute.name).tolist(), strict=True)
        if any(bad for _, bad in known):
            raise NetworkError(
                f'"{attribute.name}" has values at which the model raises', fix="export the model itself"
            )
        texts = list(attribute.values)
        coded = self.add("OneHotEncoder", attribute.name, domain="ai.onnx.ml", cats_strings=texts, zeros=0)
        flat = self.add("Reshape", coded, self.constant(np.array([-1, len(texts)], np.int64)))
        return self.add("Cast", flat, to=self.number)

    def _stepwise(self, name: str, program: Program) -> str:
        held = StepFormat.FLOAT64
        for step in program:
            number, dtype = _FLOATS[step.format]
            if step.format is not held:
                name, held = self.add("Cast", name, to=number), step.format
            constants = [self.constant(np.array(one, dtype)) for one in step.constants]
            name = name if step.operation is Operation.CAST else self.add(_NAMES[step.operation], name, *constants)
        return name

    def apply(self, network: Network, hidden: str) -> str:
        largest = FORMATS[self.arithmetic].largest
        for place, layer in enumerate(network.layers):
            if max(np.abs(layer.weight).max(), np.abs(layer.bias).max()) >= largest:
                raise NetworkError(f"layer {place} holds a weight that {self.arithmetic} does not", fix="use float64")
            weight, bias = (self.constant(part.astype(self.dtype)) for part in (layer.weight, layer.bias))
            hidden = self.add("Gemm", hidden, weight, bias, transB=1)
            hidden = self.add("Relu", hidden) if place < network.depth else hidden
        return hidden

    def label(self, score: str, decision: ExportedRule) -> Any:
        """The class by its label: of the score above the middle of its band, or of the largest."""
        rule = decision.rule
        labels = np.arange(rule.classes) if decision.labels is None else np.asarray(decision.labels)
        is_text = labels.dtype.kind not in "iub"
        array = labels.astype(str).astype(object) if is_text else labels.astype(np.int64)
        if rule.kind is Kind.SIGN:
            above = self.add("Greater", score, self.constant(np.array(rule.middle, self.dtype)))
            place = self.add("Reshape", self.add("Cast", above, to=INT64), self.constant(np.array([-1], np.int64)))
        else:
            place = self.add("ArgMax", score, axis=1, keepdims=0)
        named = self.add("Gather", self.constant(array), place, axis=0)
        return self.renamed(named, LABEL, STRING if is_text else INT64)

    def renamed(self, name: str, to: str, kind: int) -> Any:
        """An output of the graph."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [name], [to], name=f"{to}_output"))
        return helper.make_tensor_value_info(to, kind, None)

    def finished(self, outputs: list[Any]) -> bytes:
        from onnx import helper

        graph = helper.make_graph(self.nodes, "lcifr", self.inputs, outputs, self.constants)
        versions = [helper.make_opsetid(domain, version) for domain, version in OPSETS]
        model = helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION, producer_name="lcifr")
        return bytes(model.SerializeToString())
