"""Tree models on the raw columns of a table, alone or behind the preprocessing of a Pipeline."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.data.program import StepFormat
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.columns import Block, RawColumn, encoding_of
from lcifr.models.files.description import DescribedOutput, Meaning
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.probability import SINGLE_UNIT, MarginBand, behind_line, probability_band
from lcifr.models.rule import Rule
from lcifr.models.table_model import TableModel
from lcifr.models.trees.matrix import library_matrix
from lcifr.models.trees.splits import ColumnReader, LibraryNode, cast_block
from lcifr.models.trees.trees import Trees

SINGLE = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
FORESTS = ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
HISTOGRAM = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
KINDS = (*SINGLE, *FORESTS, *BOOSTED, *HISTOGRAM)
"""Estimators of scikit-learn that are sums of trees."""
LIBRARIES = {
    "sklearn": "lcifr.models.trees.sklearn",
    "xgboost": "lcifr.models.trees.xgboost",
    "lightgbm": "lcifr.models.trees.lightgbm",
    "interpret": "lcifr.models.interpret.boosting",
}
"""The loader of each library; its ``read_source(estimator)`` returns a :class:`TreeSource`."""
MakeMatrix = Callable[[tuple[RawColumn, ...] | Block, str], Block]


def is_tree_model(estimator: Any) -> bool:
    """Whether a fitted estimator is a sum of trees that can be read here."""
    library = type(estimator).__module__.split(".")[0]
    return type(estimator).__name__ in KINDS if library == "sklearn" else library in LIBRARIES


@dataclass(frozen=True)
class TreeSource:
    """What a loader gives: trees over the columns of a matrix, and all that is known about the sum of them.

    Parameters
    ----------
    cast : what the library casts its matrix to. native : what it adds leaves up in.
    categories : of categorical columns of a frame, the values that the library keeps; None where the table's count.
    unknown_code : what it takes other values for, NaN for missing ones; None where it refuses them.
    missing : the number that it takes as missing, NaN for none; sparse_missing : whether also zeros that a sparse
        matrix leaves out.
    slope : of the logistic function that makes the library's probability of the only output; None where there is none.
    matrix : what makes the matrix of the columns, where the library has a way of its own; else :func:`library_matrix`.
    """

    trees: tuple[LibraryNode, ...]
    base: NDArray[np.float64]
    scale: Fraction
    rule: Rule
    labels: NDArray[Any] | None
    cast: StepFormat
    native: Arithmetic
    runtime: str
    missing: float = math.nan
    sparse_missing: bool = False
    width: int = 0
    categories: tuple[tuple[Any, ...], ...] | None = None
    unknown_code: float | None = math.nan
    slope: float | None = None
    matrix: Callable[[tuple[RawColumn, ...] | Block, str], Block] | None = field(
        default=None, repr=False, compare=False
    )

    def threshold_band(self, described: DescribedOutput, arithmetic: Arithmetic | None, where: str) -> MarginBand:
        """Of the only output, for a threshold of it or of its probability, as the library computes either.

        Parameters
        ----------
        arithmetic : in which the model is deployed, where that is not the library's: the coarser of both counts.
        """
        kinds = [FORMATS[one].unit for one in (self.native, arithmetic) if one in FORMATS]
        roundoff, threshold = max(kinds), described.threshold
        single = self.native is Arithmetic.FLOAT32 and self.slope is not None
        room = max(map(abs, self.rule.band)) if single else 0.0  # XGBoost rounds the base score of logistic objectives
        if described.meaning is Meaning.SCORE:
            rounded = threshold if roundoff < SINGLE_UNIT else float(np.float32(threshold))
            found = MarginBand(min(threshold, rounded), max(threshold, rounded))
        elif self.slope is None:
            raise NetworkError(
                f"{where} gives no probability that is the logistic function of its sum",
                fix='use meaning = "score" with a threshold of the sum, or meaning = "class"',
            )
        else:
            found = probability_band(threshold, roundoff, where)
            if self.slope != 1.0:
                found = behind_line(found, self.slope, 0.0, roundoff)
        return MarginBand(found.lower - room, found.upper + room)


def read_source(estimator: Any) -> TreeSource:
    """The trees of a fitted estimator, by the loader of its library."""
    loader = importlib.import_module(LIBRARIES[type(estimator).__module__.split(".")[0]])
    found: TreeSource = loader.read_source(estimator)
    return found


def class_labels(estimator: Any, classes: int, objective: str) -> NDArray[Any] | None:
    """Names of the classes, None for numbers; a classifier predicts classes, and a regressor numbers."""
    name = type(estimator).__name__
    if name.endswith("Classifier") != bool(classes):
        does = "predicts probabilities" if classes else "cuts numbers at one half"
        raise NetworkError(f"{name} with the objective {objective} {does}", fix="let a classifier predict classes")
    return np.asarray(estimator.classes_) if classes else None


def is_installed(package: str) -> bool:
    """Whether a package is there, without importing it."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def made_up_names(count: int) -> list[str]:
    """What the library calls so many columns of a matrix without names."""
    return [f"feature_{place:04}" for place in range(count)]


@dataclass(frozen=True)
class FrameModel:
    """A fitted model, and the columns that it reads: categories are handed over as the table has them."""

    model: Any
    names: tuple[str, ...]
    dtypes: dict[str, Any] = field(default_factory=dict)

    def predict(self, frame: Any) -> NDArray[Any]:
        """(people,) the library's decisions about the rows of a pandas frame."""
        chosen = frame[list(self.names)].astype(self.dtypes)
        known = getattr(self.model, "feature_names_in_", None)
        unnamed = known is None or made_up_names(len(known)) == list(known) != list(self.names)
        return np.asarray(self.model.predict(chosen.to_numpy() if unnamed else chosen))


def read_tree_table(
    model: Any,
    estimator: Any,
    source: TreeSource,
    columns: tuple[RawColumn, ...] | Block,
    table: Any,
    names: Sequence[str],
    encoding: Encoding,
) -> TableModel:
    """A tree model behind the columns that its preprocessing gives.

    Parameters
    ----------
    model : what predicts: the estimator itself, or a pipeline or wrapper around it.
    source : of its trees, with the rule by which the whole decides.
    """
    where = type(estimator).__name__
    encoder = getattr(estimator, "_preprocessor", None)
    if source.matrix is not None:
        block = source.matrix(columns, where)
    else:
        block = library_matrix(columns, table, encoder, source.categories, source.unknown_code, where)
    if len(block) != source.width:
        raise NetworkError(f"the model takes {source.width} numbers, its preprocessing gives {len(block)}")
    function, own = build_trees(source, block, encoding, where)
    dtypes = {name: table[name].dtype for name in names if hasattr(table[name].dtype, "categories")}
    return TableModel(
        encoding=own,
        inputs=identity(len(own.features)),
        model=Model(function, source.rule, source.labels),
        predict=FrameModel(model, tuple(names), dtypes).predict,
        table=table,
        runtime=source.runtime,
    )


def build_trees(source: TreeSource, block: Block, encoding: Encoding, where: str) -> tuple[Trees, Encoding]:
    """The function over encoded columns, and the encoding that computes them."""
    sparse = source.sparse_missing and block.sparse
    if sparse and source.missing != 0.0 and not math.isnan(source.missing):
        raise NetworkError(f"{where} takes {source.missing:g} as missing, and zeros of a sparse matrix", fix="use one")
    # The matrix leaves zeros out before the library casts: a tiny number is then 0, and missing only if 0 itself is.
    later = sparse and math.isnan(source.missing) and source.cast is StepFormat.FLOAT32
    if later:
        cast, scaled = replace(block.as_floats(), columns=block.unscaled), block.columns
    else:
        cast, scaled = cast_block(block.as_floats(), source.cast, where), None
    own = encoding_of(cast, encoding)
    missing = 0.0 if sparse else source.missing
    reader = ColumnReader(cast.columns, own, missing, cast_later=scaled, sparse=block.sparse)
    trees = Trees.of(len(own.features), source.base, [reader.tree(tree) for tree in source.trees], source.scale)
    return trees.of_runtime(source.native), own


def identity(width: int) -> Network:
    """The look-up layer of trees: they read encoded columns themselves."""
    return Network.from_arrays([(np.eye(width), np.zeros(width))])
