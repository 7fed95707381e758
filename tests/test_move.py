"""The tool that moves modules by a table: on a toy tree, whose meaning must not change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.move import Move, Table

FILES = {
    "src/lcifr/__init__.py": "",
    "src/lcifr/art/__init__.py": '"""Pictures."""\n',
    "src/lcifr/art/lines.py": '''"""Lines, with an é before the code.

More about lines.
"""

from __future__ import annotations

import math

WIDTH = 3  # of a line


def length(x: float, y: float) -> float:
    return math.hypot(x, y) * WIDTH
''',
    "src/lcifr/art/shapes.py": '''"""Shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lcifr.art import lines
from lcifr.art.lines import length as measure

if TYPE_CHECKING:
    from lcifr.art.words import Word

WIDTH = 5


def size(word: Word, count: int = WIDTH) -> str:
    """``lcifr.art.lines.length`` of a word."""
    from lcifr.art.lines import WIDTH as thin
    from lcifr.art.words import shout

    found = measure(3.0, 4.0) + lines.length(0.0, 1.0) + math.pi * 0
    return f"{shout(word.text)}: é {lines.length(3.0, 4.0)} {found} {thin} {count} {WIDTH}"
''',
    "src/lcifr/art/words.py": '''"""Words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    text: str


def shout(text: str) -> str:
    return text.upper()
''',
    "tests/__init__.py": "",
    "tests/art/__init__.py": "",
    "tests/art/test_shapes.py": """from pathlib import Path

import lcifr.art.words
from lcifr.art import lines, shapes
from lcifr.art.shapes import WIDTH, size

ROOT = Path(__file__).parents[2]


def answer() -> str:
    return size(lcifr.art.words.Word("a")) + f"{shapes.WIDTH} {WIDTH} {lines.WIDTH}" + "lcifr.art.shapes.WIDTH"
""",
    "docs/page.md": "`python -m lcifr.art.words`, `src/lcifr/art/shapes.py`, `art/lines.py`, `lcifr.art.lines.WIDTH`\n",
}
TABLE = """
[modules."lcifr.draw"]
doc = "Drawing."
[modules."lcifr.draw.canvas"]
from = ["lcifr.art.lines", "lcifr.art.shapes"]
[modules."lcifr.draw.text"]
from = ["lcifr.art.words"]
[rename]
"lcifr.art.shapes.WIDTH" = "SHAPE_WIDTH"
[paths]
"tests/art" = "tests/draw/inner"
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(root: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "tree", "--allow-empty")


def table(root: Path, text: str = TABLE) -> Table:
    file = root.parent / "table.toml"
    file.write_text(text, encoding="utf-8")
    return Table.read(file)


def answer(root: Path, module: str) -> str:
    code = f"import sys; sys.path[:0] = ['src', '.']\nfrom {module} import answer, ROOT\nprint(answer(), ROOT)"
    return subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True).stdout


def test_a_moved_tree_computes_what_it_did(tree: Path) -> None:
    before = answer(tree, "tests.art.test_shapes")
    assert Move(tree, table(tree)).apply(look=False) == 0
    after = answer(tree, "tests.draw.inner.test_shapes")
    assert after == before.replace("lcifr.art.shapes.WIDTH", "lcifr.draw.canvas.SHAPE_WIDTH")
    assert not (tree / "src/lcifr/art").exists()
    joined = (tree / "src/lcifr/draw/canvas.py").read_text(encoding="utf-8")
    assert joined.startswith('"""Lines, with an é before the code.\n\nMore about lines.\n"""')
    assert joined.count("import math") == 1
    assert "import lines" not in joined
    assert "# Shapes.\n" in joined
    assert "WIDTH = 3  # of a line" in joined
    assert "    from lcifr.draw.text import shout\n" in joined
    assert "if TYPE_CHECKING:\n    from lcifr.draw.text import Word\n" in joined
    page = (tree / "docs/page.md").read_text(encoding="utf-8")
    assert page == (
        "`python -m lcifr.draw.text`, `src/lcifr/draw/canvas.py`, `draw/canvas.py`, `lcifr.draw.canvas.WIDTH`\n"
    )


def test_a_table_applied_again_changes_nothing_but_what_came_back(tree: Path) -> None:
    assert Move(tree, table(tree)).apply(look=False) == 0
    commit(tree)
    assert Move(tree, table(tree)).apply(look=False) == 0
    assert git(tree, "status", "--porcelain") == ""
    late = tree / "tests/late.py"
    late.write_text("from lcifr.art.shapes import WIDTH\n\nprint(WIDTH)\n", encoding="utf-8")
    commit(tree)
    assert Move(tree, table(tree)).apply(look=False) == 0
    assert late.read_text(encoding="utf-8") == "from lcifr.draw.canvas import SHAPE_WIDTH\n\nprint(SHAPE_WIDTH)\n"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('"lcifr.art.shapes.WIDTH" = "SHAPE_WIDTH"', ""), "lcifr.draw.canvas: WIDTH in lcifr.art.lines"),
        (("SHAPE_WIDTH", "print"), ""),
        (('"lcifr.art.lines", "lcifr.art.shapes"', '"lcifr.art.lines", "lcifr.art.gone"'), "no module lcifr.art.gone"),
        (("SHAPE_WIDTH", "math"), "lcifr.draw.canvas: math in"),
    ],
)
def test_what_would_collide_is_refused_and_nothing_is_written(
    tree: Path, change: tuple[str, str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = Move(tree, table(tree, TABLE.replace(*change))).apply(look=not problem)
    assert code == (1 if problem else 0)
    assert problem in capsys.readouterr().err
    assert git(tree, "status", "--porcelain") == ""


def test_a_circle_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "src/lcifr/art/words.py").write_text(
        "from lcifr.art.lines import length\n\nloud = length\n", encoding="utf-8"
    )
    (tree / "src/lcifr/art/shapes.py").write_text(
        "from lcifr.art.words import loud\n\nquiet = loud\n", encoding="utf-8"
    )
    commit(tree)
    assert Move(tree, table(tree, TABLE.replace('"lcifr.art.shapes.WIDTH" = "SHAPE_WIDTH"', ""))).apply(look=True) == 1
    assert "circle of lcifr.draw.canvas, lcifr.draw.text" in capsys.readouterr().err
