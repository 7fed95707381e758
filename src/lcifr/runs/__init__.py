"""The work of the commands as functions: a request goes in, a result comes out, progress is heard as events.

    from lcifr.runs import AuditRequest, audit

Names are loaded when they are first used, so that the command line starts at once.

The work on people is also one function over Arrow record batches, for whatever engine one has. Everything that it needs
(models, φ, encoding, settings) is bytes with a hash, which open on any machine that has the same versions of lcifr and
of what computes, and nowhere else; nothing in them is run or unpickled. A batch of people goes in, a batch with the
same schema every time comes out, and equal people give equal answers.

    from lcifr.runs import PackedWork, audit_work, certify_work, represent_work

    work = audit_work(encoder, model)                   # people in, verdicts out; work.sha256 names it
    answer = work.function(id_column="who")             # answer.columns go in, answer.schema comes out
    table = pyarrow.dataset.dataset("people/")
    with pyarrow.parquet.ParquetWriter("verdicts.parquet", answer.schema) as file:
        for batch in table.to_batches(columns=list(answer.columns)):
            file.write_batch(answer(batch))

Spark's ``mapInArrow`` takes a function from an iterator of batches to an iterator of batches: one that opens
``PackedWork(data).function().map``, with ``data`` a broadcast variable and ``answer.schema`` as the schema. An engine
that sees batches alone cannot see whether an id comes twice; the commands do.
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
    from lcifr.runs.executors.batch_function import BatchFunction
    from lcifr.runs.executors.crew import RayCluster
    from lcifr.runs.executors.work import PackedWork, audit_work, certify_work, represent_work
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
    "BatchFunction": "lcifr.runs.executors.batch_function",
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
    "PackedWork": "lcifr.runs.executors.work",
    "ProduceRequest": "lcifr.runs.producing",
    "ProduceResult": "lcifr.runs.folders.results",
    "RayCluster": "lcifr.runs.executors.crew",
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
    "audit_work": "lcifr.runs.executors.work",
    "certify": "lcifr.runs.auditing.certifying",
    "certify_model": "lcifr.runs.models.certifying",
    "certify_work": "lcifr.runs.executors.work",
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
    "represent_work": "lcifr.runs.executors.work",
    "sweep": "lcifr.runs.sweeps.run",
    "sweep_model": "lcifr.runs.sweeps.run",
    "tune": "lcifr.runs.tuning",
}

__all__ = [
    "AuditRequest",
    "AuditResult",
    "BatchFunction",
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
    "PackedWork",
    "ProduceRequest",
    "ProduceResult",
    "RayCluster",
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
    "audit_work",
    "certify",
    "certify_model",
    "certify_work",
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
    "represent_work",
    "sweep",
    "sweep_model",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
