"""Hashes: which weights, formula and encoding a claim is about, with the rule of decision and the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lcifr.certification.producer import freeze
from lcifr.errors import ArtefactError
from lcifr.models.model import Model
from lcifr.models.rule import Kind, Rule


def rule_of_bundle(rule: Rule) -> dict[str, Any]:
    """As an audit bundle holds it, and the checker reads it."""
    if rule.kind is Kind.NUMBER:
        return {"kind": "within", "tolerance": rule.known_tolerance}
    band = {} if rule.band == (0.0, 0.0) else {"band": list(rule.band)}
    if rule.kind is Kind.CLASS:
        return {"kind": "class", "groups": [list(group) for group in rule.groups], **band}
    return {"kind": "sign", **band}


@dataclass(frozen=True)
class Hashes:
    """Weights, formula and encoding by hash; the rule of decision and the arithmetic in full.

    Parameters
    ----------
    encoder, model : weights. similarity : φ, resolved. encoding : of the people.
    decision : what counts as the same decision. arithmetic : in which the models are computed.
    """

    encoder: str
    model: str
    similarity: str
    encoding: str
    decision: Mapping[str, Any]
    arithmetic: str

    @classmethod
    def of(cls, encoder: Any, model: Model, arithmetic: str) -> Hashes:
        """Those of an encoder with its φ, and of the model on top of it, both computed in this arithmetic."""
        frozen = freeze(encoder)
        return cls(
            encoder=frozen.function.hash,
            model=model.function.hash,
            similarity=frozen.similarity.hash,
            encoding=frozen.encoding.hash,
            decision=rule_of_bundle(model.rule),
            arithmetic=str(arithmetic),
        )

    def refuse_others(self, found: Mapping[str, Any], where: Path) -> None:
        """Refuse what a file says of itself where it is about something else; the first difference is named."""
        expected = asdict(self)
        for field in fields(self):
            if found.get(field.name) != expected[field.name]:
                raise ArtefactError(
                    f"{where} is about another {WORDS[field.name]}: {_short(found.get(field.name))}, "
                    f"expected {_short(expected[field.name])}",
                    fix="give the folder as it was written, or audit again",
                )


WORDS = {
    "encoder": "encoder",
    "model": "model",
    "similarity": "φ",
    "encoding": "encoding of the people",
    "decision": "rule of decision",
    "arithmetic": "arithmetic",
}


def _short(value: Any) -> str:
    return f"{value[:12]}…" if isinstance(value, str) and len(value) > 12 else str(value)
