"""Loader of LightGBM: fitted models, and files as text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.description import ModelDescription, TakenEntries
from lcifr.models.loaders.tree_ensembles import (
    INSTEAD,
    TAKEN,
    LibraryNode,
    LibrarySplit,
    TreeFile,
    TreeSource,
    class_labels,
    class_numbers,
    codes_of,
    grow,
    is_installed,
)
from lcifr.models.rule import ASSUMED_ROUNDOFFS, Kind, Rule, behind_line, probability_band
from lcifr.models.trees import TreeLeaf

# LightGBM: trees, objective and rule, from the text that ``save_model`` writes.

UNIT = 2.0**-53
ZERO = float(np.float32(1e-35))
"""Numbers up to this size are zero to LightGBM, before it compares them; those that a sparse matrix stores are not."""
CATEGORICAL, DEFAULT_LEFT = 1, 2
"""Bits of a decision type; the next two say what is missing."""
NOTHING, ZEROS = 0, 1
LIGHTGBM = "LightGBM reads its columns"
WHOLE_SUM = {"pred_early_stop": "0", "start_iteration_predict": "0", "num_iteration_predict": "-1"}
"""Settings of ``predict`` that old files keep, with the values at which it adds all trees up."""
OFF = (None, False, "false", "-", "False", "0")
NUMBERS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
WORKS = ", ".join(("binary", "multiclass", *NUMBERS))


def read_text(text: str, where: str) -> TreeSource:
    """The trees in the text of a saved model; its classes have no names yet.

    Raises
    ------
    NetworkError
        For linear trees, and for objectives whose link is not known here.
    """
    with _malformed_refused(where):
        return _read_text(text, where)


@contextmanager
def _malformed_refused(where: str) -> Iterator[None]:
    """What Python raises at missing or misplaced entries, as an error that names the model."""
    try:
        yield
    except NetworkError:
        raise
    except MALFORMED as problem:
        raise NetworkError(f"{where} is not a model of LightGBM: {type(problem).__name__}: {problem!s:.120}") from None


def is_of_lightgbm(estimator: Any) -> bool:
    """Whether a fitted estimator is one of LightGBM's own."""
    return type(estimator).__module__.startswith("lightgbm.")


def refuse_early_stop(settings: Mapping[str, Any], where: str) -> None:
    """``predict`` then adds up only as many trees as it takes to reach a margin, which is another function.

    Raises
    ------
    NetworkError
        If the settings of a classifier ask for it.
    """
    asked = settings.get("pred_early_stop")
    if asked not in OFF:
        raise NetworkError(
            f"{where} has pred_early_stop={asked}: predict stops before it has added up all trees",
            fix="deploy and audit it without: model.set_params(pred_early_stop=False)",
        )


def _refuse_partial_sums(text: str, where: str) -> None:
    kept = dict(
        line[1:-1].split(": ", 1)
        for line in text.rpartition("\nparameters:")[2].partition("\nend of parameters")[0].splitlines()
        if line.startswith("[") and ": " in line
    )
    for name, usual in WHOLE_SUM.items():
        if kept.get(name, usual) != usual:
            raise NetworkError(
                f"{where} keeps {name}: {kept[name]}, so that predict may not add up all trees",
                fix=f"save the model again without {name}",
            )


def _read_text(text: str, where: str) -> TreeSource:
    _refuse_partial_sums(text, where)
    head, *parts = text.split("\nTree=")
    header = _fields(head)
    count = int(header["num_tree_per_iteration"])
    objective = header.get("objective", "")
    rule = rule_of(objective, count, where)
    fields = [_fields(part.split("\nend of trees")[0].partition("\n")[2]) for part in parts]
    trees = tuple(_tree_of_text(one, number % count, count, where) for number, one in enumerate(fields))
    tail = text.rpartition("pandas_categorical:")[2].splitlines()
    known = json.loads(tail[0]) if "pandas_categorical:" in text and tail else None
    return _source(
        trees,
        np.zeros(count),
        rule,
        objective,
        mean=any(line.strip() == "average_output" for line in head.splitlines()),
        names=tuple(header["feature_names"].split()),
        categories=known,
        categorical=_categorical(header["feature_infos"].split(), text),
        width=int(header["max_feature_idx"]) + 1,
    )


def _source(
    trees: tuple[LibraryNode, ...],
    base: NDArray[np.float64],
    rule: Rule,
    objective: str,
    *,
    mean: bool,
    categories: Any,
    **known: Any,
) -> TreeSource:
    """A sum of trees, or the ``mean`` over all rounds, which LightGBM computes in float64."""
    rounds = max(1, len(trees) // len(base))
    return TreeSource(
        trees=trees,
        base=base,
        scale=Fraction(1, rounds) if mean else Fraction(1),
        rule=rule,
        runtime=f"lightgbm {version('lightgbm')}" if is_installed("lightgbm") else "",
        library=f"LightGBM ({objective})",
        objective=objective,
        categories=tuple(tuple(values) for values in categories or ()),
        used_rounds=rounds,
        rounds=rounds,
        **known,
    )


def _categorical(infos: list[str], text: str) -> tuple[bool, ...]:
    """Whether each column holds codes; columns with one code or none are named only in the parameters."""
    named = text.rpartition("[categorical_feature: ")[2].partition("]")[0].split(",")
    return tuple(
        str(place) in named or (info != "none" and not info.startswith("[")) for place, info in enumerate(infos)
    )


def _fields(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def rule_of(objective: str, count: int, where: str) -> Rule:
    """By which the sums decide."""
    name, *options = objective.split() or [""]
    if name == "binary":
        settings = dict(option.split(":", 1) for option in options if ":" in option)
        slope = float(settings.get("sigmoid", "1"))
        band = behind_line(probability_band(0.5, UNIT, where), slope, 0.0, UNIT)
        return Rule(Kind.SIGN, 1, band=(band.lower, band.upper), log_odds=(slope, 0.0))
    if name == "multiclass" and count > 1:
        lead = 2 * ASSUMED_ROUNDOFFS * UNIT  # of a softmax: two exponentials, each as exact as assumed
        return Rule(Kind.CLASS, count, tuple((c,) for c in range(count)), band=(-lead, lead))
    if name in NUMBERS and count == 1 and "sqrt" not in options:
        return Rule(Kind.NUMBER, 1)
    raise NetworkError(f"{where}: the objective {objective!r} is not supported", fix=f"use one of {WORKS}")


def _tree_of_text(fields: Mapping[str, str], output: int, outputs: int, where: str) -> LibraryNode:
    if fields.get("is_linear", "0") != "0":
        raise NetworkError(f"{where}: leaves hold linear models", fix="train with linear_tree=False")
    values = [float(value) for value in fields["leaf_value"].split()]
    leaves = [TreeLeaf(tuple(value if o == output else 0.0 for o in range(outputs))) for value in values]
    if len(leaves) == 1:
        return leaves[0]
    left, right, features, kinds = (
        [int(value) for value in fields[name].split()]
        for name in ("left_child", "right_child", "split_feature", "decision_type")
    )
    thresholds = fields["threshold"].split()
    starts = [int(value) for value in fields.get("cat_boundaries", "").split()]
    words = [int(value) for value in fields.get("cat_threshold", "").split()]
    built: dict[int, LibraryNode] = {~number: leaf for number, leaf in enumerate(leaves)}
    for node in range(len(left) - 1, -1, -1):  # children come behind their parents
        first, second, kind = built.pop(left[node]), built.pop(right[node]), kinds[node]
        if kind & CATEGORICAL:
            place = int(float(thresholds[node]))
            codes = codes_of(words[starts[place] : starts[place + 1]])
            built[node] = LibrarySplit(features[node], 0.0, first, second, codes=codes, missing_first=False)
            continue
        threshold, default = float(thresholds[node]), bool(kind & DEFAULT_LEFT)
        built[node] = number_split(features[node], threshold, kind >> 2 & 3, default, first, second)
    return built[0]


def number_split(
    feature: int, threshold: float, missing: int, default: bool, first: LibraryNode, second: LibraryNode
) -> LibrarySplit:
    """A split of a number; ``missing`` : what is missing there, ``default`` : whether it goes to the first child."""
    # Where only zeros are missing, or nothing is, a missing number counts as 0.
    default = default if missing != NOTHING else threshold >= 0.0
    reach = ZERO if missing == ZEROS else math.nan
    return LibrarySplit(feature, threshold, first, second, missing_first=default, missing_reach=reach, zero_reach=ZERO)


def read_source(estimator: Any) -> TreeSource:
    """The trees of a fitted estimator of LightGBM."""
    name = type(estimator).__name__
    if name not in ("LGBMClassifier", "LGBMRegressor"):
        raise NetworkError(f"{name} of LightGBM is not read", fix="use LGBMClassifier or LGBMRegressor")
    read = read_text(estimator.booster_.model_to_string(), name)
    if read.rule.classes:  # of numbers it always adds up all trees
        refuse_early_stop(estimator.get_params(), name)
    return replace(read, labels=class_labels(estimator, read))


# Files of LightGBM: the text of ``save_model``, and what ``dump_model`` gives as JSON.

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
    unnamed = all(name == f"Column_{place}" for place, name in enumerate(read.names))
    return TreeFile(
        source=replace(read, names=() if unnamed else read.names, labels=class_numbers(read)),
        where=str(path),
        notes=(DUMPED,) if dumped else (),
        description=description,
        scores=TextScores(text, float(read.scale)) if installed else None,
        positional=LIGHTGBM,
    )


def _read_dumped(text: str, where: str) -> TreeSource:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NetworkError(f"{where} is not JSON: {problem!s:.120}", fix="write it again: json.dump") from None
    return read_json(content, where)


@dataclass(frozen=True)
class TextScores:
    """The sums, or means, that LightGBM itself computes for rows of its matrix; see :class:`LibraryScores`."""

    text: str
    scale: float

    @cached_property
    def _booster(self) -> Any:
        import lightgbm

        return lightgbm.Booster(model_str=self.text)

    def __call__(self, matrix: NDArray[np.float64], *, probability: bool = False) -> NDArray[np.float64]:
        found = self._booster.predict(matrix, raw_score=not probability, num_threads=1, validate_features=False)
        return np.asarray(found) if probability else np.asarray(found, dtype=np.float64) * self.scale


def read_json(content: Any, where: str) -> TreeSource:
    """The trees in the parsed content of a dumped model; its classes have no names yet.

    Raises
    ------
    NetworkError
        If it is not such a model, has linear trees, or has an objective whose link is unknown here.
    """
    with _malformed_refused(where):
        return _read_json(content, where)


def _read_json(content: Mapping[str, Any], where: str) -> TreeSource:
    count = int(content["num_tree_per_iteration"])
    objective, infos = str(content.get("objective", "")), content["feature_infos"]
    rule = rule_of(objective, count, where)
    names = tuple(str(name) for name in content["feature_names"])
    width = int(content["max_feature_idx"]) + 1
    trees = tuple(
        _tree_of_json(one["tree_structure"], number % count, count, width, where)
        for number, one in enumerate(content["tree_info"])
    )
    if len(names) != width or not trees or len(trees) % count:
        raise ValueError(f"{len(names)} names, {width} columns, {len(trees)} trees of {count} outputs")
    return _source(
        trees,
        np.zeros(count),
        rule,
        objective,
        mean=bool(content.get("average_output")),
        names=names,
        categories=content.get("pandas_categorical"),
        categorical=tuple(bool(infos.get(name, {}).get("values")) for name in names),
        width=width,
    )


def _tree_of_json(root: Mapping[str, Any], output: int, outputs: int, width: int, where: str) -> LibraryNode:
    def look(node: Mapping[str, Any]) -> LibraryNode | tuple[Mapping[str, Any], Mapping[str, Any]]:
        if "leaf_coeff" in node or "leaf_const" in node:
            raise NetworkError(f"{where}: leaves hold linear models", fix="train with linear_tree=False")
        if "split_feature" in node:
            return node["left_child"], node["right_child"]
        value = float(node["leaf_value"])
        return TreeLeaf(tuple(value if o == output else 0.0 for o in range(outputs)))

    def join(node: Mapping[str, Any], first: LibraryNode, second: LibraryNode) -> LibraryNode:
        return _split(node, first, second, width)

    return grow(root, look, join)


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
