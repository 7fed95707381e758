"""Probes: in range and in the universe, and on both sides of every place where something is compared or rounded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from lcifr.certification.reference import make_up_people, place_at_boundaries
from lcifr.certification.subject import Subject
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import NetworkError
from lcifr.models.network import Network
from lcifr.phi import Similarity


def scene(scaler: Any, dtype: Any = np.float64) -> tuple[Subject, Individuals]:
    draw = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "pay": draw.normal(50, 20, 200).astype(dtype),
            "age": draw.integers(18, 80, 200),
            "job": draw.choice(["a", "b", "c"], 200),
        }
    )
    label = (table["pay"] + table["age"] + draw.normal(0, 10, 200) > 95).astype(int)
    inside = ColumnTransformer([("n", scaler, ["pay", "age"]), ("c", OneHotEncoder(), ["job"])])
    model = make_pipeline(inside, LogisticRegression()).fit(table, label)
    schema = Schema.infer(table)
    similarity = Similarity("same(categorical) and numeric within 1", schema, Encoding.fit(table, schema))
    return Subject.of_library(model, table, similarity), Individuals.read(table, schema)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-1, 1), clip=True)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_library_agrees_at_all_of_them(scaler: Any, dtype: Any) -> None:
    read, people = scene(scaler, dtype)
    for probes in (people, make_up_people(read.library, people, 500), place_at_boundaries(read.library, people)):
        assert read.compare(probes).agrees


def test_made_up_people_are_people_of_the_table() -> None:
    read, people = scene(StandardScaler())
    made = make_up_people(read.library, people, 300)
    assert (made.numbers.min(0) >= people.numbers.min(0)).all()
    assert (made.numbers.max(0) <= people.numbers.max(0)).all()
    assert (made.number("age") == np.rint(made.number("age"))).all()
    assert set(made.code("job")) == {0, 1, 2}


def test_decisions_turn_between_neighbouring_floats_and_neighbouring_whole_numbers() -> None:
    read, people = scene(StandardScaler())
    found = place_at_boundaries(read.library, people)
    decided = read.library.decide(found)
    for j, beside in ((0, lambda x: np.nextafter(x, np.inf)), (1, lambda x: x + 1)):
        others = np.delete(found.numbers, j, 1)
        known = {(*o, *c, x): d for o, c, x, d in zip(others, found.codes, found.numbers[:, j], decided, strict=True)}
        turned = [key for key, d in known.items() if known.get((*key[:-1], beside(key[-1])), d) != d]
        assert turned


def test_float32_columns_are_tried_halfway_between_two_of_them() -> None:
    read, people = scene(StandardScaler(), np.float32)
    pay = place_at_boundaries(read.library, people).number("pay")
    near = pay.astype(np.float32).astype(np.float64)
    gap = np.abs(np.nextafter(pay.astype(np.float32), np.float32(np.inf)).astype(np.float64) - near)
    assert (np.abs(np.abs(pay - near) - gap / 2) < 1e-9 * gap).sum() >= 20


def test_clips_are_tried_on_both_sides() -> None:
    read, people = scene(MinMaxScaler((-1, 1), clip=True))
    encoded = read.encoder.encoding.programs[0](place_at_boundaries(read.library, people).number("pay"))
    assert {-1.0, 1.0} <= set(encoded)
    assert ((np.abs(encoded) < 1) & (np.abs(encoded) > 1 - 1e-12)).any()


def test_a_model_that_was_read_wrongly_is_found_out_and_refused() -> None:
    read, people = scene(StandardScaler())
    assert read.model.labels is not None
    flipped = replace(read, model=replace(read.model, labels=read.model.labels[::-1]))
    assert not flipped.compare(people).agrees
    with pytest.raises(NetworkError, match=r"decides otherwise(.|\n)*lcifr doctor --model"):
        flipped.predicted(people, ids=[f"p{k}" for k in range(len(people))])


def test_every_threshold_of_a_tree_is_tried_on_both_sides() -> None:
    from sklearn.tree import DecisionTreeClassifier

    draw = np.random.default_rng(1)
    table = pd.DataFrame({"pay": draw.normal(50, 20, 300), "age": draw.integers(18, 80, 300)})
    label = ((table["pay"] > 40) ^ (table["age"] > 50)).astype(int)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, label)
    schema = Schema.infer(table)
    similarity = Similarity("numeric within 1", schema, Encoding.fit(table, schema))
    read, people = Subject.of_library(model, table, similarity), Individuals.read(table, schema)
    found = place_at_boundaries(read.library, people)
    for j, name in enumerate(("pay", "age")):
        for threshold in model.tree_.threshold[model.tree_.feature == j]:
            values = found.number(name)
            cast = values.astype(np.float32)
            step = 1.0 if name == "age" else 1e-4
            assert ((cast <= threshold) & (values > threshold - step)).any()
            assert ((cast > threshold) & (values < threshold + step)).any()
    assert read.compare(found).agrees


def test_every_category_is_made_up_however_rare() -> None:
    read, people = scene(StandardScaler())
    rare = people.take(np.flatnonzero(people.code("job") == 0))
    assert set(make_up_people(read.library, rare, 3).code("job")) == {0, 1, 2}


def test_a_model_that_was_read_wrongly_where_nobody_of_the_table_is_is_refused() -> None:
    read, people = scene(StandardScaler())
    encoded = np.array(read.encoder.network.layers[0].weight)
    columns = read.encoder.encoding.columns("job")
    encoded[:, columns] = encoded[:, columns][:, [0, 2, 1]]  # b for c, and c for b
    inputs = Network.from_arrays([(encoded, read.encoder.network.layers[0].bias)])
    wrong = replace(read, encoder=replace(read.encoder, function=inputs))
    only_a = people.take(np.flatnonzero(people.code("job") == 0))
    assert wrong.compare(only_a).agrees
    with pytest.raises(NetworkError, match="people made up among those of the table"):
        wrong.agreeing_among(only_a)
