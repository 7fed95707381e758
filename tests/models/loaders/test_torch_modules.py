"""Torch modules on a table: read as they stand, and by both exporters; compared with torch and with onnxruntime."""

from __future__ import annotations

import io
import logging
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import lcifr
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import (
    DescribedInput,
    DescribedOutput,
    DescriptionError,
    InputKind,
    Meaning,
    ModelDescription,
)
from lcifr.models.loaders.onnx.reader import read_onnx
from lcifr.models.loaders.torch import TorchModel
from lcifr.models.network import DeployedNetworks, Stage
from lcifr.models.source import TableModel

RNG = np.random.default_rng(5)
PEOPLE = 200
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, PEOPLE),
        "income": RNG.normal(3, 1, PEOPLE),
        "sex": RNG.choice(["f", "m"], PEOPLE),
    }
)
INPUTS = (
    DescribedInput(InputKind.NUMBER, "age"),
    DescribedInput(InputKind.NUMBER, "income"),
    DescribedInput(InputKind.ONE_HOT, "sex", values=("f", "m")),
)
WIDTH = 4
ENCODING = Encoding.fit(TABLE, Schema.infer(TABLE))
NUMBER, SCORES = DescribedOutput(Meaning.NUMBER), DescribedOutput(Meaning.SCORES, classes=("low", "high", "top"))


def trained(module: nn.Module) -> nn.Module:
    """With statistics of its own, as training leaves them."""
    torch.manual_seed(1)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.running_mean = torch.randn(part.num_features) * 3
            part.running_var = torch.rand(part.num_features) + 0.01
            part.weight = nn.Parameter(torch.randn(part.num_features))
            part.bias = nn.Parameter(torch.randn(part.num_features))
    return module.eval()


class Residual(nn.Module):
    """Nothing that a Sequential could say."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.register_buffer("mean", torch.tensor([40.0, 3.0, 0.0, 0.0]))
        self.register_buffer("deviation", torch.tensor([10.0, 1.1, 1.0, 1.0]))

    def forward(self, people: torch.Tensor) -> torch.Tensor:
        start = (people - self.mean) / self.deviation
        hidden = start + torch.relu(self.first(start))
        bounded = torch.maximum(hidden, -hidden.abs()).clamp(-1, 1)
        return self.last(torch.cat([bounded[:, :2], hidden[:, 2:]], dim=1)).squeeze(1)


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.only = nn.Linear(WIDTH, 1)

    def forward(self, people: torch.Tensor) -> torch.Tensor:
        found = self.only(people)
        return found if found.sum() > 0 else -found


MODULES: dict[str, tuple[nn.Module, DescribedOutput]] = {
    "network": (nn.Sequential(nn.Linear(WIDTH, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1)), NUMBER),
    "nested": (
        nn.Sequential(
            nn.Sequential(nn.Flatten(), nn.Linear(WIDTH, 5, bias=False)), nn.Sequential(nn.ReLU(), nn.Linear(5, 1))
        ),
        NUMBER,
    ),
    "leaky": (
        nn.Sequential(nn.Linear(WIDTH, 6), nn.LeakyReLU(0.1), nn.Linear(6, 3), nn.PReLU(), nn.Linear(3, 1)),
        NUMBER,
    ),
    "clipped": (
        nn.Sequential(nn.Linear(WIDTH, 6), nn.ReLU6(), nn.Linear(6, 3), nn.Hardtanh(), nn.Linear(3, 1)),
        NUMBER,
    ),
    "normalised": (
        nn.Sequential(nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1)),
        NUMBER,
    ),
    "two matrices": (nn.Sequential(nn.Linear(WIDTH, 3), nn.Linear(3, 1)), NUMBER),
    "softmax": (nn.Sequential(nn.Linear(WIDTH, 5), nn.ReLU(), nn.Linear(5, 3), nn.Softmax(dim=1)), SCORES),
    "sigmoid": (
        nn.Sequential(nn.Linear(WIDTH, 5), nn.ReLU(), nn.Linear(5, 1), nn.Sigmoid()),
        DescribedOutput(Meaning.PROBABILITY, threshold=0.4),
    ),
    "residual": (Residual(), NUMBER),
}
QUICK = ("network", "normalised", "residual")
"""Of which the newer exporter, which takes seconds, is asked in every run of the tests."""


def exported(module: nn.Module, *, dynamo: bool, dtype: torch.dtype) -> bytes:
    example = torch.ones((2, WIDTH), dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not dynamo:
            buffer = io.BytesIO()
            torch.onnx.export(module, (example,), buffer, dynamo=False, dynamic_axes={"x": {0: "n"}}, input_names=["x"])
            return buffer.getvalue()
        logging.disable(logging.WARNING)
        try:
            program = torch.onnx.export(
                module, (example,), dynamo=True, verbose=False, dynamic_shapes=({0: torch.export.Dim("people")},)
            )
        finally:
            logging.disable(logging.NOTSET)
    return bytes(program.model_proto.SerializeToString())


def check(model: TableModel) -> None:
    """The library's numbers are within the bound, its decisions equal wherever that leaves no doubt."""
    rng = np.random.default_rng(2)
    schema = ENCODING.schema
    real = Individuals.read(TABLE, schema)
    numbers = np.concatenate(
        [real.numbers, np.nextafter(real.numbers, np.inf), real.numbers * rng.normal(1, 2, real.numbers.shape)]
    )
    people = Individuals(schema, numbers, np.concatenate([real.codes] * 3))
    encoded = model.encoding.encode(people)
    stages = [Stage(factor, factor.native) for factor in model.factors]  # type: ignore[attr-defined, arg-type]
    error = DeployedNetworks.on_people(model.encoding, *stages).error_at(encoded)
    values, said = model.model.function(model.inputs(encoded)), model.library_decides(people)
    if model.model.labels is None:
        assert (np.abs(said - values[:, 0]) <= error[:, 0]).all()
        return
    band = model.model.rule.band
    best = np.sort(values, axis=1)
    sure = (
        best[:, -1] - best[:, -2] > 2 * error.max(1) + band[1]
        if values.shape[1] > 1
        else (values[:, 0] - error[:, 0] > band[1]) | (values[:, 0] + error[:, 0] < band[0])
    )
    assert sure.mean() > 0.95
    assert (model.model.decide(values)[sure] == said[sure]).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_read_as_torch_computes_it(name: str, dtype: torch.dtype) -> None:
    module, output = MODULES[name]
    model = TorchModel(trained(module).to(dtype), ModelDescription(INPUTS, output)).read_table(TABLE, ENCODING)
    expected = Arithmetic.FLOAT32 if dtype is torch.float32 else Arithmetic.FLOAT64
    assert {factor.native for factor in model.factors} == {expected}  # type: ignore[attr-defined]
    assert model.runtime.startswith("torch ")
    check(model)


@pytest.mark.parametrize(
    ("name", "dynamo"),
    [(name, False) for name in MODULES]
    + [pytest.param(name, True, marks=() if name in QUICK else pytest.mark.long) for name in MODULES],
)
def test_both_exporters_write_what_is_read(name: str, dynamo: bool) -> None:
    module, output = MODULES[name]
    data = exported(trained(module).float(), dynamo=dynamo, dtype=torch.float32)
    model = read_onnx(data, ModelDescription(INPUTS, output)).read_table(TABLE, ENCODING)
    assert model.runtime.startswith("onnxruntime ")
    check(model)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (nn.Sequential(nn.Linear(WIDTH, 1), nn.Tanh()), "Tanh"),
        (nn.Sequential(nn.Linear(WIDTH, 2), nn.Sigmoid(), nn.Linear(2, 1)), "probabilities"),
        (nn.Sequential(nn.Linear(3, 1)), "takes 3 numbers, and is given 4"),
        (nn.Sequential(nn.Linear(WIDTH, 1)).half(), "float16"),
        (nn.Sequential(nn.BatchNorm1d(WIDTH, track_running_stats=False), nn.Linear(WIDTH, 1)), "batch statistics"),
        (Branching(), "Python code"),
    ],
)
def test_what_is_not_exactly_representable_is_refused(module: nn.Module, words: str) -> None:
    with pytest.raises(NetworkError, match=words):
        TorchModel(module.eval(), ModelDescription(INPUTS, NUMBER)).read_table(TABLE, ENCODING)


def test_training_mode_and_a_missing_description_are_refused() -> None:
    module = nn.Sequential(nn.Linear(WIDTH, 1))
    with pytest.raises(NetworkError, match="training mode"):
        TorchModel(module.train(), ModelDescription(INPUTS, NUMBER)).read_table(TABLE, ENCODING)
    with pytest.raises(NetworkError, match="which column feeds which input"):
        lcifr.audit(module.eval(), TABLE, similarity="age' = age")


@pytest.mark.parametrize("name", ["sigmoid", "normalised", "residual"])
def test_an_audit_takes_a_module(name: str) -> None:
    module, output = MODULES[name]
    few: Any = TABLE[:30]
    model = TorchModel(trained(module).float(), ModelDescription(INPUTS, output))
    options = {"tolerance": 0.5} if output.meaning is Meaning.NUMBER else {}
    found = lcifr.audit(model, few, similarity="income' = income and |age' - age| <= 1", **options)
    assert len(found.certified) == len(few)


@pytest.mark.parametrize(
    ("entries", "refused"),
    [
        ({"missing": -9.0}, "missing"),
        ({"output": DescribedOutput(Meaning.NUMBER, name="score")}, "name"),
    ],
)
def test_entries_of_a_description_that_a_module_does_not_take_are_refused_by_name(
    entries: dict[str, Any], refused: str
) -> None:
    description = ModelDescription(**{"inputs": INPUTS, "output": NUMBER, **entries})
    with pytest.raises(DescriptionError, match=f"a torch module does not take .*{refused}"):
        TorchModel(nn.Linear(WIDTH, 1).eval(), description).read_table(TABLE, ENCODING)
