"""Loading of models from Python objects and from files: the entry point to one loader per library and format."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data import Encoding
from lcifr.data.files import sha256_of
from lcifr.errors import NetworkError
from lcifr.models.files.description import ModelDescription
from lcifr.models.files.formats import ModelFormat, recognise
from lcifr.models.files.outline import ModelOutline
from lcifr.models.model import Model, own_model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.models.table_model import TableModel

if TYPE_CHECKING:
    from lcifr.models.trees.latents import LatentTrees

LOADERS = {
    ModelFormat.ONNX: "lcifr.models.onnx.files",
    ModelFormat.SKOPS: "lcifr.models.skops.reader",
    ModelFormat.XGBOOST: "lcifr.models.trees.xgboost_files",
    ModelFormat.LIGHTGBM: "lcifr.models.trees.lightgbm_files",
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


def outline_of(model: Any) -> ModelOutline:
    """What a loaded model is, in words."""
    if hasattr(model, "outline"):
        found: ModelOutline = model.outline()
        return found
    from lcifr.models.sklearn.outline import outline_sklearn

    return outline_sklearn(model)


def read_model(model: Any, groups: Sequence[Sequence[Any]] | None = None, tolerance: float | None = None) -> Model:
    """A model on latents, and what counts as one decision: a network, a torch module, one of our heads, or a fitted
    model of scikit-learn, XGBoost or LightGBM.

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
    if isinstance(model, Network):
        return Model(model, Rule.of(model.outputs, groups=groups, tolerance=tolerance))
    own = own_model(model)
    if own is None:
        from lcifr.models.sklearn.latents import read_sklearn
        from lcifr.models.trees.latents import read_trees_on_latents
        from lcifr.models.trees.tables import is_tree_model

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
        model = load_file(model).model
    if hasattr(model, "read_table"):
        found: TableModel = model.read_table(table, encoding)
        return found
    if _is_torch_module(model):
        raise NetworkError(
            "a torch module does not say which column feeds which input",
            fix="audit TorchModel(module, description): from lcifr.models.torch import TorchModel, and"
            'read_description("model.toml") of lcifr.models.files.description_reader',
        )
    from lcifr.models.sklearn.tables import read_sklearn_table

    return read_sklearn_table(model, table, encoding)


def _is_torch_module(model: Any) -> bool:
    """By the names of its classes, so that nobody else waits for torch."""
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(model).__mro__)
