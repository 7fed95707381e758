"""The command: an address to open, on this machine alone, until Ctrl-C."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import httpx
import pytest

from lcifr.errors import LcifrError
from lcifr.workbench.server import WorkbenchRequest, serve
from tests.story import lcifr


def test_it_listens_on_this_machine_alone_and_says_nothing_of_itself(served):
    answer = httpx.get(served.address, trust_env=False)
    assert answer.status_code == 200
    assert "server" not in answer.headers
    assert served.address.startswith("http://127.0.0.1:")
    assert len(served.address.rstrip("/").rpartition("/")[2]) >= 32
    listening = [
        line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"
    ]
    assert [one for one in listening if one.endswith(f":{served.port:04X}")] == [f"0100007F:{served.port:04X}"]


def test_somebody_who_sends_a_byte_at_a_time_keeps_nobody_else_waiting(served):
    slow = []
    for _ in range(8):
        one = socket.create_connection(("127.0.0.1", served.port))
        one.sendall(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: 100\r\n".encode())
        slow.append(one)
    begun = time.monotonic()
    assert httpx.get(served.address, trust_env=False).status_code == 200
    assert time.monotonic() - begun < 5
    for one in slow:
        one.close()


def test_a_port_that_is_taken_is_said(served, tmp_path):
    said = lcifr("workbench", tmp_path, "--no-browser", "--port", served.port, cwd=tmp_path, expect=2)
    assert f"port {served.port} cannot be used" in said.err


def test_a_folder_that_is_not_there_is_said(tmp_path):
    assert "is not a folder" in lcifr("workbench", "nowhere", "--no-browser", cwd=tmp_path, expect=2).err


def test_what_is_missing_is_said_with_the_line_that_installs_it(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(LcifrError, match=r"pip install \"lcifr\[workbench\]\""):
        serve(WorkbenchRequest(folder=tmp_path), lambda address: None)
