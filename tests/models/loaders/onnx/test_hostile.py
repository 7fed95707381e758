"""Hostile ONNX files: a clear error of ours, whatever is in them; nothing is run, nothing hangs, memory stays small."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lcifr.data import Encoding, Schema
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.loaders.onnx import runtime
from lcifr.models.loaders.onnx.reader import read_file, read_onnx
from tests.models.loaders.onnx import graphs
from tests.models.loaders.onnx.graphs import GraphBuilder
from tests.models.loaders.onnx.mutations import mutated

WIDTH = 3


def small() -> onnx.ModelProto:
    """A network with most things that a file can hold."""
    graph = GraphBuilder(WIDTH)
    rng = np.random.default_rng(0)
    hidden = graph.add("Gemm", "x", graph.numbers(rng.normal(size=(WIDTH, 4))), graph.numbers(rng.normal(size=4)))
    hidden = graph.add("Clip", graph.add("LeakyRelu", hidden, alpha=0.1), graph.numbers(-1.0), graph.numbers(3.0))
    hidden = graph.add(
        "Concat", hidden, graph.add("Slice", hidden, np.array([1]), np.array([3]), np.array([1])), axis=1
    )
    hidden = graph.add("Reshape", hidden, np.array([-1, 6]))
    score = graph.add("Sigmoid", graph.add("MatMul", hidden, graph.numbers(rng.normal(size=(6, 1)))))
    return graph.model(graph.add("Greater", score, graph.numbers(0.3)), TensorProto.BOOL)


PEOPLE = pd.DataFrame({"age": [20.0, 30.0, 45.0, 60.0], "job": ["a", "b", "a", "c"]})


def of_columns() -> bytes:
    """What skl2onnx makes of a pipeline on columns with names."""
    both = ColumnTransformer([("n", StandardScaler(), ["age"]), ("c", OneHotEncoder(), ["job"])])
    fitted = make_pipeline(both, LogisticRegression()).fit(PEOPLE, [0, 1, 0, 1])
    return bytes(to_onnx(fitted, PEOPLE[:1]).SerializeToString())


def read_columns(data: bytes) -> Any:
    return read_onnx(data).read_table(PEOPLE, Encoding.fit(PEOPLE, Schema.infer(PEOPLE)))


def read(data: bytes) -> Any:
    """All the way to the model on a table; the runtime stays out."""
    found = read_onnx(data, graphs.description(WIDTH))
    return found.read_table(None, graphs.encoding(WIDTH))


def test_the_file_that_is_mutated_below_can_be_read() -> None:
    assert read(small().SerializeToString()).model.rule.outputs == 1


def with_cycle(model: onnx.ModelProto) -> None:
    model.graph.node[0].input[0] = model.graph.node[2].output[0]


def with_itself(model: onnx.ModelProto) -> None:
    model.graph.node[1].input[0] = model.graph.node[1].output[0]


def with_external_data(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def with_huge_shape(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[:] = [2**40, 2**40]


def with_negative_shape(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[:] = [-3, -4]


def with_nan(model: onnx.ModelProto) -> None:
    weight = graphs.numpy_helper.to_array(model.graph.initializer[0]).copy()
    weight[0, 0] = np.nan
    model.graph.initializer[0].raw_data = weight.tobytes()


def with_infinity(model: onnx.ModelProto) -> None:
    weight = graphs.numpy_helper.to_array(model.graph.initializer[0]).copy()
    weight[0, 0] = np.inf
    model.graph.initializer[0].raw_data = weight.tobytes()


def with_subgraph(operator: str) -> Callable[[onnx.ModelProto], None]:
    def change(model: onnx.ModelProto) -> None:
        branch = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "b", [], [])
        model.graph.node.append(helper.make_node(operator, [], ["z"], body=branch))

    return change


def with_custom_domain(model: onnx.ModelProto) -> None:
    model.graph.node[0].domain = "com.example"


def with_function(model: onnx.ModelProto) -> None:
    model.functions.add().name = "Gemm"


def with_training(model: onnx.ModelProto) -> None:
    model.training_info.add()


def with_sparse_tensor(model: onnx.ModelProto) -> None:
    model.graph.sparse_initializer.add().dims[:] = [2**40]


def with_float16(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].data_type = TensorProto.FLOAT16


def with_unknown_version(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 999


def without_version(model: onnx.ModelProto) -> None:
    del model.opset_import[:]


def without_nodes(model: onnx.ModelProto) -> None:
    del model.graph.node[:]


def with_two_outputs_alike(model: onnx.ModelProto) -> None:
    model.graph.node[1].output[0] = model.graph.node[0].output[0]


def with_doubling(model: onnx.ModelProto) -> None:
    """Sixty nodes that ask for 2⁶⁰ numbers."""
    last = "x"
    del model.graph.node[:]
    for number in range(60):
        model.graph.node.append(helper.make_node("Concat", [last, last], [f"d{number}"], axis=1))
        last = f"d{number}"
    model.graph.node.append(helper.make_node("Greater", [last, "c0"], [model.graph.output[0].name]))


def with_doubled_constants(model: onnx.ModelProto) -> None:
    last = "c0"
    for number in range(60):
        model.graph.node.insert(number, helper.make_node("Concat", [last, last], [f"d{number}"], axis=1))
        last = f"d{number}"
    model.graph.node[60].input[1] = last


def with_text_weights(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.CopyFrom(helper.make_tensor(tensor.name, TensorProto.STRING, [3, 4], ["a"] * 12))


HOSTILE = [
    with_cycle, with_itself, with_external_data, with_huge_shape, with_negative_shape, with_nan, with_infinity,
    with_subgraph("If"), with_subgraph("Loop"), with_subgraph("Scan"), with_custom_domain, with_function, with_training,
    with_sparse_tensor, with_float16, with_unknown_version, without_version, without_nodes, with_two_outputs_alike,
    with_doubling, with_doubled_constants, with_text_weights,
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE)
def test_a_hostile_file_is_refused(change: Callable[[onnx.ModelProto], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_session", lambda data, output: pytest.fail("a refused file was run"))
    model = small()
    change(model)
    tracemalloc.start()
    try:
        with pytest.raises(NetworkError):
            read(model.SerializeToString())
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_many_wide_nodes_do_not_fill_the_memory() -> None:
    """Each of them makes matrices of a few million zeros; the file has a few thousand bytes."""
    graph = GraphBuilder(WIDTH)
    hidden = graph.add("Gather", graph.add("Relu", "x"), np.zeros(2000, np.int64), axis=1)
    for _ in range(200):
        hidden = graph.add("Abs", hidden)
    one = graph.add("Gather", hidden, np.array([0]), axis=1)
    data = graph.model(graph.add("Greater", one, graph.numbers(0.1)), TensorProto.BOOL).SerializeToString()
    tracemalloc.start()
    try:
        with pytest.raises(NetworkError, match="larger than"):
            read(data)
        assert tracemalloc.get_traced_memory()[1] < 500e6
    finally:
        tracemalloc.stop()


def test_external_data_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    with_external_data(model)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    opened = []
    monkeypatch.setattr("builtins.open", lambda name, *rest, **options: opened.append(name))
    with pytest.raises(NetworkError, match="not opened"):
        read_file(path)
    assert opened == []


def test_deep_messages_are_refused_by_the_parser() -> None:
    data = b""
    for _ in range(20_000):  # an attribute that holds a graph that holds a node that holds an attribute …
        data = b"\x2a" + _length(data) + data
    with pytest.raises(NetworkError, match="not an ONNX model"):
        read(b"\x3a" + _length(data) + data)


def _length(data: bytes) -> bytes:
    size, found = len(data), b""
    while size >= 128:
        found, size = found + bytes([size % 128 + 128]), size // 128
    return found + bytes([size])


def test_a_long_chain_of_nodes_does_not_hang() -> None:
    graph = GraphBuilder(WIDTH)
    last = "x"
    for _ in range(5_000):
        last = graph.add("Relu", last)
    began = time.process_time()
    one = graph.add("Gather", last, np.array([0]), axis=1)
    model = graph.model(graph.add("Greater", one, graph.numbers(0.1)), TensorProto.BOOL)
    with pytest.raises(NetworkError, match="layers deep"):
        read(model.SerializeToString())
    assert time.process_time() - began < 20


@pytest.mark.parametrize("content", [b"", b"\x00", b"not a model", b"\x08\x08\x12\x00", b"\xff" * 100])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(LcifrError, match="not an ONNX model"):
        read_file(path)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nobody.onnx"):
        with pytest.raises(LcifrError, match="no such file"):
            read_file(path)


def survives(numbers: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_session", lambda data, output: pytest.fail("a mutated file was run"))
    files = [(small().SerializeToString(), read), (of_columns(), read_columns)]
    refused = 0
    for number in numbers:
        began = time.process_time()
        data, reader = files[number % 2]
        try:
            reader(mutated(data, np.random.default_rng(number)))
        except LcifrError:  # and nothing else
            refused += 1
        assert time.process_time() - began < 5, number
    assert 0 < refused < len(numbers)  # some mutations only change a weight or a name


def test_mutated_files_are_read_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    survives(range(400), monkeypatch)


@pytest.mark.long
def test_ten_thousand_mutated_files_are_read_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    survives(range(400, 10_400), monkeypatch)
