"""Decision rates by group, the confusion matrix, and percentages that add up."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.population import Tally, state
from lcifr.report import build, render
from lcifr.report.folder import MOST, OTHERS
from lcifr.report.sections import Table, put_into_words
from tests.certification import scenes as small
from tests.report import scenes


def tables(report) -> dict[str, Table]:
    blocks = [block for section in put_into_words(report).sections for block in section.blocks]
    return {block.caption: block for block in blocks if isinstance(block, Table)}


def tenths(cell: str) -> int:
    return round(10 * float(cell.removesuffix(" %")))


def test_everybody_is_counted_once_in_every_group_and_under_every_label():
    found, _ = scenes.audited()
    report, labels = scenes.small_report(), scenes.labels(found)
    decided = report.decisions
    assert decided.names == ("refused", "granted")
    assert dict(enumerate(decided.people)) == Counter(found.prediction.tolist())
    sex = found.people.to_pandas()["sex"]
    for row in decided.groups:
        own = found.prediction[(sex == row.value).to_numpy()]
        assert row.people == tuple((own == decision).sum() for decision in (0, 1))
    for row, label in zip(decided.labels, (0, 1), strict=True):
        own = found.prediction[labels == label]
        assert row.people == tuple((own == decision).sum() for decision in (0, 1))
    right = sum(row.people[place] for place, row in enumerate(decided.labels))
    assert right / len(found) == pytest.approx(report.models[0]["accuracy"])


def test_the_words_hold_the_counts():
    report = scenes.small_report()
    shown = tables(report)
    rates, confusion = shown["How often each decision is taken"], shown["True labels against decisions, in people"]
    assert [row[0] for row in rates.rows] == ["Everyone", "sex", "sex"]
    for row in rates.rows:
        assert sum(map(tenths, row[3:])) == 1000
    assert confusion.head == ("True label", "decided refused", "decided granted", "People")
    assert confusion.rows[-1][-1] == "60"
    facts = json.loads(render(report, "json"))
    assert sum(facts["decisions"]["people"]) == 60


def test_shares_of_all_people_add_up_wherever_they_stand():
    report = scenes.small_report()
    shown, (certified, *others) = tables(report), put_into_words(report).headline.parts
    assert sum(tenths(part[3]) for part in (certified, *others)) == 1000
    assert put_into_words(report).headline.figure == certified[3] == shown["Verdicts"].rows[0][2]
    assert shown["Models on the same people"].rows[0][3:] == tuple(part[3] for part in (certified, *others))
    for row in shown["Models on the same people"].rows:
        assert sum(map(tenths, row[3:])) == 1000
    reasons = [row for row in shown["Verdicts"].rows if row[0].startswith("of these")]
    assert sum(tenths(row[2]) for row in reasons) == tenths(shown["Verdicts"].rows[2][2])


def test_without_labels_there_is_no_confusion_matrix():
    found, encoder = scenes.audited()
    report = build(found, state(found, held_out=False), encoder=encoder)
    assert report.decisions.labels == ()
    assert "True labels against decisions, in people" not in tables(report)
    assert len(tables(report)["How often each decision is taken"].rows) == 1


def test_a_model_of_numbers_has_no_decision_rates():
    scene = small.scene(8, small.FORMULAS[0], count=20, outputs=1, depth=0)
    found = audit(scene.encoder, scene.model, scene.people, modular=False, tolerance=0.25)
    assert build(found, state(found, held_out=True), encoder=scene.encoder).decisions is None


def test_of_many_classes_the_rare_ones_share_a_column_and_nobody_is_lost():
    scene = small.scene(8, small.FORMULAS[0], count=60, outputs=9, depth=0)
    found = audit(scene.encoder, scene.model, scene.people, modular=False)
    found = replace(found, prediction=np.arange(60) % 9)
    report = build(found, state(found, np.arange(60) % 7, held_out=True), encoder=scene.encoder)
    assert len(report.decisions.names) == MOST
    assert report.decisions.names[-1] == OTHERS
    assert sum(report.decisions.people) == 60
    assert sum(sum(row.people) for row in report.decisions.labels) == 60


def test_decisions_counted_in_chunks_are_those_counted_at_once():
    found, _ = scenes.audited()
    labels, half = scenes.labels(found), len(found) // 2
    whole, parts = Tally(), Tally()
    whole.add(found, labels, {})
    for rows in (np.arange(half), np.arange(half, len(found))):
        parts.add(_some(found, rows), labels[rows].astype(float), {})
    assert parts.decided() == whole.decided()


def _some(found, rows):
    arrays = ("verdict", "reason", "prediction", "margin", "vacuous", "alone", "ball", "box")
    cut = {name: None if getattr(found, name) is None else getattr(found, name)[rows] for name in arrays}
    ids = tuple(found.ids[row] for row in rows)
    return replace(found, ids=ids, people=found.people.take(rows), others=found.others.take(rows), **cut)
