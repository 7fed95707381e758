"""A command watched while it runs: CPU seconds, time, and the memory of all its processes by people done."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAUSE = 0.5
ROOT = Path(__file__).parents[1]
STAGES = "from benchmarks._stages import run; run()"
PROGRAM = "import sys; sys.argv[0] = 'lcifr'; from lcifr.cli import main; main()"


@dataclass
class Watched:
    """Of a command that has ended: seconds, and for each mark MB of all processes at most while so many were done."""

    cpu: float = 0.0
    wall: float = 0.0
    peaks: dict[int, float] = field(default_factory=dict)


def watch(
    words: str,
    place: Path,
    marks: Sequence[int] = (),
    chunk: int = 1,
    *,
    checkout: Path | None = None,
    program: str = PROGRAM,
) -> Watched:
    """Run ``lcifr`` with these words.

    Parameters
    ----------
    marks : numbers of people; a peak is that of the time before so many were done, and after the mark before.
    chunk : people in a part: how many are done is told by the parts that are there.
    checkout : of lcifr, whose sources are run; None for those that are imported here. program : that is run.
    """
    found = Watched()
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with (place / "stderr.txt").open("w+", encoding="utf-8") as errors:
        command = [sys.executable, "-c", program, *words.split()]
        here = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        paths = {"PYTHONPATH": here if checkout is None else str(checkout / "src")}
        with subprocess.Popen(
            command, cwd=place, stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | paths
        ) as running:
            done = 0
            while running.poll() is None:
                if marks:
                    done = max(done, chunk * len(list(place.glob(".*/**/part-*"))))
                    mark = next((one for one in marks if done < one), marks[-1])
                    found.peaks[mark] = max(found.peaks.get(mark, 0.0), _memory(running.pid))
                time.sleep(PAUSE)
        errors.seek(0)
        said = errors.read()
    if running.returncode not in (0, 1, 3) or "Traceback" in said:
        raise RuntimeError(said)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found.wall = time.monotonic() - begun
    return found


def _memory(process: int) -> float:
    """MB that a process and its children hold themselves, without what is mapped from files."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()
    except OSError:  # it has ended meanwhile
        return 0.0
    own = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")), 0)
    return own / 1024 + sum(_memory(int(child)) for child in children)
