"""An audit by sample in the shell: the examples of the four commands, one after the other."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

from tests.cli.listing import COMMANDS
from tests.story import lcifr


def example(name: str) -> list[str]:
    return shlex.split(COMMANDS[f"evidence {name}"].epilog.split("Example: lcifr ")[1])


def test_commit_challenge_open_check(story: Path, tmp_path: Path) -> None:
    shutil.copytree(story / "audit", tmp_path / "audit")
    committed = lcifr(*example("commit"), cwd=tmp_path)
    assert "secret.json" in committed.err
    assert "secret" not in committed.out
    asked = lcifr(*example("challenge"), cwd=tmp_path)
    assert "20 of 30 lines are drawn by seed" in asked.out
    lcifr(*example("open"), cwd=tmp_path)
    checked = lcifr(*example("check"), cwd=tmp_path)
    assert "20 of 30 committed lines were drawn" in checked.out
    plain = lcifr(*example("check"), "--json", cwd=tmp_path).json
    assert plain["good"] == plain["opened"]["certified"]
    assert f"at least {plain['at_least']} of the 30 committed lines" in checked.out
    opening = json.loads((tmp_path / "opening/opening.json").read_text())
    opening["lines"][0]["salt"] = "0" * 32
    (tmp_path / "opening/opening.json").write_text(json.dumps(opening))
    assert "FALSE: " in lcifr(*example("check"), cwd=tmp_path, expect=1).out
    (tmp_path / "opening/opening.json").write_text("{}")
    assert "nothing of it is confirmed" in lcifr(*example("check"), cwd=tmp_path, expect=2).err
