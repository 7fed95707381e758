"""The page in a real browser: quiet, alone, readable, and usable without a mouse."""

from __future__ import annotations

import pytest

from tests.report import scenes
from tests.report.measures import CONTRAST, SPREAD


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "narrow"])
def test_every_theme_and_width_is_quiet_alone_and_readable(look, width, dark):
    page = look(scenes.small_report(), width=width, dark=dark)
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "light dark"
    assert (page.run('matchMedia("(prefers-color-scheme: dark)").matches')) is dark
    page.run('document.querySelectorAll("details").forEach((one) => { one.open = true; })')
    found = page.run(CONTRAST)
    assert found["poor"] == []
    assert found["seen"] > 200
    assert page.run(SPREAD) == []
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
    assert page.requests() == []


def test_the_explorer_finds_a_person_and_shows_the_counterexample(look):
    report = scenes.small_report()
    page = look(report)
    wanted = next(one for one in report.explorer.people if one.verdict == "COUNTEREXAMPLE" and one.id.endswith("7"))
    page.run('document.getElementById("search").focus()')
    page.type(wanted.id)
    assert page.text("#person h3") == f"Person {wanted.id}"
    marked = page.run(
        '[...document.querySelectorAll("#person tr.differs th > span:first-child")].map((e) => e.innerText)'
    )
    assert marked == [name for name in report.explorer.attributes if wanted.other[name] != wanted.values[name]]
    assert f"gets “{wanted.other_decision}”" in page.text("#person")
    shown = page.run('[...document.querySelectorAll("#person tr.differs td:last-child")].map((e) => e.innerText)')
    assert all(text.startswith("≠") for text in shown)


def test_an_exact_id_comes_first(look):
    page = look(scenes.small_report())
    page.run('document.getElementById("search").focus()')
    page.type("p5")  # p50 to p59 have it in their name too
    assert page.text("#person h3") == "Person p5"
    assert page.text("#matches") == "11 people"


def test_the_keyboard_is_enough(look):
    page = look(scenes.small_report())
    page.run('document.getElementById("search").focus()')
    page.run('document.getElementById("verdict").value = "certified"')
    page.run('document.getElementById("verdict").dispatchEvent(new Event("change"))')
    listed = page.run('[...document.querySelectorAll("#people .name")].map((one) => one.innerText)')
    assert page.text("#person h3") == f"Person {listed[0]}"
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        page.press(key)
        assert page.text("#person h3") == f"Person {listed[place]}"
    chosen = page.run('document.querySelector("#people [aria-selected=true]").id')
    assert page.run('document.getElementById("search").getAttribute("aria-activedescendant")') == chosen
    page.press("Enter")
    assert page.run("document.activeElement.id") == "person"
    page.run('document.getElementById("people").focus()')
    page.press("End")
    assert page.text("#person h3") == f"Person {listed[-1]}"
    page.press("Home")
    assert page.text("#person h3") == f"Person {listed[0]}"


def test_everything_with_a_function_can_be_reached_by_tab(look):
    page = look(scenes.small_report())
    page.run("document.body.focus()")
    reached = []
    for _ in range(60):
        page.press("Tab")
        reached.append(page.run("document.activeElement.id || document.activeElement.className"))
    assert {"skip", "theme", "search", "verdict", "people", "only"} <= set(reached)


def test_the_switch_turns_light_into_dark_and_back(look):
    page = look(scenes.small_report())
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.run(paper)
    page.run('document.getElementById("theme").click()')
    assert page.run(paper) != before
    assert page.run(CONTRAST)["poor"] == []
    page.run('document.getElementById("theme").click()')
    assert page.run(paper) == before


def test_it_prints_with_every_table_open(look):
    page = look(scenes.small_report(), dark=True)
    assert page.paper().startswith(b"%PDF")
    page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.run('getComputedStyle(document.querySelector(".explorer")).display') == "none"
    page.run('window.dispatchEvent(new Event("beforeprint"))')
    assert page.run('document.querySelectorAll("details:not([open])").length') == 0


def test_without_a_script_everything_but_the_explorer_is_there(look):
    page = look(scenes.small_report(), scripts=False)
    text = page.text("body")
    for words in ("Read this first", "Verdicts by group", "The same as a table", "needs JavaScript"):
        assert words in text
    assert page.run('document.getElementById("explore").hidden')
