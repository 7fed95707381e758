"""The story is told once, also where several processes test side by side."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.commands.story import tell


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people.csv, people.phi, new.csv, producer, consumer and audit; tests write beside, not into it."""
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
