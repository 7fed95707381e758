"""The subject of an audit: encoder, model and people; or a model from elsewhere, read and compared with its library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.deployment import Encoder
from lcifr.certification.library.decisions import LibraryDecisions
from lcifr.certification.library.library_model import LibraryModel
from lcifr.certification.producer import freeze
from lcifr.data import Categorical, Encoding, Individuals, Schema, read_frame
from lcifr.errors import LcifrError, TableError, TableProblem
from lcifr.models.files.description import ModelDescription
from lcifr.models.load import ModelFile, load_file, read_model
from lcifr.models.model import Model
from lcifr.models.table_model import ColumnOrderWarning
from lcifr.similarity.similarity import Similarity


@dataclass(frozen=True)
class Subject:
    """Parameters
    ----------
    library : of a model from elsewhere; nothing counts as a counterexample that it does not confirm.
    missing : (rows,) of a table for such a model, where a value is missing: nobody of ``people``. None where no row is.
    assumptions : what every verdict rests on and no library checks, in sentences.
    arithmetic : that the description of such a model declares; None where it declares none.
    """

    encoder: Encoder
    model: Model
    people: Individuals
    library: LibraryDecisions | None = None
    missing: NDArray[np.bool_] | None = None
    assumptions: tuple[str, ...] = ()
    arithmetic: str | None = None


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
    """A model of another library on the raw columns of a table: a fitted object, or the path of its file.

    Raises
    ------
    NetworkError
        For what cannot be read exactly; and if the library decides otherwise about somebody in the table, where
        rounding cannot be the reason.
    """
    if isinstance(model, str | Path):
        model = load_file(model)
    described = getattr(model, "description", None)
    if isinstance(described, ModelDescription):
        described.refuse_draft("or go on with the guesses: dataclasses.replace(description, draft=False)")
    table = _pandas(X)
    schema = _inferred(table) if isinstance(similarity, str) else similarity.schema
    missing = rows_with_missing(table, schema)
    if isinstance(similarity, str):
        known = table[[name for name in table.columns if name in schema]]
        similarity = Similarity(similarity, schema, Encoding.fit(known, schema, skip_missing=True))
    if missing.any():
        table = table[~missing].reset_index(drop=True)
    read = LibraryModel.read(model, table, similarity, groups, tolerance)
    people = Individuals.read(table[[name for name in table.columns if name in schema]], schema)
    library = read.decisions_about(people, table)
    file = model if isinstance(model, ModelFile) else None
    assumed: tuple[str, ...] = () if file is None else file.outline().assumptions
    if (positional := read.source.positional) is not None:
        assumed = tuple(dict.fromkeys((*assumed, positional.assumption)))
        if (text := positional.warning("the table", table.columns)) is not None:
            warnings.warn(text, ColumnOrderWarning, stacklevel=4)
    described = None if file is None else file.description
    asked = None if described is None or described.arithmetic is None else described.arithmetic.value
    return Subject(read.encoder, read.model, people, library, missing if missing.any() else None, assumed, asked)


def _inferred(table: Any) -> Schema:
    try:
        return Schema.infer(table)
    except TableError as problem:
        raise TableError(
            problem.problems,
            fix="leave out columns that the model does not read: X.drop(columns=[…]); or say what they are: "
            "similarity=Similarity(text, Schema.infer(X, categorical=[…]), X). "
            "A date is compared as a number, such as an age in years",
        ) from None


def rows_with_missing(table: Any, schema: Schema) -> NDArray[np.bool_]:
    """(rows,) of a pandas frame, whether a value of an attribute is missing or blank.

    Raises
    ------
    TableError
        If there is no row without one.
    """
    found = np.zeros(len(table), np.bool_)
    for name in [name for name in schema.names if name in table.columns]:
        column = table[name]
        found |= column.isna().to_numpy(np.bool_)
        if column.dtype.kind not in "biuf" and isinstance(schema[name], Categorical):
            found |= np.array([isinstance(value, str) and not value.strip() for value in column], np.bool_)
    if len(found) and found.all():
        raise TableError([TableProblem("every row has a missing value")], fix="fill them as the model's users would")
    return found


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
