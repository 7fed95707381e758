"""Properties that take their time: a quarter of the examples in ``make test``, all of them in ``make test-long``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

EVERYTHING = "LCIFR_ALL_EXAMPLES"


def sampled(examples: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A property of hypothesis with so many examples."""
    count = examples if os.environ.get(EVERYTHING) else -(-examples // 4)
    return lambda test: pytest.mark.sampled(settings(max_examples=count)(test))
