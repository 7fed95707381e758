"""Ensembles loaded for a small table: as they are read, and whether onnxruntime agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pandas as pd

from lcifr.data import Encoding, Schema
from lcifr.models.description import DescribedInput, DescribedOutput, InputKind, ModelDescription
from lcifr.models.loaders.onnx.reader import OnnxModel, read_onnx
from tests.models.loaders.tree_semantics import check_semantics

CODES = ("p", "q", "r", "s")
RNG = np.random.default_rng(3)
TABLE = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60), "c": RNG.choice(CODES, 60)})
INPUTS = (
    DescribedInput(InputKind.NUMBER, "a"),
    DescribedInput(InputKind.NUMBER, "b"),
    DescribedInput(InputKind.CODE, "c", codes=tuple((value, float(code)) for code, value in enumerate(CODES))),
)


def loaded(model: onnx.ModelProto, output: DescribedOutput | None = None) -> OnnxModel:
    return read_onnx(model.SerializeToString(), ModelDescription(INPUTS, output))


def read(model: onnx.ModelProto, output: DescribedOutput | None = None) -> Any:
    return loaded(model, output).read_table(TABLE, Encoding.fit(TABLE, Schema.infer(TABLE)))


def agrees(model: onnx.ModelProto, output: DescribedOutput | None = None) -> None:
    assert check_semantics(loaded(model, output), TABLE) >= len(TABLE)


LABELS = {"classlabels_int64s": [5, 7]}
"""Of the two classes of most ensembles here."""
