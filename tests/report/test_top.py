"""The top of a report: when, by whom, which model, and what was confirmed for whom; every caution once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lcifr.certification.population import state
from lcifr.report import build, render
from lcifr.report.sections import put_into_words
from lcifr.workflows.baselines import beaten_by
from lcifr.workflows.results import CheckedProofs
from tests.report import scenes

DATED = replace(scenes.ABOUT, audited="2026-03-01", written="2026-03-01", author="Compliance <script>")


def facts(about=DATED, **options) -> dict[str, str]:
    return dict(put_into_words(scenes.made_report(about, **options)).facts)


def test_date_author_and_model_stand_at_the_top_of_every_format():
    report = scenes.made_report(DATED)
    page, markdown = render(report), render(report, "md")
    for text in (page[: page.index("Read this first")], markdown[: markdown.index("## Read this first")]):
        for word in ("2026-03-01", "Author", "linear model", report.hashes["model"][:12], "ReLU network"):
            assert word in text
    assert "<script>" not in page[: page.index("Read this first")].split("<body>")[1]
    assert json.loads(render(report, "json"))["origin"]["author"] == "Compliance <script>"


def test_the_day_of_the_page_is_said_where_it_is_another_one():
    assert facts()["Audited"] == "2026-03-01"
    assert facts(replace(DATED, written="2026-04-01"))["Audited"] == "2026-03-01; page written 2026-04-01"
    assert facts(scenes.ABOUT)["Audited"] == "date not recorded"
    assert facts(scenes.ABOUT)["Author"] == "not named"


def test_the_sizes_are_those_of_the_networks():
    found, encoder = scenes.audited()
    origin = json.loads(render(scenes.small_report(), "json"))["origin"]
    assert origin["encoder"][0] == encoder.network.layers[0].weight.shape[1]
    assert origin["encoder"][-1] == origin["model"][0]
    assert origin["model"][-1] == found.model.network.layers[-1].weight.shape[0]


def test_what_was_confirmed_for_whom_is_said():
    assert facts()["Confirmed"].startswith("by the exact checker for all 60 people: ")
    assert facts(replace(DATED, checked=None))["Confirmed"].startswith("nothing")
    sample = replace(DATED, checked=CheckedProofs(20, 60, 0, 15, 4, {}))
    said = "for 20 people drawn at random from the 60 people: 15 certificates, 4 counterexamples"
    assert said in facts(sample)["Confirmed"]
    report = scenes.made_report(sample)
    assert [one.code for one in report.cautions].count("partly-checked") == 1
    assert "20 people, drawn at random from the 60: 15 certificates" in render(report, "md")
    assert "It did not check anyone else" in render(report, "md")
    assert (
        "REJECTED for 1"
        in facts(replace(DATED, checked=CheckedProofs(60, 60, 0, 40, 10, {"p1": "changed"})))["Confirmed"]
    )


def test_every_caution_is_said_once():
    found, encoder = scenes.audited()
    statement = scenes.statement(found)
    warnings = (*statement.warnings, *beaten_by(statement, is_unaware=False), *statement.warnings)
    assert any("unaware model is as accurate" in text for text in warnings)
    report = build(found, replace(statement, warnings=warnings), encoder=encoder, about=scenes.ABOUT)
    texts = [one.text for one in report.cautions]
    assert len(set(texts)) == len(texts)
    assert sum("unaware" in text for text in texts) == 1


@pytest.mark.parametrize("held_out", [True, False])
def test_no_backtick_and_no_name_of_an_option_is_left_in_the_words(held_out):
    found, encoder = scenes.audited()
    report = build(found, state(found, scenes.labels(found), held_out=held_out), encoder=encoder)
    document = put_into_words(report)
    sentences = [block for section in document.sections for block in section.blocks if isinstance(block, str)]
    for sentence in (*sentences, *(one.text for one in document.cautions), *dict(document.facts).values()):
        assert "`" not in sentence
        assert "_weight" not in sentence
