"""A folder is made by one run at a time, whoever ends how; and whoever waits is told for whom."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lcifr.data import files
from lcifr.data.files import Holder, LockedError, NoLockWarning, lock_of, locked

HOLDS = """import sys, time
from pathlib import Path
from lcifr.data.files import locked
with locked(Path("out"), "lcifr audit 'my producer'"):
    print("held", flush=True)
    time.sleep(600)
"""
COUNTS = """import time
from pathlib import Path
from lcifr.data.files import LockedError, locked
left, deadline = 60, time.monotonic() + 120
while left and time.monotonic() < deadline:
    try:
        with locked(Path("out"), "count"):
            before = int(Path("count").read_text())
            time.sleep(0.0005)
            Path("count").write_text(str(before + 1))
            left -= 1
    except LockedError:
        time.sleep(0.0005)
"""


def test_a_second_one_is_told_who_holds_it_and_for_how_long(tmp_path: Path) -> None:
    with locked(tmp_path / "out", "the first"), pytest.raises(LockedError) as refused, locked(tmp_path / "out", "2nd"):
        pytest.fail("both hold it")
    holder = refused.value.holder
    assert holder is not None
    assert (holder.pid, holder.host, holder.command) == (os.getpid(), socket.gethostname(), "the first")
    for word in (str(os.getpid()), holder.host, holder.since, "the first", "Fix: wait"):
        assert word in str(refused.value)
    with locked(tmp_path / "out", "the second"), locked(tmp_path / "other", "beside it"):
        assert Holder.read(lock_of(tmp_path / "out")).command == "the second"  # type: ignore[union-attr]
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLDS], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with (
        pytest.raises(LockedError, match=f"process {process.pid} on .* since .*my producer"),
        locked(tmp_path / "out", ""),
    ):
        pytest.fail("both hold it")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert lock_of(tmp_path / "out").exists()  # nobody could remove it, and yet:
    with locked(tmp_path / "out", "the next"):
        assert Holder.read(lock_of(tmp_path / "out")).command == "the next"  # type: ignore[union-attr]
    assert list(tmp_path.iterdir()) == []


def test_processes_that_come_and_go_never_meet(tmp_path: Path) -> None:
    """Each adds to a number in a file; were two inside at once, even in a removed lock, some would be lost."""
    (tmp_path / "count").write_text("0")
    several = [subprocess.Popen([sys.executable, "-c", COUNTS], cwd=tmp_path) for _ in range(3)]
    assert [process.wait() for process in several] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "180"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff"])
def test_what_does_not_say_who_is_nobody(content: bytes, tmp_path: Path) -> None:
    lock_of(tmp_path / "out").write_bytes(content)
    assert Holder.read(lock_of(tmp_path / "out")) is None
    assert "another process" in str(LockedError(tmp_path / "out", None))
    with locked(tmp_path / "out", "takes it over"):
        pass


def test_a_disk_without_locks_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(files, "_lock", refuse)
    with pytest.warns(NoLockWarning, match="knows no locks"), locked(tmp_path / "out", "alone, one hopes"):
        pass
    assert list(tmp_path.iterdir()) == []
