"""Files of XGBoost: JSON and UBJSON of ``save_model``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.files.description import ModelDescription
from lcifr.models.trees.files import TreeFile, class_numbers
from lcifr.models.trees.tables import xgboost_source
from lcifr.models.trees.ubjson import read_ubjson
from lcifr.models.trees.xgboost import XGBoostModel, read_booster


def read_file(path: str | Path, description: ModelDescription | None = None) -> TreeFile:
    """A saved booster; nothing in it is run.

    Raises
    ------
    NetworkError
        For what is no such file, and for what cannot be read exactly, by name.
    """
    file = Path(path)
    data = file.read_bytes()
    read = _read(data, str(path))
    notes = []
    if read.used < read.total:
        notes.append(
            f"The first {read.used} of {read.total} rounds decide, as early stopping left it: so do XGBClassifier and "
            f"XGBRegressor, and Booster.predict with iteration_range=(0, {read.used})."
        )
    installed = find_spec("xgboost") is not None
    return TreeFile(
        source=xgboost_source(read, class_numbers(read.classes)),
        library=f"XGBoost {read.version} ({read.objective})",
        names=read.names,
        categorical=read.categorical,
        where=str(path),
        notes=tuple(notes),
        description=description,
        scores=BoosterScores(data, read.used) if installed else None,
    )


def _read(data: bytes, where: str) -> XGBoostModel:
    try:
        content: Any = json.loads(data) if data[:2] in (b'{"', b"{ ", b"{\n") else read_ubjson(data)
        return read_booster(content, where)
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as problem:
        if isinstance(problem, NetworkError):
            raise
        raise NetworkError(f"{where} is not a saved XGBoost model: {type(problem).__name__}: {problem}") from None


@dataclass(frozen=True)
class BoosterScores:
    """The sums that XGBoost itself computes for rows of its matrix, from the bytes of a saved model."""

    data: bytes
    rounds: int

    @cached_property
    def _booster(self) -> Any:
        import xgboost

        return xgboost.Booster({"nthread": 1}, model_file=bytearray(self.data))

    def __call__(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        import xgboost

        booster = self._booster
        rows = xgboost.DMatrix(
            matrix, feature_names=booster.feature_names, feature_types=booster.feature_types, enable_categorical=True
        )
        found = booster.predict(rows, output_margin=True, iteration_range=(0, self.rounds))
        return np.asarray(found, dtype=np.float64)
