"""Tests whose process is a Ray driver, run by ``test_ray`` in another process: Ray ends a driver whose raylet dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.data import ingest as tables_scan
from lcifr.data.files import StoragePlace
from lcifr.errors import LcifrError
from lcifr.workflows import ray as first_look
from lcifr.workflows.executors import RayCluster
from lcifr.workflows.jobs import certify_folder, represent_file
from lcifr.workflows.ray import ClusterError
from tests.certification.scenes import people
from tests.data.store import object_store
from tests.workflows.executors_lender import audited, write_lender
from tests.workflows.world import ROOT, one

ray = pytest.importorskip("ray")
STORE = find_spec("moto") is not None
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def here() -> Iterator[None]:
    """Ray on this machine, one worker; started once, as that takes seconds. Workers inherit the address of a store."""
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}}
    with object_store("bucket") if STORE else nullcontext():
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env=environment)
        yield
        ray.shutdown()


@pytest.fixture
def lender(tmp_path: Path) -> Path:
    write_lender(tmp_path)
    return tmp_path


def test_ray_gives_the_same_bytes_as_this_process(here: None, lender: Path) -> None:
    """Of a model of another library, whose file travels; rows with missing values are left out on either side."""
    alone = audited(lender, "alone", workers=1)
    assert audited(lender, "cluster", executor="ray") == alone
    found = pd.read_parquet(lender / "cluster/audited/audit.parquet")
    assert found["id"].is_unique
    assert len(found) == 58


@pytest.mark.parametrize("odd", ["twice in one range", "twice in two ranges", "no id", "left out"])
def test_the_first_look_says_what_one_process_says(
    odd: str, here: None, lender: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each range is looked at by a task, and ids are compared in three buckets; the driver itself compares nothing."""
    path, alone = lender / "people.parquet", list[str]()
    frame = pd.read_parquet(path)
    last, names = len(frame) - 1, frame["person"].astype(object)
    if odd.startswith("twice"):
        names[last] = names[0 if odd.endswith("two ranges") else last - 1]
        names[last - 3] = names[2]
    elif odd == "no id":
        names[last] = names[last - 5] = None
    frame.assign(person=names).to_parquet(path, index=False)
    monkeypatch.setattr(first_look, "RANGE", 8)
    monkeypatch.setattr(first_look, "SHARE", 1)
    monkeypatch.setattr(first_look, "BUCKET", 20)
    if odd == "left out":
        assert audited(lender, "cluster", executor="ray") == audited(lender, "alone", workers=1)
        return
    for name, options in (("alone", {"workers": 1}), ("cluster", {"executor": "ray"})):
        with pytest.raises(LcifrError) as said:
            audited(lender, name, **options)
        alone.append(str(said.value))
        monkeypatch.setattr(tables_scan, "scan_file", lambda *_, **__: pytest.fail("the driver looked"))
    assert alone[0] == alone[1]
    assert ("twice" if odd.startswith("twice") else f"row {last - 5}") in alone[0]


@pytest.mark.skipif(not STORE, reason="moto is not installed: there is no store")
def test_the_driver_does_not_look_at_a_table_in_a_store(
    here: None, lender: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster does; then the table is read where it is, and never copied."""
    path = lender / "people.parquet"
    pd.read_parquet(path).dropna().to_parquet(path, index=False)
    alone = audited(lender, "alone", workers=1)
    StoragePlace.of("s3://bucket/people").upload(path, "a.parquet")
    monkeypatch.setattr(tables_scan, "scan_file", lambda *_, **__: pytest.fail("the driver looked"))
    assert audited(lender, "cluster", executor="ray", table=Path("s3://bucket/people")) == alone


def test_handovers_and_certificates_are_the_same_bytes(here: None, tmp_path: Path) -> None:
    people(20, 5).to_csv(tmp_path / "people.csv", index=False)  # whose people travel to the workers
    for name, workers in (("alone", 1), ("cluster", RayCluster())):
        handed = tmp_path / f"{name} handed"
        represent_file(one().encoder, tmp_path / "people.csv", handed, chunk=10, workers=workers)
        certify_folder(handed, one().model, tmp_path / name, chunk=10, workers=workers)
    for name, file in ((" handed", "latent.safetensors"), (" handed", "ids.json"), ("", "certificates.parquet")):
        assert (tmp_path / f"alone{name}" / file).read_bytes() == (tmp_path / f"cluster{name}" / file).read_bytes()


def test_what_a_worker_refuses_is_said_and_parts_are_kept(here: None, lender: Path) -> None:
    """The table is gone when its rows are to be read: as on a node that does not have it."""
    from lcifr.workflows import auditing

    honest = auditing.part_for

    def lose(*arguments: Any, **options: Any) -> int:
        (lender / "people.parquet").rename(lender / "gone.parquet")
        return honest(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auditing, "part_for", lose)
        with pytest.raises(ClusterError, match="no such file"):
            audited(lender, "cluster", executor="ray")
    (lender / "gone.parquet").rename(lender / "people.parquet")
    assert audited(lender, "cluster", executor="ray") == audited(lender, "alone", workers=1)
