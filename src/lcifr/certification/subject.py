"""The subject of an audit: encoder, model and people; or a model from elsewhere, read and compared with its library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcifr.certification.counterexample import LibraryDecisions, deploy_both, outputs_end_to_end
from lcifr.certification.producer import Encoder, FrozenEncoder, freeze
from lcifr.certification.query import is_strict
from lcifr.data import Encoding, Individuals, Schema, read_frame
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.load import read_model, read_table_model
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
    read = read_table_model(model, table, similarity.encoding)
    known = read.model.agreeing(groups, tolerance)
    people = Individuals.read(table, similarity.schema)
    encoder = FrozenEncoder(read.inputs, similarity.over(read.encoding))
    library = LibraryDecisions(read, known, np.asarray(read.predict(table)))
    subject = Subject(encoder, known, people, library)
    _refuse_disagreement(subject, library)
    return subject


def _pandas(X: Any) -> Any:
    import pandas as pd

    return X if isinstance(X, pd.DataFrame) else read_frame(X).to_pandas()


def _refuse_disagreement(subject: Subject, library: LibraryDecisions) -> None:
    """Raise if the library decides otherwise than its model as it was read, beyond what float arithmetic can do."""
    deployment = deploy_both(subject.encoder, subject.model.network, Arithmetic.EXACT, None)
    outputs = outputs_end_to_end(deployment, subject.encoder.encoding.encode(subject.people))
    # The bound holds for sums in any order, so for the library's own, too; in its format.
    coarser = 2.0**30 if subject.model.network.native is Arithmetic.FLOAT32 else 2.0
    outputs = replace(outputs, deployment_error=coarser * outputs.rounding_error)
    found = subject.model.decide(outputs.values)
    if subject.model.labels is None:
        wrong = np.abs(found - library.own) > outputs.error.sum(1)
    else:
        wrong = is_strict(subject.model.rule, outputs) & (found != library.own)
    if wrong.any():
        row = int(wrong.argmax())
        raise NetworkError(
            f"the library decides otherwise than its model as it was read about {int(wrong.sum())} of {len(wrong)} "
            f"people; the first is row {row}: {library.own[row]!r}, not {found[row]!r}",
            fix="see that the table is the one that the model takes (spaces in texts, dtypes), or report this model",
        )


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
