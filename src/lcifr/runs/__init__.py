"""The work of the commands as functions: a request goes in, a result comes out, progress is heard as events.

    from lcifr.runs import AuditRequest, audit

Names are loaded when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.runs.auditing.certifying import CertifyRequest, CertifyResult, certify
    from lcifr.runs.auditing.result import AuditResult
    from lcifr.runs.auditing.run import AuditRequest, audit

_HOMES = {
    "AuditRequest": "lcifr.runs.auditing.run",
    "AuditResult": "lcifr.runs.auditing.result",
    "CertifyRequest": "lcifr.runs.auditing.certifying",
    "CertifyResult": "lcifr.runs.auditing.certifying",
    "audit": "lcifr.runs.auditing.run",
    "certify": "lcifr.runs.auditing.certifying",
}

__all__ = ["AuditRequest", "AuditResult", "CertifyRequest", "CertifyResult", "audit", "certify"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
