"""Reader of skops files: a fitted scikit-learn model, all parts of which are allowed, with a declared cut-off."""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection

from lcifr.data import Encoding
from lcifr.data.files import ChangedFileWarning
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.description import (
    THRESHOLD_ENTRIES,
    DescribedOutput,
    Meaning,
    ModelDescription,
    ScoreComparison,
    TakenEntries,
    check_meaning,
    declared_labels,
)
from lcifr.models.loaders.sklearn import outline_sklearn, read_sklearn_table
from lcifr.models.loaders.skops_allow_list import (
    SCALARS,
    SCHEMA,
    TREE,
    TYPES,
    Archive,
    allowed_classes,
    allowed_functions,
    checked,
    read_archive,
)
from lcifr.models.loaders.tree_ensembles import is_tree_model, read_trees_on_latents
from lcifr.models.rule import Kind, Rule
from lcifr.models.source import LatentTrees, ModelOutline, TableModel

# A cut-off that a description declares for a fitted scikit-learn classifier, in place of its own.


class FixedThresholdClassifier(model_selection.FixedThresholdClassifier):  # type: ignore[misc]
    """scikit-learn's wrapper around a classifier that is fitted already, and so read by the same rules (by its name).

    Its threshold is compared with ``>=``: for ``>`` it is the next float64. Decisions compare as the description says.
    """

    def __init__(self, estimator: Any, output: DescribedOutput) -> None:
        above = output.comparison is ScoreComparison.ABOVE
        super().__init__(
            estimator,
            threshold=float(np.nextafter(output.threshold, np.inf)) if above else output.threshold,
            pos_label=estimator.classes_[1],
            response_method="predict_proba" if output.meaning is Meaning.PROBABILITY else "decision_function",
        )
        self.output = output
        self.estimator_ = estimator
        self.n_features_in_ = estimator.n_features_in_
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_

    def predict(self, X: Any) -> NDArray[Any]:
        """(people,) classes, by the estimator's probability or decision function and the declared comparison."""
        found = np.asarray(getattr(self.estimator_, self.response_method)(X))
        scores = found[:, 1] if self.response_method == "predict_proba" else found
        return np.asarray(self.classes_[self.output.is_second(scores).astype(np.int64)])


def with_declared_rule(model: Any, output: DescribedOutput | None, where: str) -> Any:
    """The fitted model that decides as a description says; ``model`` itself where that is its own rule.

    Raises
    ------
    DescriptionError
        For what the model cannot mean.
    """
    if output is None:
        return model
    classes = getattr(model, "classes_", None)
    count = 0 if classes is None else len(classes)
    kind = {0: Kind.NUMBER, 2: Kind.SIGN}.get(count, Kind.CLASS)
    check_meaning(output, Rule(kind, count if kind is Kind.CLASS else 1), where)
    return FixedThresholdClassifier(model, output) if output.has_threshold else model


# Reader of skops files: a fitted scikit-learn model, of which every part is on the allow-list.

LEAST_VERSION = (0, 13)
"""Before it: trusted=True (CVE-2024-37065), operators (CVE-2025-54412), methods (CVE-2025-54413) and a silent way to
joblib (CVE-2025-54886). None of these nodes reaches skops from here; an old version is refused all the same."""


ADAPTER = "sklearn.externals.array_api_compat.torch"
"""What would import torch."""
ON_LATENTS = (
    "other models on z are certified in Python (lcifr.certify), and `lcifr consume` without --model trains networks"
)


TAKES = TakenEntries(
    THRESHOLD_ENTRIES | {"arithmetic"},
    {
        "inputs": "leave [[inputs]] out: a fitted model knows its columns and their preparation",
        "output.name": "leave name out: there is one output",
        "output.position": "leave position out: the probability, or the score, is that of the second class",
        "missing": "leave missing out: the file says what is missing",
    },
)


@dataclass(frozen=True)
class SkopsModel:
    """A fitted estimator or Pipeline from a file; whatever is wrong with it is an error that names the file.

    ``description`` : the rule and the names of classes that are declared in place of its own.
    """

    path: Path
    fitted: Any = field(repr=False)
    description: ModelDescription | None = None

    @cached_property
    def declared(self) -> Any:
        """The fitted model, behind the threshold that the description declares."""

        with _naming(self.path):
            return with_declared_rule(self.fitted, self._output, self._where)

    @property
    def _output(self) -> DescribedOutput | None:
        return None if self.description is None else self.description.output

    @property
    def _where(self) -> str:
        return f"{self.description.source}: {self.path}" if self.description is not None else str(self.path)

    def _labels(self, own: Any) -> NDArray[Any]:
        """The declared names of classes, else the model's own."""
        return own if self._output is None else declared_labels(self._output, own, self._where, named=True)

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """On the raw columns of a pandas frame."""
        with _naming(self.path):
            return read_sklearn_table(self.declared, table, encoding, self._labels)

    def read_latents(self) -> LatentTrees:
        """On z, if it is a tree model.

        Raises
        ------
        NetworkError
            For any other model, and for any description: there is none on the way here.
        """
        TakenEntries(frozenset()).check(self.description, "a model on z from a skops file")
        with _naming(self.path):
            if not is_tree_model(self.fitted):
                raise NetworkError(f"{type(self.fitted).__name__} is not a tree model", fix=ON_LATENTS)
            model = read_trees_on_latents(self.fitted)
            return LatentTrees(model, predict=self.fitted.predict)

    def outline(self) -> ModelOutline:
        """What was loaded, and how it decides."""
        with _naming(self.path):
            found, output = outline_sklearn(self.fitted), self._output
            if self.description is not None and self.description.arithmetic is not None:
                found = replace(found, arithmetic=self.description.arithmetic)
            decider = self.declared
            if output is None or not found.classes:
                return found
            classes = tuple(self._labels(found.classes).tolist())
            rule = found.rule if classes == found.classes else f"{found.rule}; called {', '.join(map(str, classes))}"
            outputs = found.outputs
            if output.has_threshold:
                rule, outputs = output.rule_words(*classes), outline_sklearn(decider).outputs
            return replace(found, outputs=outputs, rule=rule, classes=classes)


def read_file(path: str | Path, description: ModelDescription | None = None) -> SkopsModel:
    """A model that ``skops.io.dump`` wrote; it knows its columns, and a description may declare another rule.

    Raises
    ------
    NetworkError
        For whatever is not on the allow-list, by name, before anything is loaded; for broken files, and sizes beyond
        the limits.
    """
    file = Path(path)
    _need_skops()
    archive = read_archive(file)
    with _naming(file):
        found = _load(file, _written_anew(checked(archive)))
    if f"{type(found).__module__}.{type(found).__name__}" not in allowed_classes():
        raise NetworkError(f"{file} holds a {type(found).__name__}, not a model")
    return SkopsModel(file, found, description)


def _load(path: Path, data: bytes) -> Any:
    with _without_torch():
        import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    trusted = sorted(allowed_classes() | allowed_functions() | TYPES | SCALARS | {"numpy.dtype", TREE})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = skops.io.loads(data, trusted=trusted)
    other = [one.message for one in caught if isinstance(one.message, InconsistentVersionWarning)]
    if other:
        saved = {str(getattr(one, "original_sklearn_version", "another version")) for one in other}
        warnings.warn(
            f"{path} was saved with scikit-learn {', '.join(sorted(saved))}; it is read and audited as scikit-learn "
            f"{version('scikit-learn')} computes it",
            ChangedFileWarning,
            stacklevel=4,
        )
    return found


@contextmanager
def _without_torch() -> Iterator[None]:
    """Importing skops imports every module of scikit-learn, one of which imports torch: seconds for nothing."""
    if ADAPTER in sys.modules:
        yield
        return
    sys.modules[ADAPTER] = None  # type: ignore[assignment]  # Python's way to say: not there
    try:
        yield
    finally:
        del sys.modules[ADAPTER]


def _written_anew(archive: Archive) -> bytes:
    """The file of the checked parts alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as fresh:
        fresh.writestr(SCHEMA, archive.schema)
        for name, data in archive.files.items():
            fresh.writestr(name, data)
    return buffer.getvalue()


def _need_skops() -> None:
    try:
        installed = version("skops")
    except PackageNotFoundError:
        raise NetworkError("reading a skops file needs skops", fix='pip install "lcifr[skops]"') from None
    if tuple(int(part) for part in installed.split(".")[:2]) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise NetworkError(f"skops {installed} has known flaws", fix=f'pip install "skops>={least}"')


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors with the file's name: a file may hold any numbers, and libraries raise anything at some of them."""
    try:
        yield
    except LcifrError as problem:
        if str(path) in str(problem):
            raise
        raise NetworkError(f"{path}: {str(problem).split(chr(10) + 'Fix: ')[0]}", fix=problem.fix) from None
    except Exception as problem:
        raise NetworkError(
            f"{path} does not hold a fitted model: {type(problem).__name__}: {problem!s:.200}",
            fix="save the fitted model again with skops.io.dump",
        ) from None
