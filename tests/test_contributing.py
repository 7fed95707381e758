"""CONTRIBUTING and the design pages name files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "docs/design/architecture.md", "docs/design/decisions.md", "docs/design/proofs.md")
PATH = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.(?:py|lark|md|json|toml))?)`")
"""`room/file.py` or `room/`, in lower case: NAME and the like stand for what a reader chooses."""


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    named = set(PATH.findall((ROOT / page).read_text(encoding="utf-8")))
    homes = (ROOT, ROOT / "src", ROOT / "src/lcifr")
    assert not sorted(path for path in named if not any((home / path).exists() for home in homes))


def test_the_picture_of_the_rooms_has_every_room() -> None:
    text = (ROOT / "docs/design/architecture.md").read_text(encoding="utf-8")
    picture = text[text.index("```text") : text.index("```", text.index("```text") + 7)]
    rooms = {path.parent.name for path in (ROOT / "src/lcifr").glob("*/__init__.py")}
    inner = {path.parent.name for path in (ROOT / "src/lcifr").glob("*/*/__init__.py")} - {"formats"}
    assert not {room for room in rooms | inner if not re.search(rf"\b{room}\b", picture)}
