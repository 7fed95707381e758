"""Three formats, one content: the same numbers, the same bytes for the same audit."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.population import state
from lcifr.display.text import at_least, count, floored, percent, percents, short
from lcifr.errors import LcifrError
from lcifr.report import build, format_names, render
from lcifr.report import people as shown_people
from lcifr.report.page import LISTED, ReportRequest
from lcifr.report.people import show
from lcifr.report.sections import Chart, Table, frontier, put_into_words
from lcifr.workflows.options import options_of
from tests.certification import scenes as small
from tests.report import scenes
from tests.report.tags import Tags

NUMBER = re.compile(r"[−\d][\d,.]*\d|\d")


def static_text(page: str) -> str:
    """What one reads of the page, without the charts' own ticks, the explorer and what is only printed."""
    return Tags(re.sub(r'<svg.*?</svg>|<div class="printed">.*?</section>', "", page, flags=re.DOTALL)).text


def cells(text: str) -> list[str]:
    """The cells of every Markdown table before the people, without markup."""
    head = text[: text.index("\n## Person by person")]
    rows = [line for line in head.splitlines() if line.startswith("|") and not set(line) <= set("|-: ")]
    return [re.sub(r"\\(.)", r"\1", cell.strip()) for row in rows for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def test_markdown_and_page_have_the_same_tables_and_numbers():
    report = scenes.small_report()
    markdown, page = render(report, "md"), render(report)
    from_page = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", page)]
    explored = page.index('id="explore"')
    before = page[:explored]
    shown = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", before)]
    assert [unescape(cell) for cell in shown] == cells(markdown)
    assert len(from_page) > len(shown)
    end = markdown.index("\n## Person by person"), markdown.index("\n## What this report does not say")
    spoken = re.sub(r"\\(.)", r"\1", markdown[: end[0]] + markdown[end[1] :])
    assert set(NUMBER.findall(spoken)) == set(NUMBER.findall(static_text(page)))


def test_every_fact_of_the_json_is_in_the_words():
    report = scenes.small_report()
    facts, text = json.loads(render(report, "json")), render(report, "md", people=None)
    proved = facts["proved"]
    verdicts = ("certified", "violated", "undecided")
    for name, share in zip(verdicts, percents([proved[name] for name in verdicts]), strict=True):
        assert f"| {count(proved[name])} | {share} |" in text
    for name in ("vacuous", "alone"):
        assert f"| {count(proved[name])} | {percent(proved[name] / proved['people'])} |" in text
    assert f"at least {at_least(proved['lower'])}, with 95 % confidence" in text
    assert proved["certified"] + proved["violated"] + proved["undecided"] == proved["people"] == 60
    for row in facts["models"]:
        figures = [percent(row[key]) for key in ("accuracy", "balanced_accuracy")]
        figures += percents([row[key] for key in verdicts])
        assert f"| {row['name']} | " + " | ".join(figures) + " |" in text
    for row in facts["groups"]:
        figures = (
            percent(row["certified"]),
            at_least(row["at_least"]),
            percent(row["violated"]),
            percent(row["accuracy"]),
        )
        assert f"| {row['attribute']} | {row['value']} | {row['people']} | " + " | ".join(figures) + " |" in text
    for name in ("margins", "radii"):
        assert sum(sum(bars) for bars in facts[name]["counts"].values()) == proved["people"]
    for caution in facts["cautions"]:
        assert caution["title"] in text
    for row in facts["tuning"]["rows"]:
        assert f"| {percent(row['score'])} | {percent(row['balanced'])} | {percent(row['certified'])} |" in text
    for one in facts["explorer"]["people"]:
        margin = floored(one["margin"]) if one["verdict"] == "CERTIFIED" else f"none ({floored(one['margin'])})"
        assert f"| {one['id']} | {one['verdict'].capitalize()} | {one['decision']} | {margin} |" in text


def test_the_explorer_of_the_page_holds_the_people_of_the_other_formats():
    report = scenes.small_report()
    page = render(report)
    data = json.loads(re.search(r'id="explorer-data">(.*?)</script>', page, re.DOTALL).group(1))
    assert [one[0] for one in data["people"]] == [one.id for one in report.explorer.people]
    for one, person in zip(data["people"], report.explorer.people, strict=True):
        shown = show(person, report.explorer)
        assert data["texts"][one[2]] == shown.sentence
        assert [(data["texts"][name], value) for name, value in one[3]] == list(shown.facts)
        for row, expected in zip(one[4], shown.rows, strict=True):
            assert [data["texts"][n] for n in row[:3]] == [expected.own, expected.may, expected.other]
            assert bool(row[3]) is expected.differs


def test_the_page_puts_everybody_into_words_once(monkeypatch):
    """To see whether they fit on the page, and to write them there; on paper, the counterexamples once more."""
    times = Counter()

    def counted(person, explorer):
        times[person.id] += 1
        return show(person, explorer)

    monkeypatch.setattr(shown_people, "show", counted)
    report = scenes.made_report()
    render(report)
    assert times == Counter(person.id for person in report.explorer.people)


def test_the_same_audit_gives_the_same_bytes():
    for form in format_names():
        assert render(scenes.made_report(), form) == render(scenes.made_report(), form)


def test_every_chart_has_a_title_a_description_and_a_table_with_its_numbers():
    report = scenes.small_report()
    document, page = put_into_words(report), render(report)
    charts = [block for section in document.sections for block in section.blocks if isinstance(block, Chart)]
    assert [chart.key for chart in charts] == ["margins", "radii", "tuned"]
    for chart in charts:
        assert f'<title id="{chart.key}-title">{chart.picture.title}</title>' in page
        assert f'<desc id="{chart.key}-desc">' in page
        if chart.key in ("margins", "radii"):
            totals = Counter()
            for row in chart.table.rows:
                totals.update(
                    {name: int(cell.replace(",", "")) for name, cell in zip(chart.table.head[1:], row[1:], strict=True)}
                )
            assert sorted(totals.values()) == sorted(sum(bars) for bars in getattr(report, chart.key).counts.values())


def test_tables_are_rectangles():
    for report in (scenes.small_report(), scenes.hostile_report()):
        for section in put_into_words(report).sections:
            for block in section.blocks:
                if isinstance(block, Table):
                    assert {len(row) for row in block.rows} <= {len(block.head)}
                    assert len(block.numbers) == len(block.head)


def test_the_command_offers_every_format():
    form = options_of(ReportRequest)["form"].metadata["option"]
    assert {*form.choices} - {"markdown"} == set(format_names())
    with pytest.raises(LcifrError, match="there is no format 'pdf'"):
        render(scenes.small_report(), "pdf")


@pytest.mark.parametrize(
    ("share", "said"), [(0.9999, "99.9 %"), (0.95, "95.0 %"), (0.91649, "91.6 %"), (1.0, "100.0 %"), (None, "–")]
)
def test_a_lower_bound_is_rounded_down(share, said):
    assert at_least(share) == said


def test_numbers_are_never_rounded_in_our_favour():
    assert percent(0.99996) == "over 99.9 %"
    assert percent(0.0001) == "under 0.1 %"
    assert floored(0.99999) == "0.9999"
    assert floored(-0.05231) == "−0.05231"
    assert floored(-0.052311) == "−0.05232"
    assert floored(None) == "–"
    assert short(float("inf")) == "∞"


def test_words_are_careful():
    spoken = render(scenes.small_report(), "md").lower()
    assert "certified with respect to φ" in spoken
    for sentence in re.split(r"[.\n]", spoken):
        if re.search(r"\b(fair|unbiased|discriminat\w+)\b", sentence):
            assert "does not say that the model is fair or unbiased" in sentence


def test_what_is_missing_is_left_out_or_said():
    found, encoder = scenes.audited()
    bare = render(build(found, state(found, held_out=False), encoder=encoder), "md")
    for said in (
        "No baseline was given",
        "No statement about a population",
        "has not been run on these verdicts",
        "Possibly in-sample people",
        "It was not declared that these people were held out",
    ):
        assert said in bare
    assert "were not held out" not in bare  # nobody knows that
    for left_out in ("## What the promise costs", "## Group by group", "Proved radii"):
        assert left_out not in bare
    withheld = render(build(found, state(found, held_out=False)), "md")
    assert "The producer does not reveal φ" in withheld


@pytest.mark.parametrize(
    ("outputs", "options", "rule"),
    [
        (3, {}, "two similar people get the same decision (0, 1, 2)"),
        (3, {"groups": [[0, 2]]}, "two similar people’s decisions are in the same group (0 or 2; 1)"),
        (1, {"tolerance": 0.25}, "the prediction is less than 0.25 away from that person’s own"),
    ],
)
def test_every_kind_of_decision_is_said(outputs, options, rule):
    scene = small.scene(8, small.FORMULAS[0], count=20, outputs=outputs, depth=0)
    found = audit(scene.encoder, scene.model, scene.people, modular=False, **options)
    report = build(found, state(found, held_out=True), encoder=scene.encoder)
    assert rule in render(report, "md")
    for one, bad in zip(report.explorer.people, found.violated, strict=True):
        assert (one.other_decision is not None) is bool(bad)
        if bad:
            assert one.other_decision != one.decision
    assert render(report).startswith("<!DOCTYPE html>")


def test_vacuous_certificates_are_said_to_be_so():
    scene = small.scene(3, small.FORMULAS[5], count=8, depth=0)
    found = audit(scene.encoder, scene.model, scene.people, modular=False)
    text = render(build(found, state(found, held_out=True), encoder=scene.encoder), "md")
    assert "8 certificates are vacuous" in text
    assert "vacuously: no one is similar to this person" in text
    assert "Vacuous: certified because no one is similar" in text


@pytest.mark.parametrize("by", ["accuracy", "balanced"])
def test_the_frontier_shows_the_score_that_was_required(by):
    chart = frontier(replace(scenes.FRONTIER, by=by))
    points = (scenes.FRONTIER.plain, scenes.FRONTIER.unaware, *scenes.FRONTIER.points)
    heights = [shape.values[1] for shape in chart.picture.shapes if shape.tag == "circle"]
    scores = [one.balanced if by == "balanced" else one.score for one in points]
    assert np.corrcoef(heights, scores)[0, 1] == pytest.approx(-1, abs=1e-4)
    assert ("balanced accuracy" in chart.description) is (by == "balanced")


def test_markdown_shows_some_people_and_says_so():
    """Counterexamples first, in their order; the figures above are those of everyone."""
    report = scenes.small_report()
    people, bad = report.explorer.people, report.statement.violated
    assert 0 < bad < len(people) - 3
    few, everyone = (render(report, "md", people=most) for most in (bad + 2, None))
    shown = re.findall(r"^### Person (.*):", few, re.MULTILINE)
    assert len(shown) == bad + 2
    assert {one.id for one in people if one.verdict == "COUNTEREXAMPLE"} <= set(shown)
    assert f"{bad + 2} of {len(people)} people, counterexamples first." in few
    assert f"lcifr report --people all lists {len(people)} people here" in few
    assert re.findall(r"^### Person (.*):", everyone, re.MULTILINE) == [one.id for one in people]
    head = few[: few.index("## Person by person")]
    assert head == everyone[: everyone.index("## Person by person")]
    assert len(re.findall(r"^### Person", render(report, "md"), re.MULTILINE)) == LISTED < len(people)


def test_a_probability_stands_beside_the_margin_where_the_output_is_a_log_odds():
    found, encoder = scenes.audited()
    rule = replace(found.model.rule, log_odds=(1.0, 0.0))
    known = replace(found, model=replace(found.model, rule=rule))
    plain, shown = (build(one, state(one, held_out=True), encoder=encoder) for one in (found, known))
    assert "Proved probability" not in render(plain, "md")
    assert "The model’s output is a log-odds" in render(shown, "md")
    for one in shown.explorer.people:
        facts = dict(show(one, shown.explorer).facts)
        if one.verdict != "CERTIFIED":
            assert facts["Proved probability"] == "–"
            continue
        least = float(facts["Proved probability"].removeprefix("at least "))
        assert least <= 1 / (1 + np.exp(-one.margin)) < least + 1e-2
