"""Files of LightGBM: the text of ``save_model``, and what ``dump_model`` gives as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.files.description import ModelDescription, TakenEntries
from lcifr.models.trees.files import INSTEAD, TAKEN, TreeFile, class_numbers
from lcifr.models.trees.lightgbm import (
    LIGHTGBM,
    NOTHING,
    ZEROS,
    LightGBMModel,
    lightgbm_source,
    number_split,
    read_text,
    rule_of,
)
from lcifr.models.trees.nodes import TreeLeaf
from lcifr.models.trees.splits import LibraryNode, LibrarySplit

TAKES = TakenEntries(TAKEN, INSTEAD)
DUMPED = "LightGBM does not read its own JSON back: save_model writes a file that it can be compared with."

MISSING = {"None": NOTHING, "Zero": ZEROS, "NaN": 2}
MOST_CODE = 2**16
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, ArithmeticError)


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
    scores = TextScores(text, float(read.scale)) if installed else None
    unnamed = all(name == f"Column_{place}" for place, name in enumerate(read.names))
    return TreeFile(
        source=lightgbm_source(read, class_numbers(read.rule.classes)),
        library=f"LightGBM ({read.objective})",
        names=() if unnamed else read.names,
        categorical=read.categorical,
        where=str(path),
        notes=(DUMPED,) if dumped else (),
        description=description,
        scores=scores,
        probabilities=None if scores is None else scores.probabilities,
        positional=LIGHTGBM,
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

    def probabilities(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """(rows,) of the second class."""
        return np.asarray(self._booster.predict(matrix, num_threads=1, validate_features=False))


def read_json(content: Any, where: str) -> LightGBMModel:
    """From the parsed content.

    Raises
    ------
    NetworkError
        For what is no such model, for linear trees, and for objectives whose link is not known here.
    """
    try:
        return _read(content, where)
    except MALFORMED as problem:
        if isinstance(problem, NetworkError):
            raise
        raise NetworkError(f"{where} is no model of LightGBM: {type(problem).__name__}: {problem!s:.120}") from None


def _read(content: Mapping[str, Any], where: str) -> LightGBMModel:
    count = int(content["num_tree_per_iteration"])
    objective, infos = str(content.get("objective", "")), content["feature_infos"]
    rule = rule_of(objective, count, where)
    names = tuple(str(name) for name in content["feature_names"])
    width = int(content["max_feature_idx"]) + 1
    trees = tuple(
        _tree(one["tree_structure"], number % count, count, width, where)
        for number, one in enumerate(content["tree_info"])
    )
    if len(names) != width or not trees or len(trees) % count:
        raise ValueError(f"{len(names)} names, {width} columns, {len(trees)} trees of {count} outputs")
    rounds = len(trees) // count
    return LightGBMModel(
        trees,
        np.zeros(count),
        Fraction(1, rounds) if content.get("average_output") else Fraction(1),
        rule,
        objective,
        names,
        tuple(tuple(values) for values in content.get("pandas_categorical") or ()),
        tuple(bool(infos.get(name, {}).get("values")) for name in names),
        width,
        rounds,
    )


def _tree(root: Mapping[str, Any], output: int, outputs: int, width: int, where: str) -> LibraryNode:
    waiting: list[tuple[Mapping[str, Any], bool]] = [(root, False)]  # whether both children are built
    built: list[LibraryNode] = []
    while waiting:
        node, ready = waiting.pop()
        if "leaf_coeff" in node or "leaf_const" in node:
            raise NetworkError(f"{where}: leaves hold linear models", fix="train with linear_tree=False")
        if "split_feature" not in node:
            value = float(node["leaf_value"])
            built.append(TreeLeaf(tuple(value if o == output else 0.0 for o in range(outputs))))
        elif ready:
            second, first = built.pop(), built.pop()
            built.append(_split(node, first, second, width))
        else:
            waiting += [(node, True), (node["right_child"], False), (node["left_child"], False)]
    return built[0]


def _split(node: Mapping[str, Any], first: LibraryNode, second: LibraryNode, width: int) -> LibrarySplit:
    feature, kind = int(node["split_feature"]), node["decision_type"]
    if not 0 <= feature < width:
        raise ValueError(f"a split about column {feature} of {width}")
    if kind == "==":
        codes = frozenset(int(code) for code in str(node["threshold"]).split("||"))
        if not codes <= frozenset(range(MOST_CODE)):
            raise ValueError(f"a category with the code {max(codes)} or {min(codes)}")
        return LibrarySplit(feature, 0.0, first, second, codes=codes, missing_first=False)
    threshold = float(node["threshold"])
    if kind != "<=" or np.isnan(threshold):
        raise ValueError(f"a split by {kind!r:.20} at {threshold}")
    return number_split(feature, threshold, MISSING[node["missing_type"]], bool(node["default_left"]), first, second)
