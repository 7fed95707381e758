"""What a skops file may hold: the allow-list of classes and functions, and the check of every node of its schema."""

from __future__ import annotations

import importlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.loaders.sklearn import CLASSIFIERS, REGRESSORS, WRAPPERS
from lcifr.models.loaders.sklearn_preprocessing import ENCODERS, MIXERS, SCALERS
from lcifr.models.loaders.tree_ensembles import BOOSTED, HISTOGRAM, KINDS

# Arrays of trees in skops files, checked before scikit-learn sees them: it follows their indices unchecked.

MOST_CLASSES = 2**11


def is_record(dtype: np.dtype[Any]) -> bool:
    """Whether records of this type are nodes of trees, in the installed version of scikit-learn."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.tree._tree import NODE_DTYPE

    return dtype in (NODE_DTYPE, PREDICTOR_RECORD_DTYPE)


def check_records(name: str, data: bytes) -> None:
    """Refuse nodes that are no tree: each child is behind its parent, and has one parent; columns are not negative."""
    nodes = np.load(io.BytesIO(data), allow_pickle=False)
    histogram = "is_leaf" in nodes.dtype.names
    if nodes.ndim != 1 or not len(nodes):
        raise NetworkError(f"{name!r:.80} holds no nodes of a tree")
    first, second = (nodes[one].astype(np.int64) for one in (("left", "right") if histogram else SIDES))
    inner = nodes["is_leaf"] == 0 if histogram else first != -1
    features = nodes["feature_idx" if histogram else "feature"].astype(np.int64)
    here = np.flatnonzero(inner)
    children = np.sort(np.concatenate([first[here], second[here]]))
    ahead = (first[here] > here).all() and (second[here] > here).all()
    if not ahead or not np.array_equal(children, np.arange(1, len(nodes))) or (features[here] < 0).any():
        raise NetworkError(f"{name!r:.80} holds nodes that are no tree")
    numbers = nodes["num_threshold" if histogram else "threshold"][here]
    if np.isnan(numbers).any():
        raise NetworkError(f"{name!r:.80} holds a threshold that is no number")


SIDES = ("left_child", "right_child")


def check_tree(args: Mapping[str, Any], content: Mapping[str, Any], arrays: Mapping[str, bytes], where: str) -> None:
    """Refuse a tree whose numbers of nodes, columns, classes and outputs are not those of its arrays."""
    try:
        columns, classes, outputs = args["content"]
        state = content["content"]
        nodes, values, per_output = (_array(one, arrays) for one in (state["nodes"], state["values"], classes))
        count = len(nodes)
        inner = nodes["left_child"] != -1
        width, most = _whole(columns), int(per_output.max())
        fits = (
            set(state) == {"max_depth", "node_count", "nodes", "values"}
            and _whole(state["node_count"]) == count
            and 0 < _whole(outputs) == len(per_output)
            and per_output.dtype == np.intp
            and 0 < int(per_output.min()) <= most <= MOST_CLASSES
            and values.shape == (count, len(per_output), most)
            and values.dtype == np.float64
            and bool(np.isfinite(values).all())
            and bool((nodes["feature"][inner] < width).all())
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
        raise NetworkError(f"{where} is no tree: {type(problem).__name__}: {problem!s:.120}") from None
    if not fits:
        raise NetworkError(f"{where} is a tree whose parts do not fit together")


def _array(node: Mapping[str, Any], arrays: Mapping[str, bytes]) -> NDArray[Any]:
    return np.asarray(np.load(io.BytesIO(arrays[node["file"]]), allow_pickle=False))


def _whole(node: Mapping[str, Any]) -> int:
    value = json.loads(node["content"])
    if type(value) is not int:
        raise ValueError(f"{value!r:.40} is no whole number")
    return value


# Archives of skops files: everything in them, read within limits, and arrays that are what they say.

SCHEMA = "schema.json"
MOST_ENTRIES = 20_000
MOST_BYTES = 1 << 28
"""The most bytes that all entries may have together, unpacked."""
MOST_SCHEMA_BYTES = 1 << 26
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NUMBER_KINDS = "biufUS"
"""Kinds of numpy arrays that are plain values."""


@dataclass(frozen=True)
class Archive:
    """schema : the text that describes the objects. files : all other entries by their names."""

    schema: bytes
    files: dict[str, bytes]


def read_archive(path: Path) -> Archive:
    """All entries of a skops file.

    Raises
    ------
    NetworkError
        For what is no archive, or is larger than the limits when unpacked.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise _broken(path, f"it has {len(entries):,} entries, more than {MOST_ENTRIES:,}")
            found = _read_entries(path, archive, entries)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, EOFError, ValueError, NotImplementedError) as problem:
        if isinstance(problem, NetworkError):
            raise
        raise _broken(path, f"{type(problem).__name__}: {problem}") from None
    except Exception as problem:  # zlib.error and whatever else an unpacker raises at garbage
        raise _broken(path, f"{type(problem).__name__}: {problem}") from None
    if SCHEMA not in found:
        raise _broken(path, f"there is no {SCHEMA} in it")
    schema = found.pop(SCHEMA)
    if len(schema) > MOST_SCHEMA_BYTES:
        raise _broken(path, f"its {SCHEMA} has more than {MOST_SCHEMA_BYTES:,} bytes")
    return Archive(schema, found)


def _read_entries(path: Path, archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for entry in entries:
        if entry.filename in found:
            raise _broken(path, f"it has two entries {entry.filename!r:.80}")
        if entry.flag_bits & 1 or entry.compress_type not in COMPRESSIONS:
            raise _broken(path, f"{entry.filename!r:.80} is encrypted, or packed in an unknown way")
        with archive.open(entry) as file:
            data = file.read(left + 1)  # what an entry says of its size may be wrong
        left -= len(data)
        if left < 0:
            raise _broken(path, f"unpacked it has more than {MOST_BYTES:,} bytes")
        found[entry.filename] = data
    return found


def check_array(name: str, data: bytes) -> None:
    """Refuse what is no array in numpy's format, is not as long as it says, or holds other things than plain values."""
    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version}")
        shape, _, dtype = header(file)
    except Exception as problem:
        raise NetworkError(f"{name!r:.80} is no array: {problem!s:.200}") from None
    if dtype.hasobject or not (dtype.kind in NUMBER_KINDS or is_record(dtype)):
        raise NetworkError(f"{name!r:.80} is an array of {dtype!s:.80}, not of plain values")
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise NetworkError(f"{name!r:.80} says that its shape is {shape!s:.80}, but it has another length")
    if dtype.names is not None:
        check_records(name, data)


def _broken(path: Path, what: str) -> NetworkError:
    return NetworkError(f"{path} is no skops file that can be read: {what}", fix="get the file again, or save it anew")


# The allow-list of skops files: the classes, types and functions that may be in one, by their full names.

SELECTORS = (
    *("SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect"),
    *("VarianceThreshold", "SelectFromModel", "RFE", "RFECV", "SequentialFeatureSelector"),
)
MODULES = (
    *("calibration", "compose", "decomposition", "discriminant_analysis", "dummy", "ensemble", "feature_selection"),
    *("frozen", "impute", "linear_model", "model_selection", "neural_network", "pipeline", "preprocessing", "svm"),
    "tree",
)
"""Public modules in which the classes are looked for: their private homes differ between versions."""
CLASSES = (
    *CLASSIFIERS,
    *REGRESSORS,
    *SCALERS,
    *ENCODERS,
    *MIXERS,
    *WRAPPERS,
    *SELECTORS,
    *KINDS,
    *("DummyClassifier", "DummyRegressor", "LabelEncoder"),  # of boosting: where it starts, and what classes are called
    *("Pipeline", "ColumnTransformer", "SimpleImputer", "MissingIndicator", "FunctionTransformer", "LabelBinarizer"),
)
PRIVATE = {
    "sklearn.calibration": ("_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.metrics._scorer": ("_CurveScorer", "_Scorer"),
    "sklearn._loss.loss": (
        *("AbsoluteError", "ExponentialLoss", "HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError"),
        *("HuberLoss", "PinballLoss"),
    ),
    "sklearn._loss.link": ("HalfLogitLink", "IdentityLink", "Interval", "LogitLink", "MultinomialLogit"),
    "sklearn.ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "sklearn.ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
}
"""What calibrated and tuned classifiers are made of, and boosting: its link, and its trees."""
TREE = "sklearn.tree._tree.Tree"
METRICS = (
    *("accuracy_score", "balanced_accuracy_score", "cohen_kappa_score", "f1_score", "fbeta_score", "jaccard_score"),
    *("matthews_corrcoef", "precision_score", "recall_score", "class_likelihood_ratios"),
)
"""Functions that a tuned threshold names: it is asked for their default label, and they are never called."""
TYPES = frozenset(
    ["builtins.str", "builtins.int", "builtins.float", "builtins.bool"]
    + [f"numpy.{name}" for name in ("float32", "float64", "int32", "int64", "uint8", "bool", "bool_", "str_")]
)
"""Types that a file may name: of the keys of a dict, and of what an encoder gives."""
SCALARS = TYPES | {f"numpy.{name}" for name in ("int8", "int16", "uint16", "uint32", "uint64", "bytes_")}
UNREAD = frozenset(
    (
        *("n_jobs", "random_state", "_random_state", "_rng", "verbose", "memory", "cv", "scoring", "scorer_"),
        *("score_func", "_optimizer", "loss_function_", "_loss_function_", "_loss", "_metadata_request"),
        *("_feature_subsample_rng", "_scorer", "closs", "oob_score"),
    )
)
"""Attributes that no prediction reads: they are left out, whatever is in them."""
READ = {name: frozenset({"_loss"}) for name in (*BOOSTED, *HISTOGRAM)}
"""Attributes that are read after all, for some classes: the link of boosting's loss."""


def full_name(thing: Any) -> str:
    """As skops writes it."""
    return f"{thing.__module__}.{thing.__name__}"


@cache
def allowed_classes() -> frozenset[str]:
    """Full names of the classes that are loaded, in the installed version of scikit-learn."""
    modules = []
    for name in MODULES:
        try:
            modules.append(importlib.import_module(f"sklearn.{name}"))
        except ModuleNotFoundError:  # sklearn.frozen is new in 1.6
            continue
    public = {full_name(getattr(module, name)) for module in modules for name in CLASSES if hasattr(module, name)}
    private = {f"{module}.{name}" for module, names in PRIVATE.items() for name in names}
    return frozenset(name for name in public if name.startswith("sklearn.")) | private


@cache
def allowed_functions() -> frozenset[str]:
    """Full names of the functions that may be referred to."""
    import sklearn.metrics

    return frozenset(full_name(getattr(sklearn.metrics, name)) for name in METRICS if hasattr(sklearn.metrics, name))


# Schemas of skops files, checked node by node and written anew: nothing reaches skops that was not understood here.
#
# A schema is a tree of nodes. Each names a loader, and a class that the loader makes. Loaders that call something are
# not known here: methods, partial functions, operators, constructors, generators. Attributes that no prediction reads
# are left out, and so are the ids by which a node could stand for another one.

Node = dict[str, Any]

PROTOCOL = 2
"""The protocol of skops 0.7 and later; nodes of older versions have another shape."""
MOST_NODES = 1_000_000
DEEPEST = 100
LONGEST = 1 << 20
"""Characters of a plain value."""
NOTHING: Node = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "null"}
SILENT: Node = {**NOTHING, "content": "0"}
"""What ``verbose`` becomes."""
CONTAINERS = {"ListNode": "builtins.list", "TupleNode": "builtins.tuple", "SetNode": "builtins.set"}


def checked(archive: Archive) -> Archive:
    """The schema with known nodes alone, and the arrays that it needs.

    Raises
    ------
    NetworkError
        For anything else, with the place and the name of what was found.
    """
    try:
        schema = json.loads(archive.schema)
    except (ValueError, RecursionError) as problem:
        raise NetworkError(f"schema.json is no JSON: {problem!s:.200}") from None
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol != PROTOCOL:
        raise NetworkError(
            f"the file has protocol {protocol!r:.40} of skops, and {PROTOCOL} is read",
            fix="load it where you trust it, and save it again with skops 0.13 or later",
        )
    checker = _Checker(archive)
    known = checker.node(schema, "model")
    return Archive(json.dumps({**known, "protocol": PROTOCOL}).encode(), checker.arrays)


@dataclass
class _Checker:
    """Walks the nodes; ``seen`` counts them, and ``arrays`` are those that they need."""

    archive: Archive
    arrays: dict[str, bytes] = field(default_factory=dict)
    seen: int = 0
    depth: int = 0
    readers: dict[str, Callable[[Node, str, str], Node]] = field(init=False)

    def __post_init__(self) -> None:
        self.readers = {
            **dict.fromkeys(CONTAINERS, self._container),
            "DictNode": self._dict,
            "ObjectNode": self._object,
            "JsonNode": self._json,
            "TypeNode": self._type,
            "FunctionNode": self._function,
            "SliceNode": self._slice,
            "NdArrayNode": self._array,
            "DTypeNode": self._dtype,
            "TreeNode": self._tree,
        }

    def node(self, state: Any, where: str) -> Node:
        """One node, with nothing but what its loader needs."""
        self.seen += 1
        if self.seen > MOST_NODES or self.depth > DEEPEST:
            raise NetworkError(f"the file has more than {MOST_NODES:,} parts, or parts nested deeper than {DEEPEST}")
        if not isinstance(state, dict):
            raise NetworkError(f"{where} is no part of a skops file")
        loader, name = state.get("__loader__"), f"{state.get('__module__')}.{state.get('__class__')}"
        if not isinstance(loader, str) or loader not in self.readers:
            raise _refused(where, name, f" by {loader!r:.40}" if isinstance(loader, str) else "")
        named = {key: state[key] for key in ("__module__", "__class__") if isinstance(state.get(key), str)}
        if len(named) < 2:
            raise NetworkError(f"{where} has no class")
        self.depth += 1
        found = self.readers[loader](state, name, where)
        self.depth -= 1
        return {**named, "__loader__": loader, **found}

    def _container(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset(CONTAINERS.values()) & {CONTAINERS[state["__loader__"]]}, where)
        return {"content": [self.node(one, f"{where}[{j}]") for j, one in enumerate(_list(state, where))]}

    def _dict(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset({"builtins.dict"}), where)
        content, keys = state.get("content"), state.get("key_types")
        if not isinstance(content, dict):
            raise NetworkError(f"{where} has no content")
        types = self.node(keys, f"{where}: types of keys")
        if types["__loader__"] != "ListNode" or any(one["__loader__"] != "TypeNode" for one in types["content"]):
            raise NetworkError(f"{where}: the types of its keys are none")
        return {
            "key_types": types,
            "content": {key: self.node(value, f"{where}[{key!r:.60}]") for key, value in content.items()},
        }

    def _object(self, state: Node, name: str, where: str) -> Node:
        _must(name, allowed_classes(), where)
        content, own = state.get("content"), name.rpartition(".")[2]
        if name.startswith("sklearn._loss.link.") and isinstance(content, dict) and content.get("content") == "null":
            return {"content": NOTHING}  # a link has no attributes
        if not isinstance(content, dict) or content.get("__loader__") != "DictNode":
            raise NetworkError(f"{where}: {name} has no attributes")
        attributes = content.get("content")
        if not isinstance(attributes, dict):
            raise NetworkError(f"{where}: {name} has no attributes")
        unread = UNREAD - READ.get(own, frozenset())
        read = {key: NOTHING if key in unread else value for key, value in attributes.items()}
        read |= {"verbose": SILENT} if "verbose" in read else {}
        if own == "FunctionTransformer" and _only_checks(read.get("func")):
            read["func"] = NOTHING  # of histogram boosting: it looks at numbers, and hands them on
        return {"content": self.node({**content, "content": read}, f"{where} ({own})")}

    def _tree(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset({TREE}), where)
        reduced = state.get("__reduce__")
        args = self.node(reduced.get("args") if isinstance(reduced, dict) else None, f"{where}: its arguments")
        content = self.node(state.get("content"), where)
        check_tree(args, content, self.arrays, where)
        return {"__reduce__": {"args": args}, "content": content}

    def _json(self, state: Node, name: str, where: str) -> Node:
        content = state.get("content")
        if not isinstance(content, str) or len(content) > LONGEST:
            raise NetworkError(f"{where} is no plain value, or one of more than {LONGEST:,} characters")
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            raise NetworkError(f"{where} is no plain value: {content!r:.60}") from None
        return {"content": content, "is_json": True}

    def _type(self, state: Node, name: str, where: str) -> Node:
        _must(name, TYPES, where)
        return {}

    def _function(self, state: Node, name: str, where: str) -> Node:
        _must(name, allowed_functions(), where)
        return {}

    def _slice(self, state: Node, name: str, where: str) -> Node:
        content = state.get("content")
        ends = {key: content.get(key) for key in ("start", "stop", "step")} if isinstance(content, dict) else {}
        if name != "builtins.slice" or not ends or any(type(end) not in (int, type(None)) for end in ends.values()):
            raise NetworkError(f"{where} is no slice of whole numbers")
        return {"content": ends}

    def _array(self, state: Node, name: str, where: str) -> Node:
        _must(name, SCALARS | {"numpy.ndarray"}, where)
        if state.get("type") == "numpy":
            file = state.get("file")
            if not isinstance(file, str) or file not in self.archive.files:
                raise NetworkError(f"{where}: there is no array {file!r:.80} in the file")
            if file not in self.arrays:
                check_array(file, self.archive.files[file])
                self.arrays[file] = self.archive.files[file]
            return {"type": "numpy", "file": file}
        if state.get("type") != "json" or name != "numpy.ndarray":
            raise NetworkError(f"{where} is no array that can be read")
        items = [self.node(one, f"{where}[{j}]") for j, one in enumerate(_list(state, where))]
        if any(one["__loader__"] not in ("JsonNode", "NdArrayNode", "ListNode") for one in items):
            raise NetworkError(f"{where} is an array of other things than plain values")
        return {"type": "json", "content": items, "shape": self.node(state.get("shape"), f"{where}: its shape")}

    def _dtype(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset({"numpy.dtype"}), where)
        content = self.node(state.get("content"), where)
        if content["__loader__"] != "NdArrayNode":
            raise NetworkError(f"{where} is no dtype")
        return {"content": content}


def _only_checks(function: Any) -> bool:
    """Whether it is check_array with some options, and nothing before them."""
    content = (
        function.get("content") if isinstance(function, dict) and function.get("__loader__") == "PartialNode" else None
    )
    inner = content.get("func") if isinstance(content, dict) else None
    named = (
        (inner.get("__loader__"), inner.get("__module__"), inner.get("__class__")) if isinstance(inner, dict) else ()
    )
    return named == ("FunctionNode", "sklearn.utils.validation", "check_array")


def _list(state: Node, where: str) -> list[Any]:
    content = state.get("content")
    if not isinstance(content, list):
        raise NetworkError(f"{where} has no content")
    return content


def _must(name: str, allowed: frozenset[str], where: str) -> None:
    if name not in allowed:
        raise _refused(where, name, "")


def _refused(where: str, name: str, how: str) -> NetworkError:
    return NetworkError(
        f"{where} is {name!r:.120}{how}, which is not on the list of what is read from a file; nothing was loaded",
        fix="pass the fitted object to lcifr.audit where you trust it, or save a model of the supported classes",
    )
