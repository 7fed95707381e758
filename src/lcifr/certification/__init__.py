"""Hand-over, verdicts, counterexamples, audit bundles, and what they say of a population."""

from lcifr.artifacts.handover import Representation
from lcifr.artifacts.provenance import Provenance
from lcifr.certification.auditor import audit
from lcifr.certification.bundles.writer import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.deployment import Encoder
from lcifr.certification.population.statement import Statement, group_metrics, state
from lcifr.certification.producer import FrozenEncoder, represent
from lcifr.certification.verdicts import Audit, Certificates, Reason, Verdict

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
