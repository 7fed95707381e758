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


def test_the_checker_is_as_short_as_it_says() -> None:
    count = sum(map(code_lines, CHECKER.glob("*.py")))
    said = re.search(r"(\d+) lines without comments, docstrings and blanks", PAGE)
    assert said is not None
    assert count <= int(said[1]) <= 915


def test_what_stands_beside_the_checker_is_counted_apart() -> None:
    """Binding and openings have a limit of their own, together, and sweeps have one; the report says how long it is."""
    counts = {room.name: sum(map(code_lines, room.glob("*.py"))) for room in CHECKER.iterdir() if room.is_dir()}
    counts.pop("__pycache__", None)
    said = {name: int(lines) for name, lines in re.findall(r"`check/(\w+)` \((\d+) lines\)", PAGE)}
    assert {"binding", "report", "sweeps"} <= said.keys() <= counts.keys()
    assert all(counts[name] <= lines for name, lines in said.items())
    assert sum(lines for name, lines in counts.items() if name not in ("report", "sweeps")) <= 300
    assert said["sweeps"] <= 153
