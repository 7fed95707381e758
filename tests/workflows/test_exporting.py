"""`lcifr model export`: a learned model as ONNX decides about German people as `lcifr` does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd

from lcifr.data import Schema
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import load_file
from lcifr.models.network import DeployedNetworks, Stage
from lcifr.workflows.subjects import FolderOrigin
from tests.story import lcifr


def run(path: Path, people: pd.DataFrame, schema: Schema) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feeds = {
        name: people[[name]].astype(str).to_numpy(dtype=object)
        if name in schema.names_categorical
        else people[[name]].to_numpy(dtype=np.float64)
        for name in schema.names
    }
    outputs = [one.name for one in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, feeds), strict=True))


def test_a_learned_model_says_the_same_in_onnxruntime(story: Path, tmp_path: Path) -> None:
    path = tmp_path / "whole.onnx"
    said = lcifr("model", "export", story / "producer", story / "consumer", "--out", path, cwd=tmp_path)
    assert "label" in said.out
    subject = FolderOrigin.read(story / "producer", story / "consumer").subject()
    schema, people = subject.schema, pd.read_csv(story / "people.csv")
    found = run(path, people, schema)
    encoded = subject.encoding.encode(people)
    networks = (subject.encoder.network, subject.model.network)
    values = networks[1](networks[0](encoded))
    stages = (Stage(one, Arithmetic.FLOAT32) for one in networks)
    error = DeployedNetworks.on_people(subject.encoding, *stages).error_at(encoded)
    assert (np.abs(found["score"] - values) <= error + 1e-9).all()
    sure = np.abs(values[:, 0]) > error[:, 0]
    assert sure.mean() > 0.99
    assert (found["label"][sure] == subject.model.decide(values)[sure]).all()


def test_the_exported_file_is_read_back_with_the_same_decisions(story: Path, tmp_path: Path) -> None:
    path = tmp_path / "whole.onnx"
    lcifr("model", "export", story / "producer", story / "consumer", "--out", path, cwd=tmp_path)
    subject, people = (
        FolderOrigin.read(story / "producer", story / "consumer").subject(),
        pd.read_csv(story / "people.csv"),
    )
    model = load_file(path).read_table(people, subject.encoding)
    own = subject.model.predict(subject.encoder.network(subject.encoding.encode(people)))
    assert (np.asarray(model.predict(people)) == own).mean() > 0.99


def test_the_encoder_alone_is_exported_with_json(story: Path, tmp_path: Path) -> None:
    said = lcifr("model", "export", story / "producer", "--out", tmp_path / "z.onnx", "--json", cwd=tmp_path)
    shown = json.loads(said.out)
    assert shown["outputs"] == ["z"]
    assert (tmp_path / "z.onnx").is_file()


def test_folders_that_do_not_belong_together_are_refused(story: Path, tmp_path: Path) -> None:
    assert "Fix:" in lcifr("model", "export", story / "consumer", cwd=tmp_path, expect=2).err
    assert not (tmp_path / "model.onnx").exists()
