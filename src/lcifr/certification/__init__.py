"""Hand-over, verdicts, counterexamples, audit bundles, and what they say of a population."""

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import FrozenEncoder, Provenance, Representation, represent
from lcifr.certification.population import Statement, group_metrics, state
from lcifr.certification.verdicts import Audit, Certificates, Reason, Verdict

__all__ = [
    "Audit",
    "Certificates",
    "FrozenEncoder",
    "Provenance",
    "Reason",
    "Representation",
    "Statement",
    "Verdict",
    "audit",
    "certify",
    "group_metrics",
    "represent",
    "state",
    "write_bundle",
]
