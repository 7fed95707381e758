"""Tests that take their time: a quarter of their examples in ``make test``, all of them in ``make test-long``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

EVERYTHING = "LCIFR_ALL_EXAMPLES"


def sampled(examples: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A property of hypothesis with so many examples."""
    count = quartered(examples)
    return lambda test: pytest.mark.sampled(settings(max_examples=count)(test))


def quartered(count: int) -> int:
    """So many seeds or points, or a quarter of them; for tests that are marked as sampled."""
    return count if os.environ.get(EVERYTHING) else -(-count // 4)
