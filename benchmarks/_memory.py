"""Peak memory of a process: what it asked for itself, without what is mapped from files, which are libraries.

Allocators keep what they were given back: Arrow's own does so by the clock, up to 40 MB, differently in every run, so
a peak with it says little about the program. Programs are measured with the system's allocator and one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ALONE = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_IO_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
ROOT = Path(__file__).parents[1]


def peak() -> int:
    """kB at the peak of this process."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmHWM", "RssFile"))}
    return found["VmHWM"] - found["RssFile"]


def run_alone(*words: str, cwd: Path = ROOT) -> list[str]:
    """What a Python program prints that runs in such a process, word by word."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, **ALONE, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.split()
