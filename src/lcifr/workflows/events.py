"""Progress of a run as events, for anyone who listens: a terminal, a notebook, a browser, a file of JSON lines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

# Progress of a run as events, for whoever listens: a terminal, a notebook, a browser.
#
# Work deep inside a run says what it does with :func:`note`, :func:`warn` and :func:`step`. No one hears it unless a
# listener was set with :func:`listening`: a library that prints by itself is in the way of every program but one.


class StepKind(StrEnum):
    """What a listener can expect of a step."""

    WAIT = "wait"
    """It cannot say how far it is."""
    COUNT = "count"
    """It counts things."""
    PEOPLE = "people"
    """It counts people, some of whom may have been done by an earlier run."""
    LONG = "long"
    """It has steps of its own, and takes long enough for its time to be worth a line."""


@dataclass(frozen=True)
class Note:
    """Something the user should know."""

    text: str


@dataclass(frozen=True)
class Warned:
    """Something the user should look into."""

    text: str


@dataclass(frozen=True)
class Resumed:
    """The run resumes in the folder where an earlier one was stopped."""

    folder: Path


@dataclass(frozen=True)
class Started:
    """A step begins. total : how many there are to count, where that is known."""

    step: str
    kind: StepKind
    total: int | None = None


@dataclass(frozen=True)
class Advanced:
    """``done`` of ``total`` are done, ``resumed`` of them by an earlier run; ``workers`` are at it."""

    step: str
    done: int
    total: int | None
    resumed: int = 0
    workers: int = 1


@dataclass(frozen=True)
class Ended:
    """A step is over, whether it succeeded or not."""

    step: str
    seconds: float


Event = Note | Warned | Resumed | Started | Advanced | Ended
Listener = Callable[[Event], None]
Advance = Callable[[int, int | None], None]


def ignore(event: Event) -> None:
    """The listener of those who do not listen."""


_listener: ContextVar[Listener] = ContextVar("listener", default=ignore)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Hear every event of what runs inside; None leaves it to whoever listens already."""
    before = _listener.set(_listener.get() if listener is None else listener)
    try:
        yield
    finally:
        _listener.reset(before)


def emit(event: Event) -> None:
    """Tell the listener."""
    _listener.get()(event)


def note(text: str) -> None:
    """Something the user should know."""
    emit(Note(text))


def warn(text: str) -> None:
    """Something the user should look into."""
    emit(Warned(text))


@contextmanager
def step(name: str, kind: StepKind = StepKind.WAIT, total: int | None = None) -> Iterator[Advance]:
    """A step of a run; yields a function to call with how many are done, and of how many."""
    emit(Started(name, kind, total))
    begun = time.monotonic()
    try:
        yield lambda done, of: emit(Advanced(name, done, of))
    finally:
        emit(Ended(name, time.monotonic() - begun))


@contextmanager
def counting_people(total: int | None) -> Iterator[Callable[..., None]]:
    """A step over people; yields ``advance(people, worked=True, workers=1)``, not ``worked`` for those found done."""
    name, done, resumed = "people", 0, 0

    def advance(people: int, *, worked: bool = True, workers: int = 1) -> None:
        nonlocal done, resumed
        done, resumed = done + people, resumed + (0 if worked else people)
        emit(Advanced(name, done, total, resumed, workers))

    with step(name, StepKind.PEOPLE, total):
        yield advance


# Events of a run as lines of JSON in a file, for whoever watches it from another process.

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
    """Events as they were written; start : where in the file to continue reading."""

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
