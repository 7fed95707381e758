"""Schema inference from the columns of a table, and malformed numbers in texts: ``?``, ``$729.53``, ``3,5``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcifr.data.frames import as_text, read_frame
from lcifr.data.schema import Attribute, Categorical, Numeric
from lcifr.errors import SchemaError, TableError, TableProblem, did_you_mean

# Detection of malformed numbers in text columns: ``?``, ``$729.53``, ``3,5``.

MOST = 0.9  # of the texts are numbers: then the others are slips
FEW = 12  # different numbers or fewer may be codes, among which another code is no slip
MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none"))
PLACEHOLDERS = frozenset(("?", "-", "--", ".", "*", "n.a.", "unknown", "missing", "k.a.", *MISSING))
_ROUND_A_NUMBER = re.compile(r"[$€£¥%\s\u00a0'’]")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+")


@dataclass(frozen=True)
class MalformedNumber:
    """A text in a column that otherwise holds numbers.

    Parameters
    ----------
    row, text : the first such text. better : the number it seems to mean, as tables write it; None where it is unknown.
    numbers, others : how many texts are numbers as they stand, and how many are not; missing ones are neither.
    """

    row: int
    text: str
    better: str | None
    numbers: int
    others: int

    def __str__(self) -> str:
        if self.better is not None:
            such = f" ({self.others:,} values are written like this)" if self.others > 1 else ""
            return f'"{self.text}" is no number as it stands{such}; write {self.better}'
        such = f" ({self.others:,} are not)" if self.others > 1 else ""
        return f'"{self.text}" is not a number, and {self.numbers:,} other values are{such}; correct or drop these rows'


def find_malformed_number(column: pa.ChunkedArray) -> MalformedNumber | None:
    """The first malformed number of a text column that is nearly all numbers; None for other columns."""
    found = pc.value_counts(column.combine_chunks()).to_pylist()
    counts = {one["values"]: one["counts"] for one in found if one["values"] is not None}
    counts = {text: count for text, count in counts.items() if text.lower() not in MISSING}
    plain = {text for text in counts if _is_number(text)}
    others = [text for text in counts if text not in plain]
    meant = {text: better for text in others if (better := _meant(text)) is not None}
    readable = sum(counts[text] for text in (*plain, *meant))
    if not others or readable < MOST * sum(counts.values()):
        return None
    codes = len(plain) + len(meant) <= FEW
    if codes and not all(text.lower() in PLACEHOLDERS for text in others):
        return None
    first = others[0]  # values are counted in the order in which they come
    row = pc.index(column, first).as_py()
    return MalformedNumber(row, first, meant.get(first), sum(counts[t] for t in plain), sum(counts[t] for t in others))


def _is_number(text: str) -> bool:
    try:
        float("no" if "_" in text else text)
    except ValueError:
        return False
    return True


def _meant(text: str) -> str | None:
    """The number in ``$1,234.50``, ``12 %`` or ``3,5``, as tables write it."""
    bare = _ROUND_A_NUMBER.sub("", text)
    if _THOUSANDS.fullmatch(bare):
        bare = bare.replace(",", "")
    elif _DECIMAL_COMMA.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    return bare if bare != text and _is_number(bare) and bare.lower() not in ("nan", "inf") else None


def to_float(column: pa.ChunkedArray) -> tuple[NDArray[np.float64], list[int]]:
    """The values as float64, NaN where missing; and the rows whose value is not a number."""
    kind = column.type
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # A short float means the decimal it prints, as every number here does: 3.6f is 3.6, not 3.5999999046.
        shortest = column.to_numpy().astype(f"f{kind.bit_width // 8}").astype(str)
        return shortest.astype(np.float64), []
    if (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        column = column.cast(pa.int8()) if pa.types.is_boolean(kind) else column
        return column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64), []
    values = np.full(len(column), np.nan)
    odd = []
    for row, value in enumerate(column.to_pylist()):
        if value is None or not str(value).strip():
            continue
        try:
            values[row] = float("no" if "_" in str(value) else value)  # Python reads 1_000 as a number, tables do not
        except (TypeError, ValueError):
            odd.append(row)
    return values, odd


# Schema inference: a proposal from a table, for a person to correct.

MANY_CATEGORIES = 100  # text with more distinct values than this is an identifier or prose, not an attribute


def infer_attributes(
    source: Any,
    *,
    target: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float | None, float | None]] | None = None,
) -> tuple[Attribute, ...]:
    """Propose attributes: numbers are numeric; text, booleans and 0/1 are categorical, their values sorted.

    Parameters
    ----------
    source
        Anything :func:`lcifr.data.frames.read_frame` takes.
    target
        The column to predict; it is left out of the attributes.
    numeric, categorical
        Columns whose kind is overridden (a postcode is a category, however numeric it looks; a 0/1 may be a count).
    drop
        Columns that are no attributes (identifiers, dates).
    units, ranges
        What numbers count, and the declared (lower, upper) range of an attribute; None for an open end.

    Raises
    ------
    TableError
        With every column that cannot be an attribute as it stands (dates, prose, all missing), and advice.
    """
    table = read_frame(source)
    units, ranges = dict(units or {}), dict(ranges or {})
    named = [*numeric, *categorical, *drop, *units, *ranges, *([target] if target else [])]
    for name in named:
        if name not in table.column_names:
            raise SchemaError(f'there is no column "{name}".{did_you_mean(name, table.column_names)}')
    problems: list[TableProblem] = [] if len(table) else [TableProblem("there are no rows")]
    attributes: list[Attribute] = []
    for name in table.column_names:
        if name == target or name in drop or not len(table):
            continue
        measured = (name in units or name in ranges) and _is_number_type(table[name].type)
        kind = "numeric" if name in numeric or measured else "categorical" if name in categorical else None
        found = _propose(name, table[name], kind, problems)
        if isinstance(found, Numeric):
            lower, upper = ranges.get(name, (None, None))
            found = Numeric(name, units.get(name), lower, upper, found.integer)
        if found is not None:
            attributes.append(found)
    if problems:
        raise TableError(problems, fix="correct the columns, or override: numeric=[…], categorical=[…], drop=[…]")
    return tuple(attributes)


def _propose(name: str, column: pa.ChunkedArray, kind: str | None, problems: list[TableProblem]) -> Attribute | None:
    """The attribute a column looks like, or None with the reason among ``problems``."""
    if pa.types.is_temporal(column.type):
        problems.append(
            TableProblem(
                "contains dates, which a formula cannot compare; turn them into a number (such as an age in years)",
                column=name,
            )
        )
        return None
    if column.null_count == len(column):
        problems.append(TableProblem("every value is missing; drop the column", column=name))
        return None
    if kind == "numeric" or (kind is None and _is_number_type(column.type)):
        values, odd = to_float(column)
        if odd:
            problems.append(TableProblem(f"{column[odd[0]].as_py()!r} is not a number", column=name, row=odd[0]))
            return None
        finite = values[np.isfinite(values)]
        if kind is None and set(np.unique(finite)) == {0.0, 1.0}:
            return Categorical(name, ("0", "1"))  # there is nothing between no and yes
        return Numeric(name, integer=bool(len(finite)) and bool((finite == np.rint(finite)).all()))
    if kind is None and (slip := find_malformed_number(as_text(column))) is not None:
        message = f"{slip}; or, if these are codes, say categorical=[…]"
        problems.append(TableProblem(message, column=name, row=slip.row))
        return None
    values_seen = sorted(pc.unique(as_text(column)).drop_null().to_pylist())
    if not values_seen:
        problems.append(TableProblem("every value is missing; drop the column", column=name))
        return None
    if kind is None and len(values_seen) > MANY_CATEGORIES:
        problems.append(
            TableProblem(
                f"{len(values_seen)} different texts are too many for a category; drop it, or use categorical=[…]",
                column=name,
            )
        )
        return None
    return Categorical(name, tuple(values_seen))


def _is_number_type(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
