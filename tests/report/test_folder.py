"""``lcifr report``: from the folders that the other commands wrote; what does not belong together is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lcifr.cli import build
from lcifr.errors import LcifrError
from lcifr.report import format_names, read_folder, render


def run(*words: object) -> str:
    result = CliRunner().invoke(build(), [str(word) for word in words])
    assert result.exit_code in (0, 1, 3), result.output
    return result.stdout


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Producer, consumer, auditor and a search for a weight, as quick as can be."""
    root = tmp_path_factory.mktemp("story")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 60, 160), "sex": rng.choice(["f", "m"], 160)})
    table["hired"] = ((table["age"] + 8 * (table["sex"] == "m") + rng.normal(0, 4, 160)) > 42).astype(int)
    table.to_csv(root / "people.csv", index=False)
    (root / "similar.phi").write_text("# Near in age, whatever their sex.\nage within 2", encoding="utf-8")
    learn = ("--target", "hired", "--hidden", "4", "--latent", "2", "--epochs", "3")
    source = (root / "people.csv", "--phi", root / "similar.phi")
    run("produce", *source, *learn, "--out", root / "producer")
    run("consume", root / "producer/handover", root / "producer/labels.csv", "--out", root / "consumer")
    run("audit", root / "producer", root / "consumer", "--no-baselines", "--out", root / "audit")
    run("tune", *source, *learn, "--required", "0.3", "--gammas", "1", "--out", root / "frontier")
    return root


def test_an_audit_becomes_a_page_with_every_part(story, tmp_path):
    out = tmp_path / "page.html"
    said = json.loads(run("report", story / "audit", "--tune", story / "frontier", "--out", out, "--json"))
    result = json.loads((story / "audit" / "result.json").read_text(encoding="utf-8"))
    assert said["file"] == str(out)
    assert [said[key] for key in ("people", "certified", "violated")] == [
        result[key] for key in ("people", "certified", "violated")
    ]
    page = out.read_text(encoding="utf-8")
    for words in (
        "Near in age, whatever their sex",
        "What the promise costs",
        "Group by group",
        result["hashes"]["model"],
    ):
        assert words in page
    assert "python -m lcifr.check bundle" in page


def test_the_name_of_the_file_says_the_format_and_the_same_folder_gives_the_same_bytes(story, tmp_path):
    for name, start in (("a.md", "# "), ("a.json", "{"), ("a.html", "<!DOCTYPE html>")):
        run("report", story / "audit", "--out", tmp_path / name)
        run("report", story / "audit", "--out", tmp_path / f"again-{name}")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
        assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    run("report", story / "audit", "--format", "md")
    assert (story / "audit" / "report.md").is_file()


def test_the_author_and_the_day_of_the_audit_are_named(story, tmp_path, monkeypatch):
    settings = json.loads((story / "audit" / "settings.json").read_text(encoding="utf-8"))
    day = settings["finished"][:10]
    run("report", story / "audit", "--author", "Compliance", "--out", tmp_path / "a.md")
    assert f"- Audited: {day}\n- Author: Compliance\n" in (tmp_path / "a.md").read_text(encoding="utf-8")
    monkeypatch.setenv("LCIFR_AUTHOR", "Somebody else")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "4102444800")
    run("report", story / "audit", "--out", tmp_path / "b.md")
    said = (tmp_path / "b.md").read_text(encoding="utf-8")
    assert f"- Audited: {day}; page written 2100-01-01\n- Author: Somebody else\n" in said


def test_decisions_are_those_of_the_peoples_own_rows(story):
    report, rows = read_folder(story / "audit"), pd.read_parquet(story / "audit" / "audited" / "audit.parquet")
    assert sum(report.decisions.people) == len(rows) == sum(sum(row.people) for row in report.decisions.labels)
    assert report.decisions.people == tuple((rows["prediction"].astype(str) == name).sum() for name in ("0", "1"))
    assert {row.value for row in report.decisions.groups} == {"f", "m"}


def test_a_consumers_report_says_what_it_rests_on(story):
    said = CliRunner().invoke(build(), ["report", str(story / "consumer")]).stderr
    assert "no attributes" in said
    assert "with care" in CliRunner().invoke(build(), ["report", str(story / "audit")]).stderr
    report = read_folder(story / "consumer")
    assert {"claimed", "unchecked", "not-searched"} <= {one.code for one in report.cautions}
    assert report.explorer.attributes == ()
    assert "An auditor who has the producer’s folder can write them" in render(report, "md")  # the cautions point there
    assert "claims and nobody has checked" in render(report, "md")


def test_a_folder_whose_parts_do_not_belong_together_is_refused(story, tmp_path):
    for change, words in (
        (lambda result: result | {"certified": result["certified"] + 1}, "do not match the people's rows"),
        (lambda result: result | {"phi": result["phi"] | {"text": "age within 3"}}, "the hashes differ"),
        (
            lambda result: {key: value for key, value in result.items() if key != "lower"},
            "its contents are inconsistent",
        ),
        (lambda result: result | {"command": "produce"}, "was written by `lcifr produce`"),
    ):
        folder = tmp_path / words.split()[-1].strip("`")
        shutil.copytree(story / "audit", folder)
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        (folder / "result.json").write_text(json.dumps(change(result)), encoding="utf-8")
        with pytest.raises(LcifrError, match=words):
            read_folder(folder)


@pytest.mark.parametrize("words", [["nowhere"], ["nowhere", "--format", "pdf"]])
def test_wrong_use_is_said(words):
    result = CliRunner().invoke(build(), ["report", *words])
    assert result.exit_code == 2


def test_out_must_be_a_file_that_can_be_written(story, tmp_path):
    assert CliRunner().invoke(build(), ["report", str(story / "audit"), "--out", str(tmp_path)]).exit_code == 2
    refused = CliRunner().invoke(build(), ["report", str(story / "audit"), "--out", str(tmp_path / "report.pdf")])
    assert refused.exit_code == 2
    assert all(f".{form}" in refused.stderr for form in format_names())
    missing = str(tmp_path / "no" / "where.html")
    assert CliRunner().invoke(build(), ["report", str(story / "audit"), "--out", missing]).exit_code == 2
