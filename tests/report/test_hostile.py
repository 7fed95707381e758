"""Names, values, ids and comments that try to be a script, a picture or another line: they stay text."""

from __future__ import annotations

import pytest

from lcifr.display.text import visible
from lcifr.report import render
from tests.report import scenes
from tests.report.tags import Tags


def test_a_parser_finds_no_element_that_we_did_not_write():
    found = Tags(render(scenes.hostile_report()))
    harmless = Tags(render(scenes.small_report()))
    assert found.names.count("script") == harmless.names.count("script") == 2
    assert set(found.names) <= set(harmless.names)
    assert "img" not in found.names
    assert found.odd == []


@pytest.mark.parametrize("place", range(len(scenes.HOSTILE)))
def test_hostile_text_is_shown_as_it_is(place):
    assert visible(scenes.HOSTILE[place]) in Tags(render(scenes.hostile_report())).text


@pytest.mark.parametrize("width", [1280, 390])
def test_the_browser_runs_none_of_it_and_the_explorer_shows_it(look, width):
    page = look(scenes.hostile_report(), width=width)
    for one in scenes.hostile_report().explorer.people[:10]:
        page.run(f"document.querySelector('#search').value = {ascii_json(visible(one.id))}")
        page.run("document.querySelector('#search').dispatchEvent(new Event('input'))")
        assert page.run("document.querySelector('#person h3').textContent") == f"Person {visible(one.id)}"
    assert page.run("window.harmed") is None
    assert page.run("document.images.length") == 0
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
    assert page.requests() == []


def ascii_json(text: str) -> str:
    import json

    return json.dumps(text)


def test_the_policy_stops_a_script_that_got_in(look, browser, tmp_path):
    page = render(scenes.small_report()).replace("</main>", "<script>window.harmed = 4</script></main>")
    path = tmp_path / "changed.html"
    path.write_text(page, encoding="utf-8")
    opened = browser.open(path)
    assert opened.run("window.harmed") is None
    assert any("Content Security Policy" in text for text in opened.complaints())


def test_control_characters_are_spelled_out():
    for form in ("html", "md", "json"):
        text = render(scenes.hostile_report(), form)
        assert not set("\u202e\u2066\u200f\x00") & set(text)
    assert visible("a\u202eb\x00\ud800\n\t") == "a⟨U+202E⟩b⟨U+0000⟩⟨U+D800⟩\n\t"


def test_markdown_holds_no_markup_of_others():
    import re

    text = render(scenes.hostile_report(), "md")
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\[[^\]]*\]\(", outside)
    widths = {}
    for line in outside.splitlines():
        if line.startswith("|"):
            widths.setdefault(len(re.findall(r"(?<!\\)\|", line)), line)
    assert set(widths) <= {3, 4, 5, 6, 7, 8}
