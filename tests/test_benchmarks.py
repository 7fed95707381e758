"""Benchmarks are programs of their own: here is seen only that each of them still fits the library."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
NAMES = sorted(
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if path.stem not in ("__main__", "__init__")
)


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_imports(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert module.__doc__


def test_every_part_of_the_engines_benchmark_is_there() -> None:
    from benchmarks.engine.options import PARTS

    assert {name.removeprefix("engine.part_") for name in NAMES if "part_" in name} == set(PARTS)


def test_options_go_to_the_benchmark_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.__main__ import names, run

    assert "engine" in names()
    assert run(["rows", "--part", "radii"]) == 2
    assert "only engine, fairify, file_to_verdict, on_device take options" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        run(["engine", "--part", "nothing"])
    assert left.value.code == 2


def test_a_walk_tells_files_apart_whose_code_is_equal() -> None:
    from benchmarks.walk import HOME, _file

    def frame_of(file: str) -> FrameType:
        names: dict[str, FrameType] = {}
        exec(compile("import sys\nframe = sys._getframe()", str(HOME / file), "exec"), names)  # noqa: S102
        return names["frame"]

    assert [_file(frame_of(file)) for file in ("data/one.py", "models/one.py")] == ["data/one.py", "models/one.py"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["function", "audit"])
def test_a_walk_is_what_the_page_on_architecture_says(name: str) -> None:
    """Files and lines, to a twentieth: how much one has to read. Borders: how often one changes rooms, at most."""
    from benchmarks.walk import run

    page = (FOLDER.parent / "docs/design/architecture.md").read_text(encoding="utf-8")
    said = re.search(rf"`python -m benchmarks\.walk {name}`: (\d+) files, ([\d,]+) lines, (\d+) borders", page)
    assert said is not None
    walk = run(name)
    assert len(walk.files) == pytest.approx(int(said[1]), rel=0.05)
    assert walk.lines() == pytest.approx(int(said[2].replace(",", "")), rel=0.05)
    assert len(walk.borders) <= int(said[3]) < 25


class _Told:
    """A checkout whose replies are given."""

    def __init__(self, reply: dict[str, Any], seconds: float = 1.0) -> None:
        self.reply, self.spent = reply, seconds

    def ask(self, words: str) -> dict[str, Any]:
        return self.reply

    def seconds(self, times: int) -> float:
        return self.spent


def test_compare_counts_what_changed_and_skips_only_what_the_older_side_does_not_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from benchmarks.compare import compare

    def alike(old: dict[str, Any], new: dict[str, Any]) -> bool:
        return compare(_Told(old, 3.0), _Told(new, 2.0), "kind", rounds=3, sample=0.1)  # type: ignore[arg-type]

    same, other = {"answers": {"radii": ["0x1p0", "0x1p1"]}}, {"answers": {"radii": ["0x1p0", "0x1p2"]}}
    unknown = {"problem": "AttributeError: no such name"}
    assert alike(same, same)
    assert "2 radii alike" in (text := capsys.readouterr().out)
    assert "old / new 1.50 (90 %: 1.50 to 1.50)" in text
    assert not alike(same, other)
    assert "1 of 2 radii changed" in capsys.readouterr().out
    assert alike(unknown, same)
    assert "skipped, AttributeError" in capsys.readouterr().out
    assert not alike(same, unknown)
    assert "NEW FAILS" in capsys.readouterr().out
