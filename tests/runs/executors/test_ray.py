"""A Ray cluster gives the same bytes as one process: nobody lost, nobody twice, whatever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.errors import LcifrError
from lcifr.runs.executors.crew import RayCluster
from lcifr.runs.executors.ray import ClusterError
from lcifr.runs.streaming.handovers import certify_folder, represent_file
from tests.certification.scenes import people
from tests.runs.executors.lender import audited, request_for, results, write_lender
from tests.runs.streaming.world import ROOT, one

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def here() -> Iterator[None]:
    """Ray on this machine, one worker; started once, as that takes seconds."""
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}}
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
    from lcifr.runs.auditing import gathering

    honest = gathering.part_for

    def lose(*arguments: Any, **options: Any) -> int:
        (lender / "people.parquet").rename(lender / "gone.parquet")
        return honest(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "part_for", lose)
        with pytest.raises(ClusterError, match="no such file"):
            audited(lender, "cluster", executor="ray")
    (lender / "gone.parquet").rename(lender / "people.parquet")
    assert audited(lender, "cluster", executor="ray") == audited(lender, "alone", workers=1)


def test_an_address_needs_ray() -> None:
    with pytest.raises(LcifrError, match="--executor ray"):
        request_for(Path(), "out", address="auto")


# -- a cluster of three nodes ------------------------------------------------------------------------------------------

AUDIT = """
import sys
from pathlib import Path
from tests.runs.executors.lender import audited
audited(Path(sys.argv[2]), "out", executor="ray", address=sys.argv[1], chunk=16)
"""


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def drive(folder: Path, address: str) -> subprocess.Popen[bytes]:
    """A driver of its own, so that it can be killed."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", AUDIT, address, str(folder)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
    )


def wait_for_parts(folder: Path, count: int) -> None:
    waiting = folder / ".out.work/.audited.parts"
    begun = time.monotonic()
    while not waiting.is_dir() or len(list(waiting.glob("part-*"))) < count:
        assert time.monotonic() - begun < 300, "no parts are made"
        time.sleep(0.05)


@pytest.mark.long
def test_nodes_and_drivers_may_die(cluster: Any, tmp_path: Path) -> None:
    """A node is killed in the middle; then the driver, and the same command goes on: the same bytes, nobody twice."""
    write_lender(tmp_path, people=2000, groups=300)
    alone = audited(tmp_path, "alone", workers=1, chunk=16)
    assert audited(tmp_path, "both", workers=2, chunk=16) == alone
    driver = drive(tmp_path, cluster.address)
    wait_for_parts(tmp_path, 10)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    wait_for_parts(tmp_path, 30)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    done = {path.name for path in (tmp_path / ".out.work/.audited.parts").glob("part-*")}
    assert not (tmp_path / "out").exists()
    again = drive(tmp_path, cluster.address)
    assert again.wait(600) == 0
    assert len(done) >= 30
    assert results(tmp_path / "out") == alone
    found = pd.read_parquet(tmp_path / "out/audited/audit.parquet")
    assert found["id"].is_unique
    assert len(found) == 1998
