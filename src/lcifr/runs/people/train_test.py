"""People to learn from and people whom nobody trains on: a table split by seed, or a dataset with the paper's split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import note
from lcifr.runs.folders.summaries import DatasetNotes
from lcifr.runs.people.loading import Labels, LabelTable
from lcifr.runs.people.source import PeopleTable, list_columns
from lcifr.runs.people.tables import find_schema, is_file, read_people_table

if TYPE_CHECKING:
    from lcifr.data import Schema

TRAIN, HELD_OUT = "train", "held-out"


@dataclass(frozen=True, eq=False)
class TrainTest:
    """Everybody of a table: those to learn from, and those whom nobody may train on.

    Parameters
    ----------
    data : what is known of a dataset by name: title, why it is partial, cautions. None for a table of one's own.
    """

    schema: Schema
    train: PeopleTable
    held_out: PeopleTable
    data: DatasetNotes | None = None

    def splits(self) -> dict[str, PeopleTable]:
        return {TRAIN: self.train, HELD_OUT: self.held_out}


def read_train_test(
    table: str,
    phi: str,
    schema: str | None,
    target: str | None,
    id_column: str | None,
    share: float,
    seed: int,
    sample: int | None,
) -> TrainTest:
    """Everybody, or a sample, split by seed; datasets by name have the paper's split."""
    if not is_file(table):
        if sample is not None:
            raise LcifrError(f"--sample is for files, and {table} is a dataset by name", fix="leave it out")
        return _read_dataset(table)
    from lcifr.estimators.validation import split_rows
    from lcifr.runs.people.loading import load_some

    loaded = load_some(Path(table), id_column, sample, seed, "learning")
    frame = loaded.frame
    known = find_schema(frame, table, phi, schema, target, id_column)
    if loaded.drawn is not None and schema is None:
        note("without --schema, categories that are not in the sample are unknown, and refused later")
    if known.target is None:
        raise LcifrError(
            "no column to predict is given", fix=f"add --target, one of: {list_columns(frame.column_names)}"
        )
    everybody = read_people_table(loaded, table, known, id_column, labelled=True)
    classes = everybody.y if everybody.y.dtype.kind != "f" else None
    rows, held = split_rows(len(everybody), share, classes, seed)
    if len(rows) == len(everybody):
        raise LcifrError(
            f"{table}: {len(everybody)} people are too few to hold some of them out", fix="give more people"
        )
    return TrainTest(known, everybody.take(sorted(rows)), everybody.take(sorted(held)))


def _read_dataset(name: str) -> TrainTest:
    import pandas as pd
    import pyarrow as pa

    from lcifr.datasets import load

    data = load(name)
    if data.partial:
        note(f"{data.partial}")

    def people(*splits: Any) -> PeopleTable:
        X, y = pd.concat([split.X for split in splits]), pd.concat([split.y for split in splits])
        return PeopleTable(pa.Table.from_pandas(X, preserve_index=False), tuple(X.index.tolist()), y.to_numpy())

    schema = data.schema if data.schema.target else replace(data.schema, target="label")
    about = DatasetNotes(data.source.title, data.partial, tuple(data.cautions))
    return TrainTest(schema, people(data.train, data.validation), people(data.test), about)


def find_split_labels(
    path: Path,
    splits: Mapping[str, Sequence[str | int]],
    target: str | None,
    id_column: str | None,
    *,
    learned: bool = True,
) -> dict[str, Labels]:
    """The labels of those to learn from and of those held out, by their ids; it is said how many have none.

    ``learned`` : whether anything is learned from the former.
    """
    table, known = LabelTable.read(path, target, id_column), {}
    for name, ids in splits.items():
        known[name] = table.find(ids, learned=learned and name == TRAIN)
        if without := int((~known[name].there).sum()):
            meaning = "nothing is learned from them" if learned and name == TRAIN else "no accuracy is said"
            note(f"{path} has no label for {without} of the {len(ids)} {name} people: {meaning}")
    return known
