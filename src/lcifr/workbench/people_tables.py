"""Tables of people as the workbench shows them: read once, with the schema beside them or one that is inferred."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data import Categorical, Encoding, Individuals, Schema
from lcifr.data.ingest import column_names
from lcifr.errors import LcifrError, SchemaError, TableError
from lcifr.phi.formula import quote_name, quote_value
from lcifr.workbench.work_folder import WorkFolder
from lcifr.workflows.drafting import InitRequest, propose_schema
from lcifr.workflows.people import LoadedTable, complete_table, load_whole, pick_columns, with_fix

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Attribute

KEPT = 4
"""Tables that are held in memory."""


@dataclass(frozen=True)
class AttributeCard:
    """An attribute as it is shown beside a formula.

    Parameters
    ----------
    written : its name as formulas write it. low, high, sd : of a number, among the people of the table.
    counts : of a category, each value as formulas write it, and how many people have it.
    """

    attribute: Attribute
    written: str
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class TableCard:
    """A table as it is shown: its attributes, how many people there are, and columns of its file."""

    table: str
    schema: str
    people: int
    left_out: int
    columns: tuple[str, ...]
    attributes: tuple[AttributeCard, ...]


@dataclass(frozen=True, eq=False)
class OpenTable:
    """People whose attributes are known.

    Parameters
    ----------
    name : of the file. schema_name : of the schema's file; empty where it was inferred.
    loaded : complete rows, as the file has them. left_out : rows with missing values. whole : with these.
    """

    name: str
    schema_name: str
    schema: Schema
    loaded: LoadedTable
    left_out: int
    whole: LoadedTable

    @cached_property
    def frame(self) -> pa.Table:
        """The attributes alone, with the types of the file."""
        return self.loaded.frame.select(list(self.schema.names))

    @cached_property
    def encoding(self) -> Encoding:
        """With the scales of the table: each from every row that has a value there."""
        try:
            frame = self.whole.frame.select(list(self.schema.names))
            return Encoding.fit(frame, self.schema, skip_missing=True)
        except TableError as error:
            raise with_fix(error, self.name) from None

    @property
    def people(self) -> Individuals:
        """The people without missing values."""
        assert self.encoding.training is not None
        return self.encoding.training

    @property
    def rows(self) -> tuple[int, ...]:
        """Which rows of the file they are."""
        return tuple(range(len(self.frame))) if self.loaded.drawn is None else self.loaded.drawn

    def place(self, row: int) -> int:
        """The index, among the people, of a row of the file."""
        if row not in self.rows:
            raise LcifrError(
                f"{self.name} has no person in row {row}",
                fix="rows count from 0, and those with missing values are left out",
            )
        return self.rows.index(row)

    def card(self) -> TableCard:
        """As it is shown."""
        return TableCard(
            self.name,
            self.schema_name,
            len(self.frame),
            self.left_out,
            tuple(self.loaded.frame.column_names),
            tuple(self._attribute(one) for one in self.schema),
        )

    def _attribute(self, attribute: Attribute) -> AttributeCard:
        name, people = attribute.name, self.people
        if isinstance(attribute, Categorical):
            codes = people.code(name)
            counts = ((quote_value(value), int((codes == code).sum())) for code, value in enumerate(attribute.values))
            return AttributeCard(attribute, quote_name(name), counts=tuple(counts))
        numbers = people.number(name)
        ends = float(numbers.min()), float(numbers.max())
        return AttributeCard(attribute, quote_name(name), *ends, self.encoding.sd(name))


def read_person(values: Mapping[str, Any], schema: Schema) -> Individuals:
    """One person by attribute, as a form sends them: texts of numbers are read as numbers."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in values:
        known = name in schema and not isinstance(schema[name], Categorical)
        columns[name] = [_number(values[name]) if known else str(values[name])]
    try:
        return Individuals.read(pa.table(columns), schema)
    except TableError as error:
        raise TableError(error.problems, source="this person", fix=error.fix or "correct the values") from None


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


class PeopleTables:
    """Tables of a folder, each read once until it changes."""

    def __init__(self, folder: WorkFolder) -> None:
        self._folder, self._lock = folder, threading.RLock()
        self._open: dict[tuple[object, ...], OpenTable] = {}

    def open(self, table: str, schema: str = "") -> OpenTable:
        """A table with the schema that is named, or that lies beside it, or one that is inferred."""
        path = self._folder.file(table)
        schema = schema or self.schema_for(table)
        named = None if not schema else self._folder.file(schema)
        key = (table, schema, *(stamp(one) for one in (path, named) if one is not None))
        with self._lock:
            if key not in self._open:
                while len(self._open) >= KEPT:
                    self._open.pop(next(iter(self._open)))
                self._open[key] = _read(path, table, named, schema)
            return self._open[key]

    def schema_for(self, table: str) -> str:
        """The schema of the table's own name, else the first of the folder whose columns it has; empty for none."""
        schemas = self._folder.schemas()
        folder, _, file = table.rpartition("/")
        beside = f"{folder}/" * bool(folder) + f"{file.split('.')[0]}.toml"
        if beside in schemas:
            return beside
        columns = set(column_names(self._folder.file(table)))
        return next((name for name in schemas if set(self._attributes(name)) <= columns), "")

    def _attributes(self, schema: str) -> tuple[str, ...]:
        try:
            return Schema.load(self._folder.file(schema)).names
        except SchemaError:
            return ("",)


def stamp(path: Path) -> tuple[int, int]:
    """What changes when a file does."""
    about = path.stat()
    return about.st_mtime_ns, about.st_size


def _read(path: Path, table: str, named: Path | None, schema_name: str) -> OpenTable:
    loaded = load_whole(path, None, "the workbench")
    if named is None:
        schema, _ = propose_schema(loaded.frame, InitRequest(table=Path(table)))
    else:
        schema = Schema.load(named)
        pick_columns(loaded.frame.column_names, table, schema, None, labelled=False)
    missing = [name for name in schema.names if name not in loaded.frame.column_names]
    if missing:
        try:
            Individuals.read(loaded.frame, schema)
        except TableError as error:
            raise with_fix(error, table) from None
    complete, left_out = complete_table(loaded, Path(table), schema)
    found = OpenTable(table, schema_name, schema, complete, left_out, loaded)
    _ = found.encoding  # what is wrong with the people is said now
    return found
