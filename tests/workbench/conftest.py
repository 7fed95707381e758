"""The folder and the client that tests of the workbench share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workbench.bench import Client, write_audit, write_folder


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
