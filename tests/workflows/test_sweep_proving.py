"""``lcifr sweep --bundle``: proofs on file, confirmed by the checker from the shell, with the shares of the sweep."""

from __future__ import annotations

import json
from pathlib import Path

from lcifr.workflows.sweeping import SweepResult
from tests.story import lcifr


def test_the_checker_confirms_the_shares_of_the_sweep(swept: Path) -> None:
    said = json.loads((swept / "result.json").read_text())
    claimed = {standing: share for standing, share in said["exact_shares"].items() if share != "0"}
    assert said["checked"]["shares"] == claimed
    assert said["checked"]["unproved"] == said["checked"]["rejected"] == 0
    assert said["checked"]["confirmed"] == said["cells"]["proved"] + said["cells"]["violating"]
    checked = lcifr("check", swept.name, "--json", cwd=swept.parent)
    assert json.loads(checked.out)["shares"] == claimed
    assert json.loads((swept / "checked.json").read_text())["shares"] == claimed


def test_cells_are_confirmed_under_the_numbers_they_have_in_the_sweep(swept: Path) -> None:
    result, report = SweepResult.read(swept), json.loads((swept / "checked.json").read_text())
    assert result.checked is not None
    assert sorted(map(int, report["names"]["proved"])) == [*range(len(result.sweep.proved))]
    first = len(result.sweep.proved)
    assert sorted(map(int, report["names"]["violating"])) == [*range(first, first + len(result.sweep.violating))]


def test_what_the_check_prints_names_the_shares(swept: Path) -> None:
    said = lcifr("check", f"{swept.name}/bundle", cwd=swept.parent)
    assert "of everyone who could exist (" in said.out
    assert "every claim about them is confirmed" in said.out
    assert "people:" not in said.out
