"""Processes are started where there is work for them, and nowhere else."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest

from lcifr.workflows import executors as workers
from lcifr.workflows.executors import LocalPool

CLOCK = [0.0]
"""Seconds since the beginning; nobody really waits, so that a busy machine changes nothing."""


@dataclass(frozen=True)
class Some:
    ids: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Slow:
    """Takes so long for each person; the first time, as if something had to be compiled, much longer."""

    seconds: float
    first: float = 0.0

    def part(self, chunk: Some) -> bytes:
        CLOCK[0] += self.seconds * len(chunk.ids) + (self.first if chunk.ids[0] == 0 else 0)
        return b"done"


def started_at(
    job: Slow, people: int, asked: int | None, monkeypatch: pytest.MonkeyPatch, known: bool = True
) -> int | None:
    """The chunk of ten people with which other processes were started; None if never."""
    monkeypatch.setattr(workers, "available_cores", lambda: 4)
    monkeypatch.setattr(workers.time, "perf_counter", lambda: CLOCK[0])
    monkeypatch.setattr(LocalPool, "_start", lambda self: setattr(self, "_pool", Pool()))
    with LocalPool(job, asked) as pool:
        for start in range(0, people, 10):
            pool.submit(Some(tuple(range(start, start + 10))), people - start if known else None)
            if pool.size > 1:
                return start // 10
    return None


class Pool:
    def submit(self, *work: Any) -> Future[bytes]:
        return Future()

    def shutdown(self, **how: Any) -> None:
        pass


def test_what_is_soon_done_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STARTING", 0.5)
    assert started_at(Slow(0.0001), 100, None, monkeypatch) is None
    assert started_at(Slow(0.0001, first=0.2), 100, None, monkeypatch) is None  # compiling says nothing of the others


def test_what_takes_long_is_done_on_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STARTING", 0.05)
    assert started_at(Slow(0.001), 200, None, monkeypatch) == workers.TRIED
    assert started_at(Slow(0.002), 200, None, monkeypatch, known=False) == 3  # nobody knows how many will come


def test_who_says_a_number_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STARTING", 0.001)
    assert started_at(Slow(0.001), 50, 1, monkeypatch) is None
    monkeypatch.setattr(workers, "STARTING", 1e9)
    assert started_at(Slow(0.0), 50, 3, monkeypatch) == 0
