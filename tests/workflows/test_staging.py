"""Results in an object store: the same bytes as on disk, committed by their settings, and no secret anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lcifr.data.files import StoragePlace
from lcifr.errors import LcifrError
from lcifr.workflows import audit, folders
from lcifr.workflows.folders import PARTS_THERE
from lcifr.workflows.jobs import AuditJob
from tests.data.store import KEY, SECRET, object_store
from tests.workflows.executors_lender import SAME, audited, request_for, write_lender


@pytest.fixture(scope="module")
def lender(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The lender's files, the people in a store too, in two objects."""
    folder = tmp_path_factory.mktemp("lender")
    write_lender(folder)
    with object_store("bucket"):
        StoragePlace.of("s3://bucket/people").upload(folder / "people.parquet", "a.parquet")
        yield folder


@pytest.fixture(scope="module")
def on_disk(lender: Path) -> dict[str, bytes]:
    return audited(lender, "alone", workers=1)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path / "cache"


def in_store(lender: Path, out: str, **options: Any) -> dict[str, bytes]:
    place = f"s3://bucket/{out}"
    audit(request_for(lender, place, table=Path("s3://bucket/people"), workers=1, **options))
    return {name: StoragePlace.of(place).read(name) for name in SAME}


def test_a_table_and_a_result_in_a_store_are_as_on_disk(
    lender: Path, on_disk: dict[str, bytes], cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = in_store(lender, "whole")
    assert found == on_disk
    place = StoragePlace.of("s3://bucket/whole")
    assert not [name for name in place.files() if name.startswith(PARTS_THERE)]
    assert not [path for path in cache.rglob("*") if path.is_file()]
    with pytest.raises(LcifrError, match=r"s3://bucket/whole already exists"):
        in_store(lender, "whole")
    assert in_store(lender, "whole", force=True) == on_disk
    written = b"".join(place.read(name) for name in place.files())
    said = "".join(capfd.readouterr())
    for secret in (KEY, SECRET):
        assert secret.encode() not in written
        assert secret not in said


def test_without_its_settings_it_is_no_result(
    lender: Path, on_disk: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uploads are stopped in the middle; what is there is not taken for a result, and --force makes it whole."""
    honest = StoragePlace.upload

    def stop(self: StoragePlace, file: Path, name: str) -> None:
        if name == "people.parquet":
            raise OSError("the line is cut")
        honest(self, file, name)

    with monkeypatch.context() as cut:
        cut.setattr(StoragePlace, "upload", stop)
        with pytest.raises(OSError, match="cut"):
            in_store(lender, "half")
    assert "settings.json" not in StoragePlace.of("s3://bucket/half").files()
    with pytest.raises(LcifrError, match=r"no settings\.json"):
        in_store(lender, "half")
    assert in_store(lender, "half", force=True) == on_disk


def test_another_machine_goes_on_and_a_half_written_object_is_no_part(
    lender: Path, on_disk: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before the parts are joined; then nothing is left but the store, where one part is cut short."""
    with monkeypatch.context() as stopped:
        stopped.setattr("lcifr.workflows.jobs.assembled", interrupted)
        with pytest.raises(KeyboardInterrupt):
            in_store(lender, "stopped")
    place = StoragePlace.of("s3://bucket/stopped")
    kept = sorted(name for name in place.files() if name.startswith(PARTS_THERE))
    assert len(kept) == 8
    cut, local = place.read(kept[3])[:-20], tmp_path / "cut"
    local.write_bytes(cut)
    place.upload(local, kept[3])
    monkeypatch.setattr(folders, "user_cache_path", lambda name: tmp_path / "another machine")
    done: list[int] = []
    honest = AuditJob.work
    monkeypatch.setattr(AuditJob, "work", lambda self, chunk: done.append(chunk.number) or honest(self, chunk))
    assert in_store(lender, "stopped") == on_disk
    assert done == [3]


def interrupted(*arguments: Any) -> Any:
    raise KeyboardInterrupt


def test_what_others_put_there_meanwhile_is_left_alone(lender: Path, tmp_path: Path) -> None:
    """Another run has its results below those of this one: they are nobody's to remove."""
    place, file = StoragePlace.of("s3://bucket/shared"), tmp_path / "theirs"
    file.write_text("somebody else's")

    def run() -> None:
        with folders.staged(Path("s3://bucket/shared"), force=False) as local:
            local.mkdir(parents=True)
            (local / "settings.json").write_text("{}")
            place.upload(file, "theirs/result.json")

    with pytest.raises(LcifrError, match=r"theirs/result\.json has appeared"):
        run()
    assert set(place.files()) == {"theirs/result.json"}
