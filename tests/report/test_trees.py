"""Reports of tree models: what each attribute adds, for and against, and the output around counterexamples."""

from __future__ import annotations

import pytest

from lcifr.certification.population import state
from lcifr.report import build, render
from tests.certification import explained_models
from tests.report.measures import CONTRAST, OVERLAPS, SPREAD
from tests.report.scenes import tree_report


@pytest.mark.parametrize("together", [1, 2, 3], ids=["additive", "pairs", "deep"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["wide", "narrow and dark"])
def test_pictures_are_quiet_readable_and_in_their_frames(look, together, width, dark):
    page = look(tree_report(together), width=width, dark=dark)
    page.run('document.querySelectorAll("details").forEach((one) => { one.open = true; })')
    assert page.run(CONTRAST)["poor"] == []
    assert page.run(SPREAD) == []
    assert page.run(OVERLAPS)["found"] == []
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
    assert page.requests() == []
    assert page.run('document.querySelectorAll("#person svg").length') >= 1
    hidden = (
        'Math.max(...[...document.querySelectorAll("#person .scroll")].map((one) => one.scrollWidth - one.clientWidth))'
    )
    assert page.run(hidden) <= 1


def test_choosing_a_person_by_keyboard_marks_them_in_every_chart(look):
    report = tree_report(1)
    page = look(report)
    marks = '[...document.querySelectorAll(".gallery .marks")].map((one) => one.innerHTML).join()'
    seen = set()
    page.run('document.getElementById("people").focus()')
    page.press("Home")
    for person in report.explorer.people[:6]:
        assert page.text("#marked") == person.id
        assert page.text("#person h3") == f"Person {person.id}"
        seen.add(page.run(marks))
        rows = page.run('[...document.querySelectorAll("#person .picture")].length')
        assert rows == len(person.score.contributions) + (abs(person.score.rest) > 1e-12)
        page.press("ArrowDown")
    assert len(seen) > 1


def test_the_chart_without_script_marks_whom_the_script_shows_first(look):
    report = tree_report(1)
    marks = """[...document.querySelectorAll(".gallery .marks > *")].map((shape) =>
        [...shape.attributes].map((one) => [one.name, isNaN(one.value) ? one.value : +one.value]))"""
    with_script, without = look(report), look(report, scripts=False)
    assert with_script.text("#marked") == without.text("#marked") == report.explorer.first.id
    assert with_script.run(marks) == without.run(marks)
    assert "Around the counterexample of person" in without.text("#explorer")


def test_around_a_counterexample_the_page_says_what_is_seen(look):
    report = tree_report(3)
    assert report.explorer.scores is None
    page = look(report)
    wanted = next(one for one in report.explorer.people if len(one.profiles) > 1)
    page.run('document.getElementById("search").focus()')
    page.type(wanted.id)
    text = page.text("#person")
    for profile in wanted.profiles:
        assert f"at {profile.attribute}" in text
    assert page.run('document.querySelectorAll("#person svg.chart").length') == len(wanted.profiles)


def test_pairs_are_drawn_as_maps(look):
    report = tree_report(2)
    assert report.explorer.scores is not None
    page = look(report)
    pairs = report.explorer.scores.pairs
    columns, cells = sum(one.across.count for one in pairs), sum(one.across.count * one.up.count for one in pairs)
    assert columns <= page.run('document.querySelectorAll(".gallery .cell").length') <= cells
    for name in report.explorer.scores.undrawn:
        assert name in page.text("#scores")
    page.run('document.getElementById("people").focus()')
    page.press("End")  # whoever is chosen is marked in the charts of single attributes
    assert page.complaints() == []


def test_every_format_tells_of_trees_and_not_of_networks():
    for together in (1, 3):
        text = render(tree_report(together), "md")
        assert "a sum of 12 trees" in text
        assert "network" not in text
        assert "The leaves that each tree can reach" in text
        assert "Everything else as in the counterexample" in text
    assert "What each attribute adds" in render(tree_report(1), "md")
    assert "What each attribute adds" not in render(tree_report(3), "md")
    assert '"contributions"' in render(tree_report(1), "json")


def test_without_phi_no_similar_range_is_shown():
    _, found = explained_models.audited(5)
    report = build(found, state(found, held_out=True))
    assert report.explorer.scores is None
    assert all(not one.profiles and one.score is None for one in report.explorer.people)


def test_of_many_attributes_that_differ_those_that_move_the_output_most_are_drawn(monkeypatch):
    from lcifr.report import people

    whole = next(one for one in tree_report(3).explorer.people if len(one.profiles) > 1)
    made, found = explained_models.audited(8, together=3)
    monkeypatch.setattr(people, "EACH", 1)
    report = build(found, state(found, held_out=True), similarity=made.encoder.similarity)
    (kept,) = next(one for one in report.explorer.people if one.id == whole.id).profiles
    assert abs(kept.at_own - kept.at_other) == max(abs(one.at_own - one.at_other) for one in whole.profiles)
    assert "not drawn" in render(report, "md")
    assert "not drawn" not in render(tree_report(3), "md")


def test_pictures_around_counterexamples_are_limited(monkeypatch):
    from lcifr.report import people

    made, found = explained_models.audited(8, together=3)
    monkeypatch.setattr(people, "AROUND", 2)
    report = build(found, state(found, held_out=True), similarity=made.encoder.similarity)
    assert sum(bool(one.profiles) for one in report.explorer.people) == 2
    assert "drawn around only 2 of these counterexamples" in render(report, "md")
