"""The subject of an audit: encoder, model and people; or a model from elsewhere, read and compared with its library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcifr.certification.counterexample import LibraryDecisions
from lcifr.certification.library.library_model import LibraryModel
from lcifr.certification.producer import Encoder, freeze
from lcifr.data import Encoding, Individuals, Schema, read_frame
from lcifr.errors import LcifrError
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.similarity.similarity import Similarity


@dataclass(frozen=True)
class Subject:
    """library : of a model from elsewhere; nothing counts as a counterexample that it does not confirm."""

    encoder: Encoder
    model: Model
    people: Individuals
    library: LibraryDecisions | None = None


def own_subject(
    encoder: Any, model: Any, X: Any, groups: Sequence[Sequence[Any]] | None, tolerance: float | None
) -> Subject:
    """An encoder of this package, or a frozen one, with a model on its latents."""
    frozen = freeze(encoder)
    return Subject(frozen, read_model(model, groups, tolerance), Individuals.read(X, frozen.encoding.schema))


def foreign_subject(
    model: Any,
    X: Any,
    similarity: Similarity | str,
    groups: Sequence[Sequence[Any]] | None,
    tolerance: float | None,
) -> Subject:
    """A fitted model of another library on the raw columns of a table.

    Raises
    ------
    NetworkError
        For what cannot be read exactly; and if the library decides otherwise about somebody in the table, where
        rounding cannot be the reason.
    """
    table = _pandas(X)
    if isinstance(similarity, str):
        schema = Schema.infer(table)
        similarity = Similarity(similarity, schema, Encoding.fit(table, schema))
    read = LibraryModel.read(model, table, similarity, groups, tolerance)
    people = Individuals.read(table, similarity.schema)
    return Subject(read.encoder, read.model, people, read.decisions_about(people, table))


def _pandas(X: Any) -> Any:
    import pandas as pd

    return X if isinstance(X, pd.DataFrame) else read_frame(X).to_pandas()


def subject_of(
    first: Any,
    second: Any,
    third: Any,
    similarity: Similarity | str | None,
    groups: Sequence[Sequence[Any]] | None,
    tolerance: float | None,
) -> Subject:
    """Of ``audit(encoder, model, X)``, or of ``audit(model, X, similarity=…)``; arguments may be named."""
    if similarity is None:
        if third is None:
            raise LcifrError(
                "an audit needs an encoder, a model and people; or a model, people and a similarity",
                fix="audit(encoder, model, X), or audit(model, X, similarity=…)",
            )
        return own_subject(first, second, third, groups, tolerance)
    model, people = (first, second) if third is None else (second, third)
    if third is not None and first is not None:
        raise LcifrError("the encoder has a similarity of its own", fix="leave similarity out, or the encoder")
    return foreign_subject(model, people, similarity, groups, tolerance)
