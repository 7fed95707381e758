"""Tests that take their time: a part of their examples in ``make test``, more or all in ``make test-long``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings

EVERYTHING = "LCIFR_ALL_EXAMPLES"


def spread(values: Iterable[Any], *, quick: int, long: int) -> list[Any]:
    """Values as parameters of a test: the first ``quick`` for ``make test``, the next up to ``long`` for
    ``make test-long``, and the rest for ``make test-nightly``."""
    marks = [[]] * quick + [[pytest.mark.long]] * (long - quick)
    rest = [pytest.mark.nightly]
    return [pytest.param(value, marks=marks[at] if at < long else rest) for at, value in enumerate(values)]


def sampled(examples: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A property of hypothesis with so many examples."""
    count = quartered(examples)
    return lambda test: pytest.mark.sampled(settings(max_examples=count)(test))


def quartered(count: int) -> int:
    """So many seeds or points, or a quarter of them; for tests that are marked as sampled."""
    return count if os.environ.get(EVERYTHING) else -(-count // 4)
