"""Work as bytes: what is unpacked is what was packed, or refused; the function over record batches is the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.data import files
from lcifr.errors import ArtefactError, LcifrError, TableError
from lcifr.workflows import jobs
from lcifr.workflows.jobs import AuditJob, OtherVersionsError, PackedWork, audit_work, certify_work, represent_work
from lcifr.workflows.subjects import open_origin, people_of_reference
from tests.certification.scenes import people
from tests.workflows.executors_lender import request_for, write_lender
from tests.workflows.world import one


def table(count: int = 9) -> pa.RecordBatch:
    frame = people(count, 5).assign(id=[f"p{i}" for i in range(count)], spare=1)
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


@pytest.fixture(autouse=True)
def unopened() -> None:
    jobs._job.cache_clear()


def test_an_audit_of_record_batches_is_that_of_the_library() -> None:
    here, batch = one(), table()
    answer = PackedWork(audit_work(here.encoder, here.model).data).function()
    found = pa.Table.from_batches(answer.map([batch.slice(0, 4), batch.slice(4, 0), batch.slice(4)]))
    frame = people(9, 5)
    whole = audit(here.encoder, here.model, frame, modular=False)
    assert found.schema == answer.schema
    assert found["id"].to_pylist() == [f"p{i}" for i in range(9)]
    assert found["verdict"].to_pylist() == [str(one) for one in whole.verdict]
    assert found["prediction"].to_pylist() == whole.prediction.tolist()
    differ = pa.compute.is_valid(found["similar:age"]).to_pylist()
    assert differ == whole.violated.tolist()


def test_a_handover_goes_on_to_the_consumer_as_record_batches() -> None:
    here, batch = one(), table()
    handed = represent_work(here.encoder).function()(batch)
    found = certify_work(here.model, on="box").function()(handed)
    whole = represent(here.encoder, people(9, 5), [f"p{i}" for i in range(9)])
    assert handed["radius"].to_pylist() == whole.radius.tolist()
    assert np.array_equal(np.array(handed["latent"].to_pylist()), whole.latent)
    expected = certify(whole, here.model, on="box").frame()
    pd.testing.assert_frame_equal(found.to_pandas(), expected, check_dtype=False)


def test_what_is_not_in_a_record_batch_is_said() -> None:
    here = one()
    answer = audit_work(here.encoder, here.model).function()
    with pytest.raises(LcifrError, match="no column id"):
        answer(table().drop_columns(["id"]))
    wrong = table().to_pandas()
    wrong.loc[3, "job"] = "king"
    with pytest.raises(TableError, match="row 3"):
        answer(pa.RecordBatch.from_pandas(wrong, preserve_index=False))


def test_the_same_work_is_the_same_bytes_and_every_change_is_another() -> None:
    here = one()
    first, again = (audit_work(here.encoder, here.model) for _ in range(2))
    assert first.data == again.data
    assert len({first.sha256, audit_work(here.encoder, here.model, arithmetic="exact").sha256}) == 2


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.999])
def test_bytes_that_were_changed_are_refused(place: float) -> None:
    """Wherever it is: in the header, in a weight, in a word of φ."""
    data = bytearray(audit_work(one().encoder, one().model).data)
    data[int(place * (len(data) - 1))] ^= 0x10
    with pytest.raises((LcifrError, ValueError, KeyError, UnicodeDecodeError)):
        PackedWork(bytes(data)).job()
    with pytest.raises(ArtefactError, match="not all of it"):
        PackedWork(bytes(data[: len(data) // 2])).job()


def test_a_machine_with_other_packages_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = audit_work(one().encoder, one().model)
    there = {**files.versions(), "numpy": "0.1"}
    monkeypatch.setattr(jobs, "versions", lambda: there)
    with pytest.raises(OtherVersionsError, match=r"numpy .* there, 0\.1 here"):
        asked.job()


def test_a_model_of_a_library_is_read_again_from_its_file(tmp_path: Path) -> None:
    """The bytes hold the file itself; what comes out has the same hashes, and the library is asked as before."""
    write_lender(tmp_path)
    request = request_for(tmp_path, "out")
    subject, _ = open_origin(request, request.table).open(request, request.table, tmp_path)
    job = AuditJob(subject.agreeing_among(people_of_reference(subject)))
    again = PackedWork.of(job).job()
    assert again.key() == job.key()
    assert isinstance(again, AuditJob)
    assert again.subject.reference is not None
    assert again.subject.reference.runtime == subject.library.runtime
    assert again.subject.reference.made_up is not None  # compared there, too
