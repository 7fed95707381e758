"""What every test may ask for: the datasets, where their files are at hand, and the story of the three parties."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from lcifr.datasets import Dataset, load
from lcifr.datasets.downloads import FOLDER_VARIABLE
from lcifr.errors import EXTRAS, DatasetError

if TYPE_CHECKING:
    from tests.report.browser import Browser

settings.register_profile("any machine", deadline=None)  # what a busy machine takes longer for is no failure
settings.load_profile("any machine")
NEAR = Path(__file__).parents[1].parent / "shared" / "data"


# Where an optional package is missing, tests that need it are skipped, and pytest prints which package it is.


class _ModuleOfTests(pytest.Module):
    def _getobj(self) -> Any:
        try:
            return super()._getobj()
        except self.CollectError as error:
            for package in EXTRAS:
                if f"No module named '{package}" in str(error) or f"needs {package}, which is" in str(error):
                    pytest.skip(f"needs {package}, which is not installed", allow_module_level=True)
            raise


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return _ModuleOfTests.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, Any, Any]:
    return (yield from _skipping_without_extras())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    return (yield from _skipping_without_extras())


def _skipping_without_extras() -> Generator[None, Any, Any]:
    try:
        return (yield)
    except (ModuleNotFoundError, AssertionError) as error:  # a command names the line that installs the package
        needed = getattr(error, "name", None) or "".join(re.findall(r"needs (\w+), which is not installed", str(error)))
        if needed.partition(".")[0] not in EXTRAS:
            raise
        pytest.skip(f"needs {needed}, which is not installed")


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


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people.csv, people.phi, new.csv, producer, consumer and audit; tests write beside, not into it."""
    from tests.story import tell

    if "PYTEST_XDIST_WORKER" not in os.environ:
        return tell(tmp_path_factory.mktemp("story"))
    place = tmp_path_factory.getbasetemp().parent / "story"  # of all processes of this run
    try:
        place.mkdir()
    except FileExistsError:
        return _wait_for(place)
    try:
        tell(place)
    finally:
        place.with_suffix(".told").touch()
    return place


def _wait_for(place: Path) -> Path:
    deadline = time.monotonic() + 600
    while not place.with_suffix(".told").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert (place / "audit.code").exists(), "the process that told the story failed"
    return place


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium, for tests that look at pages."""
    from tests.report.browser import NAMES, Browser, find

    program = find()
    if program is None:
        pytest.skip(f"no browser on the PATH (looked for {', '.join(NAMES)}): pages are not looked at")
    started = Browser(program)
    yield started
    started.close()
