"""The six datasets of the paper, one file each.

Every module of this folder is a dataset and defines ``SOURCE``, except those in ``SHARED`` and those whose names begin
with an underscore; putting a file here is all it takes to add one.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from lcifr.datasets.dataset import Dataset, DatasetFolder, Source, Split, split
from lcifr.datasets.downloads import data_folder, download
from lcifr.errors import DatasetError, did_you_mean

__all__ = ["Dataset", "Source", "Split", "fetch", "find", "load", "names"]

SHARED = ("dataset", "downloads")
"""Modules of this folder that all datasets use."""


def names() -> tuple[str, ...]:
    """The names of all datasets, sorted."""
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    return tuple(sorted(name for name in modules if not name.startswith("_") and name not in SHARED))


def find(name: str) -> Source:
    """The description of a dataset; ``law-school`` and ``Law School`` find ``law_school``."""
    module = name.strip().lower().replace("-", "_").replace(" ", "_")
    if module not in names():
        raise DatasetError(
            f'there is no dataset "{name}".{did_you_mean(module, names())}', fix=f"choose from {', '.join(names())}"
        )
    source = getattr(importlib.import_module(f"{__name__}.{module}"), "SOURCE", None)
    if not isinstance(source, Source) or source.name != module:
        raise DatasetError(f'datasets/{module}.py defines no SOURCE named "{module}"')
    return source


def load(name: str, *, folder: str | Path | None = None, label: str | None = None, verify: bool = True) -> Dataset:
    """Read a dataset, cleaned and split as in the paper.

    Parameters
    ----------
    name
        One of :func:`names`.
    folder
        The folder of all datasets; by default ``$LCIFR_DATA``, else the user's cache. Files are looked for in
        ``folder/name``; German Credit also ships inside the package.
    label
        Another label than the dataset's own, where it offers some (Health's transfer tasks).
    verify
        Whether files that differ from the published ones are refused.

    Raises
    ------
    DatasetError
        When the dataset is unknown or its files are missing or altered, with what to do about it.

    Examples
    --------
    >>> german = load("german")
    >>> len(german.train), len(german.validation), len(german.test)
    (640, 160, 200)
    """
    source = find(name)
    if label is not None and label not in source.labels:
        offered = f"choose from {', '.join(source.labels)}" if source.labels else "leave the label out"
        raise DatasetError(f'{source.name} has no label "{label}".{did_you_mean(label, source.labels)}', fix=offered)
    return split(source, source.read(DatasetFolder(source, data_folder(folder), verify), label))


def fetch(name: str, folder: str | Path | None = None, *, progress: bool = False) -> list[Path]:
    """Download the missing files of a dataset and verify their SHA-256.

    Parameters
    ----------
    name
        One of :func:`names`.
    folder
        The folder of all datasets; by default ``$LCIFR_DATA``, else the user's cache.
    progress
        Whether to draw progress bars on stderr.

    Returns
    -------
    list of Path
        Where the files are.
    """
    source = find(name)
    place = DatasetFolder(source, data_folder(folder))
    if (by_hand := source.instructions(place.folder)) is not None:
        raise DatasetError(f"{source.title} cannot be fetched automatically", fix=by_hand)
    return [place.find(file.name) or download(file, place.folder, progress=progress) for file in source.files]
