"""What every test may ask for: the datasets, where their files are at hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lcifr.data.io.fetch import FOLDER_VARIABLE
from lcifr.datasets import Dataset, load
from lcifr.errors import DatasetError

NEAR = Path(__file__).parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def data_root() -> Path | None:
    """The folder of all datasets, or None: ``$LCIFR_DATA``, else a ``shared/data`` beside the repository."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else NEAR if NEAR.is_dir() else None


@pytest.fixture(scope="session")
def dataset(data_root: Path | None) -> Callable[..., Dataset]:
    """``dataset("adult")`` loads once per process, and skips the test where the files are not there."""

    @cache
    def read(name: str, label: str | None) -> Dataset | DatasetError:
        try:
            return load(name, folder=data_root or "not/there", label=label)
        except DatasetError as error:
            return error

    def get(name: str, label: str | None = None) -> Dataset:
        found = read(name, label)
        if isinstance(found, Dataset):
            return found
        if "not in" not in str(found):  # an altered file is a failure, a missing one is not
            raise found
        pytest.skip(f"no files of {name}: set {FOLDER_VARIABLE} to a folder that has them")

    return get
