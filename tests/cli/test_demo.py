"""The demo: real numbers that add up, a counterexample that holds, proofs that the checker confirms, a report."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lcifr.check.bundle import check_bundle
from lcifr.cli import build


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("demo") / "out"


@pytest.fixture(scope="module")
def spoken(folder) -> str:
    picture = folder.with_name("demo.svg")
    result = CliRunner().invoke(build(), ["demo", "--out", str(folder), "--picture", str(picture)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_demo_speaks_to_people(spoken, folder):
    for words in ("who counts as similar", "Free, with any value at all: sex", "certified", "every one confirmed"):
        assert words in spoken
    assert "report.html" in spoken
    drawn = folder.with_name("demo.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "url(http" not in drawn


def test_the_demo_writes_down_its_settings(spoken, folder):
    settings = json.loads((folder / "demo.json").read_text(encoding="utf-8"))
    assert (settings["command"], settings["seed"]) == ("demo", 0)
    assert {"python", "lcifr", "torch"} <= set(settings["versions"])


def test_the_report_says_what_the_bundle_claims(spoken, folder):
    """The demo has checked every line; a long test checks them again."""
    written = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = gzip.decompress((folder / "proofs" / "trained" / "people.jsonl.gz").read_bytes()).splitlines()
    verdicts = Counter(json.loads(line)["decision"]["verdict"] for line in lines)
    assert written["proved"]["certified"] == verdicts["certified"] > 0
    assert written["proved"]["violated"] == verdicts["counterexample"] > 0
    assert written["checked"]["rejected"] == 0
    assert [row["name"] for row in written["models"]] == ["trained with lcifr", "plain", "unaware of sex"]
    assert (folder / "report.md").is_file()


@pytest.mark.long
def test_the_demo_runs_twice_and_its_figures_add_up(spoken, folder):
    before = (folder / "report.html").read_bytes()
    result = CliRunner().invoke(build(), ["demo", "--json", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["refused"] == 0
    for row in printed["models"]:
        assert row["certified"] + row["violated"] + row["undecided"] == pytest.approx(1)
        assert row["confirmed"] == round(200 * (row["certified"] + row["violated"]))
        assert row["accuracy"] > 0.65
        checked = check_bundle(folder / "proofs" / row["model"].split()[0])
        assert not checked.rejected
        assert len(checked.names["certified"]) == round(200 * row["certified"])
        assert len(checked.names["counterexample"]) == round(200 * row["violated"])
    assert [row["model"].split()[0] for row in printed["models"]] == ["plain", "unaware", "trained"]
    assert (folder / "report.html").read_bytes() == before


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = CliRunner().invoke(build(), ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "not written by `lcifr demo`" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
