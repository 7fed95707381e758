"""Verdicts and formulas at the end of a notebook's cell: useful, escaped, and figures that are figures."""

from __future__ import annotations

import re
from html import unescape

import pytest

from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.data import Encoding
from lcifr.display.text import visible
from lcifr.errors import LcifrError
from lcifr.phi import Similarity
from tests.certification import scenes
from tests.report.scenes import FRONTIER, HOSTILE, IMAGE, SCRIPT, audited


def test_an_audit_says_what_it_found_in_a_line_and_in_a_notebook():
    found, _ = audited()
    counts = [int(found.certified.sum()), int(found.violated.sum())]
    assert repr(found).startswith(f"<Audit of 60 people with respect to φ: {counts[0]} certified, {counts[1]} counter")
    html = found._repr_html_()
    assert f"{counts[0]} of 60 people certified with respect to φ" in html
    assert html.count("<tr>") == 1 + 5  # a head and the first few counterexamples
    first = found.ids[int(found.violated.argmax())]
    for name in found.counterexample(first).columns:
        assert name in html


def test_a_consumers_certificates_say_what_they_rest_on():
    found, encoder = audited()
    scene = scenes.scene(3, scenes.FORMULAS[3], depth=0)
    certificates = certify(represent(encoder, found.people, found.ids), scene.model)
    assert repr(certificates).startswith("<Certificates of 60 people")
    assert "60 verdicts rest on a radius that the producer claims" in certificates._repr_html_()


def test_a_formula_shows_itself_and_its_english():
    html = scenes.similarity(scenes.FORMULAS[0])._repr_html_()
    assert "age within 2" in html
    assert "Another person is similar" in html


@pytest.mark.parametrize("text", HOSTILE[:4])
def test_a_comment_cannot_script_the_notebook(text):
    table = scenes.people(30, 0)
    similarity = Similarity(
        f"# {text}\nsame(all)", scenes.SCHEMA, Encoding.fit(table, scenes.SCHEMA), source=SCRIPT + IMAGE
    )
    html = similarity._repr_html_()
    assert not re.search(r"<(script|img)", html)
    assert visible(text) in unescape(html)


def test_plots_are_figures():
    pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
    from matplotlib.figure import Figure

    found, encoder = audited()
    scene = scenes.scene(3, scenes.FORMULAS[3], depth=0)
    certificates = certify(represent(encoder, found.people, found.ids), scene.model)
    for drawn in (found.plot(), certificates.plot(), FRONTIER.plot()):
        assert isinstance(drawn, Figure)
    axes = found.plot().axes[0]
    beside = (words for words in axes.texts if words.get_ha() == "right")
    ticks = {words.get_text(): words.get_position()[1] for words in beside}
    person = (ticks["0"] - ticks["2"]) / 2
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(60 * person, rel=0.01)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(LcifrError, match=r"lcifr\[plot\]"):
        audited()[0].plot()
