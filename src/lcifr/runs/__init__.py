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
    from lcifr.runs.consuming import ConsumeRequest, consume
    from lcifr.runs.producing import ProduceRequest, produce
    from lcifr.runs.representing import RepresentRequest, represent
    from lcifr.runs.results import ConsumeResult, ProduceResult, RepresentResult, TuneResult
    from lcifr.runs.tuning import TuneRequest, tune

_HOMES = {
    "AuditRequest": "lcifr.runs.auditing.run",
    "AuditResult": "lcifr.runs.auditing.result",
    "CertifyRequest": "lcifr.runs.auditing.certifying",
    "CertifyResult": "lcifr.runs.auditing.certifying",
    "ConsumeRequest": "lcifr.runs.consuming",
    "ConsumeResult": "lcifr.runs.results",
    "ProduceRequest": "lcifr.runs.producing",
    "ProduceResult": "lcifr.runs.results",
    "RepresentRequest": "lcifr.runs.representing",
    "RepresentResult": "lcifr.runs.results",
    "TuneRequest": "lcifr.runs.tuning",
    "TuneResult": "lcifr.runs.results",
    "audit": "lcifr.runs.auditing.run",
    "certify": "lcifr.runs.auditing.certifying",
    "consume": "lcifr.runs.consuming",
    "produce": "lcifr.runs.producing",
    "represent": "lcifr.runs.representing",
    "tune": "lcifr.runs.tuning",
}

__all__ = [
    "AuditRequest",
    "AuditResult",
    "CertifyRequest",
    "CertifyResult",
    "ConsumeRequest",
    "ConsumeResult",
    "ProduceRequest",
    "ProduceResult",
    "RepresentRequest",
    "RepresentResult",
    "TuneRequest",
    "TuneResult",
    "audit",
    "certify",
    "consume",
    "produce",
    "represent",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
