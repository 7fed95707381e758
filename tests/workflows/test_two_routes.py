"""One pipeline by two routes: verdicts differ only where the margin is below the proved difference of the functions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr.certification.subject import Subject
from lcifr.data import Encoding, Individuals, Schema
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import load_file
from lcifr.phi import Similarity
from lcifr.workflows.results import AuditResult
from tests.story import lcifr
from tests.workflows.credit import PHI, READ, fit, made_up

NUMBERS = ("age", "income", "debt")


def save_both(folder: Path, model: object) -> None:
    """model.skops, and model.onnx in float32."""
    skops, skl2onnx = pytest.importorskip("skops.io"), pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    types = [(name, (FloatTensorType if name in NUMBERS else StringTensorType)([None, 1])) for name in READ]
    skops.dump(model, folder / "model.skops")
    onnx = skl2onnx.to_onnx(model, initial_types=types, options={"zipmap": False})
    (folder / "model.onnx").write_bytes(onnx.SerializeToString())


def audited(folder: Path, table: pd.DataFrame, model: str, name: str) -> pd.DataFrame:
    table.to_csv(folder / f"{name}.csv", index=False)
    asked = f"{name}.csv --model {model} --phi people.phi --schema people.toml --reference train.csv --id person"
    options = f"--workers 1 --no-bundle --no-baselines --out {name}-{model}"
    lcifr("audit", *asked.split(), *options.split(), cwd=folder, expect=None)
    return pd.read_parquet(folder / f"{name}-{model}" / "audited" / "audit.parquet").set_index("id")


def on_the_edge(table: pd.DataFrame, verdicts: pd.DataFrame, model: object) -> pd.DataFrame:
    """The same people with incomes at which the worst similar person is at the threshold: margins are affine in it."""
    scaler = model[0].named_transformers_["numbers"]  # type: ignore[index]
    slope = model[1].coef_[0, 1] / scaler.scale_[1]  # type: ignore[index]
    signs = np.where(verdicts["prediction"] == "yes", 1.0, -1.0)
    moved = table.assign(income=table["income"] - verdicts["margin"].to_numpy() / (signs * slope))
    return moved[moved["income"] > 100].assign(person=lambda frame: "edge-" + frame["person"])


def proved_difference(folder: Path, table: pd.DataFrame) -> np.ndarray:
    """(people,) how far the two functions can be apart anywhere among the people similar to each.

    In numbers without rounding both are affine in the table's values; the difference of their coefficients is taken in
    fractions. Added is what each rounds: in its encoding, and in its own arithmetic.
    """
    schema = Schema.load(folder / "people.toml")
    names = list(schema.names)
    train = pd.read_csv(folder / "train.csv")[names]
    people = Individuals.read(table[names], schema)
    similarity = Similarity(PHI, schema, Encoding.fit(train, schema))
    lines, room = [], np.zeros(len(people))
    for file, arithmetic in (("model.skops", Arithmetic.FLOAT64), ("model.onnx", Arithmetic.FLOAT32)):
        read = Subject.of_library(load_file(folder / file), table[names], similarity)
        region = read.encoder.similarity.region(people)
        room += replace(read, arithmetic=arithmetic).deployed.error_over(region)[:, 0]
        weights = [Fraction(0)] * len(read.encoder.encoding.features)
        [layer] = [one for factor in read.model.factors for one in factor.layers]
        for row, weight in zip(read.encoder.network.layers[0].weight, layer.weight[0], strict=True):
            weights = [old + Fraction(weight) * Fraction(one) for old, one in zip(weights, row, strict=True)]
        lines.append(_raw(read, weights, Fraction(layer.bias[0]), room, people))
    (first, shift), (second, other) = lines
    radius = np.array([1.0, *(0.1 * train[name].std() for name in ("income", "debt"))])
    size = np.abs(people.numbers) + radius
    gaps = np.array([float(abs(first[name] - second[name])) for name in first])
    return room + size @ gaps[: len(NUMBERS)] + gaps[len(NUMBERS) :].sum() + float(abs(shift - other)) + 1e-12


def _raw(
    read: Subject, weights: list[Fraction], shift: Fraction, room: np.ndarray, people: Individuals
) -> tuple[dict[object, Fraction], Fraction]:
    """Coefficients of the table's values and of categories; what the programs round goes into ``room``."""
    encoding, found = read.encoder.encoding, dict[object, Fraction]()
    for j, name in enumerate(encoding.schema.names_numeric):
        [column] = range(*encoding.columns(name).indices(len(weights)))
        program = encoding.programs[j]
        slope, origin = 1 / Fraction(program.factor), Fraction(program.origin)
        found[name] = weights[column] * slope
        shift -= weights[column] * slope * origin
        off = program.inverse_error(2 * np.abs(people.numbers[:, j]) + 1e4) / abs(program.factor)
        room += 2 * abs(float(weights[column])) * off
    for name in encoding.schema.names_categorical:
        for column in range(*encoding.columns(name).indices(len(weights))):
            found[encoding.features[column]] = weights[column]
    return found, shift


def test_verdicts_differ_only_below_the_proved_difference_and_these_people_are_found(tmp_path: Path) -> None:
    train, people = made_up(200, 1), made_up(30, 2)
    model = fit(train)
    save_both(tmp_path, model)
    train.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "people.phi").write_text(PHI, encoding="utf-8")
    Schema.infer(train[[*READ, "region"]]).save(tmp_path / "people.toml")
    first = audited(tmp_path, people, "model.skops", "plain")
    table = pd.concat([people, on_the_edge(people, first, model)], ignore_index=True)
    one, two = (audited(tmp_path, table, file, "both") for file in ("model.skops", "model.onnx"))
    bound = proved_difference(tmp_path, table)
    assert bound.max() < 1e-3  # small against margins, which are of the order of 1
    differ = (one["verdict"] != two["verdict"]).to_numpy()
    assert differ.any()
    assert set(one.index[differ]) <= {name for name in one.index if name.startswith("edge-")}
    margin = np.minimum(one["margin"].abs(), two["margin"].abs()).to_numpy()
    assert (margin[differ] <= bound[differ]).all()
    counted = [AuditResult.read(tmp_path / f"both-{file}").statement for file in ("model.skops", "model.onnx")]
    assert [said.people for said in counted] == [len(table)] * 2
