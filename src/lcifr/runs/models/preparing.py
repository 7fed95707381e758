"""From model file, table and φ to what is audited and on whom: schema, scales, complete rows, the model as read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.data.files import json_value
from lcifr.data.frames import text_of
from lcifr.errors import LcifrError, TableError
from lcifr.runs.events import note, step, warn
from lcifr.runs.formulas import fit_similarity, read_formula
from lcifr.runs.models.opening import ModelOptions, open_model, schema_of_table
from lcifr.runs.models.subject import ModelSubject, read_subject
from lcifr.runs.people.source import LEARNED, PeopleSource, is_table

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Schema
    from lcifr.models.loading import ModelFile
    from lcifr.phi import Similarity
    from lcifr.runs.executors.crew import Workers
    from lcifr.runs.people.loading import LoadedTable

EXAMPLES = 100
"""Rows of the table that the model is read with, and those where a category appears first."""


@dataclass(frozen=True, kw_only=True)
class ModelQuestion(ModelOptions):
    """A model, and who counts as similar to the people it decides about; see :class:`ModelOptions`.

    Parameters
    ----------
    table : the people, a .csv or .parquet file. phi : a file, or the name of a ready formula.
    reference : a table of people whose standard deviations and ranks φ speaks of, such as those the model was trained
        on; None for ``table`` itself.
    tolerance : of a model that predicts numbers, how far two may be apart. groups : classes that count as one decision.
    arithmetic : ``exact``, ``float64`` or ``float32``; None for the one that the model comes from.
    """

    table: Path
    phi: str
    reference: Path | None = None
    tolerance: float | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    arithmetic: str | None = None

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that are read, by argument."""
        files = {
            "model": self.model,
            "describe": self.description,
            "table": self.table,
            "phi": Path(self.phi),
            "schema": None if self.schema is None else Path(self.schema),
            "reference": self.reference,
        }
        return {name: path for name, path in files.items() if path is not None and is_table(path)}


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """A model file with schema and φ, before the people are read.

    ``training`` : the reference with its labels, to learn baselines from; None where it has none, or is the table.
    ``warnings`` : what a reader should know about the reference.
    """

    file: ModelFile
    similarity: Similarity
    reference: str
    training: LoadedTable | None = None
    warnings: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.similarity.schema


def prepare_model(question: ModelQuestion) -> PreparedModel:
    """Open the model, and give φ the scales of the reference; nobody of the table is looked at yet.

    Raises
    ------
    LcifrError
        For whatever does not fit together, before anything is proved.
    """
    from lcifr.runs.people.loading import load_whole

    with step(f"Opening {question.model}"):
        file = open_model(question.model, question.describe, question.missing, drafts=question.accept_draft)
        outline = file.outline()
    if file.description is not None and file.description.draft:
        note(file.description.draft_notice)
    if outline.is_number and question.tolerance is None:
        raise LcifrError(
            f"{question.model} predicts a number, so it needs a tolerance",
            fix="add --tolerance NUMBER: how far apart two predictions may be and still count as the same",
        )
    text, source = read_formula(question.phi)
    path = question.table if question.reference is None else question.reference
    loaded = load_whole(
        path, None, "taking standard deviations", f"say --reference TABLE with at most {LEARNED:,} people"
    )
    schema = schema_of_table(loaded.frame, path, question, outline, question.phi)
    with step(f"Computing standard deviations from {path}"):
        similarity = _fit(text, source, schema, loaded.frame, path)
    labelled = question.reference is not None and schema.target in loaded.frame.column_names
    missing = None if file.description is None else file.description.missing
    return PreparedModel(
        file,
        similarity,
        str(path),
        _complete(loaded, similarity, path) if labelled else None,
        () if missing is None else _missing_as_numbers(missing, loaded.frame, schema, path),
    )


def _missing_as_numbers(missing: float, frame: pa.Table, schema: Schema, path: Path) -> tuple[str, ...]:
    """A warning if the number that stands for a missing value occurs in a table, where it counts as a number."""
    import pandas as pd

    found = []
    for name in schema.names_numeric:
        if name in frame.column_names:
            values = pd.to_numeric(frame[name].to_pandas(), errors="coerce").to_numpy(float, na_value=np.nan)
            with np.errstate(over="ignore"):
                rows = int((values.astype(np.float32) == np.float32(missing)).sum())  # as XGBoost compares
            if rows:
                found.append(f'"{name}" ({rows:,} of {len(values):,} rows)')
    if not found:
        return ()
    return (
        f"in {path}, {missing:.12g} stands for a missing value, but φ and its standard deviations take it for a "
        f"number: {', '.join(found)}; leave these cells empty to have such rows counted as not examined",
    )


def _fit(text: str, source: str, schema: Schema, frame: pa.Table, path: Path) -> Similarity:
    missing = [name for name in schema.names if name not in frame.column_names]
    try:
        known = frame.select([name for name in schema.names if name not in missing])
        return fit_similarity(text, source, schema, known, skip_missing=True)
    except TableError as error:
        raise TableError(error.problems, source=str(path), fix=error.fix) from None


def _complete(loaded: LoadedTable, similarity: Similarity, path: Path) -> LoadedTable | None:
    """The rows of a reference in which nothing is missing; None where there is no such row."""
    from lcifr.runs.people.complete import complete_table

    return None if similarity.encoding.training is None else complete_table(loaded, path, similarity.schema)[0]


def read_people(
    prepared: PreparedModel,
    question: ModelQuestion,
    work: Path,
    sample: int | None = None,
    seed: int = 0,
    workers: Workers = None,
) -> PeopleSource:
    """The people of the table of whom nothing is missing; it is said how many are left out."""
    from lcifr.runs.people.tables import sample_people, scan_people

    path, ids = question.table, question.id_column
    if sample is None:
        source = scan_people(path, prepared.schema, ids, work, skip_missing=True, workers=workers)
    else:
        source = sample_people(path, prepared.schema, ids, sample, seed, skip_missing=True)
    if source.left_out:
        note(
            f"{path}: {source.left_out:,} of {source.count + source.left_out:,} rows have missing values. These people "
            "are not examined, and count as not certified"
        )
    return source


def read_for_people(prepared: PreparedModel, question: ModelQuestion, source: PeopleSource) -> ModelSubject:
    """The model as it is read for the columns of these people, in the types that the table has them.

    Says so where the library would take the columns of the table for others, by their position.
    """
    from lcifr.data.ingest import column_names

    named = {str(label): label for label in prepared.file.outline().classes}
    groups = [[named.get(name, name) for name in group] for group in question.groups]
    with step(f"Reading {question.model}"):
        subject = read_subject(
            prepared.file,
            example_rows(source),
            prepared.similarity,
            target=prepared.schema.target or "decision",
            reference=prepared.reference,
            groups=groups or None,
            tolerance=question.tolerance,
            arithmetic=question.arithmetic,
        )
        if subject.read.source.positional is not None:
            subject = replace(subject, table=str(question.table), table_columns=tuple(column_names(question.table)))
        subject = replace(subject, reference_warnings=prepared.warnings)
    for text in subject.warnings:
        warn(text)
    return subject


def without_strange_labels(source: PeopleSource, subject: ModelSubject) -> PeopleSource:
    """The same people without labels where none of these is a class of the model: accuracy would be 0 by name alone.

    Of a model that predicts numbers, where one of them is no number.
    """
    classes = subject.model.labels
    if source.label is None:
        return source
    if classes is None:
        return source if _are_numbers(source) else source.without_labels()
    decided, found = [json_value(one) for one in classes], set[Any]()
    for labels in source.label_columns():
        found |= {json_value(one) for one in labels.unique().to_pylist()}
        if found & set(decided):  # one is enough: the others are looked at only where there is none
            return source
    named = ", ".join(repr(one) for one in sorted(found, key=str)[:3])
    note(
        f'no accuracy is reported: "{source.label}" holds {named}, and the model decides '
        f"{', '.join(map(repr, decided))}; if these are the same classes, name them in its description: classes = [...]"
    )
    return source.without_labels()


def _are_numbers(source: PeopleSource) -> bool:
    """Whether all labels are; where not, it is said."""
    import pyarrow as pa

    for labels in source.label_columns():
        kind = labels.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            text = f'no error is said: "{source.label}" holds {labels[0].as_py()!r}, and the model predicts numbers'
            note(text)
            return False
    return True


def example_rows(source: PeopleSource) -> Any:
    """A pandas frame with every category spelled as in the table: the first rows, and others where one is new."""
    import pyarrow as pa

    from lcifr.data.ingest import read_tables

    names, unseen = list(source.schema.names), {one.name: set(one.values) for one in source.schema.categorical}
    found, left = [], EXAMPLES
    for table in read_tables(source.table, source.schema):
        rows = np.unique([*range(min(left, len(table))), *_first_seen(table, unseen)]).astype(np.int64)
        left -= min(left, len(table))
        found.append(_as_numbers(table.select(names).take(pa.array(rows)), source.schema))
        if left == 0 and not any(unseen.values()):
            break
    return pa.concat_tables(found).to_pandas()


def _as_numbers(table: pa.Table, schema: Schema) -> pa.Table:
    """With 0 and 1 where numbers are written as booleans: a model that is asked about 2 must not be told True."""
    import pyarrow as pa

    for name in schema.names_numeric:
        if pa.types.is_boolean(table.schema.field(name).type):
            table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int64()))
    return table


def _first_seen(table: pa.Table, unseen: dict[str, set[str]]) -> Iterator[int]:
    """Rows in which a category appears first; ``unseen`` loses them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, values in unseen.items():
        column = table[name]
        if pa.types.is_dictionary(column.type):  # as pandas writes categories
            column = column.cast(column.type.value_type)
        for value in pc.unique(column) if values else ():
            text = text_of(value.as_py()).strip()
            if text in values:
                values.remove(text)
                yield pc.index(column, value).as_py()
