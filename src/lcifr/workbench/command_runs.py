"""Runs commands as separate processes: starts, watches and resumes them, and stops them as Ctrl-C would.

The page starts the very command that it shows, in the work folder. So the results are the command's, and whatever stops
it (the page, Ctrl-C, a power cut) loses no more than it would lose in a terminal.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcifr.errors import LcifrError
from lcifr.workbench.work_folder import WORK, WorkFolder
from lcifr.workflows.auditing import VerdictsSoFar
from lcifr.workflows.events import VARIABLE, read_events

PROGRAM = (sys.executable, "-m", "lcifr")
GRACE = 10.0
"""Seconds that a command has to stop when the workbench ends; then it is killed. Its progress is kept either way."""
LAST = 6
"""How many notes and warnings are shown while a command runs: the last ones."""
EXITS = {
    0: ("finished", "has finished"),
    1: ("finished", "has finished; there is a counterexample, or the exact checker rejected a proof"),
    2: ("refused", "was refused"),
    3: ("finished", "has finished; someone is undecided, or was not examined"),
    130: ("stopped", "was stopped; its progress is kept"),
    -signal.SIGINT: ("stopped", "was stopped; its progress is kept"),
}


@dataclass(frozen=True)
class StepState:
    """A step of a run: how many are done, out of how many in total; ``total`` is None if it is unknown."""

    name: str
    done: int
    total: int | None
    resumed: int
    ended: bool


@dataclass(frozen=True)
class RunState:
    """A run as it is now.

    Parameters
    ----------
    command : the equivalent command line. state : running, finished, stopped or refused. said : the same in words.
    verdicts : people by verdict, so far. messages : notes and warnings.
    printed : what the command printed, once it has ended.
    """

    command: str
    out: str
    state: str
    said: str
    steps: tuple[StepState, ...]
    verdicts: dict[str, int]
    messages: tuple[str, ...]
    printed: str


class CommandRun:
    """One command, while it runs and afterwards.

    Parameters
    ----------
    words : the arguments after ``lcifr``. out : the folder for its results. program : what runs ``lcifr``.
    """

    def __init__(self, folder: WorkFolder, words: list[str], out: str, program: tuple[str, ...] = PROGRAM) -> None:
        self.words, self.out = words, out
        self._logs = tempfile.TemporaryDirectory(prefix="lcifr-workbench-")
        logs = Path(self._logs.name)
        self._events, self._printed = logs / "events.jsonl", logs / "printed.txt"
        self._start, self._steps, self._messages = 0, dict[str, StepState](), list[str]()
        self._counted: dict[str, int] = {}
        target = folder.new(out)
        self._verdicts = VerdictsSoFar(target.with_name(f".{target.name}{WORK}"))
        with self._printed.open("wb") as printed:
            self._process = subprocess.Popen(
                [*program, *words],
                cwd=folder.root,
                env={**os.environ, VARIABLE: str(self._events), "NO_COLOR": "1", "COLUMNS": "100"},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Stop it as Ctrl-C would."""
        if self.is_running:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Stop it and wait; a command that does not stop in time is killed, and loses at most one part."""
        self.stop()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._logs.cleanup()

    def state(self) -> RunState:
        """The run's current state."""
        code = self._process.poll()
        self._read_events()
        state, said = ("running", "is running")
        if code is not None:
            state, said = EXITS.get(code, ("failed", f"failed with exit code {code}"))
        if self.words[0] == "audit":  # the work folder is gone once it has been renamed to the result folder
            self._counted = self._verdicts.count() or self._counted
        printed = "" if code is None else self._printed.read_text(encoding="utf-8", errors="replace")[-20_000:]
        return RunState(
            shlex.join(["lcifr", *self.words]),
            self.out,
            state,
            said,
            tuple(self._steps.values()),
            self._counted,
            tuple(self._messages[-LAST:]),
            printed,
        )

    def _read_events(self) -> None:
        found = read_events(self._events, self._start)
        self._start = found.start
        for event in found.events:
            self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        name = str(event.get("step", ""))
        if event["event"] in ("note", "warned"):
            self._messages.append(str(event["text"]))
        elif event["event"] == "resumed":
            self._messages.append("Resuming.")
        elif event["event"] == "started":
            self._steps[name] = StepState(name, 0, event["total"], 0, False)
        elif event["event"] == "advanced":
            self._steps[name] = StepState(name, event["done"], event["total"], event["resumed"], False)
        elif name in self._steps:
            before = self._steps[name]
            self._steps[name] = StepState(name, before.done, before.total, before.resumed, True)


class CommandRuns:
    """The runs of a workbench: one at a time, because each uses all cores."""

    def __init__(self, folder: WorkFolder, program: tuple[str, ...] = PROGRAM) -> None:
        self._folder, self._program, self._lock = folder, program, threading.Lock()
        self._run: CommandRun | None = None

    def start(self, words: list[str], out: str) -> RunState:
        """Start a command; refused while another one runs."""
        with self._lock:
            if self._run is not None:
                if self._run.is_running:
                    raise LcifrError(f"{self._run.out} is still running", fix="stop it, or wait until it has finished")
                self._run.close()
            self._run = CommandRun(self._folder, words, out, self._program)
            return self._run.state()

    def stop(self) -> RunState | None:
        """Stop what is running, as Ctrl-C would."""
        with self._lock:
            if self._run is not None:
                self._run.stop()
        return self.state()

    def state(self) -> RunState | None:
        """What is running, or ran last; None if nothing has run yet."""
        with self._lock:
            return None if self._run is None else self._run.state()

    def close(self) -> None:
        """Stop whatever runs."""
        with self._lock:
            if self._run is not None:
                self._run.close()
