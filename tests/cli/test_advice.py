"""What is advised exists: every option that a text names is one of the command that it is named for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import lcifr
from lcifr.learn import scores
from tests.cli.listing import COMMANDS

SOURCE = Path(lcifr.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
SAID = re.compile(r"lcifr ((?:data |phi )?[a-z]+)\b([^`\n;,.()]*)")
EVERYWHERE = {"--help"}
OF_LCIFR = {"--version", "--install-completion", "--show-completion"}


def options_of(name: str) -> set[str]:
    parameters = COMMANDS[name].params
    return EVERYWHERE | {option for one in parameters for option in (*one.opts, *one.secondary_opts)}


ANY = set().union(*(options_of(name) for name in COMMANDS)) | OF_LCIFR


@cache
def texts() -> tuple[tuple[Path, str], ...]:
    """Every text of the package, f-strings with a word in place of what is filled in."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[Path, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        inside = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                inside |= {id(part) for part in node.values}
                filled = (part.value if isinstance(part, ast.Constant) else "FILLED" for part in node.values)
                yield path, "".join(str(part) for part in filled)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                yield path, node.value


def test_options_that_are_said_with_a_command_are_the_commands() -> None:
    found = 0
    for path, text in texts():
        for name, rest in SAID.findall(text):
            for option in OPTION.findall(rest) if name in COMMANDS else ():
                found += 1
                assert option in options_of(name), f"{path.name}: `lcifr {name}` has no {option}: {text!r}"
    assert found > 10  # else the search finds nothing


def test_options_that_a_command_names_by_themselves_are_its_own() -> None:
    """In a command's own module; whoever means another command names it."""
    for path, text in texts():
        if path.parent.name == "cli" and path.stem in COMMANDS and "lcifr " not in text:
            for option in OPTION.findall(text):
                assert option in options_of(path.stem), f"{path.name}: {option}: {text!r}"


def test_every_option_that_is_named_anywhere_exists_somewhere() -> None:
    for path, text in texts():
        if "check" not in path.parts[-2:]:  # the checker stands alone, with options of its own
            for option in OPTION.findall(text):
                assert option in ANY, f"{path.relative_to(SOURCE)}: {option}: {text!r}"


@pytest.mark.parametrize("command", ["produce", "consume", "tune"])
def test_what_learners_are_advised_exists_in_every_command_that_learns(command: str) -> None:
    """Warnings of models are printed by the command that learned them."""
    advice = (re.sub("`[^`]*`", "", text) for text in (scores.WEIGHT_ADVICE, scores.GAMMA_ADVICE))
    bare = [option for text in advice for option in OPTION.findall(text)]
    assert bare
    assert set(bare) <= options_of(command)
