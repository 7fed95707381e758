"""Hand-over, verdicts, counterexamples, audit bundles, and what they say of a population."""

from lcifr.artifacts.handover import Provenance, Representation
from lcifr.certify.auditor import Audit, audit
from lcifr.certify.bundle import write_bundle
from lcifr.certify.consumer import certify
from lcifr.certify.decision import Decision, Model
from lcifr.certify.encoder import Encoder, FrozenEncoder
from lcifr.certify.population import Statement, group_metrics, state
from lcifr.certify.producer import represent
from lcifr.certify.verdicts import Certificates, Reason, Verdict

__all__ = [
    "Audit",
    "Certificates",
    "Decision",
    "Encoder",
    "FrozenEncoder",
    "Model",
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
