"""Export of what a producer and a consumer learned as one ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcifr.data.files import sha256_of
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import read_arithmetic
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.trees import Trees
from lcifr.runs.auditing.parties import read_parties, refuse_mixed
from lcifr.runs.folders.summaries import read_producer, read_saved_encoder


@dataclass(frozen=True)
class ExportedModel:
    """A written ONNX file.

    Parameters
    ----------
    inputs : the columns of the table that it takes. outputs : what it says of a person, by name.
    """

    file: str
    sha256: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    arithmetic: str

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "format": "lcifr-model-exported-1",
            "command": "model export",
            "file": self.file,
            "sha256": self.sha256,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "arithmetic": self.arithmetic,
        }


def export_folders(producer: Path, consumer: Path | None, out: Path, arithmetic: str = "float32") -> ExportedModel:
    """The producer's encoder, or with a consumer the whole model from the table's columns to the decision.

    Raises
    ------
    LcifrError
        Where the two folders do not belong together, and for weights that the arithmetic does not hold.
    """
    from lcifr.models.loaders.onnx.export import LABEL, LATENT, SCORE, ExportedRule, export_onnx
    from lcifr.models.network import as_network
    from lcifr.models.rule import Kind

    kind = read_arithmetic(arithmetic)
    networks: tuple[Network, ...]
    decision: ExportedRule | None = None
    outputs: tuple[str, ...]
    if consumer is None:
        made = read_producer(producer)
        saved = read_saved_encoder(producer)
        refuse_mixed(producer, "encoder", made.encoder, saved.function.hash)
        networks, encoding, outputs = (as_network(saved.function),), saved.similarity.encoding, (LATENT,)
    else:
        parties = read_parties(producer, consumer)
        model: Model = parties.model
        if isinstance(model.function, Trees):
            raise LcifrError(
                f"what decides in {consumer} are trees, and only networks are exported",
                fix=f"export the encoder alone (`lcifr model export {producer} --out z.onnx`), "
                "and give the trees' own file beside it",
            )
        networks, encoding = (parties.encoder.network, model.network), parties.encoder.encoding
        decision = ExportedRule(model.rule, model.labels)
        outputs = (SCORE,) if model.rule.kind is Kind.NUMBER else (SCORE, LABEL)
    export_onnx(out, encoding, networks, decision, kind)
    return ExportedModel(str(out), sha256_of(out), encoding.schema.names, outputs, str(kind))
