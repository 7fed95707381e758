"""Audits of models as functions of Python: stopped and resumed, labels that are no classes, samples, events."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from lcifr.runs import ModelAuditRequest, audit_model
from lcifr.runs.events import Advanced, Event, Note
from lcifr.runs.folders.run import RunStopped
from tests.runs.models.credit import READ, fit, write_credit

skops = pytest.importorskip("skops")
pytest.importorskip("skops.io")


@pytest.fixture
def credit(tmp_path: Path) -> Any:
    write_credit(tmp_path, people=40)
    with contextlib.chdir(tmp_path):
        yield tmp_path


def request(out: str, **changes: Any) -> ModelAuditRequest:
    known: dict[str, Any] = {"model": Path("model.skops"), "table": Path("people.csv"), "phi": "people.phi"}
    known |= {"reference": Path("train.csv"), "out": Path(out), "bundle": False, "baselines": False, "workers": 1}
    return ModelAuditRequest(**known | changes)


def verdicts(out: str) -> pd.DataFrame:
    return pd.read_parquet(Path(out) / "audited" / "audit.parquet")


def test_a_stopped_audit_goes_on_and_ends_as_if_nothing_had_happened(credit: Path) -> None:
    asked = {"target": "repaid", "id_column": "person", "chunk": 8}

    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(RunStopped):
        audit_model(request("stopped", **asked), stop)
    heard: list[Event] = []
    result = audit_model(request("stopped", **asked), heard.append)
    assert any(isinstance(event, Advanced) and event.resumed >= 8 for event in heard)
    assert result.to_dict() == audit_model(request("whole", **asked)).to_dict()
    pd.testing.assert_frame_equal(verdicts("stopped"), verdicts("whole"))


def test_labels_that_are_no_classes_say_nothing_about_accuracy(credit: Path) -> None:
    table = pd.read_csv("people.csv")
    table.assign(repaid=table["repaid"].map({"yes": 1, "no": 0})).to_csv("coded.csv", index=False)
    heard: list[Event] = []
    result = audit_model(request("coded", table=Path("coded.csv"), target="repaid"), heard.append)
    assert result.statement.accuracy is None
    assert [event.text for event in heard if isinstance(event, Note) and "no accuracy is said" in event.text]


def test_labels_that_are_no_numbers_say_nothing_about_errors(credit: Path) -> None:
    """A model that predicts numbers, and a target column of text."""
    train = pd.read_csv("train.csv")
    steps = fit(train).steps[0][1]
    model = make_pipeline(steps, LinearRegression()).fit(train[list(READ)], train["repaid"] == "yes")
    skops.io.dump(model, "numbers.skops")
    heard: list[Event] = []
    asked = request("numbers", model=Path("numbers.skops"), target="repaid", tolerance=0.2)
    result = audit_model(asked, heard.append)
    assert result.statement.people == 38
    assert [event.text for event in heard if isinstance(event, Note) and "no error is said" in event.text]


def test_a_sample_is_said_to_be_one_and_people_keep_their_rows(credit: Path) -> None:
    result = audit_model(request("sample", sample=10, target="repaid"))
    assert result.drawn_from == 40
    assert result.statement.people + result.left_out == 10
    rows = [int(name) for name in verdicts("sample")["id"]]
    assert len(set(rows)) == result.statement.people
    assert not {3, 7} & set(rows)  # in which something is missing
