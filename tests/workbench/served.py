"""A workbench served by the command, in a process of its own."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 60.0


class Served:
    """``lcifr workbench FOLDER`` while it runs."""

    def __init__(self, folder: Path, *words: str, first: str = "") -> None:
        self.folder = folder
        code = first + "from lcifr.cli import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "workbench", str(folder), "--no-browser", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        self.address = self.process.stdout.readline().strip() if ready else ""
        if not self.address:
            self.process.kill()
            raise AssertionError(self.process.communicate()[1])

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    def wait(self) -> None:
        """Until it answers."""
        import httpx

        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                httpx.get(self.address, trust_env=False)
                return
            except httpx.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def stop(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.communicate()
