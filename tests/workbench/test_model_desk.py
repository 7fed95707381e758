"""The model desk: what is decided is the library's decision, and a verdict is the audit's."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.workflows.credit import PHI, READ

CHOICE = {"model": "model.skops", "table": "people.csv", "schema": "people.toml"}


def test_a_model_is_shown_in_the_words_of_the_command(client):
    from lcifr.workflows.diagnosis import ShowRequest, show_model

    answer = client.ask("model/show", **CHOICE)
    shown = show_model(ShowRequest(client.desk.folder.root / "model.skops"))
    assert answer["sentences"] == [*shown.outline.sentences(), f"sha256 {shown.file.sha256}"]
    assert answer["command"] == "lcifr model show model.skops"


def test_a_decision_is_the_librarys_and_a_verdict_the_audits(client, written):
    import skops.io

    trusted = skops.io.get_untrusted_types(file=written / "model.skops")
    model = skops.io.load(written / "model.skops", trusted=trusted)
    people = pd.read_csv(written / "people.csv")
    audited = pd.read_parquet(written / "audit" / "audited" / "audit.parquet").set_index("id")
    for row in (0, 1, 2, 10, 11):
        values = client.ask("table/row", table="people.csv", schema="people.toml", row=row)["values"]
        answer = client.ask("model/decide", choice=CHOICE, values=values, formula=PHI, file="people.phi")
        expected = str(model.predict(people.loc[[row], list(READ)])[0])
        assert answer["own"]["decision"] == answer["library"] == expected
        assert answer["asked"]["kind"].upper() == audited.loc[people.loc[row, "person"], "verdict"]


def test_without_a_formula_there_is_a_decision_alone(client):
    values = client.ask("table/row", table="people.csv", row=0)["values"]
    answer = client.ask("model/decide", choice=CHOICE, values=values)
    assert answer["asked"] is None
    assert answer["table"].splitlines()[0] == ",".join(values)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"age": 17}, "below the declared range"),
        ({"age": 30.5}, "age"),
        ({"job": "king"}, "king"),
        ({"income": "much"}, "income"),
        ({"income": None}, "income"),
        ({"shoe": 43}, "shoe"),
    ],
)
def test_nobody_who_cannot_exist_is_decided_about(client, change, said):
    values = client.ask("table/row", table="people.csv", row=0)["values"]
    assert said in client.refusal("model/decide", choice=CHOICE, values=values | change)


def test_a_missing_attribute_is_named(client):
    values = client.ask("table/row", table="people.csv", row=0)["values"]
    del values["job"]
    assert "job" in client.refusal("model/decide", choice=CHOICE, values=values)


def test_a_pickle_is_refused_with_what_to_do(own):
    (own.desk.folder.root / "old.pkl").write_bytes(b"\x80\x04K\x01.")
    assert "old.pkl" in own.ask("folder")["models"]
    said = own.refusal("model/show", model="old.pkl", table="people.csv")
    assert "it is not read" in said
    assert "skops.io.dump" in said


def test_no_model_is_chosen(client):
    assert "no model is chosen" in client.refusal("model/show", table="people.csv")


def test_a_model_of_numbers_asks_for_a_tolerance_and_then_answers(own):
    import skops.io
    from sklearn.linear_model import LinearRegression

    table = pd.read_csv(own.desk.folder.root / "train.csv")
    model = LinearRegression().fit(table[["age", "income", "debt"]], table["income"] / 10 + table["age"])
    skops.io.dump(model, own.desk.folder.root / "limit.skops")
    choice = {**CHOICE, "model": "limit.skops"}
    assert own.ask("model/show", **choice)["is_number"]
    values = own.ask("table/row", table="people.csv", schema="people.toml", row=0)["values"]
    assert "how far apart" in own.refusal("model/decide", choice=choice, values=values)
    wide = own.ask("model/decide", choice={**choice, "tolerance": 1e6}, values=values, formula=PHI)
    assert wide["asked"]["kind"] == "certified"
    assert float(wide["library"]) == pytest.approx(float(values["income"]) / 10 + values["age"])
    narrow = own.ask("model/decide", choice={**choice, "tolerance": 1e-6}, values=values, formula=PHI)
    assert narrow["asked"]["kind"] == "counterexample"
