"""Audits of models as functions of Python: stopped and resumed, labels that are no classes, samples, events."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lcifr.data import Numeric, Schema
from lcifr.errors import MissingExtraError, missing_extra
from lcifr.workflows import AuditRequest, audit
from lcifr.workflows.events import Advanced, Event, Note
from lcifr.workflows.folders import RunStopped
from lcifr.workflows.people import PeopleSource
from lcifr.workflows.subjects import example_rows
from tests.workflows.credit import READ, fit, made_up, write_credit

skops = pytest.importorskip("skops")
pytest.importorskip("skops.io")


@pytest.fixture
def credit(tmp_path: Path) -> Any:
    write_credit(tmp_path, people=40)
    with contextlib.chdir(tmp_path):
        yield tmp_path


def request(out: str, **changes: Any) -> AuditRequest:
    known: dict[str, Any] = {"model": Path("model.skops"), "table": Path("people.csv"), "phi": "people.phi"}
    known |= {"reference": Path("train.csv"), "out": Path(out), "bundle": False, "baselines": False, "workers": 1}
    return AuditRequest(**known | changes)


def verdicts(out: str) -> pd.DataFrame:
    return pd.read_parquet(Path(out) / "audited" / "audit.parquet")


def test_a_stopped_audit_goes_on_and_ends_as_if_nothing_had_happened(credit: Path) -> None:
    asked = {"target": "repaid", "id_column": "person", "chunk": 8}

    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(RunStopped):
        audit(request("stopped", **asked), stop)
    heard: list[Event] = []
    result = audit(request("stopped", **asked), heard.append)
    assert any(isinstance(event, Advanced) and event.resumed >= 8 for event in heard)
    assert result.to_dict() == audit(request("whole", **asked)).to_dict()
    pd.testing.assert_frame_equal(verdicts("stopped"), verdicts("whole"))


def test_labels_that_are_no_classes_say_nothing_about_accuracy(credit: Path) -> None:
    table = pd.read_csv("people.csv")
    table.assign(repaid=table["repaid"].map({"yes": 1, "no": 0})).to_csv("coded.csv", index=False)
    heard: list[Event] = []
    asked = request("coded", table=Path("coded.csv"), target="repaid", baselines=None)
    result = audit(asked, heard.append)
    assert result.statement.accuracy is None
    assert [event.text for event in heard if isinstance(event, Note) and event.text.startswith("no baselines: ")]
    words = "\"repaid\" holds 0, 1, and the model decides 'no', 'yes'; if these are the same classes, name them"
    assert [event.text for event in heard if isinstance(event, Note) and words in event.text]


def test_without_torch_an_audit_ends_without_baselines_and_says_how_to_have_them(
    credit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise missing_extra(ModuleNotFoundError("No module named 'torch'", name="torch"), name)

    monkeypatch.setattr("lcifr.estimators.__getattr__", missing)
    heard: list[Event] = []
    result = audit(request("light", target="repaid", baselines=None), heard.append)
    assert result.statement.accuracy is not None
    assert not result.statement.baselines
    words = 'no baselines: torch is not installed. pip install "lcifr[learn]"'
    assert [event.text for event in heard if isinstance(event, Note) and event.text == words]
    with pytest.raises(MissingExtraError, match="needs torch"):
        audit(request("asked", target="repaid", baselines=True))


def test_labels_that_are_no_numbers_say_nothing_about_errors(credit: Path) -> None:
    """A model that predicts numbers, and a target column of text."""
    train = pd.read_csv("train.csv")
    steps = fit(train).steps[0][1]
    model = make_pipeline(steps, LinearRegression()).fit(train[list(READ)], train["repaid"] == "yes")
    skops.io.dump(model, "numbers.skops")
    heard: list[Event] = []
    asked = request("numbers", model=Path("numbers.skops"), target="repaid", tolerance=0.2)
    result = audit(asked, heard.append)
    assert result.statement.people == 38
    assert [event.text for event in heard if isinstance(event, Note) and "no errors are reported" in event.text]


def test_a_sample_is_said_to_be_one_and_people_keep_their_rows(credit: Path) -> None:
    result = audit(request("sample", sample=10, target="repaid"))
    assert result.drawn_from == 40
    assert result.statement.people + result.left_out == 10
    rows = [int(name) for name in verdicts("sample")["id"]]
    assert len(set(rows)) == result.statement.people
    assert not {3, 7} & set(rows)  # in which something is missing


def test_truth_values_that_the_schema_reads_as_numbers_are_0_and_1_to_the_library(credit: Path) -> None:
    """A counterexample or a made-up person may have 2 there, which is not the same as True."""
    train, table = pd.read_csv("train.csv"), pd.read_csv("people.csv").dropna()
    names, seen = ["age", "income", "paid"], []
    for one in (train, table):
        one["paid"] = one["debt"] < 1500
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        train[names].astype({"paid": int}), train["repaid"]
    )
    skops.io.dump(model, "paid.skops")
    table.to_parquet("paid.parquet", index=False)
    train.to_parquet("paid-train.parquet", index=False)
    Path("paid.phi").write_text("age within 0 and income within 0 and paid within 2", encoding="utf-8")
    numbers = (Numeric("age", integer=True), Numeric("income"), Numeric("paid", integer=True, lower=0, upper=2))
    Schema(numbers, target="repaid").save("paid.toml")
    asked = {"model": Path("paid.skops"), "table": Path("paid.parquet"), "reference": Path("paid-train.parquet")}
    result = audit(request("paid", phi="paid.phi", schema="paid.toml", **asked))
    for pair in result.counterexamples:
        own = table.iloc[[int(pair.id)]][names].astype({"paid": int})
        other = own.assign(**{name: values[1] for name, values in pair.differs.items()})
        seen.append(other["paid"].item())
        assert model.predict(own)[0] == pair.prediction != pair.other_prediction == model.predict(other)[0]
    assert 2 in seen


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_categories_of_pandas_are_audited_like_their_texts(kind: pa.DataType, credit: Path) -> None:
    audit(request("texts", id_column="person"))
    table = pa.Table.from_pandas(pd.read_csv("people.csv"), preserve_index=False)
    for name in ("job", "sex", "region"):
        coded = table[name].cast(kind).combine_chunks().dictionary_encode()
        table = table.set_column(table.schema.get_field_index(name), name, coded)
    pq.write_table(table, "coded.parquet")
    audit(request("codes", table=Path("coded.parquet"), id_column="person"))
    pd.testing.assert_frame_equal(verdicts("codes"), verdicts("texts"))


def test_a_category_that_appears_late_in_a_coded_column_is_seen(credit: Path) -> None:
    """Rows with which a model is read hold every category, wherever it first appears."""
    table = pd.concat([made_up(300, 3).query("job != 'pilot'"), made_up(300, 4).query("job == 'pilot'")])
    table.astype({"job": "category"}).to_parquet("late.parquet", index=False)
    schema = Schema.infer(pd.read_csv("train.csv")[["age", "job"]])
    found = example_rows(PeopleSource(pq.read_table("late.parquet"), schema, None, None, len(table)))
    assert set(found["job"].astype(str)) == {"clerk", "cook", "pilot"}
