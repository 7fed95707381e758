"""Hand-over, verdicts, counterexamples, audit bundles, and what they say of a population."""

from lcifr.certify.audit import audit
from lcifr.certify.bundle import write_bundle
from lcifr.certify.consumer import certify
from lcifr.certify.deployment import Encoder
from lcifr.certify.handover import FrozenEncoder, Provenance, Representation, represent
from lcifr.certify.population import Statement, group_metrics, state
from lcifr.certify.verdicts import Audit, Certificates, Reason, Verdict

__all__ = [
    "Audit",
    "Certificates",
    "Encoder",
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
