"""Files of XGBoost: JSON and UBJSON of ``save_model``."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.files.description import DescriptionError, ModelDescription, TakenEntries
from lcifr.models.trees.files import INSTEAD, TAKEN, TreeFile, class_numbers
from lcifr.models.trees.ubjson import read_ubjson
from lcifr.models.trees.xgboost import XGBoostModel, read_booster, xgboost_source

TAKES = TakenEntries(TAKEN | {"missing"}, INSTEAD)
MISSING_ASSUMED = (
    "The file does not say which number stands for a missing value: NaN is assumed. If the model is used with another "
    "one, as XGBClassifier(missing=-9) is, declare it: missing = -9 in its description, or --missing -9."
)


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
    missing = None if description is None else description.missing
    if missing is not None and abs(missing) > float(np.finfo(np.float32).max):
        raise DescriptionError(f"missing = {missing!r} is no number of float32", fix="correct missing, or leave it out")
    installed = find_spec("xgboost") is not None
    scores = BoosterScores(data, read.used, math.nan if missing is None else missing) if installed else None
    return TreeFile(
        source=xgboost_source(read, class_numbers(read.classes)),
        library=f"XGBoost {read.version} ({read.objective})",
        names=read.names,
        categorical=read.categorical,
        where=str(path),
        notes=tuple(notes),
        description=description,
        scores=scores,
        probabilities=None if scores is None else scores.probabilities,
        assumptions=_assumed(missing),
    )


def _assumed(missing: float | None) -> tuple[str, ...]:
    """What stands for a missing value, which the file does not say."""
    if missing is None:
        return (MISSING_ASSUMED,)
    if math.isnan(missing):
        return ()
    return (f"{missing:.12g} is declared to stand for a missing value, as NaN does; the file does not say so.",)


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
    """The sums that XGBoost itself computes for rows of its matrix, from the bytes of a saved model.

    ``missing`` : the number that it takes as missing, NaN for none.
    """

    data: bytes
    rounds: int
    missing: float = math.nan

    @cached_property
    def _booster(self) -> Any:
        import xgboost

        return xgboost.Booster({"nthread": 1}, model_file=bytearray(self.data))

    def __call__(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._predict(matrix, output_margin=True), dtype=np.float64)

    def probabilities(self, matrix: NDArray[np.float64]) -> NDArray[np.float32]:
        """(rows,) of the second class, in float32 as the library gives them."""
        return np.asarray(self._predict(matrix, output_margin=False))

    def _predict(self, matrix: NDArray[np.float64], *, output_margin: bool) -> Any:
        import xgboost

        booster = self._booster
        rows = xgboost.DMatrix(
            matrix,
            missing=self.missing,
            feature_names=booster.feature_names,
            feature_types=booster.feature_types,
            enable_categorical=True,
        )
        return booster.predict(rows, output_margin=output_margin, iteration_range=(0, self.rounds))
