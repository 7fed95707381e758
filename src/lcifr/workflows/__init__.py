"""The work of the commands as functions: a request goes in, a result comes out, progress is heard as events.

    from lcifr.workflows import AuditRequest, audit

Names are loaded when they are first used, so that the command line starts at once.

The work on people is also one function over Arrow record batches, for whatever engine one has. Everything that it needs
(models, φ, encoding, settings) is bytes with a hash, which open on any machine that has the same versions of lcifr and
of what computes, and nowhere else; nothing in them is run or unpickled. A batch of people goes in, a batch with the
same schema every time comes out, and equal people give equal answers.

    from lcifr.workflows import PackedWork, audit_work, certify_work, represent_work

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
    from lcifr.workflows.auditing import AuditRequest, audit
    from lcifr.workflows.certifying import CertifyRequest, certify
    from lcifr.workflows.checking import CheckRequest, CheckResult, check
    from lcifr.workflows.consuming import ConsumeRequest, consume
    from lcifr.workflows.diagnosis import CompareRequest, CompareResult, DoctorResult, compare_model, doctor
    from lcifr.workflows.drafting import InitRequest, InitResult, init
    from lcifr.workflows.executors import RayCluster
    from lcifr.workflows.formulas import (
        FormulaCheckResult,
        FormulaRequest,
        TableCheckRequest,
        TableCheckResult,
        check_formula,
        check_table,
        explain_formula,
    )
    from lcifr.workflows.jobs import BatchFunction, PackedWork, audit_work, certify_work, represent_work
    from lcifr.workflows.producing import ProduceRequest, produce
    from lcifr.workflows.representing import RepresentRequest, represent
    from lcifr.workflows.results import (
        AuditResult,
        CertifyResult,
        ConsumeResult,
        ProduceResult,
        RepresentResult,
        TuneResult,
    )
    from lcifr.workflows.sweeping import SweepRequest, SweepResult, sweep
    from lcifr.workflows.tuning import TuneRequest, tune

_HOMES = {
    "auditing": ("AuditRequest", "audit"),
    "certifying": ("CertifyRequest", "certify"),
    "checking": ("CheckRequest", "CheckResult", "check"),
    "consuming": ("ConsumeRequest", "consume"),
    "diagnosis": ("CompareRequest", "CompareResult", "DoctorResult", "compare_model", "doctor"),
    "drafting": ("InitRequest", "InitResult", "init"),
    "executors": ("RayCluster",),
    "formulas": (
        "FormulaCheckResult",
        "FormulaRequest",
        "TableCheckRequest",
        "TableCheckResult",
        "check_formula",
        "check_table",
        "explain_formula",
    ),
    "jobs": ("BatchFunction", "PackedWork", "audit_work", "certify_work", "represent_work"),
    "producing": ("ProduceRequest", "produce"),
    "representing": ("RepresentRequest", "represent"),
    "results": ("AuditResult", "CertifyResult", "ConsumeResult", "ProduceResult", "RepresentResult", "TuneResult"),
    "sweeping": ("SweepRequest", "SweepResult", "sweep"),
    "tuning": ("TuneRequest", "tune"),
}
"""Public names by the module that they come from."""

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
    "audit_work",
    "certify",
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
    "tune",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
