"""The work of the commands as functions: a request goes in, a result comes out, progress is heard as events.

    from lcifr.runs import AuditRequest, audit

Names are loaded when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.runs.auditing.certify_result import CertifyResult
    from lcifr.runs.auditing.certifying import CertifyRequest, certify
    from lcifr.runs.auditing.result import AuditResult
    from lcifr.runs.auditing.run import AuditRequest, audit
    from lcifr.runs.checking import CheckRequest, CheckResult, check
    from lcifr.runs.consume_request import ConsumeRequest
    from lcifr.runs.consuming import consume
    from lcifr.runs.folders.results import ConsumeResult, ProduceResult, RepresentResult, TuneResult
    from lcifr.runs.models.auditing import ModelAuditRequest, audit_model
    from lcifr.runs.models.certifying import ModelCertifyRequest, certify_model
    from lcifr.runs.models.comparing import CompareRequest, CompareResult, compare_model
    from lcifr.runs.preparing.environment import DoctorResult, doctor
    from lcifr.runs.preparing.formula_check import FormulaCheckResult, FormulaRequest, check_formula, explain_formula
    from lcifr.runs.preparing.initializing import InitRequest, InitResult, init
    from lcifr.runs.preparing.table_check import TableCheckRequest, TableCheckResult, check_table
    from lcifr.runs.producing import ProduceRequest, produce
    from lcifr.runs.representing import RepresentRequest, represent
    from lcifr.runs.sweeps.folder import SweepResult
    from lcifr.runs.sweeps.run import ModelSweepRequest, SweepRequest, sweep, sweep_model
    from lcifr.runs.tuning import TuneRequest, tune

_HOMES = {
    "AuditRequest": "lcifr.runs.auditing.run",
    "AuditResult": "lcifr.runs.auditing.result",
    "CertifyRequest": "lcifr.runs.auditing.certifying",
    "CertifyResult": "lcifr.runs.auditing.certify_result",
    "CheckRequest": "lcifr.runs.checking",
    "CheckResult": "lcifr.runs.checking",
    "CompareRequest": "lcifr.runs.models.comparing",
    "CompareResult": "lcifr.runs.models.comparing",
    "ConsumeRequest": "lcifr.runs.consume_request",
    "ConsumeResult": "lcifr.runs.folders.results",
    "DoctorResult": "lcifr.runs.preparing.environment",
    "FormulaCheckResult": "lcifr.runs.preparing.formula_check",
    "FormulaRequest": "lcifr.runs.preparing.formula_check",
    "InitRequest": "lcifr.runs.preparing.initializing",
    "InitResult": "lcifr.runs.preparing.initializing",
    "ModelAuditRequest": "lcifr.runs.models.auditing",
    "ModelCertifyRequest": "lcifr.runs.models.certifying",
    "ModelSweepRequest": "lcifr.runs.sweeps.run",
    "ProduceRequest": "lcifr.runs.producing",
    "ProduceResult": "lcifr.runs.folders.results",
    "RepresentRequest": "lcifr.runs.representing",
    "RepresentResult": "lcifr.runs.folders.results",
    "SweepRequest": "lcifr.runs.sweeps.run",
    "SweepResult": "lcifr.runs.sweeps.folder",
    "TableCheckRequest": "lcifr.runs.preparing.table_check",
    "TableCheckResult": "lcifr.runs.preparing.table_check",
    "TuneRequest": "lcifr.runs.tuning",
    "TuneResult": "lcifr.runs.folders.results",
    "audit": "lcifr.runs.auditing.run",
    "audit_model": "lcifr.runs.models.auditing",
    "certify": "lcifr.runs.auditing.certifying",
    "certify_model": "lcifr.runs.models.certifying",
    "check": "lcifr.runs.checking",
    "check_formula": "lcifr.runs.preparing.formula_check",
    "check_table": "lcifr.runs.preparing.table_check",
    "compare_model": "lcifr.runs.models.comparing",
    "consume": "lcifr.runs.consuming",
    "doctor": "lcifr.runs.preparing.environment",
    "explain_formula": "lcifr.runs.preparing.formula_check",
    "init": "lcifr.runs.preparing.initializing",
    "produce": "lcifr.runs.producing",
    "represent": "lcifr.runs.representing",
    "sweep": "lcifr.runs.sweeps.run",
    "sweep_model": "lcifr.runs.sweeps.run",
    "tune": "lcifr.runs.tuning",
}

__all__ = [
    "AuditRequest",
    "AuditResult",
    "CertifyRequest",
    "CertifyResult",
    "CheckRequest",
    "CheckResult",
    "CompareRequest",
    "CompareResult",
    "ConsumeRequest",
    "ConsumeResult",
    "DoctorResult",
    "FormulaCheckResult",
    "FormulaRequest",
    "InitRequest",
    "InitResult",
    "ModelAuditRequest",
    "ModelCertifyRequest",
    "ModelSweepRequest",
    "ProduceRequest",
    "ProduceResult",
    "RepresentRequest",
    "RepresentResult",
    "SweepRequest",
    "SweepResult",
    "TableCheckRequest",
    "TableCheckResult",
    "TuneRequest",
    "TuneResult",
    "audit",
    "audit_model",
    "certify",
    "certify_model",
    "check",
    "check_formula",
    "check_table",
    "compare_model",
    "consume",
    "doctor",
    "explain_formula",
    "init",
    "produce",
    "represent",
    "sweep",
    "sweep_model",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
