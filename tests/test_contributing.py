"""CONTRIBUTING and the design pages name files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

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


def test_what_must_pass_before_a_change_lands_is_run_and_the_quick_tests_are_last() -> None:
    run = re.findall(r"^make ([a-z-]+)$", (ROOT / ".ci/run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(run) == {"lint", "docs", "dist", "test-long", "test"}
    assert run[-1] == "test"
    said = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.search("`.ci/run` must pass. It runs " + "[, and]+".join(f"`make {target}`" for target in run), said)


def test_every_test_is_run_by_one_of_the_targets() -> None:
    """What is marked is left to another target, and by none of them to nobody."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    chosen = re.findall(r"^test.*:.*\n\t.* -m (?:pytest .*-m )\"?([^\"\n]+)", makefile, flags=re.MULTILINE)
    for marks in ({}, {"sampled"}, {"long"}, {"nightly"}, {"sampled", "long"}, {"sampled", "nightly"}):
        known = {mark: mark in marks for mark in ("long", "sampled", "nightly")}
        assert any(Expression.compile(one).evaluate(lambda name, known=known, **_: known[name]) for one in chosen)
