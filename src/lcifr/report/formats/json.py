"""The report for machines: every fact as it is, numbers with all their digits."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from lcifr.report.content import Report

FORMAT = "lcifr-report-1"


def render(report: Report) -> str:
    """JSON, in the order of the content's fields."""
    return json.dumps(to_dict(report), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def to_dict(report: Report) -> dict[str, Any]:
    """Plain values."""
    return {"format": FORMAT, **asdict(report)}
