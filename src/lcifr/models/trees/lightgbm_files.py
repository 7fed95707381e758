"""Files of LightGBM: the text of ``save_model``, and what ``dump_model`` gives as JSON."""

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
from lcifr.models.trees.lightgbm import LightGBMModel, read_text
from lcifr.models.trees.lightgbm_json import read_json
from lcifr.models.trees.tables import lightgbm_source

DUMPED = "LightGBM does not read its own JSON back: save_model writes a file that it can be compared with."


def read_file(path: str | Path, description: ModelDescription | None = None) -> TreeFile:
    """A saved booster; nothing in it is run.

    Raises
    ------
    NetworkError
        For what is no such file, and for what cannot be read exactly, by name.
    """
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    dumped = text.lstrip().startswith("{")
    read = _read_dumped(text, str(path)) if dumped else read_text(text, str(path))
    installed = find_spec("lightgbm") is not None and not dumped  # which reads its own text only
    unnamed = all(name == f"Column_{place}" for place, name in enumerate(read.names))
    return TreeFile(
        source=lightgbm_source(read, class_numbers(read.rule.classes)),
        library=f"LightGBM ({read.objective})",
        names=() if unnamed else read.names,
        categorical=read.categorical,
        where=str(path),
        notes=(DUMPED,) if dumped else (),
        description=description,
        scores=TextScores(text, float(read.scale)) if installed else None,
    )


def _read_dumped(text: str, where: str) -> LightGBMModel:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NetworkError(f"{where} is no JSON: {problem!s:.120}", fix="write it again: json.dump") from None
    return read_json(content, where)


@dataclass(frozen=True)
class TextScores:
    """The sums, or means, that LightGBM itself computes for rows of its matrix."""

    text: str
    scale: float

    @cached_property
    def _booster(self) -> Any:
        import lightgbm

        return lightgbm.Booster(model_str=self.text)

    def __call__(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        found = self._booster.predict(matrix, raw_score=True, num_threads=1, validate_features=False)
        return np.asarray(found, dtype=np.float64) * self.scale
