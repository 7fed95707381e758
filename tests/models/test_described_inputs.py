"""One-hot inputs behind steps, and numbers that XGBoost takes as missing: compared with the libraries themselves."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import lcifr
from lcifr.certification import write_bundle
from lcifr.certification.subject import Subject
from lcifr.certification.verdicts import Verdict
from lcifr.check import check_bundle
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError
from lcifr.models.description import (
    DescribedInput,
    InputKind,
    Meaning,
    ModelDescription,
    description_of,
    description_text,
)
from lcifr.models.loaders.torch import TorchModel
from lcifr.models.loading import load_file, read_table_model
from tests.models.loaders.tree_semantics import TOWNS, table

NUMBERS = ["income", "score"]
DUMMIES = [f"town_{town}" for town in TOWNS]


def scaled(drop_first: bool = False) -> tuple[pd.DataFrame, Any, Any, StandardScaler]:
    """The table, its label, and the matrix of get_dummies and a scaler, as training code has it."""
    frame, label = table(count=300)
    frame = frame[[*NUMBERS, "town"]]
    dummies = pd.get_dummies(frame, columns=["town"], drop_first=drop_first).astype(np.float64)
    scaler = StandardScaler().fit(dummies)
    return frame, label, scaler.transform(dummies), scaler


def description(scaler: StandardScaler, output: str, drop_first: bool = False, single: bool = False) -> dict[str, Any]:
    """By hand, as a user writes it."""
    means, sds = scaler.mean_.tolist(), scaler.scale_.tolist()
    inputs: list[dict[str, Any]] = [
        {"column": name, "kind": "number", "steps": [["subtract", means[j]], ["divide", sds[j]]]}
        for j, name in enumerate(NUMBERS)
    ]
    values, start = list(TOWNS[drop_first:]), len(NUMBERS)
    one_hot: dict[str, Any] = {"column": "town", "kind": "one-hot", "unknown": "zeros" if drop_first else "error"}
    if single:  # an entry for each value
        inputs += [
            one_hot
            | {"values": [value], "unknown": "zeros"}
            | {"steps": [["subtract", means[start + k]], ["divide", sds[start + k]]]}
            for k, value in enumerate(values)
        ]
    else:
        inputs.append(one_hot | {"values": values, "steps": [["subtract", means[start:]], ["divide", sds[start:]]]})
    return {"format": "lcifr-model-1", "inputs": inputs, "output": tomllib.loads(output)}


SCORE = 'meaning = "score"\ncomparison = ">"\nthreshold = 0.0'
CLASS = 'meaning = "class"'


def compared(model: Any, frame: pd.DataFrame, expected: Any) -> None:
    read = read_table_model(model, frame, Encoding.fit(frame, Schema.infer(frame)))
    people = Individuals.read(frame, read.encoding.schema)
    assert (read.library_decides(people) == expected).all()
    assert (read.decide(people) == expected).all()
    assert 0 < np.mean(expected) < 1


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("drop_first", [False, True])
def test_dummies_behind_a_scaler_feed_xgboost(drop_first: bool, single: bool, tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    frame, label, matrix, scaler = scaled(drop_first)
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=4, n_jobs=1).fit(matrix, label)
    model.save_model(tmp_path / "model.json")
    described = description_of(description(scaler, CLASS, drop_first, single), "model.toml")
    compared(load_file(tmp_path / "model.json", described), frame, model.predict(matrix))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's exporter
@pytest.mark.parametrize("kind", ["module", "file"])
@pytest.mark.parametrize("drop_first", [False, True])
def test_dummies_behind_a_scaler_feed_a_network(drop_first: bool, kind: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    frame, _, matrix, scaler = scaled(drop_first)
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(matrix.shape[1], 6), torch.nn.ReLU(), torch.nn.Linear(6, 1)).eval()
    with torch.no_grad():
        scores = module(torch.from_numpy(matrix.astype(np.float32))).numpy()[:, 0]
        module[2].bias -= float(np.median(scores))
        scores = module(torch.from_numpy(matrix.astype(np.float32))).numpy()[:, 0]
    described = description_of(description(scaler, SCORE, drop_first), "model.toml")
    model: Any = TorchModel(module, described)
    if kind == "file":
        pytest.importorskip("onnx")
        buffer: Any = io.BytesIO()
        torch.onnx.export(
            module, (torch.zeros(2, matrix.shape[1]),), buffer, dynamo=False, input_names=["x"], output_names=["y"],
            dynamic_axes={"x": {0: "n"}},
        )  # fmt: skip
        (tmp_path / "model.onnx").write_bytes(buffer.getvalue())
        model = load_file(tmp_path / "model.onnx", described)
    read = read_table_model(model, frame, Encoding.fit(frame, Schema.infer(frame)))
    entries = read.inputs(read.encoding.encode(Individuals.read(frame, read.encoding.schema)))
    assert np.array_equal(entries[:, : matrix.shape[1]].astype(np.float32), matrix.astype(np.float32))
    certain = abs(scores) > 1e-5
    assert certain.mean() > 0.95
    compared(model, frame[certain].reset_index(drop=True), (scores[certain] > 0).astype(int))


def test_a_bundle_behind_scaled_dummies_is_confirmed(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    frame, label, matrix, scaler = scaled()
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(matrix, label)
    model.save_model(tmp_path / "model.json")
    file = load_file(tmp_path / "model.json", description_of(description(scaler, CLASS), "model.toml"))
    similar = lcifr.Similarity("numeric within 0.2 sd and free(town)", Schema.infer(frame), frame)
    found = lcifr.audit(file, frame.head(20), similarity=similar)
    decided = model.predict(matrix)[:20]
    assert (found.frame()["prediction"].to_numpy() == decided).all()
    for person in np.flatnonzero(found.frame()["verdict"].astype(str).str.upper() == "CERTIFIED"):
        others = pd.concat([frame.iloc[[person]].assign(town=town) for town in TOWNS])
        dummies = pd.get_dummies(others, columns=["town"]).reindex(columns=[*NUMBERS, *DUMMIES], fill_value=0)
        assert (model.predict(scaler.transform(dummies.astype(np.float64))) == decided[person]).all()
    read = Subject.of_library(file, frame.head(20), similar)
    write_bundle(tmp_path / "bundle", read.encoder, frame.head(20), decisions=found)
    report = check_bundle(tmp_path / "bundle")
    assert not report.rejected
    assert len(report.names["certified"]) == int((found.verdict == Verdict.CERTIFIED).sum()) > 0


ONE_HOT: dict[str, Any] = {"column": "town", "kind": "one-hot", "values": list(TOWNS)}
CAST32 = ProgramStep(Operation.CAST, StepFormat.FLOAT32)


@pytest.mark.parametrize(
    "entry",
    [
        {"steps": [["subtract", 0.5]]},
        {"steps": [["subtract", [0.1, 0.2, 0.3, 0.4]], ["divide", 0.5], ["clip", [-1, -2, -3, -4], 1.5]]},
        {"steps": [["divide", [0.1, 0.2, 0.3, 0.4]], ["cast"]], "computed_in": "float32"},
    ],
)
def test_steps_of_values_are_written_as_they_were_read(entry: dict[str, Any]) -> None:
    plain = {"format": "lcifr-model-1", "inputs": [ONE_HOT | entry]}
    found = description_of(plain, "file")
    assert len(found.inputs[0].value_steps) == len(TOWNS)
    text = description_text(found, {})
    assert description_of(tomllib.loads(text), "file") == found
    assert ("computed_in" in text) == ("computed_in" in entry)


def test_steps_are_computed_in_their_format() -> None:
    entry = {"steps": [["subtract", [0.1, 0.2, 0.3, 0.4]], ["divide", 0.7]], "computed_in": "float32"}
    found = description_of({"format": "lcifr-model-1", "inputs": [ONE_HOT | entry]}, "file")
    from lcifr.models.columns import described_columns

    columns = described_columns(found.inputs[0], Categorical("town", TOWNS), np.dtype(np.float64), "here")
    for k, column in enumerate(columns):
        one = np.eye(4, dtype=np.float32)[k]
        shift = np.float32([0.1, 0.2, 0.3, 0.4][k])
        assert np.array_equal(np.float32(column.values), (one - shift) / np.float32(0.7))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"steps": [["subtract", [0.1, 0.2]]]}, "expected one number, or a list with one for each of the 4 values"),
        ({"steps": [["subtract", [0.1, 0.2, 0.3, "x"]]]}, "expected numbers after the operation"),
        ({"steps": [["divide", [1, 2, 0, 4]]]}, "divide by 0 is no step"),
        ({"steps": [["square", 2]]}, "expected an operation"),
        ({"computed_in": "float32"}, "computed_in is the format of steps, and there are none"),
        ({"steps": [["subtract", 10**400]]}, "a number beyond float64"),
    ],
)
def test_steps_that_mean_nothing_are_refused(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(LcifrError, match=words):
        description_of({"format": "lcifr-model-1", "inputs": [ONE_HOT | entry]}, "file")


def test_steps_that_end_beyond_all_numbers_are_refused(tmp_path: Path) -> None:
    from lcifr.models.columns import described_columns

    entry = {"steps": [["divide", 1e-300], ["divide", 1e-300]]}
    found = description_of({"format": "lcifr-model-1", "inputs": [ONE_HOT | entry]}, "file")
    with pytest.raises(LcifrError, match="not finite"):
        described_columns(found.inputs[0], Categorical("town", TOWNS), np.dtype(np.float64), "here")


@pytest.mark.parametrize("described", [True, False])
def test_a_graph_in_float64_takes_the_numbers_of_a_float32_table_as_float32_holds_them(described: bool) -> None:
    """0.3 in float32 is more than 0.3, and who widens the column feeds that."""
    pytest.importorskip("onnxruntime")
    from lcifr.models.loaders.onnx.reader import read_onnx
    from tests.models.loaders.onnx.graphs import NUMBERS as NUMBER
    from tests.models.loaders.onnx.graphs import GraphBuilder

    graph = GraphBuilder(1, dtype=np.dtype(np.float64))
    model = graph.model(graph.add("Mul", graph.add("Sub", "x", graph.numbers([0.3])), graph.numbers([1e8])))
    frame = pd.DataFrame({"x": np.array([0.1, 0.3, 0.7], np.float32)})
    inputs = (DescribedInput(InputKind.NUMBER, "x"),) if described else ()
    file = read_onnx(model.SerializeToString(), ModelDescription(inputs, NUMBER))
    read = file.read_table(frame, Encoding.fit(frame, Schema.infer(frame)))
    people = Individuals.read(frame, read.encoding.schema)
    own = (frame["x"].to_numpy(np.float64) - 0.3) * 1e8
    assert abs(own[1]) > 1
    assert np.allclose(read.decide(people).ravel(), own, rtol=1e-6)
    assert np.allclose(read.library_decides(people).ravel(), own, rtol=1e-6)


@pytest.mark.parametrize("missing", [-9.0, 0.0, 0.1, 1e-60, 16777217.0])
def test_a_declared_missing_number_goes_where_xgboost_sends_it(missing: float, tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    random = np.random.default_rng(3)
    near = [missing, np.nextafter(missing, 9e9), np.nextafter(missing, -9e9), float(np.float32(missing)), 1e-50, -0.0]
    near += [float(np.nextafter(np.float32(missing), np.float32(end))) for end in (-9e9, 9e9)]
    values = np.where(random.random(400) < 0.5, random.choice(near, 400), missing + random.normal(0, 2, 400))
    frame = pd.DataFrame({"age": random.normal(40, 9, 400), "debt": values})
    label = ((values > missing) ^ (frame["age"] > 45)).astype(int)
    label[values == missing] = 1
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1, missing=missing).fit(frame, label)
    model.save_model(tmp_path / "model.json")
    schema = Schema((Numeric("age"), Numeric("debt")))
    file = load_file(tmp_path / "model.json", ModelDescription(missing=missing))
    for read in (file.read_table(frame, Encoding.fit(frame, schema)),
                 read_table_model(model, frame, Encoding.fit(frame, schema))):  # fmt: skip
        people = Individuals.read(frame, schema)
        assert (read.decide(people) == model.predict(frame)).all()
        assert (read.library_decides(people) == model.predict(frame)).all()
    unaware = load_file(tmp_path / "model.json").read_table(frame, Encoding.fit(frame, schema))
    if missing in (-9.0, 0.1):
        assert (unaware.decide(Individuals.read(frame, schema)) != model.predict(frame)).any()


def test_a_missing_number_among_codes_and_one_hot_values(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    frame, label = table(count=300)
    frame = frame[["score", "town"]]
    codes = frame["town"].map({town: float(k) for k, town in enumerate(TOWNS)})
    matrix = np.column_stack([frame["score"], codes, *(frame["town"] == town for town in TOWNS)]).astype(np.float64)
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=4, n_jobs=1, missing=1.0).fit(matrix, label)
    model.save_model(tmp_path / "model.json")
    inputs = (
        DescribedInput(InputKind.NUMBER, "score"),
        DescribedInput(InputKind.CODE, "town", codes=tuple((town, float(k)) for k, town in enumerate(TOWNS))),
        DescribedInput(InputKind.ONE_HOT, "town", values=TOWNS),
    )
    compared(load_file(tmp_path / "model.json", ModelDescription(inputs, missing=1.0)), frame, model.predict(matrix))


def test_the_entries_of_a_description_are_all_its_fields() -> None:
    """A new field is an entry that every format refuses until it says that it takes it."""
    from dataclasses import fields

    from lcifr.models.description import DescribedOutput

    whole = ModelDescription(
        (DescribedInput(InputKind.ONE_HOT, "a", "X", (CAST32,), ("v",), codes=(("v", 1.0),), value=1.0,
                        unknown="zeros", value_steps=((CAST32,),)),),  # type: ignore[arg-type]
        DescribedOutput(Meaning.SCORE, "y", 0, ("a", "b"), threshold=1.0),
        "exact",  # type: ignore[arg-type]
        "file",
        1.0,
    )  # fmt: skip
    found = {name.split(".")[-1] for name, _ in whole.entries()}
    own = [one.name for kind in (DescribedInput, DescribedOutput) for one in fields(kind)]
    own += [one.name for one in fields(ModelDescription) if one.name not in ("inputs", "output", "source", "draft")]
    assert found == {"steps" if name == "value_steps" else name for name in own}
