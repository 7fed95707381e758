"""Loading of models: formats recognised by content, and one loader per library and format."""

from __future__ import annotations

import importlib
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lcifr.data import Encoding
from lcifr.data.files import sha256_of
from lcifr.errors import NetworkError, no_such_file
from lcifr.models.description import ModelDescription, description_beside, read_description
from lcifr.models.function import Function
from lcifr.models.model import Model, own_model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.models.source import LatentTrees, ModelOutline, TableModel

# Formats of model files, recognised by their content: the suffix is not trusted.

LOOKED_AT = 4096
"""Bytes at the beginning of a file; enough for every format."""


class ModelFormat(StrEnum):
    """What a model file is."""

    ONNX = "ONNX"
    SKOPS = "skops"
    XGBOOST = "XGBoost"
    LIGHTGBM = "LightGBM"


TO_SKOPS = """convert it where you trust it, and give the new file; joblib.load reads plain pickles too:
     import joblib, skops.io
     skops.io.dump(joblib.load("{path}"), "{stem}.skops")"""
TO_ONNX = """export it where you trust it, and give the new file:
     import torch
     torch.onnx.export(module.eval(), torch.zeros(1, INPUTS), "{stem}.onnx", dynamo=True, external_data=False)"""

CATBOOST_TO_ONNX = """export it where you trust it, and give the new file:
     model.save_model("{stem}.onnx", format="onnx")"""

PICKLE_SUFFIXES = (".pkl", ".pickle", ".joblib", ".sav", ".p", ".dill", ".cloudpickle")
OLD_PICKLE = re.compile(rb"\(?[cil][\w.]+\n[\w.]+\n")
"""How protocols 0 and 1 begin, which have no mark of their own: with the name of what is to be called."""
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"\x04\x22\x4d\x18")
"""How gzip, bzip2, xz, zlib and LZ4 begin: what joblib compresses with."""


def recognise(path: Path) -> ModelFormat:
    """The format of a file.

    Raises
    ------
    NetworkError
        For a pickle, which is a program and is never run here, with the lines that convert it; for anything else that
        is no model, with the list of what is.
    """
    if path.is_dir():
        raise NetworkError(
            f"{path} is a folder, not the file of a model",
            fix="what lcifr learned is audited with `lcifr audit PRODUCER CONSUMER`",
        )
    try:
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
    except FileNotFoundError:
        raise no_such_file(path) from None
    if zipfile.is_zipfile(path):
        return _recognise_archive(path)
    _refuse_catboost(path, head)
    _refuse_interpret(path, head)
    _refuse_pickle(path, head)
    if (head.startswith(b"tree\n") and b"version=" in head) or _is_dumped_lightgbm(head):
        return ModelFormat.LIGHTGBM
    if re.match(rb"\{\s*\"(learner|version)\"", head) or re.match(rb"\{[Li].{1,16}(learner|version)", head, re.DOTALL):
        return ModelFormat.XGBOOST
    if _is_onnx(head) or (head and path.suffix.lower() == ".onnx"):  # whose reader says what is wrong with it
        return ModelFormat.ONNX
    raise NetworkError(
        f"{path} is not a model that lcifr can read: {'an empty file' if not head else 'an unknown format'}",
        fix=f"give one of {', '.join(ModelFormat)}; {_hint(path)}",
    )


def _recognise_archive(path: Path) -> ModelFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
        raise NetworkError(
            f"{path} is a zip archive that cannot be read: {problem}", fix="get the file again"
        ) from None
    if "schema.json" in names:
        return ModelFormat.SKOPS
    if any(name.endswith("data.pkl") for name in names):
        raise NetworkError(
            f"{path} was written by torch.save, which is a pickle: reading it would run what is in it",
            fix=TO_ONNX.format(stem=path.stem),
        )
    raise NetworkError(f"{path} is a zip archive, but not one of skops: there is no schema.json in it", fix=_hint(path))


def _refuse_pickle(path: Path, head: bytes) -> None:
    pickled = len(head) > 1 and head[0] == 0x80 and head[1] <= 5  # PROTO and its version
    compressed = head.startswith(COMPRESSED)
    named = path.suffix.lower() in PICKLE_SUFFIXES and not _is_onnx(head)
    old = named or OLD_PICKLE.match(head) is not None
    if pickled or compressed or old:
        what = "a compressed file, such as joblib writes" if compressed and not pickled else "a pickle or joblib file"
        raise NetworkError(
            f"{path} is {what}: reading it would run whatever is in it, so it is not read",
            fix=TO_SKOPS.format(path=path, stem=path.name.split(".")[0]),
        )


def _refuse_catboost(path: Path, head: bytes) -> None:
    """CatBoost's own formats: its binary one begins with CBM1, its JSON lists features and trees."""
    begun = head.lstrip()
    listed = begun.startswith(b"{") and any(
        re.match(rb'\{\s*"%s"' % key, begun)
        for key in (b"ctr_data", b"features_info", b"model_info", b"oblivious_trees")
    )
    if head.startswith(b"CBM1") or listed:
        raise NetworkError(
            f"{path} is a model of CatBoost in its own format, which lcifr does not read",
            fix=CATBOOST_TO_ONNX.format(stem=path.stem),
        )


def _refuse_interpret(path: Path, head: bytes) -> None:
    """The JSON of an explainable boosting machine, as interpret writes it."""
    if re.match(rb'\{\s*"version"\s*:\s*"[^"]*"\s*,\s*"ebm"', head.lstrip()):
        raise NetworkError(
            f"{path} is the JSON of an explainable boosting machine, which lcifr does not read",
            fix="pass the fitted object to lcifr.audit in Python, where you trust it",
        )


def _is_onnx(head: bytes) -> bool:
    """Whether it begins like the protobuf message ModelProto: field 1, the version of the IR, and another field.

    The fields are written in the order of their numbers by all that is known, but need not be.
    """
    if len(head) < 4 or head[0] != 0x08 or not 0 < head[1] < 64:
        return False
    field, wire = head[2] >> 3, head[2] & 7
    return (field, wire) in {(2, 2), (3, 2), (4, 2), (5, 0), (6, 2), (7, 2), (8, 2), (14, 2)}


def _is_dumped_lightgbm(head: bytes) -> bool:
    """JSON of dump_model, whatever the order of its keys."""
    return head.lstrip().startswith(b"{") and any(
        key in head for key in (b'"num_tree_per_iteration"', b'"average_output"')
    )


def _hint(path: Path) -> str:
    return "see docs/audit-your-model.md" if path.suffix != ".h5" else "export a Keras model to ONNX with tf2onnx"


# Loading of models from Python objects and from files: the entry point to one loader per library and format.

LOADERS = {
    ModelFormat.ONNX: "lcifr.models.loaders.onnx.reader",
    ModelFormat.SKOPS: "lcifr.models.loaders.skops",
    ModelFormat.XGBOOST: "lcifr.models.loaders.xgboost",
    ModelFormat.LIGHTGBM: "lcifr.models.loaders.lightgbm",
}
"""The module of each format; its ``read_file(path, description)`` returns what :func:`read_table_model` takes, and its
``TAKES`` names the entries of a description that it obeys."""


@dataclass(frozen=True)
class ModelFile:
    """A model from a file.

    Parameters
    ----------
    sha256 : of the file. description : which column feeds which input, where the model does not say so itself.
    model : what the loader made of it.
    """

    path: Path
    format: ModelFormat
    sha256: str
    model: Any = field(repr=False, compare=False)
    description: ModelDescription | None = None

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """For the raw columns of a pandas frame; see :func:`read_table_model`."""
        return read_table_model(self.model, table, encoding)

    def read_latents(self) -> LatentTrees:
        """A tree model on the z of a hand-over, instead of a table's columns.

        Raises
        ------
        NetworkError
            For formats whose models on z are not read.
        """
        if not hasattr(self.model, "read_latents"):
            raise NetworkError(
                f"{self.path}: models on z are read from files of XGBoost, LightGBM and skops, this is {self.format}",
                fix="give the file of the library that trained it",
            )
        found: LatentTrees = self.model.read_latents()
        return found

    def outline(self) -> ModelOutline:
        """What was loaded."""
        return outline_of(self.model)

    @property
    def libraries(self) -> dict[str, str]:
        """Versions of the libraries that read the file and answer for its model; none where they are not installed."""
        name, _, known = self.outline().runtime.rpartition(" ")
        read_by = {"skops": version("skops")} if self.format is ModelFormat.SKOPS else {}
        return ({name: known} if name else {}) | read_by


def load_file(path: str | Path, description: ModelDescription | None = None) -> ModelFile:
    """A model from its file, by what is in it; nothing in it is run.

    Raises
    ------
    NetworkError
        For what is no model, for a pickle, and for what cannot be read exactly.
    DescriptionError
        For entries of the description that models of this format do not take.
    """
    file = Path(path)
    found = recognise(file)
    try:
        loader = importlib.import_module(LOADERS[found])
    except ModuleNotFoundError as missing:
        if not str(missing.name).startswith("lcifr."):
            raise
        raise NetworkError(f"{file} is a model of {found}, which lcifr cannot read yet") from None
    loader.TAKES.check(description, f"a model of {found}")
    return ModelFile(file, found, sha256_of(file), loader.read_file(file, description), description)


def load_described(path: str | Path) -> ModelFile:
    """A model from its file, with the description that lies beside it, if there is one: as commands read it."""
    beside = description_beside(Path(path))
    return load_file(path, None if beside is None else read_description(beside))


def outline_of(model: Any) -> ModelOutline:
    """What a loaded model is, in words."""
    if hasattr(model, "outline"):
        found: ModelOutline = model.outline()
        return found
    from lcifr.models.loaders.sklearn import outline_sklearn

    return outline_sklearn(model)


def read_model(model: Any, groups: Sequence[Sequence[Any]] | None = None, tolerance: float | None = None) -> Model:
    """A model on latents, and what counts as one decision: a network or any other function, a torch module, one of our
    heads, or a fitted model of scikit-learn, XGBoost or LightGBM.

    Parameters
    ----------
    groups : class labels that count as one decision, as lists of labels (of class numbers for a plain network).
    tolerance : for regression, in the label's own unit, as the network's output is.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    if _is_torch_module(model):
        model = Network.from_torch(model)
    if isinstance(model, Function):
        return Model(model, Rule.of(model.outputs, groups=groups, tolerance=tolerance))
    own = own_model(model)
    if own is None:
        from lcifr.models.loaders.sklearn import read_sklearn
        from lcifr.models.loaders.tree_ensembles import is_tree_model, read_trees_on_latents

        own = read_trees_on_latents(model) if is_tree_model(model) else read_sklearn(model)
    return own.agreeing(groups, tolerance)


def read_table_model(model: Any, table: Any, encoding: Encoding) -> TableModel:
    """A fitted model of another library, or what :func:`load_file` found, on the raw columns of a pandas frame.

    Parameters
    ----------
    model : with a ``read_table`` of its own, or fitted with scikit-learn; or the path of a file.
    encoding : the schema of the table, and the scales that formulas speak of.

    Raises
    ------
    NetworkError
        For what is not exactly representable, by the name of the step that stands in the way.
    """
    if isinstance(model, str | Path):
        model = load_described(model).model
    if hasattr(model, "read_table"):
        found: TableModel = model.read_table(table, encoding)
        return found
    if _is_torch_module(model):
        raise NetworkError(
            "a torch module does not say which column feeds which input",
            fix="audit TorchModel(module, description): from lcifr.models.loaders.torch import TorchModel, and"
            'read_description("model.toml") of lcifr.models.description',
        )
    from lcifr.models.loaders.sklearn import read_sklearn_table

    return read_sklearn_table(model, table, encoding)


def _is_torch_module(model: Any) -> bool:
    """By the names of its classes, so that torch is not imported for other models."""
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(model).__mro__)
