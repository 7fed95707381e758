"""Files some people at a time: what the commands write is what the library finds with everybody in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.consumer import certify
from lcifr.certification.handover import Representation, represent
from lcifr.certification.population import state
from lcifr.estimators import RobustClassifier
from lcifr.phi import Similarity
from lcifr.workflows.jobs import audit_file
from lcifr.workflows.producing import load_encoder
from tests.certification.scenes import people
from tests.story import contents, lcifr
from tests.workflows.results import result
from tests.workflows.world import one


def test_a_handover_is_that_of_the_library(story: Path, place: Path, tmp_path: Path) -> None:
    """Column by column and bit by bit, from files of every kind; and the summary is that of all radii."""
    encoder = load_encoder(story / "producer")
    table = pd.read_parquet(place / "people.parquet")
    whole = represent(encoder, table[list(encoder.schema_.names)], table["who"].tolist())
    for kind in ("parquet", "csv", "csv.gz", "tsv"):
        said = lcifr(
            "represent", story / "producer", place / f"people.{kind}", "--id", "who", "--out", kind, cwd=tmp_path
        )
        assert 'ignored columns that are not in the schema: "spare"' in said.err
        found = Representation.read(tmp_path / kind / "handover")
        assert found.ids == whole.ids
        for name, array in whole.arrays().items():
            assert (getattr(found, name) == array).all(), name
        radius = result(tmp_path / kind)["radius"]
        assert radius["median"] == np.median(whole.radius)
        assert radius["largest"] == whole.radius.max()
        assert (radius["exact"], radius["vacuous"]) == (whole.exact.sum(), whole.vacuous.sum())


def test_an_audit_is_that_of_the_library(story: Path, place: Path, tmp_path: Path, some_at_a_time: list[int]) -> None:
    """Verdicts, figures, subgroups and counterexamples; nowhere are more people in memory than a part has."""
    words = ["audit", story / "producer", story / "consumer", "--id", "who", "--no-baselines", "--no-bundle"]
    for kind in ("parquet", "csv"):
        lcifr(*words, place / f"people.{kind}", "--chunk", "7", "--out", kind, cwd=tmp_path, expect=None)
    assert max(set(some_at_a_time) - {70}) == 7  # 70 are those whom the producer learned from
    assert contents(tmp_path / "parquet") == contents(tmp_path / "csv")

    encoder = load_encoder(story / "producer")
    head = RobustClassifier.load(story / "consumer/model.safetensors")
    table = pd.read_parquet(place / "people.parquet")
    X = table[list(encoder.schema_.names)]
    whole = audit(encoder, head, X, table["who"].tolist())
    rows = pd.read_parquet(tmp_path / "csv/audited/audit.parquet")
    for name in ("id", "verdict", "prediction", "reason", "vacuous", "certified_on_ball", "certified_on_box"):
        assert rows[name].tolist() == whole.frame()[name].tolist(), name
    assert np.allclose(rows["margin"], whole.margin, atol=1e-6)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "csv/people.parquet"), X, check_dtype=False)
    assert pd.read_parquet(tmp_path / "csv/labels.parquet")["label"].tolist() == table["repaid"].tolist()

    found = result(tmp_path / "csv")
    said = state(whole, table["repaid"], held_out=False, by={"sex": table["sex"]})
    for name in ("people", "certified", "violated", "undecided", "vacuous", "share", "accuracy", "balanced_accuracy"):
        assert found[name] == getattr(said, name), name
    assert found["subgroups"] == said.subgroups.to_dict("records")
    assert found["modularity"] == whole.modularity()
    assert [one["id"] for one in found["counterexamples"]] == [
        who for who, bad in zip(whole.ids, whole.violated, strict=True) if bad
    ]


def test_a_handover_is_certified_as_by_the_library(story: Path, place: Path, tmp_path: Path) -> None:
    head = RobustClassifier.load(story / "consumer/model.safetensors")
    for on in ("ball", "box"):
        lcifr("certify", story / "consumer", place / "handed/handover", "--on", on, "--out", on, cwd=tmp_path)
        whole = certify(Representation.read(place / "handed/handover"), head, on=on)
        rows = pd.read_parquet(tmp_path / on / "certificates.parquet")
        pd.testing.assert_frame_equal(rows, whole.frame(), check_dtype=False)
        said, found = state(whole, held_out=False), result(tmp_path / on)
        for name in ("people", "certified", "undecided", "vacuous", "share"):
            assert found[name] == getattr(said, name), name
        assert sorted(path.name for path in (tmp_path / on).iterdir()) == [
            "certificates.parquet",
            "result.json",
            "settings.json",
        ]


def test_ids_and_labels_of_csv_have_the_type_that_all_rows_fit(story: Path, place: Path, tmp_path: Path) -> None:
    """Numbers are numbers, as in memory, unless the last row says otherwise."""
    table = pd.read_csv(place / "people.csv").drop(columns=["who", "spare"]).head(4)
    for ids, expected in (([7, 8, 9, 10], [7, 8, 9, 10]), ([7, 8, 9, "x"], ["7", "8", "9", "x"])):
        table.assign(who=ids).to_csv(tmp_path / "people.csv", index=False)
        words = ["represent", story / "producer", "people.csv", "--id", "who", "--force", "--out", "out"]
        lcifr(*words, cwd=tmp_path)
        assert json.loads((tmp_path / "out/handover/ids.json").read_text()) == expected


def test_everybody_is_lowered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the hand-over that an audit asks about, and from end to end."""
    honest, lowered = Similarity.region, list[int]()

    def region(self: Similarity, x: Any, **options: Any) -> Any:
        made = honest(self, x, **options)
        lowered.append(made.people)
        return made

    encoder = one().encoder
    monkeypatch.setattr(Similarity, "region", region)
    audit_file(encoder, one().model, pa.Table.from_pandas(people(10, 5)), tmp_path / "out", chunk=4, workers=1)
    assert lowered == [4, 4, 2]
