"""Templates: every value is escaped, and only our own styles and scripts are written as they are."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

import lcifr
from lcifr.display.canvas import Picture, text
from lcifr.display.html import environment, macro, svg_file

HOME = Path(lcifr.__file__).parent
TEMPLATES = sorted(HOME.glob("*/templates/*.html"))
OWN = ["display/chart.css", "report/page.css", "report/page.js", "report/theme.js"]
HARM = "</script><img src=x onerror='a' b=\"c\"> & \u202e"


def test_every_room_with_templates_is_looked_at() -> None:
    assert {path.parts[-3] for path in TEMPLATES} == {"display", "report"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_only_styles_and_scripts_are_safe(path: Path) -> None:
    """Whatever else is written as it is could be markup of a name, a value or a comment."""
    written = path.read_text(encoding="utf-8")
    allowed = r"<style>{{ style\|safe }}</style>|<script>{{ script\|safe }}</script>"
    assert "safe" not in re.sub(allowed, "", re.sub(r"{#.*?#}", "", written, flags=re.DOTALL))
    assert "autoescape" not in written
    for attribute in re.findall(r'[\w-]+=(?!["])\S*{{', written):  # a value outside quotes could add attributes
        pytest.fail(f"{attribute} is not in quotes")


def test_no_code_declares_a_text_to_be_markup() -> None:
    for path in [*HOME.glob("display/*.py"), *HOME.glob("report/*.py")]:
        assert "Markup" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("name", OWN)
def test_our_own_styles_and_scripts_end_no_element(name: str) -> None:
    written = (HOME / name).read_text(encoding="utf-8")
    assert "</" not in written
    assert "<!" not in written


def test_a_value_is_escaped_and_its_control_characters_are_spelled_out() -> None:
    shown = environment().from_string("{{ harm }}<p title='{{ harm }}'>{{ nothing }}").render(harm=HARM, nothing=None)
    assert shown.count("<") == 1
    assert "\u202e" not in shown
    assert shown.count("⟨U+202E⟩") == 2
    assert shown.endswith("'>")


def test_a_drawing_is_escaped_and_well_formed() -> None:
    picture = Picture(HARM, (text(1, 2, HARM, "middle"),))
    drawn = fromstring(svg_file(picture, description=HARM, key="k"))
    names = [one.tag.rpartition("}")[2] for one in drawn.iter()]
    assert names == ["svg", "style", "title", "desc", "text"]
    assert drawn[-1].text == HARM.replace("\u202e", "⟨U+202E⟩")
    assert "<img" not in macro("charts.html", "svg")(picture, HARM, "k")
