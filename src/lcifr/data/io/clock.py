"""The moment in UTC, for everything that is dated."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def moment() -> datetime:
    """Now; SOURCE_DATE_EPOCH names another moment, for what is made again byte for byte."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)


def now() -> str:
    """The moment to the second, as ``2026-11-16T18:00:00+00:00``."""
    return moment().isoformat(timespec="seconds")
