"""The walk of one command through the source: which files it executes, and between which rooms it goes.

    python -m benchmarks.walk audit      # a person through the auditor's work: verdicts, proofs and their check
    python -m benchmarks.walk baselines  # the same with the two models that are learned to stand beside it
    python -m benchmarks.walk produce    # a table through the producer's

Prints the files in the order in which they are first entered, and the borders between rooms that are crossed. What
merely is imported does not count, nor what compiled code does. docs/design/architecture.md shows the output.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import lcifr

HOME = Path(lcifr.__file__).parent
QUICK = ("--epochs", "2", "--seed", "0")


class Walk:
    """A profiler that keeps the files of lcifr that are entered, and the borders between rooms that are crossed."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.borders: dict[tuple[str, str], str] = {}
        self._known: set[tuple[int, int | None]] = set()  # by id: equal code of two files is equal to Python

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or (here := _file(frame)) is None:
            return
        caller = frame.f_back
        while caller is not None and _file(caller) is None:
            caller = caller.f_back
        pair = (id(frame.f_code), None if caller is None else id(caller.f_code))
        if pair in self._known or _is_import(frame):
            return
        self._known.add(pair)
        self.files.setdefault(here, frame.f_code.co_name)
        if caller is not None:
            border = (_room(str(_file(caller))), _room(here))
            if border[0] != border[1]:
                self.borders.setdefault(border, f"{here}:{frame.f_code.co_name}")


def _file(frame: FrameType) -> str | None:
    return _below_home(frame.f_code.co_filename)


@cache
def _below_home(path: str) -> str | None:
    return path[len(str(HOME)) + 1 :] if path.startswith(f"{HOME}/") else None


def _room(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def _is_import(frame: FrameType | None) -> bool:
    """Whether a module is being executed here: its body, a class body, or what either of them calls."""
    while frame is not None:
        if _file(frame) is not None and frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def run(command: str) -> Walk:
    """The command on German Credit, after those whose folders it needs."""
    from lcifr.cli import build

    app, before = build(), list[list[str]]()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        before.append(["produce", "german", "--phi", "german/cat_noise", "--out", f"{made}/producer", *QUICK])
        handed = f"{made}/producer/handover"
        before.append(["consume", handed, f"{made}/producer/labels.csv", "--out", f"{made}/consumer"])
        audit = ["audit", f"{made}/producer", f"{made}/consumer", "--out", f"{made}/audit", "--workers", "1"]
        commands = {words[0]: words for words in before}
        commands |= {"audit": [*audit, "--no-baselines"], "baselines": [*audit, "--baselines"]}
        if command not in commands:
            raise SystemExit(f"one of {', '.join(commands)}, not {command!r}")
        for words in before[: list(commands).index(command)]:
            _quietly(lambda words=words: app(words, standalone_mode=False))
        walk = Walk()
        sys.setprofile(walk)
        try:
            _quietly(lambda: app(commands[command], standalone_mode=False))
        finally:
            sys.setprofile(None)
    return walk


def _quietly(work: Callable[[], Any]) -> None:
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        work()


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "audit"
    walk = run(command)
    print(f"lcifr {command}: {len(walk.files)} files, {len(walk.borders)} borders between rooms\n")
    rooms: dict[str, list[str]] = {}
    for file, name in walk.files.items():
        rooms.setdefault(_room(file), []).append(f"{file.split('/', 1)[-1]} ({name})")
    for room, files in rooms.items():
        print(f"{room}: {', '.join(files)}")
    print()
    for (start, end), place in walk.borders.items():
        print(f"{start} -> {end}: {place}")


if __name__ == "__main__":
    main()
