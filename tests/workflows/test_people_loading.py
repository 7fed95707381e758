"""Labels of one's own: for some people only, in another order, with gaps; what that means is said."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

from tests.story import lcifr


@pytest.fixture
def alone(story, tmp_path):
    """The consumer's machine: the hand-over, and labels to spoil."""
    shutil.copytree(story / "producer/handover", tmp_path / "handover")
    return tmp_path, pd.read_csv(story / "producer/labels.csv", dtype=str)


def consume(place, labels: pd.DataFrame, expect: int = 0):
    labels.to_csv(place / "labels.csv", index=False)
    words = ("consume", "handover", "labels.csv", "--epochs", "2", "--force", "--json", "--out", "consumer")
    return lcifr(*words, cwd=place, expect=expect)


def ids_of(place, side: str) -> set[str]:
    return {str(one) for one in json.loads((place / "handover" / side / "ids.json").read_text())}


def test_nobody_held_out_needs_a_label(alone):
    place, labels = alone
    train, held_out = ids_of(place, "train"), ids_of(place, "held-out")
    said = consume(place, labels[labels["id"].isin(train)])
    assert f"no label for {len(held_out)} of the {len(held_out)} held-out people: no accuracy is said" in said.err
    assert said.json["trained_on"] == len(train)
    assert said.json["accuracy"] is None
    assert said.json["people"] == len(held_out)  # certified all the same


def test_people_without_a_label_are_counted(alone):
    place, labels = alone
    train = sorted(ids_of(place, "train"))
    said = consume(place, labels[~labels["id"].isin(train[:7])])
    assert f"no label for 7 of the {len(train)} train people: nothing is learned from them" in said.err
    assert said.json["trained_on"] == len(train) - 7


def test_a_held_out_side_of_one_class_is_no_mistake(alone):
    place, labels = alone
    held_out = ids_of(place, "held-out")
    label = labels.columns[1]
    labels.loc[labels["id"].isin(held_out), label] = "yes"
    assert consume(place, labels).json["accuracy"] is not None


def test_a_gap_is_named_by_its_row_in_the_file(alone):
    place, labels = alone
    labels = labels.iloc[::-1].reset_index(drop=True)  # not in the order of the hand-over
    row = int(labels.index[labels["id"].isin(ids_of(place, "train"))][5])
    labels.loc[row, labels.columns[1]] = None
    said = consume(place, labels, expect=2)
    assert "labels.csv has 1 problem" in said.err
    assert f"row {row}: the target is missing" in said.err
    assert "Fix: " in said.err
