"""What computes an ONNX file here: onnxruntime where it is installed, else the reference evaluator of onnx.

Only files that were read exactly get here: nothing of a refused file is ever run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Schema
from lcifr.data.frames import text_of
from lcifr.errors import NetworkError
from lcifr.models.columns import Column, ConstantColumn, NumberColumn
from lcifr.models.files.description import DescribedOutput, Meaning, ScoreComparison
from lcifr.models.onnx.graph import Graph, GraphTensor
from lcifr.models.onnx.tensors import AnyArray, is_text
from lcifr.models.onnx.values import Columns, Texts

AT_ONCE = 65_536
"""People that are given to the runtime together."""


def runtime_name() -> str:
    """What computes, and its version."""
    if find_spec("onnxruntime") is not None:
        return f"onnxruntime {version('onnxruntime')}"
    return f"the reference evaluator of onnx {version('onnx')}"


@lru_cache(maxsize=8)
def _session(data: bytes) -> Any:
    """Something with run(names, feeds)."""
    if find_spec("onnxruntime") is None:
        import onnx
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(onnx.ModelProto.FromString(data))
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


@dataclass(frozen=True)
class OnnxPredictor:
    """The runtime's own word about people of a pandas frame.

    Parameters
    ----------
    data : the file. bound : what each input of the graph is, as columns of the table; inputs that the decision does not
        need are fed with zeros and blanks.
    output : that decides, and what a description says about it.
    labels : of the classes; None for numbers. own_labels : as the file has them.
    """

    data: bytes = field(repr=False)
    graph: Graph = field(repr=False)
    schema: Schema = field(repr=False)
    bound: dict[str, Columns | Texts] = field(repr=False)
    output: str
    described: DescribedOutput | None
    labels: NDArray[Any] | None = field(repr=False, compare=False)
    own_labels: tuple[Any, ...] = ()

    def __call__(self, frame: Any) -> NDArray[Any]:
        """(people,) decisions."""
        rows = self.outputs(frame)
        rows = rows.reshape(len(rows), -1)
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
        score = rows[:, -1 if described.position is None else described.position].astype(np.float64)
        found = score > described.threshold
        return found if described.comparison is ScoreComparison.ABOVE else found | (score == described.threshold)

    def outputs(self, frame: Any, name: str | None = None) -> AnyArray:
        """(people, …) what the runtime says for the output that decides, or another one."""
        parts = [self._run(one, name or self.output) for one in self._chunks(frame)]
        return np.concatenate(parts) if parts else np.zeros((0, 1))

    def _chunks(self, frame: Any) -> Iterator[Any]:
        sizes = {one.people for one in self.graph.inputs} - {None}
        step = min((size for size in sizes if size), default=AT_ONCE)
        for start in range(0, len(frame), step):
            yield frame.iloc[start : start + step], step if sizes else None

    def _run(self, chunk: Any, name: str) -> AnyArray:
        people, wanted = chunk
        count = len(people)
        feeds = {one.name: _filled(self._feed(one, people), wanted) for one in self.graph.inputs}
        try:
            found = _session(self.data).run([name], feeds)[0]
        except Exception as problem:  # whatever a runtime raises, it is about this file
            raise NetworkError(f"{runtime_name()} does not run the model: {problem}", fix="export it again") from None
        if isinstance(found, list):  # of maps, as ZipMap makes them
            found = np.array([list(one.values()) for one in found])
        return np.asarray(found)[:count]

    def _feed(self, tensor: GraphTensor, people: Any) -> AnyArray:
        value, dtype = self.bound.get(tensor.name), tensor.dtype
        if value is None:
            shape = (len(people), *((1,) if tensor.shape is None else tensor.shape))
            return np.full(shape, "", dtype=object) if dtype is None or is_text(dtype) else np.zeros(shape, dtype)
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


def _filled(array: AnyArray, wanted: int | None) -> AnyArray:
    """As many people as the file wants at once; the first one again where there are fewer."""
    if wanted is None or len(array) == wanted:
        return array
    return np.concatenate([array, np.repeat(array[:1], wanted - len(array), axis=0)])
