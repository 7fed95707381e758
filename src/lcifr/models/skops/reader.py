"""Reader of skops files: a fitted scikit-learn model, of which every part is on the allow-list."""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data import Encoding
from lcifr.data.io.files import ChangedFileWarning
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.files.description import ModelDescription
from lcifr.models.files.outline import ModelOutline
from lcifr.models.skops.allowed import SCALARS, TREE, TYPES, allowed_classes, allowed_functions
from lcifr.models.skops.archive import SCHEMA, Archive, read_archive
from lcifr.models.skops.schema import checked
from lcifr.models.table_model import TableModel

if TYPE_CHECKING:
    from lcifr.models.trees.latents import LatentTrees

LEAST_VERSION = (0, 13)
"""Before it: trusted=True (CVE-2024-37065), operators (CVE-2025-54412), methods (CVE-2025-54413) and a silent way to
joblib (CVE-2025-54886). None of these nodes reaches skops from here; an old version is refused all the same."""


ADAPTER = "sklearn.externals.array_api_compat.torch"
"""What would import torch."""
ON_LATENTS = (
    "other models on z are certified in Python (lcifr.certify), and `lcifr consume` without --model trains networks"
)


@dataclass(frozen=True)
class SkopsModel:
    """A fitted estimator or Pipeline from a file; whatever is wrong with it is an error that names the file."""

    path: Path
    fitted: Any = field(repr=False)

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """On the raw columns of a pandas frame."""
        from lcifr.models.sklearn.tables import read_sklearn_table

        with _naming(self.path):
            return read_sklearn_table(self.fitted, table, encoding)

    def read_latents(self) -> LatentTrees:
        """On z, if it is a tree model.

        Raises
        ------
        NetworkError
            For any other model.
        """
        from lcifr.models.trees.latents import LatentTrees, read_trees_on_latents
        from lcifr.models.trees.tables import is_tree_model

        with _naming(self.path):
            if not is_tree_model(self.fitted):
                raise NetworkError(f"{type(self.fitted).__name__} is no tree model", fix=ON_LATENTS)
            model = read_trees_on_latents(self.fitted)
            return LatentTrees(model, predict=self.fitted.predict)

    def outline(self) -> ModelOutline:
        """What was loaded."""
        from lcifr.models.sklearn.outline import outline_sklearn

        with _naming(self.path):
            return outline_sklearn(self.fitted)


def read_file(path: str | Path, description: ModelDescription | None = None) -> SkopsModel:
    """A model that ``skops.io.dump`` wrote; it knows its columns, so it needs no description.

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
    return SkopsModel(file, found)


def _load(path: Path, data: bytes) -> Any:
    with _without_torch():
        import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    trusted = sorted(allowed_classes() | allowed_functions() | TYPES | SCALARS | {"numpy.dtype", TREE})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = skops.io.loads(data, trusted=trusted)
    other = [one.message for one in said if isinstance(one.message, InconsistentVersionWarning)]
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
