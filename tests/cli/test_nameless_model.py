"""An ONNX file that knows no columns: init proposes a description; with the training code's numbers it is the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.description import InputKind, Meaning, ScoreComparison, read_description, write_description
from tests.story import lcifr
from tests.workflows.credit import READ, fit, made_up

INIT = ("init", "people.csv", "--model", "model.onnx", "--target", "repaid", "--id", "person")


def write_network(path: Path, model: Any) -> None:
    """x (8 numbers) → Gemm → Relu → Gemm → Sigmoid: the pipeline's score as relu(s) − relu(−s), in float32."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, of = onnx.helper, onnx.numpy_helper.from_array
    weight = model[1].coef_.astype(np.float32)
    known = {
        "W1": np.concatenate([weight, -weight]).T,
        "b1": np.concatenate([model[1].intercept_, -model[1].intercept_]).astype(np.float32),
        "W2": np.array([[1], [-1]], np.float32),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "W1", "b1"], ["score"]),
        helper.make_node("Relu", ["score"], ["halves"]),
        helper.make_node("MatMul", ["halves", "W2"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["p"]),
    ]
    kind = onnx.TensorProto.FLOAT
    ends = [helper.make_tensor_value_info(name, kind, [None, width]) for name, width in (("x", 8), ("p", 1))]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], [of(value, name) for name, value in known.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(made.SerializeToString())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    train = made_up(200, 1)
    write_network(tmp_path / "model.onnx", fit(train))
    train.to_csv(tmp_path / "train.csv", index=False)
    made_up(40, 2).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def correct(place: Path) -> None:
    """What a user does: the scales of the training code instead of the table's."""
    scaler = fit(pd.read_csv(place / "train.csv"))[0].named_transformers_["numbers"]
    found = read_description(place / "model.toml")
    scales = dict(zip(("age", "income", "debt"), zip(scaler.mean_, scaler.scale_, strict=True), strict=True))

    def steps(column: str) -> tuple[ProgramStep, ...]:
        operations = zip((Operation.SUBTRACT, Operation.DIVIDE), scales[column], strict=True)
        return tuple(ProgramStep(one, StepFormat.FLOAT64, (float(constant),)) for one, constant in operations)

    inputs = [replace(one, steps=steps(str(one.column))) if one.column in scales else one for one in found.inputs]
    write_description(replace(found, inputs=tuple(inputs), draft=False), place / "model.toml")


def test_a_description_is_proposed_and_once_corrected_it_is_the_model(place: Path) -> None:
    said = lcifr(*INIT, "--drop", "region", cwd=place)
    assert "order, scaling and codes are guessed" in said.out
    proposed = read_description(place / "model.toml")
    assert [(one.column, one.kind) for one in proposed.inputs[2:]] == [
        ("debt", InputKind.NUMBER),
        ("job", InputKind.ONE_HOT),
        ("sex", InputKind.ONE_HOT),
    ]
    assert proposed.output is not None
    assert (proposed.output.meaning, proposed.output.comparison) == (Meaning.PROBABILITY, ScoreComparison.AT_LEAST)
    assert proposed.output.classes == ("no", "yes")
    correct(place)
    assert "All agree." in lcifr("doctor", "--model", "model.onnx", "--data", "people.csv", cwd=place).out
    asked = ("--model", "model.onnx", "--phi", "people.phi", "--reference", "train.csv", "--id", "person")
    found = lcifr("audit", "people.csv", *asked, "--workers", "1", "--no-baselines", "--json", "--out", "audit",
                  cwd=place, expect=None).json  # fmt: skip
    assert found["origin"]["description"] == "model.toml"
    assert found["origin"]["runtime"].startswith("onnxruntime")
    assert found["arithmetic"] == "float32"
    assert found["checked"]["rejected"] == {}
    people = pd.read_csv(place / "people.csv")
    decided = pd.read_parquet(place / "audit" / "audited" / "audit.parquet")["prediction"]
    pipeline = fit(pd.read_csv(place / "train.csv"))
    assert decided.tolist() == pipeline.predict(people[list(READ)]).tolist()
    lcifr("report", "audit", cwd=place)  # reads the model again, with its description


def test_columns_that_cannot_be_all_are_said_to_be_wrong(place: Path) -> None:
    said = lcifr(*INIT, cwd=place)
    assert "the model takes 8 numbers, and the entries below give 10" in said.out
    assert "THIS CANNOT BE RIGHT YET" in (place / "model.toml").read_text(encoding="utf-8")


def test_without_a_description_it_is_said_how_to_get_one(place: Path) -> None:
    (place / "people.phi").write_text("same(all)", encoding="utf-8")
    said = lcifr("audit", "people.csv", "--model", "model.onnx", "--phi", "people.phi", "--out", "audit", cwd=place,
                 expect=2)  # fmt: skip
    assert "lcifr init" in said.err
    assert "does not say which columns these are" in lcifr("model", "show", "model.onnx", cwd=place).out
