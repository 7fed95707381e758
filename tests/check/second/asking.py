"""The second checker, asked about the contents of a bundle."""

from __future__ import annotations

from typing import Any

from tests.check.second import BROKEN, Second


def second_of(plain: dict[str, Any]) -> Second:
    networks = (plain["encoder.json"], plain["model.json"])
    return Second(plain["encoding"], plain["similarity"]["formula"], *networks, plain["manifest"]["decision"])


def refused(second: Second, line: Any) -> str:
    """Why; empty if it is confirmed."""
    try:
        second.judge(line)
    except BROKEN as problem:
        return repr(problem)
    return ""
