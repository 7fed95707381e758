"""Labels by id, from a table of which nothing else is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, TableError
from lcifr.runs.events import note
from lcifr.runs.people.tables import no_column
from lcifr.runs.people.train_test import TRAIN

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Labels:
    """name : of the column. there : (people,) who has a label. values : (people with a label,)."""

    name: str
    there: Any
    values: Any


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A file with labels, read once.

    Parameters
    ----------
    name : the column of labels. column : (rows,) its values. rows : the row of each id, as text.
    """

    path: Path
    name: str
    column: pa.ChunkedArray
    rows: Mapping[str, int]

    @classmethod
    def read(cls, path: Path, target: str | None, id_column: str | None) -> LabelTable:
        """The labels in a file. Without a column of ids, these are its row numbers."""
        from lcifr.data.io.ids import first_duplicate
        from lcifr.data.io.stream import column_names
        from lcifr.runs.people.loading import load_whole

        if id_column is None and path.is_file() and target != "id" and "id" in column_names(path):
            id_column = "id"
        loaded = load_whole(path, id_column, "looking up labels", "give the labels of those who were handed over")
        known = loaded.frame.column_names
        if id_column is not None and id_column not in known:
            raise no_column(str(path), id_column, known)
        name = target if target is not None else _only(path, [one for one in known if one != id_column])
        if name not in known:
            raise no_column(str(path), name, known)
        ids = range(loaded.count) if id_column is None else loaded.ids(str(path), id_column)
        if (twice := first_duplicate(ids)) is not None:
            raise LcifrError(f'{path}: the id "{twice}" is there twice', fix="every person needs one label")
        return cls(path, name, loaded.frame[name], {str(one): row for row, one in enumerate(ids)})

    def find(self, ids: Sequence[str | int], *, learned: bool) -> Labels:
        """The labels of these people; ``learned`` : whether something is learned from them, so that some are needed."""
        import numpy as np
        import pyarrow as pa

        there = np.array([str(one) in self.rows for one in ids], dtype=np.bool_)
        rows = [self.rows[str(one)] for one in ids if str(one) in self.rows]
        if not rows and learned:
            shown = f"the hand-over has {ids[0]!r}, …; the labels {list(self.rows)[:1]}, …"
            raise LcifrError(
                f"{self.path}: nobody of the hand-over is in it ({shown})", fix="--id names the column with the ids"
            )
        column = self.column.take(pa.array(rows, pa.int64()))
        return Labels(self.name, there, _values(column, self.name, self.path, rows, learned))


def find_split_labels(
    path: Path, splits: Mapping[str, Sequence[str | int]], target: str | None, id_column: str | None
) -> dict[str, Labels]:
    """The labels of those to learn from and of those held out, by their ids; it is said how many have none."""
    table, known = LabelTable.read(path, target, id_column), {}
    for name, ids in splits.items():
        known[name] = table.find(ids, learned=name == TRAIN)
        if without := int((~known[name].there).sum()):
            meaning = "nothing is learned from them" if name == TRAIN else "no accuracy is said"
            note(f"{path} has no label for {without} of the {len(ids)} {name} people: {meaning}")
    return known


def _values(column: Any, name: str, path: Path, rows: list[int], learned: bool) -> Any:
    import numpy as np

    from lcifr.data.table import check_target, target_values

    try:
        return check_target(column, name) if learned else np.asarray(target_values(column, name).to_pandas())
    except TableError as error:
        fix = "correct these rows, or leave them out: nothing is learned from people without a label"
        raise TableError([one.among(rows) for one in error.problems], source=str(path), fix=fix) from None


def _only(path: Path, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    raise LcifrError(
        f"{path} has {len(names)} columns that may be the label: {', '.join(names[:12]) or 'none'}",
        fix="say which: --target COLUMN",
    )
