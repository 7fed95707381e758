"""Operators of ONNX: read exactly as they are defined, and as near to onnxruntime as the rounding bound says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loaders.onnx.reader import read_onnx
from lcifr.models.network import DeployedNetworks, Stage
from lcifr.models.source import TableModel
from tests.models.loaders.onnx import graphs
from tests.models.loaders.onnx.graphs import GraphBuilder

WIDTH = 4
Make = Callable[[GraphBuilder, str], str]


def mixed(graph: GraphBuilder, seed: int = 0, rows: int = WIDTH) -> str:
    """A first matrix: what follows is behind the encoding."""
    rng = np.random.default_rng(seed)
    return graph.add(
        "Gemm", "x", graph.numbers(rng.normal(size=(rows, WIDTH))), graph.numbers(rng.normal(size=rows)), transB=1
    )


def halves(graph: GraphBuilder, hidden: str) -> str:
    first = graph.add("Split", hidden, np.array([2, 2]), axis=1, outputs=2)
    return graph.add("Add", first, f"{first}_1")


CONSTANT = [0.3, -1.7, 2.5, 0.01]
EIGHT = np.arange(8)[:, None] / 3
SQUARE = np.array([0, 2, 2])
THIRDS = np.ones((WIDTH, 2)) / 3
BEHIND: dict[str, Make] = {
    "add": lambda g, h: g.add("Add", h, g.numbers(CONSTANT)),
    "add twice": lambda g, h: g.add("Add", g.add("Add", h, g.numbers(CONSTANT)), g.numbers(0.7)),
    "subtract": lambda g, h: g.add("Sub", h, g.numbers(CONSTANT)),
    "subtract from": lambda g, h: g.add("Sub", g.numbers(CONSTANT), h),
    "multiply": lambda g, h: g.add("Mul", g.numbers(CONSTANT), h),
    "multiply by a column": lambda g, h: g.add("Mul", g.add("Gather", h, np.array([2]), axis=1), g.numbers(CONSTANT)),
    "divide by powers of 2": lambda g, h: g.add("Div", h, g.numbers([2.0, -4.0, 0.5, 1.0])),
    "negate": lambda g, h: g.add("Neg", h),
    "sum": lambda g, h: g.add("Sum", h, g.add("Relu", h), g.numbers(CONSTANT)),
    "matmul": lambda g, h: g.add("MatMul", h, g.numbers(np.arange(8).reshape(4, 2) / 7)),
    "matmul and bias": lambda g, h: g.add("Add", g.add("MatMul", h, g.numbers(THIRDS)), g.numbers([[0.1, 2]])),
    "matmul of a vector": lambda g, h: g.add("MatMul", h, g.numbers(CONSTANT)),
    "scaled matmul": lambda g, h: g.add("Mul", g.add("MatMul", h, g.numbers(THIRDS)), g.numbers(0.3)),
    "gemm with powers of 2": lambda g, h: g.add("Gemm", h, g.numbers(THIRDS), g.numbers([0.1]), alpha=0.5, beta=4.0),
    "relu": lambda g, h: g.add("Relu", h),
    "leaky": lambda g, h: g.add("LeakyRelu", h, alpha=0.1),
    "prelu": lambda g, h: g.add("PRelu", h, g.numbers([0.1, 0.2, 0.3, -0.4])),
    "abs": lambda g, h: g.add("Abs", h),
    "clip": lambda g, h: g.add("Clip", h, g.numbers(-0.3), g.numbers(0.9)),
    "clip like relu6": lambda g, h: g.add("Clip", h, g.numbers(0.0), g.numbers(6.0)),
    "clip below": lambda g, h: g.add("Clip", h, g.numbers(-0.3)),
    "clip above": lambda g, h: g.add("Clip", h, "", g.numbers(0.9)),
    "largest": lambda g, h: g.add("Max", h, g.add("Neg", g.add("Relu", h)), g.numbers(CONSTANT)),
    "smallest": lambda g, h: g.add("Min", h, g.add("Abs", h), g.numbers(-0.1)),
    "join": lambda g, h: g.add("Concat", h, g.add("Relu", h), axis=1),
    "gather": lambda g, h: g.add("Gather", h, np.array([3, 0, -1]), axis=1),
    "slice": lambda g, h: g.add("Slice", h, np.array([1]), np.array([3]), np.array([1])),
    "split": lambda g, h: halves(g, h),
    "reshape": lambda g, h: g.add("Reshape", g.add("Reshape", h, np.array([-1, 2, 2])), np.array([0, 4])),
    "flatten": lambda g, h: g.add("Flatten", g.add("Reshape", h, np.array([0, 2, 2])), axis=1),
    "squeeze": lambda g, h: g.add("Squeeze", g.add("Unsqueeze", h, np.array([1])), np.array([1])),
    "transpose": lambda g, h: g.add("Flatten", g.add("Transpose", g.add("Reshape", h, SQUARE), perm=[0, 2, 1])),
    "dropout": lambda g, h: g.add("Dropout", g.add("Identity", h)),
    "residual": lambda g, h: g.add("Add", h, g.add("Relu", g.add("Gemm", h, g.numbers(np.eye(4) / 3)))),
    "twice the same": lambda g, h: g.add("Add", h, h),
    "with its relu": lambda g, h: g.add("Gemm", g.add("Concat", h, g.add("Relu", h), axis=1), g.numbers(EIGHT)),
}  # fmt: skip


def read(graph: GraphBuilder, output: str, people: int | None = None) -> tuple[Any, TableModel]:
    model = graph.model(output, people=people)
    described = graphs.description(WIDTH, graphs.NUMBERS)
    return model, read_onnx(model.SerializeToString(), described).read_table(None, graphs.encoding(WIDTH))


def bound(model: TableModel, encoded: Any, arithmetic: Arithmetic) -> Any:
    stages = [Stage(factor, arithmetic) for factor in model.factors]  # type: ignore[arg-type]
    return DeployedNetworks.on_people(model.encoding, *stages).error_at(encoded)


def rows_of(dtype: Any, seed: int = 1, people: int = 60) -> Any:
    rng = np.random.default_rng(seed)
    small = rng.normal(size=(people, WIDTH)) * rng.choice([1e-3, 1.0, 50.0], size=(people, 1))
    return np.concatenate([np.zeros((1, WIDTH)), np.eye(WIDTH), small]).astype(dtype)


@pytest.mark.parametrize("name", BEHIND)
def test_an_operator_is_read_as_it_is_defined(name: str) -> None:
    graph = GraphBuilder(WIDTH)
    model, read_model = read(graph, BEHIND[name](graph, mixed(graph)))
    rows = rows_of(np.float32, people=8)
    assert [list(one) for one in graphs.exactly(read_model, rows.astype(np.float64))] == graphs.interpreted(model, rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BEHIND)
def test_onnxruntime_is_within_the_rounding_bound(name: str, dtype: Any) -> None:
    graph = GraphBuilder(WIDTH, np.dtype(dtype))
    model, read_model = read(graph, BEHIND[name](graph, mixed(graph)))
    # onnxruntime makes a float32 of a scale beside a MatMul, even in a graph of float64
    arithmetic = Arithmetic.FLOAT32 if dtype is np.float32 or name == "scaled matmul" else Arithmetic.FLOAT64
    assert {factor.native for factor in read_model.factors} == {arithmetic}  # type: ignore[attr-defined]
    rows = rows_of(dtype)
    encoded = read_model.encoding.scale(rows.astype(np.float64))
    said = graphs.run(model, rows).reshape(len(rows), -1)
    expected, allowed = graphs.exactly(read_model, encoded), bound(read_model, encoded, arithmetic)
    for found, exact, room in zip(said.tolist(), expected, allowed.tolist(), strict=True):
        assert all(abs(f - float(e)) <= r for f, e, r in zip(found, exact, room, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(set(BEHIND) - {"matmul of a vector"})), min_size=2, max_size=4), st.integers(0, 9)
)
def test_any_chain_of_operators_is_read_exactly(chain: list[str], seed: int) -> None:
    graph = GraphBuilder(WIDTH)
    hidden = mixed(graph, seed)
    for number, name in enumerate(chain):
        hidden = BEHIND[name](graph, hidden)
        graph_width = _width(graph, hidden)
        weight = np.random.default_rng(number).normal(size=(graph_width, WIDTH))
        hidden = graph.add("MatMul", hidden, graph.numbers(weight))
    model, read_model = read(graph, hidden)
    rows = rows_of(np.float32, seed, people=4)
    assert [list(one) for one in graphs.exactly(read_model, rows.astype(np.float64))] == graphs.interpreted(model, rows)


def _width(graph: GraphBuilder, name: str) -> int:
    return len(graphs.interpreted(graph.model(name), np.zeros((1, WIDTH), np.float32))[0])


COLUMNWISE: dict[str, Make] = {
    "subtract, divide": lambda g, x: g.add("Div", g.add("Sub", x, g.numbers(CONSTANT)), g.numbers([3, 0.7, -9, 1.1])),
    "multiply, add": lambda g, x: g.add("Add", g.add("Mul", x, g.numbers(CONSTANT)), g.numbers(0.1)),
    "from a constant": lambda g, x: g.add("Sub", g.numbers(CONSTANT), x),
    "clip": lambda g, x: g.add("Clip", g.add("Mul", x, g.numbers(0.3)), g.numbers(-1.0), g.numbers(2.0)),
    "negate": lambda g, x: g.add("Neg", g.add("Div", x, g.numbers(0.3))),
    "scaler": lambda g, x: g.add("Scaler", x, domain="ai.onnx.ml", offset=CONSTANT, scale=[0.1, 3.0, -1.0, 7.0]),
    "cast": lambda g, x: g.add("Cast", g.add("Div", x, g.numbers(3.0)), to=1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", COLUMNWISE)
def test_steps_on_columns_are_the_runtimes_own_bits(name: str, dtype: Any) -> None:
    """Also at values one unit in the last place beside each other: every step rounds where onnxruntime rounds."""
    graph = GraphBuilder(WIDTH, np.dtype(dtype))
    output = COLUMNWISE[name](graph, "x")
    kind = 1 if name in ("scaler", "cast") else None
    model = graph.model(output, kind)
    described = graphs.description(WIDTH, graphs.NUMBERS)
    read_model = read_onnx(model.SerializeToString(), described).read_table(None, graphs.encoding(WIDTH))
    start = rows_of(np.float64, people=300)
    table = np.concatenate([start, np.nextafter(start, np.inf), np.nextafter(start.astype(dtype), dtype(np.inf))])
    assert np.array_equal(read_model.encoding.scale(table), graphs.run(model, table.astype(dtype)).astype(np.float64))


def test_a_division_behind_a_matrix_is_named_and_covered_in_floats() -> None:
    graph = GraphBuilder(WIDTH)
    model, read_model = read(graph, graph.add("Div", mixed(graph), graph.numbers(CONSTANT)))
    assert any("Div" in factor.divides for factor in read_model.factors)  # type: ignore[attr-defined]
    rows = rows_of(np.float32)
    said, exact = (
        graphs.run(model, rows),
        np.array(graphs.exactly(read_model, rows.astype(np.float64)), dtype=np.float64),
    )
    assert (np.abs(said - exact) <= bound(read_model, rows.astype(np.float64), Arithmetic.FLOAT32)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("operator", ["Mul", "Div"])
def test_a_scale_before_a_matrix_is_covered_where_the_runtime_merges_the_two(operator: str, dtype: Any) -> None:
    """The program rounds x · 0.3; onnxruntime multiplies the product with the matrix instead."""
    graph = GraphBuilder(WIDTH, np.dtype(dtype))
    scaled = graph.add(operator, "x", graph.numbers(0.3))
    model, read_model = read(graph, graph.add("MatMul", scaled, graph.numbers(np.ones((WIDTH, 2)) / 7)))
    rows = rows_of(dtype, people=300)
    encoded = read_model.encoding.scale(rows.astype(np.float64))
    exact = np.array(graphs.exactly(read_model, encoded), dtype=np.float64)
    assert (np.abs(graphs.run(model, rows) - exact) <= bound(read_model, encoded, Arithmetic.FLOAT32)).all()


@pytest.mark.parametrize("first", ["Gemm", "MatMul"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_normalisation_is_within_the_bound_however_it_is_computed(first: str, dtype: Any) -> None:
    """onnxruntime multiplies it into the weights of a MatMul; means near the values leave nothing but rounding."""
    rng = np.random.default_rng(3)
    graph = GraphBuilder(WIDTH, np.dtype(dtype))
    hidden = graph.add(first, "x", graph.numbers(rng.normal(size=(WIDTH, 2)) * 100))
    scale, shift, mean, variance = (
        rng.normal(size=2),
        rng.normal(size=2),
        np.array([250.0, -3000.0]),
        np.array([1e-6, 40.0]),
    )
    constants = [graph.numbers(one) for one in (scale, shift, mean, variance)]
    model, read_model = read(graph, graph.add("BatchNormalization", hidden, *constants, epsilon=1e-5))
    rows = rows_of(dtype, people=400)
    encoded = rows.astype(np.float64)
    arithmetic = Arithmetic.FLOAT32 if dtype is np.float32 else Arithmetic.FLOAT64
    said = graphs.run(model, rows)
    numbers = [graph.numbers(one).astype(np.longdouble) for one in (scale, shift, mean, variance)]
    weight = graphs.numpy_helper.to_array(model.graph.initializer[0]).astype(np.longdouble)
    true = (
        numbers[0]
        * (rows.astype(np.longdouble) @ weight - numbers[2])
        / np.sqrt(numbers[3] + np.longdouble(np.float32(1e-5)))
        + numbers[1]
    )
    exact = np.array(graphs.exactly(read_model, encoded), dtype=np.float64)
    allowed = bound(read_model, encoded, arithmetic)
    assert (np.abs(said - exact) <= allowed).all()
    assert (np.abs(true - exact) <= allowed).all()


REFUSED: dict[str, tuple[Make, str]] = {
    "product": (lambda g, h: g.add("Mul", h, h), "not piecewise linear"),
    "constant over a value": (lambda g, h: g.add("Div", g.numbers(2.0), h), "not piecewise linear"),
    "tanh": (lambda g, h: g.add("Tanh", h), "neither affine or piecewise linear"),
    "sigmoid inside": (lambda g, h: g.add("Relu", g.add("Sigmoid", h)), "not piecewise linear"),
    "people joined": (lambda g, h: g.add("Concat", h, h, axis=0), "rows"),
    "people turned": (lambda g, h: g.add("Transpose", h, perm=[1, 0]), "rows"),
    "people mixed": (lambda g, h: g.add("Reshape", h, np.array([-1, 2])), "mixes rows"),
    "person from the right": (lambda g, h: g.add("MatMul", g.numbers(np.ones((4, 4))), h), "mixes rows"),
    "clip to infinity": (lambda g, h: g.add("Clip", h, g.numbers(np.inf)), "clips everyone to one number"),
    "clip below all": (lambda g, h: g.add("Clip", h, "", g.numbers(-np.inf)), "clips everyone to one number"),
    "division by 0": (lambda g, h: g.add("Div", h, g.numbers(0.0)), "division by 0"),
    "odd alpha": (lambda g, h: g.add("Gemm", h, g.numbers(np.ones((4, 1))), alpha=0.3), "not a power of 2"),
    "training": (lambda g, h: g.add("Dropout", h, g.numbers(0.5), np.array(True)), "training mode"),
    "to whole numbers": (lambda g, h: g.add("Cast", h, to=7), "not piecewise linear"),
    "tree": (lambda g, h: g.add("TreeEnsembleRegressor", h, domain="ai.onnx.ml"), "TreeEnsembleRegressor"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_exactly_representable_is_refused_by_its_node(name: str) -> None:
    make, words = REFUSED[name]
    graph = GraphBuilder(WIDTH)
    output = make(graph, mixed(graph))
    with pytest.raises(NetworkError, match=words) as refused:
        read(graph, output)
    assert "node " in str(refused.value)


@pytest.mark.parametrize("operator", ["Mul", "Div"])
def test_a_subnormal_factor_of_a_column_is_refused_by_its_node(operator: str) -> None:
    """Machines that flush read it as 0; behind a cast to float64, the bound of that was NaN."""
    graph = GraphBuilder(WIDTH)
    hidden = graph.add("Cast", graph.add(operator, "x", graph.numbers(1e-40)), to=TensorProto.DOUBLE)
    weight = np.array([[1.0], [0.0], [2.0], [0.0]])
    with pytest.raises(NetworkError, match=f'node "v0" .{operator}.*9.99995e-41 is subnormal in float32'):
        read(graph, graph.add("MatMul", hidden, weight))


def test_a_number_computed_in_two_ways_is_refused() -> None:
    graph = GraphBuilder(WIDTH)
    other = graph.add("Mul", "x", graph.numbers(0.3))
    with pytest.raises(NetworkError, match="two ways"):
        read(graph, graph.add("Gemm", graph.add("Concat", "x", other, axis=1), graph.numbers(np.ones((8, 1)))))
