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
from tests.workflows.executors_lender import audited, request_for, results, write_lender
from tests.workflows.world import ROOT

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_driver_of_ray_does_as_one_process_does() -> None:
    """The tests of ``ray_driver``; again where Ray has ended the driver without a word, as it does under heavy load."""
    tests = Path(__file__).with_name("ray_driver.py")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", str(tests)]
    for _ in range(2):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if " passed" in done.stdout or " failed" in done.stdout or " error" in done.stdout:
            break
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_address_needs_ray() -> None:
    with pytest.raises(LcifrError, match="--executor ray"):
        request_for(Path(), "out", address="auto")


# -- a cluster of three nodes ------------------------------------------------------------------------------------------

AUDIT = """
import sys
from pathlib import Path
from tests.workflows.executors_lender import audited
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


def drive(folder: Path, address: str, program: str = AUDIT) -> subprocess.Popen[bytes]:
    """A driver of its own, so that it can be killed."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, address, str(folder)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        stderr=None if program is AUDIT else subprocess.PIPE,
    )


def wait_for_parts(folder: Path, count: int) -> None:
    waiting = folder / ".out.work/.audited.parts"
    begun = time.monotonic()
    while not waiting.is_dir() or len(list(waiting.glob("part-*"))) < count:
        assert time.monotonic() - begun < 300, "no parts are made"
        time.sleep(0.05)


LOOK = """
import sys
from pathlib import Path
from lcifr.data import ingest as scan
from lcifr.workflows import ray as first_look
from tests.workflows.executors_lender import audited
first_look.RANGE, first_look.SHARE, first_look.BUCKET = 8, 1, 500
honest = first_look._compare
def late(*mine):
    import time
    time.sleep(2)
    return honest(*mine)
first_look._compare = late
Path(sys.argv[2], "looking").touch()
audited(Path(sys.argv[2]), "out", executor="ray", address=sys.argv[1], chunk=16)
"""


@pytest.mark.long
def test_a_node_may_die_during_the_first_look(cluster: Any, tmp_path: Path) -> None:
    """What it had looked at is looked at again: an id that comes twice is still found, before any proof."""
    write_lender(tmp_path, people=2000, groups=300)
    frame = pd.read_parquet(tmp_path / "people.parquet")
    names = frame["person"].astype(object)
    names[1990] = names[5]  # of row 3 something is missing
    frame.assign(person=names).to_parquet(tmp_path / "people.parquet", index=False)
    driver = drive(tmp_path, cluster.address, LOOK)
    while not (tmp_path / "looking").exists():
        assert driver.poll() is None
        time.sleep(0.05)
    time.sleep(8)  # tasks take some seconds to start, and their number makes a look long
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    said = driver.communicate(timeout=300)[1].decode()
    assert driver.returncode == 1, (driver.returncode, said)
    assert f"{names[5]!r} twice" in said
    assert not (tmp_path / ".out.work/.audited.parts").exists()


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
