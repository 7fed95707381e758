"""The folder and the client that tests of the workbench share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workbench.bench import SLOWLY_CHILDREN, Client, write_audit, write_folder
from tests.workbench.served import Served


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people, formula, model and audit; tests do not write into it."""
    folder = write_folder(tmp_path_factory.mktemp("workbench"))
    write_audit(folder)
    return folder


@pytest.fixture(scope="session")
def client(written: Path) -> Iterator[Client]:
    """Of the shared folder."""
    made = Client(written)
    yield made
    made.desk.close()


@pytest.fixture
def own(written: Path, tmp_path: Path) -> Iterator[Client]:
    """Of a folder of one's own, without the audit."""
    folder = tmp_path / "own"
    shutil.copytree(written, folder, ignore=shutil.ignore_patterns("audit"))
    made = Client(folder)
    yield made
    made.desk.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, written: Path) -> Iterator[Served]:
    """The command on a copy of the shared folder, until all tests are done; then Ctrl-C ends it at once."""
    folder = tmp_path_factory.mktemp("served") / "credit"
    shutil.copytree(written, folder)
    made = Served(folder, first=SLOWLY_CHILDREN)
    made.wait()
    yield made
    assert made.stop() == 0
