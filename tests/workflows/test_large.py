"""Large runs: chunks, resuming after kill −9, and the same bytes as a run that nobody interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.handover import Representation, represent
from lcifr.certification.subject import Hashes
from lcifr.certification.verdicts import Reason, _similar
from lcifr.data import Individuals, Numeric, Schema
from lcifr.errors import ArtefactError, LcifrError, TableError
from lcifr.models.loading import read_model
from lcifr.workflows import parts
from lcifr.workflows.jobs import audit_file, read_audited, represent_file, revise_audited
from tests.certification.scenes import FORMULAS, people, scene
from tests.workflows.world import CHUNK, COUNT, ROOT, contents, one, table


def test_parquet_csv_and_memory_give_the_same(tmp_path: Path) -> None:
    frame = table()
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=7, index=False)
    for kind in ("csv", "parquet"):
        represent_file(
            one().encoder, tmp_path / f"people.{kind}", tmp_path / kind, id_column="who", chunk=CHUNK, workers=1
        )
    assert contents(tmp_path / "csv") == contents(tmp_path / "parquet")
    whole = represent(one().encoder, frame.drop(columns="who"), frame["who"])
    found = Representation.read(tmp_path / "csv")
    assert found.ids == whole.ids
    assert found.provenance == whole.provenance
    assert np.allclose(found.radius, whole.radius, rtol=1e-5)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["csv", "parquet", "people.csv", "people.parquet"]


def test_processes_give_the_same_as_one(tmp_path: Path) -> None:
    people(COUNT, 5).to_parquet(tmp_path / "people.parquet", index=False)
    for workers in (1, 2):
        represent_file(one().encoder, tmp_path / "people.parquet", tmp_path / str(workers), chunk=20, workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


SCRIPT = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.workflows.world import CHUNK, one
from lcifr.workflows import parts as large
from lcifr.workflows.jobs import represent_file

write = large.write_atomic
def slowly(path, content):  # or everything is over before it can be killed
    time.sleep(0.03)
    write(path, content)
large.write_atomic = slowly

if __name__ == "__main__":
    print("ready", flush=True)
    represent_file(one().encoder, "people.parquet", "out", chunk=CHUNK, workers=1)
"""


@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.long)])
def test_a_run_that_is_killed_goes_on_where_it_stopped(times: int, tmp_path: Path) -> None:
    """Killed at random moments: no person is lost or repeated, no part is made twice, the bytes are the same."""
    people(COUNT, 5).to_parquet(tmp_path / "people.parquet", index=False)
    represent_file(one().encoder, tmp_path / "people.parquet", tmp_path / "whole", chunk=CHUNK, workers=1)
    rng = np.random.default_rng(0)
    waiting = tmp_path / ".out.parts"
    made: dict[str, int] = {}
    for _ in range(times):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        before = len(list(waiting.glob("part-*"))) if waiting.is_dir() else 0
        begun = time.monotonic()
        # Until a part or two more are there, then a little: moments spread over reading, proving, writing, joining.
        while process.poll() is None and time.monotonic() - begun < 60:
            if waiting.is_dir() and len(list(waiting.glob("part-*"))) > before + rng.integers(2):
                break
            time.sleep(0.002)
        time.sleep(float(rng.uniform(0, 0.05)))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if (tmp_path / "out").exists():
            break
        for part in waiting.glob("part-*"):
            stamp = part.stat().st_mtime_ns
            assert made.setdefault(part.name, stamp) == stamp  # what was there is not done again
    if not (tmp_path / "out").exists():
        represent_file(one().encoder, tmp_path / "people.parquet", tmp_path / "out", chunk=CHUNK, workers=1)
    assert made
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert len(Representation.read(tmp_path / "out")) == COUNT


def test_other_people_settings_or_weights_are_other_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part counts only for exactly the run that made it."""
    frame = people(20, 5)
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    represent_file(one().encoder, tmp_path / "people.parquet", tmp_path / "first", chunk=10, workers=1)
    with monkeypatch.context() as patched:  # parts of a stopped run with other people, under the next run's name
        patched.setattr(parts, "discard", lambda parts: None)
        represent_file(one().encoder, tmp_path / "people.parquet", tmp_path / "second", chunk=10, workers=1)
    (tmp_path / ".second.parts").rename(tmp_path / ".third.parts")
    frame.loc[3, "income"] += 1.0
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    represent_file(one().encoder, tmp_path / "people.parquet", tmp_path / "third", chunk=10, workers=1)
    first, third = (Representation.read(tmp_path / name).latent for name in ("first", "third"))
    assert (first[3] != third[3]).any()
    assert (np.delete(first, 3, 0) == np.delete(third, 3, 0)).all()


def test_an_audit_in_parts_is_the_audit(tmp_path: Path) -> None:
    frame = people(20, 5)
    frame.to_csv(tmp_path / "people.csv", index=False)
    here = one()
    audit_file(here.encoder, here.model, tmp_path / "people.csv", tmp_path / "out", chunk=6, workers=1)
    found = pd.read_parquet(tmp_path / "out/audit.parquet")
    whole = audit(here.encoder, here.model, frame).frame()
    assert found["verdict"].tolist() == whole["verdict"].tolist()
    assert found["id"].tolist() == [str(i) for i in range(20)]
    similar = found.filter(like="similar:").notna().any(axis=1)
    assert (similar == (found["verdict"] == "COUNTEREXAMPLE")).all()
    assert json.loads((tmp_path / "out/manifest.json").read_text())["model"] == here.model.hash


def test_values_of_similar_people_have_the_types_of_their_attributes(tmp_path: Path) -> None:
    """Numbers as numbers, null where there is no counterexample, and each prints as the decimal that it stands for."""
    frame, here = people(20, 5), scene(3, FORMULAS[3])
    frame.to_csv(tmp_path / "people.csv", index=False)
    audit_file(here.encoder, here.model, tmp_path / "people.csv", tmp_path / "out", chunk=6, workers=1)
    rows = pq.read_table(tmp_path / "out/audit.parquet")
    whole = audit(here.encoder, here.model, frame)
    assert 0 < whole.violated.sum() < len(whole)
    expected = whole.others.take(whole.violated).to_pandas()
    for attribute in whole.people.schema:
        column = rows[f"similar:{attribute.name}"]
        numeric = pa.int64() if getattr(attribute, "integer", False) else pa.float64()
        assert column.type == (numeric if isinstance(attribute, Numeric) else pa.string())
        assert column.is_valid().to_pylist() == whole.violated.tolist()
        there = column.drop_null().to_pylist()
        assert [str(value) for value in there] == [str(value) for value in expected[attribute.name].tolist()]
    model = read_model(here.model)
    about = Hashes.of(here.encoder, model, json.loads((tmp_path / "out/manifest.json").read_text())["arithmetic"])
    again = read_audited(tmp_path / "out", whole.people, model, about)
    read, found = (one.others.take(whole.violated) for one in (again, whole))
    assert (read.numbers == found.numbers).all()
    assert (read.codes == found.codes).all()


def test_a_whole_number_that_64_bits_do_not_hold_is_refused_by_name() -> None:
    schema = Schema((Numeric("debt", integer=True),))
    person = Individuals(schema, np.array([[1e19]]), np.empty((1, 0), np.int32))
    with pytest.raises(LcifrError, match='"debt" that is not a whole number of 64 bits'):
        _similar(person, np.array([True]), pa.schema([("similar:debt", pa.int64())]))


def test_wrong_files_are_refused_and_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    people(3, 5).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(ArtefactError, match="already exists"):
        represent_file(one().encoder, tmp_path / "people.csv", tmp_path / "there", workers=1)
    with pytest.raises(LcifrError, match="no such file"):
        represent_file(one().encoder, tmp_path / "nobody.csv", tmp_path / "out", workers=1)
    (tmp_path / "odd.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(LcifrError, match=r"odd\.parquet"):
        represent_file(one().encoder, tmp_path / "odd.parquet", tmp_path / "out", workers=1)
    people(3, 5).drop(columns="job").to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(TableError, match="job"):
        represent_file(one().encoder, tmp_path / "less.csv", tmp_path / "out", workers=1)
    twice = people(3, 5).assign(who=["a", "b", "a"])
    twice.to_parquet(tmp_path / "twice.parquet", index=False)
    with pytest.raises(ArtefactError, match=r"twice|each once"):
        represent_file(one().encoder, tmp_path / "twice.parquet", tmp_path / "out", id_column="who", chunk=2, workers=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_memory_does_not_grow_with_the_table() -> None:
    """Hand-over and audit of 80,000 and of 640,000 people, each in a process of its own: the peaks are alike.

    An id in memory takes a hundred bytes, a row of the table two hundred; 40 is what two runs may differ by anyway.
    """
    program = "import json; from benchmarks.stream import main; print(json.dumps(main()))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    growth = json.loads(done.stdout.splitlines()[-1])
    assert all(more < 40 for more in growth.values()), done.stdout


def test_whose_proof_stops_short_is_revised_in_the_folder(tmp_path: Path) -> None:
    frame, here = people(20, 5), one()
    frame.to_csv(tmp_path / "people.csv", index=False)
    audit_file(here.encoder, here.model, tmp_path / "people.csv", tmp_path / "out", chunk=6, workers=1)
    before = pd.read_parquet(tmp_path / "out/audit.parquet")
    sure = before.loc[before["verdict"] == "CERTIFIED", "id"].tolist()
    assert len(sure) > 1
    named = {sure[0], *before.loc[before["verdict"] != "CERTIFIED", "id"]}  # of these only the first one changes
    for _ in range(2):  # the second time there is nothing to do
        revise_audited(tmp_path / "out", named)
        after = pd.read_parquet(tmp_path / "out/audit.parquet")
        changed = after["id"] == sure[0]
        assert after.loc[changed, ["verdict", "reason"]].to_numpy().tolist() == [["UNDECIDED", str(Reason.UNPROVED)]]
        assert (after.loc[changed, "margin"] <= 0).all()
        pd.testing.assert_frame_equal(after[~changed], before[~changed])
    schema = here.encoder.encoding.schema
    model = read_model(here.model)
    found = read_audited(
        tmp_path / "out", Individuals.read(frame, schema), model, Hashes.of(here.encoder, model, "float64")
    )
    assert found.certified.sum() == len(sure) - 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out", "people.csv"]
