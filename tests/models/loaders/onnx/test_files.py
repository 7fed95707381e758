"""ONNX files from end to end: loaded by their content, outlined, decided by a description, and audited."""

from __future__ import annotations

import itertools
import pickle
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from onnx import TensorProto, helper

import lcifr
from lcifr.certification.subject import Subject
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.description import (
    DescribedInput,
    DescribedOutput,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
    UnknownValue,
)
from lcifr.models.loaders.onnx.reader import read_onnx
from lcifr.models.loading import load_file
from lcifr.models.rule import ASSUMED_ROUNDOFFS
from lcifr.phi import Similarity
from tests.models.loaders.onnx import graphs
from tests.models.loaders.onnx.graphs import GraphBuilder, description, encoding, names

TABLE = pd.DataFrame({"age": [20.0, 31.0, 45.0, 64.0], "sex": ["f", "m", "f", "m"], "job": ["a", "b", "c", "a"]})
INPUTS = (
    DescribedInput(InputKind.NUMBER, "age"),
    DescribedInput(InputKind.ONE_HOT, "sex", values=("m", "f")),
    DescribedInput(InputKind.CODE, "job", codes=(("a", 2.0), ("b", 0.0), ("c", -1.0))),
)
WEIGHTS = np.array([[0.1, 2.0, -1.0, 0.7], [-0.2, 0.3, 0.1, 1.5]], np.float32)
BIAS = np.array([-3.5, 4.0], np.float32)


def scores(ending: str | None = None, outputs: int = 1, kind: int | None = None, **attributes: Any) -> bytes:
    graph = GraphBuilder(4)
    last = graph.add("Gemm", "x", WEIGHTS[:outputs], BIAS[:outputs], transB=1)
    last = graph.add(ending, last, **attributes) if ending else last
    return bytes(graph.model(last, kind).SerializeToString())


def read(data: bytes, output: DescribedOutput | None, inputs: tuple[DescribedInput, ...] = INPUTS) -> Any:
    encoding = Encoding.fit(TABLE, Schema.infer(TABLE))
    return read_onnx(data, ModelDescription(inputs, output)).read_table(TABLE, encoding)


def by_hand() -> np.ndarray:
    codes = {"a": 2.0, "b": 0.0, "c": -1.0}
    rows = [[age, sex == "m", sex == "f", codes[job]] for age, sex, job in TABLE.itertuples(index=False)]
    return np.array(rows, dtype=np.float64) @ WEIGHTS.T.astype(np.float64) + BIAS


def test_a_score_is_compared_with_its_threshold() -> None:
    described = DescribedOutput(Meaning.SCORE, classes=("no", "yes"), threshold=1.25)
    model = read(scores(), described)
    assert model.model.rule.band == (1.25, 1.25)
    expected = np.where(by_hand()[:, 0] > 1.25, "yes", "no")
    assert list(model.predict(TABLE)) == list(expected)
    assert list(model.model.predict(model.inputs(model.encoding.encode(TABLE)))) == list(expected)


def test_a_threshold_that_float32_does_not_hold_is_a_band_of_both_numbers() -> None:
    rule = read(scores(), DescribedOutput(Meaning.SCORE, threshold=0.3)).model.rule
    assert rule.band == (0.3, float(np.float32(0.3)))


@pytest.mark.parametrize("threshold", [0.5, 0.01, 0.9])
def test_a_probability_is_a_band_of_margins(threshold: float) -> None:
    described = DescribedOutput(Meaning.PROBABILITY, threshold=threshold, comparison=ScoreComparison.AT_LEAST)
    model = read(scores("Sigmoid"), described)
    lower, upper = model.model.rule.band
    off = ASSUMED_ROUNDOFFS * 2.0**-24
    ends = sorted((threshold, float(np.float32(threshold))))  # a runtime may round the threshold first
    assert 1 / (1 + np.exp(-lower)) == pytest.approx(ends[0] - off, abs=1e-9)
    assert 1 / (1 + np.exp(-upper)) == pytest.approx(ends[1] + off, abs=1e-9)


def test_float32_sigmoids_around_a_half_are_within_the_band() -> None:
    """sigmoid(1.2e-7) is not above 0.5 in float32: where runtime and margin disagree, the decision is unknown."""
    graph = GraphBuilder(1)
    probability = graph.add("Sigmoid", graph.add("Gemm", "x", graph.numbers([[1.0]])))
    model = graph.model(graph.add("Greater", probability, graph.numbers(0.5)), TensorProto.BOOL)
    read_model = read_onnx(model.SerializeToString(), graphs.description(1)).read_table(None, graphs.encoding(1))
    margins = np.linspace(-4e-6, 4e-6, 20_001, dtype=np.float32)[:, None]
    said, (lower, upper) = graphs.run(model, margins)[:, 0], read_model.model.rule.band
    wrong = said != (margins[:, 0] > 0)
    assert wrong.any()
    assert (margins[wrong] > lower).all()
    assert (margins[wrong] < upper).all()


@pytest.mark.parametrize("ending", [None, "Softmax", "LogSoftmax"])
def test_the_first_of_the_largest_decides(ending: str | None) -> None:
    model = read(scores(ending, 2), DescribedOutput(Meaning.SCORES, classes=("low", "high")))
    expected = np.array(["low", "high"])[by_hand().argmax(1)]
    assert list(model.predict(TABLE)) == list(expected)
    assert list(model.model.predict(model.inputs(model.encoding.encode(TABLE)))) == list(expected)
    assert (model.model.rule.band[1] > 0) == (ending is not None)


def test_one_probability_of_two_is_a_difference_of_scores() -> None:
    model = read(scores("Softmax", 2), DescribedOutput(Meaning.PROBABILITY, position=1, threshold=0.4))
    probability = 1 / (1 + np.exp(by_hand()[:, 0] - by_hand()[:, 1]))
    assert list(model.predict(TABLE)) == list((probability > 0.4).astype(int))
    assert list(model.model.predict(model.inputs(model.encoding.encode(TABLE)))) == list(
        (probability > 0.4).astype(int)
    )


def test_the_class_of_a_graph_may_be_renamed() -> None:
    data = scores("ArgMax", 2, TensorProto.INT64, axis=1, keepdims=0)
    model = read(data, DescribedOutput(Meaning.CLASS, classes=("low", "high")))
    assert list(model.predict(TABLE)) == list(np.array(["low", "high"])[by_hand().argmax(1)])


def test_probabilities_by_name_keep_the_order_of_their_classes() -> None:
    """A map of onnxruntime is sorted by its keys; position 1 is the second class of the graph all the same."""
    graph = GraphBuilder(4)
    last = graph.add("Softmax", graph.add("Gemm", "x", WEIGHTS, BIAS, transB=1))
    last = graph.add("ZipMap", last, domain="ai.onnx.ml", classlabels_strings=["yes", "no"])
    model = graph.model(last)
    value = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    model.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(value))
    described = DescribedOutput(Meaning.PROBABILITY, position=1, threshold=0.4, classes=("yes", "no"))
    read_model = read(model.SerializeToString(), described)
    probability = 1 / (1 + np.exp(by_hand()[:, 0] - by_hand()[:, 1]))
    assert list(read_model.predict(TABLE)) == list(np.where(probability > 0.4, "no", "yes"))


@pytest.mark.parametrize(
    ("data", "output", "words"),
    [
        (scores(outputs=2), None, "nothing says what they decide"),
        (scores("Sigmoid"), None, "nothing says what they decide"),
        (scores(), DescribedOutput(Meaning.SCORE, position=3), "position = 3"),
        (scores(), DescribedOutput(Meaning.SCORE, name="scores"), "no output"),
        (scores("Sigmoid"), DescribedOutput(Meaning.NUMBER), "not piecewise linear"),
        (scores("Sigmoid", 2), DescribedOutput(Meaning.SCORES), "rounded to ties"),
        (scores(), DescribedOutput(Meaning.SCORE, classes=("a", "b", "c")), "two classes"),
    ],
)
def test_what_a_description_leaves_open_or_contradicts_is_refused(
    data: bytes, output: DescribedOutput | None, words: str
) -> None:
    with pytest.raises(NetworkError, match=words):
        read(data, output)


def test_a_tensor_without_a_description_asks_for_one() -> None:
    with pytest.raises(NetworkError, match=r"not a column of the table(.|\n)*lcifr init people.csv --model"):
        read_onnx(scores()).read_table(TABLE, Encoding.fit(TABLE, Schema.infer(TABLE)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (INPUTS[:2], "takes 4 numbers, its entries feed 3"),
        ((*INPUTS[:2], DescribedInput(InputKind.CODE, "jobs", codes=(("a", 1.0),))), "no column"),
        ((*INPUTS[:2], DescribedInput(InputKind.NUMBER, "job", input="y")), "no input"),
        ((DescribedInput(InputKind.ONE_HOT, "age", values=("1",)), *INPUTS[1:]), "is a number in the schema"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(change: tuple[DescribedInput, ...], words: str) -> None:
    with pytest.raises(NetworkError, match=words):
        read(scores(), DescribedOutput(Meaning.SCORE), change)


@pytest.mark.parametrize("unknown", UnknownValue)
def test_values_without_an_input_are_outside_or_zeros(unknown: UnknownValue) -> None:
    one_hot = DescribedInput(InputKind.ONE_HOT, "job", values=("a", "b"), unknown=unknown)
    inputs = (*INPUTS[:1], one_hot, DescribedInput(InputKind.CONSTANT, value=1.0))
    model = read(scores(), DescribedOutput(Meaning.SCORE), inputs)
    assert {str(one) for one in model.encoding.outside} == ({"job=c"} if unknown is UnknownValue.ERROR else set())


def test_a_file_with_a_fixed_number_of_people_is_run_in_such_parts() -> None:
    graph = GraphBuilder(4)
    model = graph.model(graph.add("Gemm", "x", WEIGHTS[:1], BIAS[:1], transB=1), people=3)
    read_model = read(model.SerializeToString(), DescribedOutput(Meaning.NUMBER))
    assert read_model.predict(TABLE) == pytest.approx(by_hand()[:, 0], rel=1e-5)


def test_a_read_model_travels_to_other_processes() -> None:
    model = read(scores(), DescribedOutput(Meaning.SCORE))
    assert list(pickle.loads(pickle.dumps(model)).predict(TABLE)) == list(model.predict(TABLE))  # noqa: S301


def test_a_file_is_loaded_and_outlined(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(scores("Sigmoid"))
    loaded = load_file(path)
    words = " ".join(loaded.outline().sentences())
    assert "float32" in words
    assert '"x" (4 numbers' in words
    described = load_file(path, ModelDescription(INPUTS, DescribedOutput(Meaning.PROBABILITY, threshold=0.5)))
    assert "rounding decides" in " ".join(described.outline().sentences())


def test_a_megabyte_is_read_within_a_second() -> None:
    graph = GraphBuilder(500)
    rng = np.random.default_rng(0)
    hidden = graph.add("Relu", graph.add("Gemm", "x", graph.numbers(rng.normal(size=(500, 512)) / 30)))
    model = graph.model(graph.add("Gemm", hidden, graph.numbers(rng.normal(size=(512, 1)))))
    data, described = model.SerializeToString(), graphs.description(500, graphs.NUMBERS)
    assert len(data) > 1e6
    began = time.process_time()
    read_onnx(data, described).read_table(None, graphs.encoding(500))
    assert time.process_time() - began < 3  # a second where nobody else computes


def test_verdicts_are_those_of_enumeration(tmp_path: Path) -> None:
    """Everybody who could be: four ages, two sexes, three jobs; similar are those of the same age and job."""
    graph = GraphBuilder(4)
    hidden = graph.add("Relu", graph.add("Gemm", "x", WEIGHTS, BIAS, transB=1))
    output = graph.add("Gemm", hidden, np.array([[1.0], [-1.5]], np.float32), np.array([0.4], np.float32))
    path = tmp_path / "model.onnx"
    path.write_bytes(graph.model(output).SerializeToString())
    table = pd.DataFrame(list(itertools.product([20.0, 31.0, 45.0, 64.0], "fm", "abc")), columns=["age", "sex", "job"])
    description = ModelDescription(INPUTS, DescribedOutput(Meaning.SCORE, classes=("no", "yes")))
    model = load_file(path, description).model
    found = lcifr.audit(model, table, similarity="age' = age and job' = job")
    decided = model.read_table(table, Encoding.fit(table, Schema.infer(table))).predict(table)
    groups = table.assign(decided=decided).groupby(["age", "job"]).decided
    fair = groups.transform("nunique") == 1
    assert list(found.certified) == list(fair)
    assert 0 < fair.sum() < len(fair)


def test_exact_arithmetic_is_refused_where_a_node_divides() -> None:
    graph = GraphBuilder(4)
    hidden = graph.add("Div", graph.add("Gemm", "x", WEIGHTS[:1], transB=1), graph.numbers([3.0]))
    data = graph.model(hidden).SerializeToString()
    model = read_onnx(data, ModelDescription(INPUTS, DescribedOutput(Meaning.SCORE)))
    with pytest.raises(LcifrError, match=r'divides(.|\n)*use arithmetic="float32"'):
        lcifr.audit(model, TABLE, similarity="age' = age", arithmetic="exact")
    assert len(lcifr.audit(model, TABLE, similarity="age' = age").certified) == len(TABLE)


def test_no_entry_of_a_description_is_skipped(tmp_path: Path) -> None:
    """Entries that name no input beside such that do, or where there are several, would feed nothing."""
    named = tuple(replace(one, input="x") for one in INPUTS)
    described = DescribedOutput(Meaning.SCORE, threshold=1.25)
    assert read(scores(), described, named).model.rule.band == (1.25, 1.25)
    with pytest.raises(NetworkError, match=r"\[\[inputs\]\] 4 does not say which input of the model it feeds"):
        read(scores(), described, (*named, DescribedInput(InputKind.NUMBER, "age")))
    (path := tmp_path / "model.onnx").write_bytes(scores())
    with pytest.raises(LcifrError, match="a model of ONNX does not take missing"):
        load_file(path, ModelDescription(INPUTS, described, missing=0.0))


@pytest.mark.parametrize("comparison", list(ScoreComparison))
def test_a_tie_is_compared_as_described(comparison: ScoreComparison) -> None:
    described = DescribedOutput(Meaning.SCORE, comparison=comparison)
    tied = float(read(scores(), described).predict_with_outputs(TABLE).outputs[1, 0])
    model = read(scores(), replace(described, threshold=tied))
    assert model.predict(TABLE)[1] == (comparison is ScoreComparison.AT_LEAST)
    single = np.array([0.8, 0.79], np.float32)
    above = replace(described, threshold=0.8).is_second(single)  # as numpy compares float32 with a Python number
    assert above.tolist() == [comparison is ScoreComparison.AT_LEAST, False]


def test_several_numbers_are_compared_with_the_runtime_one_by_one() -> None:
    graph = GraphBuilder(2)
    model = graph.model(graph.add("Gemm", "x", graph.numbers(np.array([[1.5, -1], [0.25, 2]]))))
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=names(2))
    file = read_onnx(model.SerializeToString(), description(2, DescribedOutput(Meaning.NUMBER)))
    found = Subject.of_library(file, frame, Similarity("same(all)", encoding(2).schema, encoding(2)), tolerance=0.5)
    compared = found.compare(Individuals.read(frame, encoding(2).schema))
    assert compared.agrees
    assert len(compared) == 30
    assert compared.differ.shape == (30,)
