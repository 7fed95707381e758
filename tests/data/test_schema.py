"""Schemas: inference with overrides, files that a person can edit, and what contradicts itself."""

import datetime

import pandas as pd
import pytest

from lcifr.data import Categorical, Numeric, Schema
from lcifr.errors import SchemaError, TableError

FRAME = pd.DataFrame(
    {
        "age": [31, 42, 53],
        "hours per week": [10.5, 20.0, 30.0],
        "plz": [80331, 10115, 20095],
        "sex": ["male", "female", "male"],
        "member": [True, False, True],
        "hired": [0, 1, 1],
    }
)


def test_infer_and_override():
    schema = Schema.infer(
        FRAME,
        target="hired",
        categorical=["plz"],
        units={"age": "years"},
        ranges={"age": (18, None)},
        groups={"person": ["age", "sex"]},
    )
    assert schema["age"] == Numeric("age", unit="years", lower=18, integer=True)
    assert schema["hours per week"] == Numeric("hours per week")
    assert schema["plz"] == Categorical("plz", ("10115", "20095", "80331"))
    assert schema["member"] == Categorical("member", ("false", "true"))
    assert schema.names == ("age", "hours per week", "plz", "sex", "member")
    assert schema.groups == {"person": ("age", "sex")}


def test_inference_reports_every_column_it_cannot_use():
    odd = FRAME.assign(
        born=[datetime.datetime(1990, 1, day) for day in (1, 2, 3)], nothing=[None] * 3, essay=["a", "b", "c"]
    )
    with pytest.raises(TableError) as caught:
        Schema.infer(odd)
    assert {problem.column for problem in caught.value.problems} == {"born", "nothing"}
    assert "age in years" in str(caught.value)
    many = pd.DataFrame({"essay": [f"text {i}" for i in range(500)]})
    with pytest.raises(TableError, match="500 different texts"):
        Schema.infer(many)
    assert len(Schema.infer(many, categorical=["essay"])["essay"].values) == 500
    with pytest.raises(SchemaError, match='Did you mean "age"'):
        Schema.infer(FRAME, drop=["aeg"])


def test_files_round_trip_and_read_as_written(tmp_path):
    schema = Schema(
        (Numeric("größe in cm", "cm", 0, 300.5, True), Categorical('odd "name"', ("a", "b,c", "ü"))),
        {"both": ("größe in cm", 'odd "name"')},
        "y",
    )
    schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == schema
    assert 'unit = "cm"' in (tmp_path / "schema.toml").read_text(encoding="utf-8")
    by_hand = (
        '# ours\n[attributes]\nage = {kind = "numeric", lower = 18}\nsex = {kind = "categorical", values = ["f", "m"]}'
    )
    (tmp_path / "hand.toml").write_text(by_hand)
    assert Schema.load(tmp_path / "hand.toml") == Schema((Numeric("age", lower=18), Categorical("sex", ("f", "m"))))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("attributes = 3", "attributes"),
        ("what is this", "not a TOML file"),
        ('[attributes.age]\nkind = "number"', "kind must be"),
        ('[attributes.age]\nkind = "numeric"\nuint = "years"', 'Did you mean "unit"'),
        ('[attributes.age]\nkind = "numeric"\nlower = "low"', "lower = 'low' is not"),
        ('[attributes.age]\nkind = "numeric"\nlower = true', "lower = True is not"),
        ('[attributes.sex]\nkind = "categorical"', "values are missing"),
        ('[attributes.sex]\nkind = "categorical"\nvalues = [1]', "must be text"),
        ('[attributes.age]\nkind = "numeric"\nlower = 3\nupper = 2', "runs backwards"),
        ('[attributes.age]\nkind = "numeric"\n[groups]\nall = ["age"]', "already means something"),
        ('[attributes.age]\nkind = "numeric"\n[groups]\ng = ["aeg"]', 'Did you mean "age"'),
        ('[attributes.age]\nkind = "numeric"\n[groups]\ng = 7', "list of attribute names"),
        ('target = "age"\n[attributes.age]\nkind = "numeric"', "both the target and an attribute"),
        ('traget = "age"\n[attributes.age]\nkind = "numeric"', 'Did you mean "target"'),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, text, words):
    path = tmp_path / "schema.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.load(path)
    assert words in str(caught.value)
    assert "schema.toml" in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Schema(()),
        lambda: Schema((Numeric("a"), Numeric("a"))),
        lambda: Schema((Numeric(" "),)),
        lambda: Categorical("sex", ()),
        lambda: Categorical("sex", ("f", "f")),
        lambda: Categorical("sex", ("f", " ")),
        lambda: Numeric("age", lower=float("inf")),
        lambda: Schema((Numeric("a"),), {"g": ()}),
    ],
)
def test_what_contradicts_itself_is_refused(build):
    with pytest.raises(SchemaError):
        build()
