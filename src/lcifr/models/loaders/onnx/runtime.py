"""Runs ONNX files for comparison: input tensors from table rows, the runtime, and decisions from its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Schema
from lcifr.data.frames import text_of
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.columns import Column, ConstantColumn, Dtype, NumberColumn
from lcifr.models.description import DescribedOutput, Meaning
from lcifr.models.loaders.dataflow import FlowVector, components
from lcifr.models.loaders.onnx.graph import DOUBLE, FLOAT, AnyArray, Graph, GraphTensor, is_text
from lcifr.models.loaders.onnx.values import Columns, Hidden, Texts, Value
from lcifr.models.source import LibraryAnswer


@dataclass(frozen=True)
class Feeds:
    """People of a pandas frame as tensors."""

    schema: Schema

    def tensor(self, value: Columns | Texts, people: Any) -> AnyArray:
        """(people, …) an input for all rows of the frame, in its own type."""
        if isinstance(value, Texts):
            texts = [self._looked_up(people, one.attribute, one.texts) for one in value.columns]
            return np.array(texts, dtype=object).T.reshape(len(people), *value.shape)
        columns = [self._numbers(people, one) for one in value.block.columns]
        return np.array(columns).T.reshape(len(people), *value.shape).astype(value.dtype)

    def _numbers(self, people: Any, column: Column) -> NDArray[np.float64]:
        if isinstance(column, ConstantColumn):
            return np.full(len(people), column.value)
        if isinstance(column, NumberColumn):
            return column.program(people[column.attribute].to_numpy(dtype=np.float64))
        return np.array(self._looked_up(people, column.attribute, column.values), dtype=np.float64)

    def _looked_up(self, people: Any, attribute: str, entries: tuple[Any, ...]) -> list[Any]:
        values = self.schema[attribute].values  # type: ignore[union-attr]
        known = dict(zip(values, entries, strict=True))
        return [known[text_of(one).strip()] for one in people[attribute]]


@dataclass(frozen=True)
class OutputDecisions:
    """Decisions from the numbers or classes of an output.

    Parameters
    ----------
    described : by a description; None where the model says so itself.
    labels : of the classes; None for numbers. own_labels : as the model has them.
    """

    described: DescribedOutput | None
    labels: NDArray[Any] | None = field(repr=False, compare=False)
    own_labels: tuple[Any, ...] = ()

    def __call__(self, outputs: AnyArray) -> NDArray[Any]:
        """(people, …) outputs to (people,) decisions; (people, outputs) where several numbers are the decision."""
        rows = outputs.reshape(len(outputs), -1)
        meaning = Meaning.CLASS if self.described is None else self.described.meaning
        if self.labels is None:
            return rows[:, 0] if rows.shape[1] == 1 else rows
        if meaning is Meaning.CLASS:
            named = dict(zip(self.own_labels, self.labels.tolist(), strict=True))
            return np.asarray([named[one] for one in rows[:, 0].tolist()])
        if meaning is Meaning.SCORES:
            return np.asarray(self.labels[rows.argmax(1)])
        return np.asarray(self.labels[self._compared(rows).astype(np.int64)])

    def _compared(self, rows: AnyArray) -> NDArray[np.bool_]:
        described = self.described
        assert described is not None
        return described.is_second(rows[:, -1 if described.position is None else described.position])


# What computes an ONNX file here: onnxruntime where it is installed, else the reference evaluator of onnx.
#
# Only files that were read exactly get here: nothing of a refused file is ever run.

AT_ONCE = 65_536
"""People that are given to the runtime together."""


def runtime_name() -> str:
    """The runtime and its version."""
    if find_spec("onnxruntime") is not None:
        return f"onnxruntime {version('onnxruntime')}"
    return f"the reference evaluator of onnx {version('onnx')}"


@lru_cache(maxsize=8)
def _session(data: bytes, output: str) -> Any:
    """Something with run(names, feeds)."""
    if find_spec("onnxruntime") is None:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(_without_other_outputs(data, output))
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _without_other_outputs(data: bytes, output: str) -> Any:
    """The graph as far as one output needs it: the reference evaluator does not know every operator (ZipMap)."""
    import onnx

    model = onnx.ModelProto.FromString(data)
    wanted, kept = {output}, []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            wanted |= set(node.input)
            kept.append(node)
    outputs = [one for one in model.graph.output if one.name == output]
    for field_, found in ((model.graph.node, kept[::-1]), (model.graph.output, outputs)):
        copies = [type(one).FromString(one.SerializeToString()) for one in found]
        del field_[:]
        field_.extend(copies)
    return model


@dataclass(frozen=True)
class OnnxPredictor:
    """The runtime's own decisions for the rows of a pandas frame.

    Parameters
    ----------
    data : the file. bound : what each input of the graph is, as columns of the table; inputs that the decision does not
        need are fed with zeros and blanks.
    output : that decides. decides : what its numbers mean.
    """

    data: bytes = field(repr=False)
    graph: Graph = field(repr=False)
    feeds: Feeds = field(repr=False)
    bound: dict[str, Columns | Texts] = field(repr=False)
    output: str
    decides: OutputDecisions

    def __call__(self, frame: Any) -> NDArray[Any]:
        """(people,) decisions."""
        return self.decides(self.outputs(frame))

    def outputs(self, frame: Any, name: str | None = None) -> AnyArray:
        """(people, …) what the runtime says for the output that decides, or another one."""
        sizes = {one.people for one in self.graph.inputs} - {None}
        step = min((size for size in sizes if size), default=AT_ONCE)
        parts = [
            self._run(frame.iloc[start : start + step], step if sizes else None, name or self.output)
            for start in range(0, len(frame), step)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, 1))

    def _run(self, people: Any, wanted: int | None, name: str) -> AnyArray:
        feeds = {one.name: _filled(self._feed(one, people), wanted) for one in self.graph.inputs}
        try:
            found = _session(self.data, name).run([name], feeds)[0]
        except Exception as problem:  # whatever a runtime raises, it is about this file
            raise NetworkError(f"{runtime_name()} does not run the model: {problem}", fix="export it again") from None
        if isinstance(found, list):  # of maps, as ZipMap makes them, in an order of their own
            labels = self._labels_of_maps(name)
            found = np.array([[one[label] for label in labels] for one in found])
        return np.asarray(found)[: len(people)]

    def _labels_of_maps(self, name: str) -> tuple[Any, ...]:
        maker = next(node for node in self.graph.nodes if name in node.outputs)
        lists = (maker.attributes.get(f"classlabels_{kind}") for kind in ("int64s", "strings"))
        return next(one for one in lists if isinstance(one, tuple) and one)

    def _feed(self, tensor: GraphTensor, people: Any) -> AnyArray:
        if tensor.name in self.bound:
            return self.feeds.tensor(self.bound[tensor.name], people)
        shape = (len(people), *((1,) if tensor.shape is None else tensor.shape))
        blank = tensor.dtype is None or is_text(tensor.dtype)
        return np.full(shape, "", dtype=object) if blank else np.zeros(shape, tensor.dtype)


def _filled(array: AnyArray, wanted: int | None) -> AnyArray:
    """As many rows as the file takes at once, filled up with the first one."""
    if wanted is None or len(array) == wanted:
        return array
    return np.concatenate([array, np.repeat(array[:1], wanted - len(array), axis=0)])


@dataclass(frozen=True)
class RuntimeScores:
    """The runtime's own decisions and numbers, where a tensor of the file holds those of the function.

    Parameters
    ----------
    watched : the same file with one more output, the tensor called ``name``.
    places, signs : of each output in a person's row of it, and 1 or −1.
    """

    predictor: OnnxPredictor
    watched: OnnxPredictor
    name: str
    places: tuple[int, ...]
    signs: tuple[int, ...]

    def __call__(self, frame: Any) -> LibraryAnswer:
        rows = self.watched.outputs(frame, self.name)
        chosen = rows.reshape(len(rows), -1)[:, list(self.places)].astype(np.float64)
        return LibraryAnswer(self.predictor(frame), chosen * np.array(self.signs))


def runtime_scores(
    predictor: OnnxPredictor, values: Mapping[str, Value], scores: FlowVector, arithmetic: Arithmetic
) -> RuntimeScores | None:
    """The runtime's own outputs of the function; None where no tensor of the file holds them.

    Trees in float64 decide before their sums are rounded to the float32 tensor of the file, which is less precise.
    """
    wanted = components(scores)
    for name, value in values.items():
        if isinstance(value, Hidden) and (value.dtype == np.float64 or arithmetic is Arithmetic.FLOAT32):
            there = {(base, place): (i, sign) for i, (base, place, sign) in enumerate(components(value.vector))}
            if all((base, place) in there for base, place, _ in wanted):
                found = [(there[base, place][0], sign * there[base, place][1]) for base, place, sign in wanted]
                data = _with_output(predictor.data, name, value.dtype)
                places, signs = zip(*found, strict=True)
                return RuntimeScores(predictor, replace(predictor, data=data), name, places, signs)
    return None


def _with_output(data: bytes, name: str, dtype: Dtype) -> bytes:
    """The file with one more output."""
    import onnx

    model = onnx.ModelProto.FromString(data)
    if name not in {one.name for one in model.graph.output}:
        kind = FLOAT if dtype == np.float32 else DOUBLE
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, None))
    return bytes(model.SerializeToString())
