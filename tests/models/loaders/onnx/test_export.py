"""Export to ONNX: onnxruntime says what our networks say, within the proved rounding; and our reader reads it back."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loaders.onnx.export import ExportedRule, export_onnx, to_onnx
from lcifr.models.loaders.onnx.reader import read_file, read_onnx
from lcifr.models.network import DeployedNetworks, Network, Stage
from lcifr.models.rule import Rule

RNG = np.random.default_rng(11)
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, 80),
        "job": RNG.choice(["none", "clerk", "nurse"], 80),
        "children": RNG.integers(0, 4, 80),
        "sex": RNG.choice(["f", "m"], 80),
    }
)
SCHEMA = Schema.infer(TABLE)
ENCODING = Encoding.fit(TABLE, SCHEMA)
PEOPLE = Individuals.read(TABLE, SCHEMA)


def network(*widths: int, seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    return Network.from_arrays([(rng.normal(size=(o, i)), rng.normal(size=o)) for i, o in pairwise(widths)])


ENCODER = network(len(ENCODING.features), 6, 3)
HEADS = {
    "sign": (network(3, 4, 1, seed=1), Rule.of(1), None),
    "texts": (network(3, 1, seed=2), Rule.of(1), np.array(["no", "yes"])),
    "three classes": (network(3, 4, 3, seed=3), Rule.of(3), np.array([10, 20, 30])),
    "number": (network(3, 1, seed=4), Rule.of(1, tolerance=0.5), None),
}


def feeds(encoding: Encoding = ENCODING) -> dict[str, Any]:
    return {
        name: TABLE[[name]].to_numpy(dtype=object)
        if name in encoding.schema.names_categorical
        else TABLE[[name]].to_numpy(dtype=np.float64)
        for name in encoding.schema.names
    }


def run(data: bytes, encoding: Encoding = ENCODING) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds(encoding)), strict=True))


def check(said: Any, encoding: Encoding, networks: list[Network], arithmetic: Arithmetic) -> None:
    encoded = encoding.encode(PEOPLE)
    values = encoded
    for one in networks:
        values = one(values)
    error = DeployedNetworks.on_people(encoding, *(Stage(one, arithmetic) for one in networks)).error_at(encoded)
    assert (np.abs(said - values) <= error + 1e-9 * np.abs(values)).all()


@pytest.mark.parametrize("arithmetic", [Arithmetic.FLOAT32, Arithmetic.FLOAT64])
def test_an_encoder_is_within_the_proved_rounding(arithmetic: Arithmetic) -> None:
    said = run(to_onnx(ENCODING, [ENCODER], arithmetic=arithmetic))
    assert list(said) == ["z"]
    check(said["z"], ENCODING, [ENCODER], arithmetic)


@pytest.mark.parametrize("name", HEADS)
def test_a_whole_model_decides_as_ours(name: str) -> None:
    head, rule, labels = HEADS[name]
    said = run(to_onnx(ENCODING, [ENCODER, head], ExportedRule(rule, labels)))
    check(said["score"], ENCODING, [ENCODER, head], Arithmetic.FLOAT32)
    if name == "number":
        assert list(said) == ["score"]
        return
    places = rule.decide(said["score"].astype(np.float64))
    assert list(said["label"]) == list(places if labels is None else labels[places])


@pytest.mark.parametrize("name", HEADS)
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    head, rule, labels = HEADS[name]
    path = tmp_path / "model.onnx"
    export_onnx(path, ENCODING, [ENCODER, head], ExportedRule(rule, labels))
    model = read_file(path).read_table(TABLE, ENCODING)
    assert model.model.rule.kind is rule.kind
    assert model.encoding.outside == frozenset()
    # the reader's program ends with the cast to float32
    assert all(one.steps[-1] == ProgramStep(Operation.CAST, StepFormat.FLOAT32) for one in model.encoding.programs)
    stored = [layer.weight for factor in (ENCODER, head) for layer in factor.layers]
    found = [layer.weight for factor in model.factors[1:] for layer in factor.layers]  # type: ignore[attr-defined]
    assert all(np.array_equal(a.astype(np.float32), b) for a, b in zip(stored, found, strict=True))
    if labels is not None:
        assert model.model.labels is not None
        assert list(model.model.labels) == list(labels)


def test_programs_of_other_libraries_keep_their_steps() -> None:
    single, double = StepFormat.FLOAT32, StepFormat.FLOAT64
    steps = [
        (ProgramStep(Operation.CAST, single), ProgramStep(Operation.MULTIPLY, single, (0.25,))),
        (ProgramStep(Operation.ADD, double, (0.1,)), ProgramStep(Operation.CLIP, double, (1.0, 3.0))),
    ]
    encoding = Encoding(SCHEMA, ENCODING.means, ENCODING.sds, programs=tuple(Program(one) for one in steps))
    identity = Network.from_arrays([(np.eye(len(encoding.features)), np.zeros(len(encoding.features)))])
    said = run(to_onnx(encoding, [identity], arithmetic=Arithmetic.FLOAT64), encoding)
    assert np.array_equal(said["z"], encoding.encode(PEOPLE))


def test_a_text_that_the_schema_does_not_know_raises_in_the_runtime() -> None:
    session = onnxruntime.InferenceSession(to_onnx(ENCODING, [ENCODER]), providers=["CPUExecutionProvider"])
    with pytest.raises(Exception, match="Unknown Category"):
        session.run(None, feeds() | {"sex": np.full((len(TABLE), 1), "x", dtype=object)})


def test_weights_that_the_format_does_not_hold_are_refused() -> None:
    width = len(ENCODING.features)
    huge = Network.from_arrays([(np.full((1, width), 1e60), np.zeros(1))])
    with pytest.raises(NetworkError, match="float32"):
        to_onnx(ENCODING, [huge])
    assert to_onnx(ENCODING, [huge], arithmetic=Arithmetic.FLOAT64)
    with pytest.raises(NetworkError, match="no runtime"):
        to_onnx(ENCODING, [ENCODER], arithmetic=Arithmetic.EXACT)


def test_a_reader_of_the_encoder_alone_asks_what_it_decides() -> None:
    with pytest.raises(NetworkError, match="nothing says what they decide"):
        read_onnx(to_onnx(ENCODING, [ENCODER])).read_table(TABLE, ENCODING)
