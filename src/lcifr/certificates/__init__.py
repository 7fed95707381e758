"""What was proved of whom? Hand-over, verdicts, counterexamples, audit bundles, and what they say of a population."""

from lcifr.certificates.auditor import Audit, audit
from lcifr.certificates.bundle import write_bundle
from lcifr.certificates.consumer import certify
from lcifr.certificates.decision import Decision, Model
from lcifr.certificates.encoder import Encoder, FrozenEncoder
from lcifr.certificates.handover import Provenance, Representation
from lcifr.certificates.latent import represent
from lcifr.certificates.population import Statement, group_metrics, state
from lcifr.certificates.verdicts import Certificates, Reason, Verdict

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
