"""Validation of person ids: text or whole numbers, unique, none missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.data.frames import is_missing
from lcifr.errors import LcifrError

if TYPE_CHECKING:
    import pyarrow as pa

Id = str | int


def as_ids(ids: Any, people: int) -> tuple[Id, ...]:
    """Ids that were passed along, one per person; 0, 1, … if None."""
    if ids is None:
        return tuple(range(people))
    listed = [one.item() if isinstance(one, np.generic) else one for one in ids]
    if len(listed) != people:
        raise LcifrError(f"there are {people} people and {len(listed)} ids", fix="pass one per person")
    return _checked(listed, "the list of ids", range(people))


def read_ids(
    table: pa.Table, named: str, id_column: str, rows: Sequence[int], *, texts: bool = False
) -> tuple[Id, ...]:
    """The ids of people of a table.

    Parameters
    ----------
    named, rows : as messages call the file that the table is a part of, and its rows.
    texts : whether dates, fractions and the like stand for what they print; otherwise they are no ids.
    """
    if id_column not in table.column_names:
        raise LcifrError(f'{named} has no column "{id_column}"', fix="name the column with the ids, or none")
    listed = table[id_column].to_pylist()
    if texts:
        listed = [one if type(one) is int or is_missing(one) else str(one) for one in listed]
    return _checked(listed, f'{named}: column "{id_column}"', rows)


def _checked(listed: Sequence[Any], where: str, rows: Sequence[int]) -> tuple[Id, ...]:
    for row, one in zip(rows, listed, strict=True):
        if type(one) is int or (type(one) is str and one and not one.isspace()):
            continue
        nothing = is_missing(one) or type(one) is str
        found = "no id" if nothing else f"the {type(one).__name__} {one!r}"
        fix = "give this person an id, or leave the row out" if nothing else "turn them into text"
        raise LcifrError(
            f"{where} has {found} in row {row}", fix=f"{fix}; ids are text or whole numbers, one for everybody"
        )
    return tuple(listed)


def first_duplicate(ids: Iterable[Id]) -> str | None:
    """The first id that is there before; None where all differ. A number and its digits are the same id."""
    seen: set[str] = set()
    for one in map(str, ids):
        if one in seen:
            return one
        seen.add(one)
    return None


def duplicate_id_error(named: str, id_column: str, name: Id) -> LcifrError:
    """An id that two rows of a table have."""
    return LcifrError(
        f'{named}: column "{id_column}" names {str(name)!r} twice', fix="every person needs an id of their own"
    )
