"""Producer, consumer and new people from Python: results are what the folders say, and every step can be heard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcifr.errors import LcifrError
from lcifr.workflows import ConsumeRequest, ProduceRequest, RepresentRequest, consume, produce, represent
from lcifr.workflows.events import Event, Started
from lcifr.workflows.results import read_consumer, read_producer
from tests.story import write_german


def stored(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python")
    write_german(folder)
    return folder


def test_results_are_what_the_folders_say(place: Path) -> None:
    heard: list[Event] = []
    table, phi = str(place / "people.csv"), str(place / "people.phi")
    made = produce(
        ProduceRequest(
            table=table, phi=phi, target="repaid", out=place / "producer", epochs=2, workers=1, bundle=False
        ),
        heard.append,
    )
    assert any(isinstance(event, Started) and event.step.startswith("Training on") for event in heard)
    assert json.loads(json.dumps(made.to_dict())) == stored(place / "producer")
    assert read_producer(place / "producer") == made.produced

    used = consume(
        ConsumeRequest(
            handover=place / "producer" / "handover", labels=place / "producer" / "labels.csv", out=place / "consumer"
        )
    )
    assert json.loads(json.dumps(used.to_dict())) == stored(place / "consumer")
    assert read_consumer(place / "consumer") == used.model
    assert used.model.provenance.weights == made.produced.encoder

    new = represent(
        RepresentRequest(producer=place / "producer", table=place / "new.csv", out=place / "new", workers=1)
    )
    assert json.loads(json.dumps(new.to_dict())) == stored(place / "new")
    assert new.encoder == made.produced.encoder


def test_a_result_without_a_figure_is_refused_as_such(place: Path, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps({"command": "produce", "target": "repaid"}), encoding="utf-8")
    with pytest.raises(LcifrError, match="is not as lcifr writes it"):
        read_producer(tmp_path)
