"""The story is told once for each process that tests it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.story import tell


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people.csv, people.phi, new.csv, producer, consumer and audit; tests write beside, not into it."""
    return tell(tmp_path_factory.mktemp("story"))
