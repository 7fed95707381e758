"""Schema: the attributes of a table, their ranges and categories, its TOML, and a first guess from a table."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tomli_w
from numpy.typing import NDArray

from lcifr.data.frames import as_text, read_frame
from lcifr.errors import SchemaError, TableError, TableProblem, did_you_mean

# Numeric and categorical attributes, and their entries in a schema file.


@dataclass(frozen=True)
class Numeric:
    """A number: age, income, a count.

    Parameters
    ----------
    name
        The table's column.
    unit
        What the number counts, for people who read reports: ``"years"``.
    lower, upper
        The declared range, inclusive; None where nothing is declared. A declared range limits who can exist at
        all, so it clips every region.
    integer
        Whether only whole numbers occur.
    """

    name: str
    unit: str | None = None
    lower: float | None = None
    upper: float | None = None
    integer: bool = False

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.lower, self.upper) if limit is not None]
        if not all(math.isfinite(limit) for limit in limits):
            raise SchemaError(
                f'attribute "{self.name}": the range {limits} is not finite', fix="leave out an end that does not exist"
            )
        if len(limits) == 2 and limits[0] > limits[1]:
            raise SchemaError(
                f'attribute "{self.name}": the range runs backwards, from {limits[0]} to {limits[1]}',
                fix="swap the ends",
            )


@dataclass(frozen=True)
class Categorical:
    """One of a few named values: sex, state, purpose. The order of ``values`` is the order of the feature columns."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise SchemaError(f'attribute "{self.name}" has no values', fix="list its values, or drop the column")
        if not all(isinstance(value, str) for value in self.values):
            raise SchemaError(
                f'attribute "{self.name}": values must be text, found {list(self.values)}', fix='write 1 as "1"'
            )
        repeated = sorted({value for value in self.values if self.values.count(value) > 1})
        if repeated:
            raise SchemaError(
                f'attribute "{self.name}" lists a value twice: {", ".join(repeated)}', fix="list each value once"
            )
        blank = [value for value in self.values if not value.strip()]
        if blank:
            raise SchemaError(
                f'attribute "{self.name}" has a blank value; blank means missing here',
                fix='give missing people a value of their own, such as "unknown"',
            )


Attribute = Numeric | Categorical


def attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    """Plain values of an attribute for a schema file, without its name; only what is declared."""
    if isinstance(attribute, Categorical):
        return {"kind": "categorical", "values": list(attribute.values)}
    entry: dict[str, Any] = {"kind": "numeric"}
    if attribute.unit is not None:
        entry["unit"] = attribute.unit
    if attribute.integer:
        entry["integer"] = True
    if attribute.lower is not None:
        entry["lower"] = attribute.lower
    if attribute.upper is not None:
        entry["upper"] = attribute.upper
    return entry


_ENTRIES: dict[str, dict[str, tuple[type, ...]]] = {
    "numeric": {"kind": (str,), "unit": (str,), "integer": (bool,), "lower": (int, float), "upper": (int, float)},
    "categorical": {"kind": (str,), "values": (list, tuple)},
}


def attribute_from_dict(name: str, entry: object) -> Attribute:
    """The inverse of :func:`attribute_to_dict`; entries may be written by hand, and an error names the entry."""
    if not isinstance(entry, Mapping) or entry.get("kind") not in _ENTRIES:
        raise SchemaError(f'attribute "{name}": kind must be "numeric" or "categorical"')
    known = _ENTRIES[entry["kind"]]
    for key, value in entry.items():
        if key not in known:
            raise SchemaError(f'attribute "{name}": unknown entry "{key}".{did_you_mean(key, known)}')
        if not isinstance(value, known[key]) or (isinstance(value, bool) and bool not in known[key]):
            raise SchemaError(
                f'attribute "{name}": {key} = {value!r} is not a {" or ".join(kind.__name__ for kind in known[key])}'
            )
    fields = {key: value for key, value in entry.items() if key != "kind"}
    if entry["kind"] == "categorical":
        if "values" not in fields:
            raise SchemaError(f'attribute "{name}": its values are missing', fix='values = ["female", "male"]')
        return Categorical(name, tuple(fields["values"]))
    return Numeric(name, **fields)


# Schema: the ordered attributes of a table of people, and its TOML file.

__all__ = ["RESERVED_GROUPS", "Attribute", "Categorical", "Numeric", "Schema"]

RESERVED_GROUPS = ("all", "numeric", "categorical")  # every schema has these sets; formulas use them


@dataclass(frozen=True)
class Schema:
    """The attributes of an individual, in the order of the feature columns.

    Parameters
    ----------
    attributes
        Numeric and categorical attributes, each name once.
    groups
        Named sets of attributes that formulas can use, beside ``all``, ``numeric`` and ``categorical``.
    target
        The column with what is to be predicted. It is never an attribute, and tables may or may not have it.

    Examples
    --------
    >>> schema = Schema((Numeric("age", unit="years"), Categorical("sex", ("female", "male"))), target="hired")
    >>> schema["sex"].values
    ('female', 'male')
    """

    attributes: tuple[Attribute, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "groups", {name: tuple(members) for name, members in self.groups.items()})
        if not self.attributes:
            raise SchemaError("a schema needs at least one attribute")
        names = [attribute.name for attribute in self.attributes]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise SchemaError(f"attribute named twice: {', '.join(repeated)}")
        if any(not name.strip() for name in names):
            raise SchemaError("an attribute has a blank name")
        if self.target in names:
            raise SchemaError(
                f'"{self.target}" is both the target and an attribute', fix="leave it out of the attributes"
            )
        for group, members in self.groups.items():
            self._check_group(group, members)

    def _check_group(self, group: str, members: tuple[str, ...]) -> None:
        if group in RESERVED_GROUPS or group in self:
            raise SchemaError(f'group "{group}" has a name that already means something', fix="rename the group")
        unknown = [name for name in members if name not in self]
        if unknown:
            hint = did_you_mean(unknown[0], self.names)
            raise SchemaError(f'group "{group}" names what is no attribute: {", ".join(unknown)}.{hint}')
        if not members:
            raise SchemaError(f'group "{group}" is empty')

    def __hash__(self) -> int:
        return hash((self.attributes, tuple(sorted(self.groups.items())), self.target))

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __getitem__(self, name: str) -> Attribute:
        try:
            return self._by_name[name]
        except KeyError:
            raise SchemaError(f'there is no attribute "{name}".{did_you_mean(name, self.names)}') from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all attributes, in their order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def numeric(self) -> tuple[Numeric, ...]:
        """The numeric attributes, in their order."""
        return tuple(attribute for attribute in self.attributes if isinstance(attribute, Numeric))

    @cached_property
    def names_numeric(self) -> tuple[str, ...]:
        """The names of the numeric attributes, in their order."""
        return tuple(attribute.name for attribute in self.numeric)

    @cached_property
    def categorical(self) -> tuple[Categorical, ...]:
        """The categorical attributes, in their order."""
        return tuple(attribute for attribute in self.attributes if isinstance(attribute, Categorical))

    @cached_property
    def names_categorical(self) -> tuple[str, ...]:
        """The names of the categorical attributes, in their order."""
        return tuple(attribute.name for attribute in self.categorical)

    @classmethod
    def infer(
        cls,
        frame: Any,
        *,
        target: str | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        **overrides: Any,
    ) -> Schema:
        """Propose a schema from a table.

        Parameters
        ----------
        target
            The column to predict; it is left out of the attributes.
        groups
            Named sets of attributes for formulas.
        overrides
            Kinds, units and ranges of columns: see :func:`lcifr.data.schema.infer_attributes`.
        """
        # Arrow is loaded only where tables are read

        attributes = infer_attributes(frame, target=target, **overrides)
        return cls(attributes, {name: tuple(members) for name, members in (groups or {}).items()}, target)

    # -- files -----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain values: the content of its file and of its hashes."""
        return {
            **({"target": self.target} if self.target is not None else {}),
            "attributes": {attribute.name: attribute_to_dict(attribute) for attribute in self.attributes},
            **({"groups": {name: list(members) for name, members in self.groups.items()}} if self.groups else {}),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Schema:
        """The inverse of :meth:`to_dict`; entries may be written by hand, and every one is checked."""
        unknown = [key for key in values if key not in ("target", "attributes", "groups")]
        if unknown:
            raise SchemaError(
                f'unknown entry "{unknown[0]}".{did_you_mean(unknown[0], ("target", "attributes", "groups"))}'
            )
        attributes, groups, target = values.get("attributes"), values.get("groups", {}), values.get("target")
        if not isinstance(attributes, Mapping):
            raise SchemaError(
                "the [attributes] part is missing",
                fix='write one [attributes.NAME] per column with kind = "numeric" or "categorical"',
            )
        if not isinstance(groups, Mapping) or not all(_is_text_list(members) for members in groups.values()):
            raise SchemaError(
                "[groups] must give a list of attribute names for each group", fix='counts = ["visits", "claims"]'
            )
        if not isinstance(target, str | None):
            raise SchemaError(f"target must be a column name, found {target!r}")
        return cls(tuple(attribute_from_dict(name, entry) for name, entry in attributes.items()), groups, target)

    def save(self, path: str | Path) -> None:
        """Write the schema as a TOML file that a person can edit."""
        Path(path).write_text(tomli_w.dumps(self.to_dict()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema from its TOML file."""
        try:
            return cls.from_dict(tomllib.loads(Path(path).read_text(encoding="utf-8-sig")))
        except FileNotFoundError:
            raise SchemaError(
                f"{path}: there is no such file",
                fix="check the path; `lcifr init TABLE` (or Schema.infer) drafts one",
            ) from None
        except UnicodeDecodeError as error:
            raise SchemaError(f"{path}: cannot be read: {error}", fix="give a text file, saved as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"{path}: not a TOML file: {error}") from None
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from None


def _is_text_list(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


# Schema inference from the columns of a table, and malformed numbers in texts: ``?``, ``$729.53``, ``3,5``.

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
