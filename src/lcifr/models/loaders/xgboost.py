"""Loader of XGBoost: fitted models, and files in JSON and UBJSON."""

from __future__ import annotations

import itertools
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.program import StepFormat
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import DescriptionError, ModelDescription, TakenEntries
from lcifr.models.loaders.tree_ensembles import (
    INSTEAD,
    TAKEN,
    LibraryNode,
    LibrarySplit,
    TreeFile,
    TreeSource,
    class_labels,
    class_numbers,
    grow,
    is_installed,
)
from lcifr.models.rule import ASSUMED_ROUNDOFFS, Kind, Rule, probability_band
from lcifr.models.trees import TreeLeaf

# Reader of Universal Binary JSON (UBJSON, draft 12), in which XGBoost saves models.

BINARY_NUMBERS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}
DEEPEST = 64


def read_ubjson(data: bytes) -> Any:
    """The one value that the bytes hold.

    Raises
    ------
    NetworkError
        For bytes that are no such value.
    """
    try:
        reader = _Reader(data)
        found = reader.value(reader.take(1), 0)
    except (struct.error, UnicodeDecodeError, KeyError, ValueError) as problem:
        raise NetworkError(f"not a model in UBJSON: {type(problem).__name__}: {problem}") from None
    if reader.at != len(data):
        raise NetworkError(f"not a model in UBJSON: {len(data) - reader.at} bytes behind its end")
    return found


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise ValueError("the bytes end early")
        self.at += count
        return self.data[self.at - count : self.at]

    def marker(self) -> bytes:
        """The next one; no-ops are passed over."""
        found = self.take(1)
        while found == b"N":
            found = self.take(1)
        return found

    def value(self, kind: bytes, deep: int) -> Any:
        if deep > DEEPEST:
            raise ValueError("values are nested too deeply")
        if kind in BINARY_NUMBERS:
            return self.number(kind)
        if kind in CONSTANTS:
            return CONSTANTS[kind]
        if kind == b"C":
            return self.take(1).decode("ascii")
        if kind == b"S":
            return self.text()
        if kind == b"[":
            return self.array(deep)
        if kind == b"{":
            return self.table(deep)
        raise ValueError(f"unknown marker {kind!r}")

    def number(self, kind: bytes) -> Any:
        form = BINARY_NUMBERS[kind]
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def length(self) -> int:
        kind = self.take(1)
        if kind not in (b"i", b"U", b"I", b"l", b"L"):
            raise ValueError(f"a length of type {kind!r}")
        return int(self.number(kind))

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def header(self) -> tuple[bytes | None, int | None]:
        """The type of all elements, and their number, where they are given in advance."""
        kind, count = None, None
        if self.data[self.at : self.at + 1] == b"$":
            self.take(1)
            kind = self.take(1)
        if self.data[self.at : self.at + 1] == b"#":
            self.take(1)
            count = self.length()
        return kind, count

    def array(self, deep: int) -> list[Any]:
        kind, count = self.header()
        if kind in BINARY_NUMBERS and count is not None:
            form = BINARY_NUMBERS[kind]
            return list(struct.unpack(f">{count}{form[1]}", self.take(count * struct.calcsize(form))))
        found: list[Any] = []
        while count is None or len(found) < count:
            marker = self.marker() if kind is None else kind
            if count is None and marker == b"]":
                break
            found.append(self.value(marker, deep + 1))
        return found

    def table(self, deep: int) -> dict[str, Any]:
        kind, count = self.header()
        found: dict[str, Any] = {}
        while count is None or len(found) < count:
            if count is None and self.data[self.at : self.at + 1] == b"}":
                self.take(1)
                break
            name = self.text()
            if name in found:
                raise ValueError(f"{name!r} occurs twice")
            found[name] = self.value(self.marker() if kind is None else kind, deep + 1)
        return found


# XGBoost: trees, base score, objective and rule, from what ``save_model`` writes as JSON or UBJSON.

UNIT = 2.0**-24
LOGISTIC = ("binary:logistic", "reg:logistic")
"""The base score is a probability, and so is what is compared."""
LEAST_SCORE = 1e-6
"""Versions differ in what they make of base scores that are probabilities closer to 0 or 1."""
RAW, HINGE = "binary:logitraw", "binary:hinge"
SEVERAL = ("multi:softprob", "multi:softmax")
NUMBERS = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror")
WORKS = ", ".join((*LOGISTIC, RAW, HINGE, *SEVERAL, *NUMBERS))


def read_booster(content: Mapping[str, Any], where: str) -> TreeSource:
    """The trees in the content of a saved model, which casts to float32 and adds up in it; its classes have no names.

    Raises
    ------
    NetworkError
        For DART and linear boosters, vector leaves, several labels, and objectives whose link is not known here.
    """
    learner = content["learner"]
    booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
    if booster["name"] != "gbtree":
        raise NetworkError(
            f"{where}: the booster is {booster['name']}, which is not a plain sum of trees",
            fix='train with booster="gbtree"',
        )
    if int(parameters.get("num_target", "1")) > 1:
        raise NetworkError(f"{where} predicts several labels at once", fix="fit one at a time")
    objective = learner["objective"]["name"]
    count = max(1, int(parameters["num_class"]))
    rule = _rule(objective, count, where)
    logistic = rule.log_odds is not None
    scores = _base_scores(str(parameters["base_score"]), count)
    base = np.array([_margin(score, where) if logistic else score for score in scores])
    model = booster["model"]
    total = len(model["trees"]) if "iteration_indptr" not in model else int(model["iteration_indptr"][-1])
    attributes = learner.get("attributes", {})
    rounds = _rounds(model, count)
    best = int(attributes["best_iteration"]) + 1 if "best_iteration" in attributes else rounds
    if not 0 <= best <= rounds:
        raise NetworkError(
            f"{where} says that {best} rounds decide, and holds {rounds} rounds",
            fix="set best_iteration to one of them",
        )
    kept = int(model["iteration_indptr"][best]) if "iteration_indptr" in model else total * best // max(rounds, 1)
    trees = tuple(
        _tree(tree, int(model["tree_info"][number]), count, where) for number, tree in enumerate(model["trees"][:kept])
    )
    if not trees:  # the library then leaves out the link of the base score, or not
        raise NetworkError(f"{where} holds no trees", fix="train at least one round")
    if logistic:  # the library computes the margin of the base score in float32, in three operations
        room = 8 * UNIT * (1.0 + float(np.abs(base).max()))
        rule = replace(rule, band=(rule.band[0] - room, rule.band[1] + room))
    width = int(parameters["num_feature"])
    kinds = tuple(kind == "c" for kind in learner.get("feature_types", ())) or (False,) * width
    known = _categories(model.get("cats", {}).get("enc", []), kinds)
    return TreeSource(
        trees=trees,
        base=base,
        rule=rule,
        cast=StepFormat.FLOAT32,
        native=Arithmetic.FLOAT32,
        runtime=next((f"xgboost {version(one)}" for one in ("xgboost", "xgboost-cpu") if is_installed(one)), ""),
        library=f"XGBoost {'.'.join(map(str, content.get('version', ())))} ({objective})",
        objective=objective,
        names=tuple(str(name) for name in learner.get("feature_names", ())),
        width=width,
        categorical=kinds,
        categories=known,
        unknown_code=math.nan if known is None else None,
        sparse_missing=True,
        used_rounds=best,
        rounds=rounds,
    )


def _categories(stored: Sequence[Mapping[str, Any]], kinds: Sequence[bool]) -> tuple[tuple[Any, ...], ...] | None:
    """The values of each categorical column by their codes, as models keep them since version 3.1.

    Text is kept as bytes with offsets. Version 3.2 counts characters there and cuts other letters than ASCII off, so
    such text is not taken from the file.
    """
    chosen = [one for one, is_code in zip(stored, kinds, strict=False) if is_code]
    if not chosen or len(chosen) != sum(kinds):
        return None
    found = [_values_of(one) for one in chosen]
    return tuple(found) if all(found) else None


def recodes(content: Mapping[str, Any]) -> bool:
    """Whether the library turns categories of a frame into codes by values that the model keeps."""
    kept = content["learner"]["gradient_booster"]["model"].get("cats", {}).get("enc", [])
    return any(one["values"] for one in kept)


def _values_of(one: Mapping[str, Any]) -> tuple[Any, ...]:
    values = [int(value) if float(value).is_integer() else float(value) for value in one["values"]]
    if "offsets" not in one:
        return tuple(values)
    if any(not 0 <= value < 128 for value in values):
        return ()
    text, ends = bytes(map(int, values)).decode("ascii"), [int(end) for end in one["offsets"]]
    return tuple(text[start:stop] for start, stop in itertools.pairwise(ends))


def _rule(objective: str, count: int, where: str) -> Rule:
    """By which the sums decide."""
    if count > 1 and objective not in SEVERAL:
        raise NetworkError(
            f"{where}: the objective {objective} with num_class={count} is not supported", fix="use multi:softprob"
        )
    if objective in LOGISTIC:
        band = probability_band(0.5, UNIT, where)
        return Rule(Kind.SIGN, 1, band=(band.lower, band.upper), log_odds=(1.0, 0.0))
    if objective == RAW:  # the classifier compares the margin itself with one half
        return Rule(Kind.SIGN, 1, band=(0.5, 0.5))
    if objective == HINGE:
        return Rule(Kind.SIGN, 1)
    if objective in SEVERAL:
        lead = 2 * ASSUMED_ROUNDOFFS * UNIT  # of a softmax: two exponentials, each as exact as assumed
        return Rule(Kind.CLASS, count, tuple((c,) for c in range(count)), band=(-lead, lead))
    if objective in NUMBERS:
        return Rule(Kind.NUMBER, 1)
    raise NetworkError(f"{where}: the objective {objective} is not supported", fix=f"use one of {WORKS}")


def _base_scores(text: str, count: int) -> list[float]:
    """One for each output; a number, or since version 3.1 a list in brackets."""
    values = [float(np.float32(value)) for value in text.strip("[] ").split(",")]
    return values * count if len(values) == 1 else values


def _margin(score: float, where: str) -> float:
    """The margin of a probability, as the library computes it in float32."""
    if not LEAST_SCORE < score < 1.0 - LEAST_SCORE:
        raise NetworkError(
            f"{where}: the base score {score} is not a probability between {LEAST_SCORE} and 1 - {LEAST_SCORE}",
            fix="train with another base_score",
        )
    one = np.float32(1.0)
    return float(-np.log(one / np.float32(score) - one, dtype=np.float32))


def _rounds(model: Mapping[str, Any], count: int) -> int:
    if "iteration_indptr" in model:
        return len(model["iteration_indptr"]) - 1
    parallel = int(model["gbtree_model_param"].get("num_parallel_tree", "1"))
    return len(model["trees"]) // max(1, count * parallel)


def _tree(tree: Mapping[str, Any], output: int, outputs: int, where: str) -> LibraryNode:
    if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        raise NetworkError(
            f"{where}: leaves hold several values", fix='train with multi_strategy="one_output_per_tree"'
        )
    sets = {
        int(node): frozenset(int(code) for code in tree["categories"][int(start) : int(start) + int(size)])
        for node, start, size in zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
        )
    }
    values = np.asarray(tree["split_conditions"], dtype=np.float32).astype(np.float64).tolist()
    left, right = tree["left_children"], tree["right_children"]
    looked_at = itertools.count(1)

    def look(node: int) -> LibraryNode | tuple[int, int]:
        if next(looked_at) > len(left):
            raise ValueError("a node of a tree has two parents")
        if left[node] >= 0:
            return int(left[node]), int(right[node])
        return TreeLeaf(tuple(values[node] if o == output else 0.0 for o in range(outputs)))

    def join(node: int, first: LibraryNode, second: LibraryNode) -> LibraryNode:
        missing, feature = bool(tree["default_left"][node]), int(tree["split_indices"][node])
        if node in sets:  # the codes of the set go to the right, all others to the left
            return LibrarySplit(feature, 0.0, second, first, codes=sets[node], missing_first=not missing)
        return LibrarySplit(feature, values[node], first, second, strict=True, missing_first=missing)

    return grow(0, look, join)


def content_of(booster: Any) -> Mapping[str, Any]:
    """Of a booster in memory, as ``save_model`` would write it."""
    content: Mapping[str, Any] = json.loads(bytes(booster.save_raw("json")))
    return content


def read_source(estimator: Any) -> TreeSource:
    """The trees of a fitted estimator of XGBoost."""
    name = type(estimator).__name__
    if name not in ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor"):
        raise NetworkError(f"{name} of XGBoost is not read", fix="use XGBClassifier or XGBRegressor")
    content = content_of(estimator.get_booster())
    read = read_booster(content, name)
    if read.categories is None and recodes(content):
        raise NetworkError(
            f"{name} keeps categories that cannot be read back, such as texts with letters that are not ASCII",
            fix="fit it with other names of the categories",
        )
    labels = class_labels(estimator, read)
    if read.rule.classes == 2 and len(read.base) == 2:
        raise NetworkError(f"{name} with {read.objective} and two classes predicts vectors", fix="use binary:logistic")
    missing = math.nan if estimator.missing is None else float(estimator.missing)
    return replace(read, labels=labels, missing=float(np.float32(missing)))


# Files of XGBoost: JSON and UBJSON of ``save_model``.

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
    if read.used_rounds < read.rounds:
        notes.append(
            f"The first {read.used_rounds} of {read.rounds} rounds decide, as early stopping left it: so do "
            f"XGBClassifier and XGBRegressor, and Booster.predict with iteration_range=(0, {read.used_rounds})."
        )
    missing = None if description is None else description.missing
    if missing is not None and abs(missing) > float(np.finfo(np.float32).max):
        raise DescriptionError(f"missing = {missing!r} is not a float32 number", fix="correct missing, or leave it out")
    installed = find_spec("xgboost") is not None
    scores = BoosterScores(data, read.used_rounds, math.nan if missing is None else missing) if installed else None
    return TreeFile(
        source=replace(read, labels=class_numbers(read)),
        where=str(path),
        notes=tuple(notes),
        description=description,
        scores=scores,
        assumptions=_assumed(missing),
    )


def _assumed(missing: float | None) -> tuple[str, ...]:
    """What stands for a missing value, which the file does not say."""
    if missing is None:
        return (MISSING_ASSUMED,)
    if math.isnan(missing):
        return ()
    return (f"{missing:.12g} is declared to stand for a missing value, as NaN does; the file does not say so.",)


def _read(data: bytes, where: str) -> TreeSource:
    try:
        content: Any = json.loads(data) if data[:2] in (b'{"', b"{ ", b"{\n") else read_ubjson(data)
        return read_booster(content, where)
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as problem:
        if isinstance(problem, NetworkError):
            raise
        raise NetworkError(f"{where} is not a saved XGBoost model: {type(problem).__name__}: {problem}") from None


@dataclass(frozen=True)
class BoosterScores:
    """The sums that XGBoost itself computes for rows of its matrix; see :class:`LibraryScores`.

    Parameters
    ----------
    data : a saved model. missing : the number that it takes as missing, NaN for none.
    """

    data: bytes
    rounds: int
    missing: float = math.nan

    @cached_property
    def _booster(self) -> Any:
        import xgboost

        return xgboost.Booster({"nthread": 1}, model_file=bytearray(self.data))

    def __call__(self, matrix: NDArray[np.float64], *, probability: bool = False) -> NDArray[Any]:
        import xgboost

        booster = self._booster
        rows = xgboost.DMatrix(
            matrix,
            missing=self.missing,
            feature_names=booster.feature_names,
            feature_types=booster.feature_types,
            enable_categorical=True,
        )
        found = booster.predict(rows, output_margin=not probability, iteration_range=(0, self.rounds))
        return np.asarray(found) if probability else np.asarray(found, dtype=np.float64)
