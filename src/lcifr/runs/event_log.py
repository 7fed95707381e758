"""Events of a run as lines of JSON in a file, for whoever watches it from another process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcifr.runs.events import Event

VARIABLE = "LCIFR_EVENTS"
"""Names the file that every command adds its events to."""


@dataclass(frozen=True)
class EventLog:
    """A listener that adds every event to a file."""

    path: Path

    def __call__(self, event: Event) -> None:
        line = json.dumps({"event": type(event).__name__.lower(), **asdict(event)}, default=str)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


@dataclass(frozen=True)
class LoggedEvents:
    """Events as they were written; start : where in the file to go on reading."""

    events: tuple[dict[str, Any], ...]
    start: int


def read_events(path: Path, start: int = 0) -> LoggedEvents:
    """The events that were added since; a line that is still being written waits for the next time."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            lines, _, _ = file.read().rpartition(b"\n")
    except FileNotFoundError:
        return LoggedEvents((), start)
    found = tuple(json.loads(line) for line in lines.split(b"\n") if line)
    return LoggedEvents(found, start + len(lines) + bool(lines))
