"""Two hundred thousand people: figures of everybody, a page that still opens, counterexamples among those shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.certification.population import state
from lcifr.data import Encoding, Schema
from lcifr.display.charts import histogram
from lcifr.phi import Similarity
from lcifr.report import build, render
from tests.report import scenes


def test_the_page_stays_small_and_its_figures_are_of_everybody(look):
    report = scenes.large_report()
    assert report.statement.people == 200_000
    assert sum(sum(bars) for bars in report.margins.counts.values()) == 200_000
    assert sum(row["people"] for row in report.groups) == 200_000
    assert not report.explorer.complete
    shown = [one.verdict for one in report.explorer.people]
    assert shown.count("COUNTEREXAMPLE") >= 1000
    assert shown.count("CERTIFIED") > 500
    assert len(render(report).encode()) < 5_000_000
    page = look(report)
    wanted = next(one for one in reversed(report.explorer.people) if one.verdict == "COUNTEREXAMPLE")
    page.run('document.getElementById("search").focus()')
    page.type(wanted.id)
    assert page.text("#person h3") == f"Person {wanted.id}"
    page.run('document.getElementById("search").value = ""')
    page.run('document.getElementById("search").dispatchEvent(new Event("input"))')
    assert page.text("#matches") == "2,000 people, the first 200 listed"
    assert page.complaints() == []


@pytest.mark.long
def test_many_attributes_of_which_no_two_are_alike_leave_room_for_fewer_people():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"measured number {j}": rng.normal(1e6, 1e5, 2500) for j in range(60)})
    schema = Schema.infer(table)
    similarity = Similarity("numeric within 0.1234567 sd", schema, Encoding.fit(table, schema))
    found, encoder = scenes.made_up(table, similarity)
    report = build(found, state(found, held_out=True), encoder=encoder)
    assert 500 <= len(report.explorer.people) < 2000
    assert 2_000_000 < len(render(report).encode()) < 5_000_000


def test_long_names_leave_room_for_fewer_people(monkeypatch):
    from lcifr.report import people

    found, encoder = scenes.audited()
    everybody = people.explore(found, encoder, encoder.similarity, None, {})
    monkeypatch.setattr(people, "BYTES", 10_000)
    fewer = people.explore(found, encoder, encoder.similarity, None, {})
    assert 0 < len(fewer.people) < len(everybody.people)
    assert not fewer.complete


def test_a_histogram_counts_everybody_once_whatever_the_values():
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(0, 1, 1000),
        rng.standard_cauchy(1000),
        np.zeros(5),
        np.full(3, -2.5),
        np.array([1e-12, 2e-12]),
        np.array([1.0, np.finfo(np.float64).max, np.nan, np.inf]),
    ):
        half = np.arange(len(values)) % 2 == 0
        found = histogram(values, {"certified": half, "undecided": ~half})
        assert found is not None
        assert sum(map(sum, found.counts.values())) + found.left_out == len(values)
        assert list(found.edges) == sorted(found.edges)
        if found.edges[0] < 0 < found.edges[-1]:
            assert 0.0 in found.edges
    assert histogram(np.array([np.nan]), {"certified": np.array([True])}) is None
