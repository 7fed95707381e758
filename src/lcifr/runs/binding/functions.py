"""The functions of a bundle, derived again from the reader's own model: a file of another library, or our folders."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.certification.bundle import encoder_bytes
from lcifr.certification.subject import rule_of_bundle
from lcifr.errors import LcifrError

if TYPE_CHECKING:
    from lcifr.data import Encoding
    from lcifr.models.function import Function
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Model

Json = dict[str, Any]
ENCODER, HEAD = "encoder.safetensors", "model.safetensors"


@dataclass(frozen=True)
class DerivedModel:
    """What a bundle says of a model, as the reader's own one says it; None where it has no such part.

    Parameters
    ----------
    encoding : how it encodes people; the scales in it are not the model's.
    encoder, model : bytes of the functions. rule : of decision, without what the audit chose.
    classes : what the model calls them, in the order of the rule's numbers; empty for numbers.
    """

    encoding: Encoding | None
    encoder: bytes | None
    model: bytes | None
    rule: Json | None
    classes: tuple[str, ...] = ()


def derive_from_file(
    file: ModelFile, table: Path, encoding: Encoding, id_column: str | None, rule: Json | None
) -> DerivedModel:
    """A model of another library, read as an audit reads it for the columns of a table of people.

    Parameters
    ----------
    rule : of the bundle, whose tolerance is the audit's choice.
    """
    from lcifr.phi import Similarity
    from lcifr.runs.models.preparing import ModelQuestion, PreparedModel, read_for_people
    from lcifr.runs.people.tables import scan_people

    anybody = Similarity("same(all)", encoding.schema, encoding)  # who is similar changes nothing about the model
    tolerance = _tolerance(rule) if file.outline().is_number else None
    question = ModelQuestion(model=file.path, table=table, phi="", id_column=id_column, tolerance=tolerance)
    with tempfile.TemporaryDirectory() as work:
        source = scan_people(table, encoding.schema, id_column, Path(work), labels=False, skip_missing=True)
        subject = read_for_people(PreparedModel(file, anybody, ""), question, source)
    return _derived(subject.encoder.encoding, subject.encoder.function, subject.model)


def derive_from_folders(folders: tuple[Path, ...], rule: Json | None) -> DerivedModel:
    """What `lcifr produce` and `lcifr consume` wrote; of several folders with a model that decides, the last one's.

    Parameters
    ----------
    rule : of the bundle; without one it is about an encoder alone.
    """
    from lcifr.certification.saved_models import read_saved_function
    from lcifr.models.rule import Kind
    from lcifr.runs.folders.summaries import read_consumer, read_saved_head

    encoders = [folder for folder in folders if (folder / ENCODER).is_file()]
    heads = [folder for folder in folders if (folder / HEAD).is_file()]
    if strange := [folder for folder in folders if folder not in (*encoders, *heads)]:
        raise LcifrError(
            f"{strange[0]} holds no {ENCODER} and no {HEAD}",
            fix="give a model file, or the folders that `lcifr produce` and `lcifr consume` wrote",
        )
    if rule is None:
        heads = [folder for folder in heads if folder not in encoders]  # a booster that could decide, and is not asked
    model = None
    if heads:
        model = read_saved_head(heads[-1], read_consumer(heads[-1]).task).model
        model = model.agreeing(tolerance=_tolerance(rule) if model.rule.kind is Kind.NUMBER else None)
    if not encoders:
        return _derived(None, None, model)
    saved = read_saved_function(encoders[-1] / ENCODER)
    return _derived(saved.encoding, saved.function, model)


def _tolerance(rule: Json | None) -> float:
    """The one of the bundle; of a rule for classes any will do, as the kinds differ already."""
    return float((rule or {}).get("tolerance", 0.0))


def _derived(encoding: Encoding | None, function: Function | None, model: Model | None) -> DerivedModel:
    encoder = None if function is None else encoder_bytes(function, model)
    if model is None:
        return DerivedModel(encoding, encoder, None, None)
    classes = () if model.labels is None else tuple(str(label) for label in model.labels)
    rule = without_choices(rule_of_bundle(model.rule))
    return DerivedModel(encoding, encoder, model.function.to_bytes(), rule, classes)


def without_choices(rule: Json | None) -> Json | None:
    """A rule without what an audit chooses: classes that count as one, and how far numbers may be apart."""
    return None if rule is None else {name: said for name, said in rule.items() if name not in ("groups", "tolerance")}
