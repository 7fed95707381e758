"""docs/trust.md as an auditor reads it: its commands run, and what it says about the checker's size is so."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import lcifr
from tests.certification.made_bundles import bundle
from tests.check.process import COMMAND

PAGE = (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")
CHECKER = Path(lcifr.__file__).parent / "check"


def test_its_commands_run() -> None:
    commands = sorted(set(re.findall(r"`((?:python -m lcifr\.check|lcifr check)[^`]*)`", PAGE)))
    assert len(commands) >= 3
    for command in commands:
        words = [str(bundle(0, "whole")) if word == "BUNDLE" else word for word in command.split()]
        words = [*COMMAND, *words[1:]] if words[0] == "lcifr" else [sys.executable, *words[1:]]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)
        if "--json" in words:
            assert json.loads(done.stdout)["people"] == 4
        else:
            assert done.stdout.startswith("4 of 4 people")


def code_lines(path: Path) -> int:
    """Lines that hold code: no blanks, no comments, no docstrings."""
    text = path.read_text(encoding="utf-8")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)]
    said = {line for node in nodes for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    held = {line for token in tokens if token.type not in silent for line in range(token.start[0], token.end[0] + 1)}
    return len(held - said)


BESIDE = {"openings", "people", "report", "sweep"}
"""Files that no verdict about people depends on."""


def test_the_checker_is_as_short_as_it_says() -> None:
    count = sum(code_lines(file) for file in CHECKER.glob("*.py") if file.stem not in BESIDE)
    said = re.search(r"(\d+) lines without comments, docstrings and blanks", PAGE)
    assert said is not None
    assert count <= int(said[1]) <= 968


def test_what_stands_beside_the_checker_is_counted_apart() -> None:
    """Each file has a limit of its own, and all of the checker has one."""
    said = {name: int(lines) for name, lines in re.findall(r"`check/(\w+).py` \((\d+) lines\)", PAGE)}
    assert said.keys() == BESIDE
    assert all(code_lines(CHECKER / f"{name}.py") <= lines for name, lines in said.items())
    assert said["sweep"] <= 153
    assert said["people"] + said["openings"] <= 330
    assert sum(map(code_lines, CHECKER.rglob("*.py"))) <= 1_600
