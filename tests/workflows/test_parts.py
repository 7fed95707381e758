"""What a large run leaves on disk: parts of its own version only, nothing half done, and never an id twice."""

from __future__ import annotations

import inspect
import io
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from safetensors import safe_open
from safetensors.numpy import load, save

from lcifr.certification.handover import HandoverChunk, represent
from lcifr.certification.subject import Subject
from lcifr.data.files import LockedError, locked
from lcifr.data.ingest import read_chunks
from lcifr.errors import ArtefactError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_model
from lcifr.workflows import jobs as audited
from lcifr.workflows import jobs as handovers
from lcifr.workflows import parts
from lcifr.workflows import parts as large
from lcifr.workflows.jobs import represent_file
from tests.certification.scenes import SCHEMA, people
from tests.workflows.world import audit_all, contents, one

CHUNK, PARTS = 5, 4


def hand_over(source: Any, folder: Path, **options: Any) -> None:
    represent_file(one().encoder, source, folder, chunk=CHUNK, workers=1, **options)


COMPUTED = (Arithmetic.FLOAT64, Arithmetic.FLOAT64)
RUNS = {handovers.RepresentJob: hand_over, audited.AuditJob: audit_all}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    people(CHUNK * PARTS, 5).to_parquet(tmp_path / "people.parquet", index=False)
    return tmp_path / "people.parquet"


# -- versions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", RUNS)
def test_parts_of_another_version_are_done_again(
    job: type[large.Job], table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same weights, formula, options and people, and yet no part of before is used, because it meant something else."""
    done: list[int] = []
    honest = job.work
    monkeypatch.setattr(job, "work", lambda self, chunk: done.append(chunk.number) or honest(self, chunk))
    RUNS[job](table, tmp_path / "fresh")

    def stop_before_joining() -> None:
        with monkeypatch.context() as stopped:
            stopped.setattr(inspect.getmodule(job), "assembled", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                RUNS[job](table, tmp_path / "out")

    with monkeypatch.context() as before:
        before.setattr(job, "version", job.version - 1)
        stop_before_joining()
    done.clear()
    with pytest.warns(parts.OtherVersionWarning, match=rf"held {PARTS} part\(s\) of another version.*done again"):
        stop_before_joining()
    assert done == list(range(PARTS))
    done.clear()
    RUNS[job](table, tmp_path / "out")  # of this version: used, and nothing is said (a warning would be an error)
    assert done == []
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def _interrupted(*arguments: Any) -> Any:
    raise KeyboardInterrupt


def jobs(kind: type = large.Job) -> set[type]:
    """Every job that can be done, however it was derived."""
    below = kind.__subclasses__()
    return ({kind} if not inspect.isabstract(kind) else set()).union(*map(jobs, below))


def test_every_job_has_its_version_in_its_key(table: Path) -> None:
    """And what a version holds is written down here: whoever changes a part meets this test, and raises the version."""
    assert jobs() == {*RUNS, handovers.CertifyJob}
    chunk = next(read_chunks(table, SCHEMA, CHUNK))
    handing = handovers.RepresentJob(one().encoder, Arithmetic.FLOAT64)
    assert handing.key().startswith(f"RepresentJob {handing.version} ")
    assert (handing.version, set(load(handing.work(chunk)))) == (
        4,
        {"latent", "radius", "lower", "upper", "exact", "vacuous"},
    )
    auditing = audited.AuditJob(Subject.of(one().encoder, one().model, arithmetic="float64"), modular=True)
    assert auditing.key().startswith(f"AuditJob {auditing.version} ")
    columns = pd.read_parquet(pa.BufferReader(auditing.work(chunk))).columns.tolist()
    assert auditing.version == 9
    assert columns == [
        *("id", "verdict", "prediction", "margin", "reason", "vacuous", "arithmetic"),
        *("certified_on_ball", "certified_on_box", "alone", "radius"),
        *(f"similar:{name}" for name in SCHEMA.names),
    ]


def test_what_a_part_of_a_consumer_holds(table: Path) -> None:
    handed = HandoverChunk(0, 0, represent(one().encoder, pd.read_parquet(table)))
    certifying = handovers.CertifyJob(read_model(one().model), "ball", *COMPUTED)
    assert certifying.key().startswith(f"CertifyJob {certifying.version} ")
    columns = pd.read_parquet(pa.BufferReader(certifying.work(handed))).columns.tolist()
    assert certifying.version == 5
    assert columns == [
        *("id", "verdict", "prediction", "margin", "largest_radius", "reason", "radius", "vacuous"),
        *("arithmetic", "handover_arithmetic"),
    ]


def test_the_same_network_with_other_labels_is_another_run() -> None:
    """A part holds decisions in the model's own labels."""
    model, encoder = read_model(one().model), one().encoder
    models = [replace(model, labels=np.array(names)) for names in (["no", "yes"], ["yes", "no"])]
    models += [model]
    audits = {audited.AuditJob(Subject(encoder, other), modular=True).key() for other in models}
    assert len(audits) == len({handovers.CertifyJob(other, "ball", *COMPUTED).key() for other in models}) == 3


def test_another_arithmetic_is_another_run() -> None:
    """Of the model or, for a consumer, of the encoder behind the hand-over."""
    model, encoder = read_model(one().model), one().encoder
    audits = {audited.AuditJob(Subject(encoder, model, name), modular=True).key() for name in Arithmetic}
    pairs = product(Arithmetic, Arithmetic)
    assert len(audits) == 3
    assert len({handovers.CertifyJob(model, "ball", *pair).key() for pair in pairs}) == 9


# -- changed by hand, and somebody else at work ------------------------------------------------------------------------


def stopped(job: type[large.Job], table: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Stopped when all parts are there; these."""
    with monkeypatch.context() as before:
        before.setattr(inspect.getmodule(job), "assembled", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            RUNS[job](table, folder)
    return sorted(folder.with_name(f".{folder.name}.parts").glob("part-*"))


def without_counterexamples(part: Path) -> bytes:
    """A part as somebody would like to have it; of a hand-over, with smaller radii."""
    if part.suffix == ".parquet":
        frame = pd.read_parquet(part)
        buffer = io.BytesIO()
        frame.assign(verdict="CERTIFIED", reason="", margin=1.0).to_parquet(buffer, index=False)
        return buffer.getvalue()
    arrays = load(part.read_bytes())
    with safe_open(part, framework="numpy") as opened:
        return save(arrays | {"radius": arrays["radius"] / 2}, opened.metadata())


@pytest.mark.parametrize("job", RUNS)
def test_a_part_that_was_edited_is_made_again(
    job: type[large.Job], table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RUNS[job](table, tmp_path / "fresh")
    there = stopped(job, table, tmp_path / "out", monkeypatch)
    there[1].write_bytes(without_counterexamples(there[1]))
    done: list[int] = []
    honest = job.work
    monkeypatch.setattr(job, "work", lambda self, chunk: done.append(chunk.number) or honest(self, chunk))
    with pytest.warns(parts.ChangedPartWarning, match=rf"{there[1].name} has changed since the last run wrote it"):
        RUNS[job](table, tmp_path / "out")
    assert done == [1]
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


@pytest.mark.parametrize("run", RUNS.values())
def test_two_runs_do_not_work_on_one_folder(run: Any, table: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "out", "another run"), pytest.raises(LockedError, match="another run"):
        run(table, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


@pytest.mark.parametrize("filled", [True, False])
def test_a_folder_that_appears_meanwhile_is_left_alone(
    filled: bool, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even an empty one, which a rename would replace; and what was proved is kept."""

    def appear(*arguments: Any) -> Any:
        (tmp_path / "out").mkdir()
        if filled:
            (tmp_path / "out/mine").touch()
        return honest(*arguments)

    honest = audited.describe_files
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(audited, "describe_files", appear)
        with pytest.raises(ArtefactError, match="has appeared while"):
            audit_all(table, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"] * filled
    with pytest.raises(ArtefactError, match="already exists"):
        audit_all(table, tmp_path / "out")
    assert len(list((tmp_path / ".out.parts").glob("part-*"))) == PARTS


# -- ids ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS.values())
def test_an_id_in_two_parts_is_refused_by_name(run: Any, tmp_path: Path) -> None:
    frame = people(12, 5).assign(who=[f"p{i}" for i in range(11)] + ["p2"])
    with pytest.raises(ArtefactError, match="the id 'p2' occurs twice"):
        run(pa.Table.from_pandas(frame), tmp_path / "out", id_column="who")
    assert not (tmp_path / "out").exists()
