"""The page on paper, and labels anywhere: nothing overprints, nothing is cut off, no page is nearly empty."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lcifr.report.html import PRINTED
from tests.report import scenes
from tests.report.measures import CONTRAST, OVERLAPS, SPREAD

A4 = 673  # CSS pixels between the margins of the page
SCENES = {"small": scenes.small_report, "wordy": scenes.wordy_report}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "narrow"])
def test_no_label_of_a_chart_lies_on_another_one(look, scene, width):
    found = look(SCENES[scene](), width=width).run(OVERLAPS)
    assert found["found"] == []
    assert found["charts"] >= 2


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "narrow"])
def test_long_names_do_not_widen_the_page_nor_hide_the_values(look, width, dark):
    page = look(scenes.wordy_report(), width=width, dark=dark)
    page.run('document.querySelectorAll("details").forEach((one) => { one.open = true; })')
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run(SPREAD) == []
    assert page.run(CONTRAST)["poor"] == []
    assert (
        page.run(
            '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("#person .scroll"))'
        )
        <= 1
    )
    assert page.complaints() == []


def test_years_and_amounts_are_written_as_people_write_them(look):
    page = look(scenes.wordy_report())
    cells = page.run('[...document.querySelectorAll("#person td")].map((one) => one.innerText)')
    report = scenes.wordy_report()
    shown = page.text("#person h3").removeprefix("Person ")
    person = next(one for one in report.explorer.people if one.id == shown)
    assert str(person.values["year_of_birth"]).removesuffix(".0") in cells
    assert f"{person.values[scenes.WORDY]:,}" in cells


@pytest.mark.parametrize("scene", SCENES)
def test_every_counterexample_is_on_paper(look, scene):
    report = SCENES[scene]()
    page = look(report, width=A4)
    page.call("Emulation.setEmulatedMedia", media="print")
    violated = [one for one in report.explorer.people if one.verdict == "COUNTEREXAMPLE"]
    listed = page.run('[...document.querySelectorAll(".printed tbody")].map((one) => one.innerText)')
    assert len(listed) == len(violated) == report.statement.violated
    for text, one in zip(listed, violated, strict=True):
        assert text.startswith(one.id)
        assert one.other_decision in text
    assert f"all {len(violated)} counterexamples" in page.text(".printed")
    assert page.run('getComputedStyle(document.querySelector(".printed")).display') == "block"
    assert page.run("document.documentElement.scrollWidth") <= A4


def test_of_very_many_counterexamples_the_page_says_how_many_are_on_paper(look):
    report = scenes.large_report()
    page = look(report, width=A4)
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.run('document.querySelectorAll(".printed tbody").length') == PRINTED
    assert f"{PRINTED} of {report.statement.violated:,} counterexamples" in page.text(".printed")


def test_without_a_script_the_counterexamples_are_on_the_screen_too(look):
    page = look(scenes.small_report(), scripts=False)
    assert f"all {scenes.small_report().statement.violated} counterexamples" in page.text("body")
    assert "counterexamples, with what differs" not in look(scenes.small_report()).text("body")


@pytest.mark.parametrize("scene", [*SCENES, "bare"])
def test_no_page_of_paper_has_a_heading_and_two_lines(look, scene, tmp_path: Path):
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed: pages of paper are not looked at")
    if scene == "bare":  # no counterexample, no tuning, hardly any section
        small = scenes.small_report()
        said, nobody = replace(small.statement, subgroups=None), replace(small.explorer, people=())
        report = replace(small, tuning=None, radii=None, statement=said, explorer=nobody)
    else:
        report = SCENES[scene]()
    file = tmp_path / "report.pdf"
    file.write_bytes(look(report).paper())
    text = subprocess.run(["pdftotext", "-layout", file, "-"], capture_output=True, check=True, text=True).stdout
    pages = text.split("\f")[:-1]
    assert len(pages) >= 4
    for number, one in enumerate(pages, 1):
        lines = [line for line in one.splitlines() if line.strip()]
        assert len(lines) > 4, f"page {number} of {len(pages)}: {lines}"
        headings = {section.strip() for section in HEADINGS}
        assert lines[-1].strip() not in headings, f"page {number} ends with a heading"
        assert lines[-2].strip() not in headings, f"page {number} ends with a heading and one line"


HEADINGS = (
    "What was promised",
    "What was proved",
    "Compared with the baselines",
    "Decisions and errors",
    "How far from another decision",
    "What the promise costs",
    "Group by group",
    "Person by person",
    "What this report does not say",
    "Method, versions, hashes",
    "Check it yourself",
)
