"""Labels by id, from a table of which nothing else is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcifr.errors import LcifrError, TableError
from lcifr.runs.events import note
from lcifr.runs.people.tables import TRAIN, no_column


@dataclass(frozen=True, eq=False)
class Labels:
    """name : of the column. there : (people,) who has a label. values : (people with a label,)."""

    name: str
    there: Any
    values: Any


def find_split_labels(
    path: Path, splits: Mapping[str, Sequence[str | int]], target: str | None, id_column: str | None
) -> dict[str, Labels]:
    """The labels of those to learn from and of those held out, by their ids; it is said how many have none."""
    known = {}
    for name, ids in splits.items():
        known[name] = find_labels(path, ids, target, id_column, learned=name == TRAIN)
        if without := int((~known[name].there).sum()):
            meaning = "nothing is learned from them" if name == TRAIN else "no accuracy is said"
            note(f"{path} has no label for {without} of the {len(ids)} {name} people: {meaning}")
    return known


def find_labels(
    path: Path, ids: Sequence[str | int], target: str | None, id_column: str | None, *, learned: bool = True
) -> Labels:
    """The labels of these people. Without a column of ids, they are the row numbers of the labels' file.

    ``learned`` : whether something is learned from them. Otherwise nobody needs to have one.
    """
    import numpy as np
    import pyarrow as pa

    from lcifr.data.io.ids import first_duplicate
    from lcifr.data.io.stream import read_written_ids
    from lcifr.runs.people.sample import read_whole

    frame = read_whole(path, "looking up labels", "give the labels of those who were handed over")
    if id_column is None and "id" in frame.column_names and target != "id":
        id_column = "id"
    if id_column is not None and id_column not in frame.column_names:
        raise no_column(str(path), id_column, frame.column_names)
    name = target if target is not None else _only(path, [c for c in frame.column_names if c != id_column])
    if name not in frame.column_names:
        raise no_column(str(path), name, frame.column_names)
    names = read_written_ids(frame, path, id_column, range(len(frame))) if id_column else range(len(frame))
    if (twice := first_duplicate(names)) is not None:
        raise LcifrError(f'{path}: the id "{twice}" is there twice', fix="every person needs one label")
    place = {str(one): row for row, one in enumerate(names)}
    there = np.array([str(one) in place for one in ids], dtype=np.bool_)
    rows = [place[str(one)] for one in ids if str(one) in place]
    if not rows and learned:
        shown = f"the hand-over has {ids[0]!r}, …; the labels {list(place)[:1]}, …"
        raise LcifrError(
            f"{path}: nobody of the hand-over is in it ({shown})", fix="--id names the column with the ids"
        )
    return Labels(name, there, _values(frame[name].take(pa.array(rows, pa.int64())), name, path, rows, learned))


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
