"""CONTRIBUTING and the design pages name files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "docs/design/architecture.md", "docs/design/decisions.md", "docs/design/proofs.md")
PATH = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+(?:\.(?:py|lark|md|json|toml))?)?)`")
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


@pytest.mark.parametrize("node", ["Membership", "SameCategory"])
def test_every_reader_of_a_node_is_named_for_whoever_adds_an_operator(node: str) -> None:
    """One node of the syntax tree, one of the core tree: what dispatches on them must know a new one, too."""
    named = PATH.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    readers = [
        file for file in (ROOT / "src/lcifr").rglob("*.py") if re.search(rf"\b{node}\b", file.read_text("utf-8"))
    ]
    paths = [file.relative_to(ROOT / "src/lcifr").as_posix() for file in readers]
    assert not sorted(path for path in paths if not any(path.startswith(name) for name in named))
