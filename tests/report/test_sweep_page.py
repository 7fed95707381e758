"""The page of a sweep: its figures, in a browser quiet and readable, and the same as Markdown and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from lcifr.certification.sweep.result import CellStatus
from lcifr.display.text import percent, tolerance_words
from lcifr.report.sweep import render_sweep
from lcifr.workflows import SweepResult
from lcifr.workflows.folders import RunSettings
from lcifr.workflows.sweeping import SweepCheck
from tests.certification.sweep.tiny import FORMULAS, SCHEMA, everybody, fitted
from tests.report.browser import Browser
from tests.report.measures import CONTRAST, OVERLAPS, SPREAD
from tests.story import lcifr

ASKED = ("--model", "model.skops", "--phi", "people.phi", "--schema", "people.toml")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep that was stopped early: some of everything."""
    folder = tmp_path_factory.mktemp("sweep")
    everybody().to_pandas().to_csv(folder / "people.csv", index=False)
    skops.io.dump(fitted(LogisticRegression(), 1), folder / "model.skops")
    (folder / "people.phi").write_text(FORMULAS[0])
    SCHEMA.save(folder / "people.toml")
    lcifr("sweep", "people.csv", *ASKED, "--out", "swept", "--cells", 30, cwd=folder, expect=1)
    said = lcifr("report", "swept", "--author", "Ada <b>", cwd=folder)
    assert said.out.strip() == "swept/report.html"
    assert "share it with care" in said.err
    return folder / "swept"


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["wide, light", "narrow, dark"])
def test_the_page_is_quiet_alone_and_readable(browser: Browser, swept: Path, width: int, dark: bool):
    page = browser.open(swept / "report.html", width=width, dark=dark)
    page.run('document.querySelectorAll("details").forEach((one) => { one.open = true; })')
    found = page.run(CONTRAST)
    assert found["poor"] == []
    assert found["seen"] > 100
    assert page.run(SPREAD) == []
    drawn = page.run(OVERLAPS)
    assert drawn["found"] == []
    assert drawn["charts"] == 1 + len(SCHEMA)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
    assert page.requests() == []
    page.run('document.getElementById("theme").focus()')
    page.press("Enter", "\r")
    assert page.run("document.documentElement.dataset.theme") == ("light" if dark else "dark")


def test_the_page_says_what_the_sweep_found(swept: Path):
    result, page = SweepResult.read(swept), (swept / "report.html").read_text(encoding="utf-8")
    assert result.sweep.open
    for words in ("72 people could exist", "is open, so more work may prove up to", "Ada &lt;b&gt;", result.sweep.hash):
        assert words in page
    pairs = pd.read_csv(swept / "pairs.csv")
    assert f"{len(pairs) // 2} pairs were found" in page
    assert len(result.worst) <= len(pairs) // 2
    apart = [one.apart for one in result.worst]
    assert apart == sorted(apart, reverse=True)
    assert all(set(one.differs) == {"sex"} and one.decision != one.other_decision for one in result.worst)
    both = [frozenset(json.dumps(dict(person)) for person in (one.x, one.other)) for one in result.worst]
    assert len(set(both)) == len(both)


def test_the_violating_share_is_a_lower_end_and_pairs_refute_cells(swept: Path):
    result = SweepResult.read(swept)
    assert result.sweep.refuted_cells > 0
    text = _words(result, swept)
    share = percent(float(result.sweep.share(CellStatus.VIOLATING)))
    assert f"For at least {share}, someone similar gets a different decision: this is a lower end" in text
    assert re.search(rf"\| Violating \|.*at least {share}", text)
    assert f"{result.sweep.refuted_cells} open cells are refuted by one each" in text
    assert "says nothing about how much of its cell is affected" in text
    said = str(result.sweep)
    assert "violating: at least " in said
    assert f"{result.sweep.refuted_cells} of the open cells are refuted by a pair" in said
    plain = result.to_dict()
    low, high = plain["bounds"]["violating"]
    assert low == plain["shares"]["violating"] < high == pytest.approx(1 - plain["shares"]["proved"])


def test_nothing_open_is_no_lower_end(swept: Path):
    result = SweepResult.read(swept)
    whole = replace(result, sweep=replace(result.sweep, open=()))
    assert "at least" not in str(whole.sweep)
    assert "lower end," not in _words(whole, swept).split("##")[0]


def _words(result: SweepResult, folder: Path) -> str:
    return render_sweep(result, RunSettings.read(folder), "md")


def test_the_page_says_who_confirmed_the_proofs(swept: Path):
    result = SweepResult.read(swept)
    assert "there are no proofs on file" in _words(result, swept)
    refused = replace(result, checked=SweepCheck(shares={}, confirmed=1234, unproved=56, rejected=7))
    for words in (
        "by the exact checker for 1,234 cells",
        "56 more are known",
        "does not confirm the proofs of 7",
    ):
        assert words in _words(refused, swept)


def test_a_tolerance_is_strict_as_everywhere(swept: Path):
    result = SweepResult.read(swept)
    said = _words(replace(result, model=replace(result.model, tolerance=500.0)), swept)
    assert tolerance_words(500.0) in said


def test_markdown_and_json_say_the_same(swept: Path):
    result = SweepResult.read(swept)
    lcifr("report", "swept", "--out", "page.md", cwd=swept.parent)
    lcifr("report", "swept", "--out", "page.json", cwd=swept.parent)
    text = (swept.parent / "page.md").read_text(encoding="utf-8")
    assert "## Where the violations are" in text
    assert "| Violating |" in text
    plain = json.loads((swept.parent / "page.json").read_text(encoding="utf-8"))
    assert plain["exact_shares"] == {str(one): str(result.sweep.share(one)) for one in CellStatus}
    assert len(plain["map"]["strips"]) == len(SCHEMA)


def test_a_frontier_beside_a_sweep_is_refused(swept: Path):
    said = lcifr("report", "swept", "--tune", "swept", cwd=swept.parent, expect=2)
    assert "not about a sweep" in said.err
