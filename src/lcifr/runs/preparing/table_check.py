"""A table checked against a schema: every problem, with row and column."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data.files import is_remote
from lcifr.errors import LcifrError, TableError, no_such_file
from lcifr.runs.events import Listener, listening

if TYPE_CHECKING:
    from lcifr.errors import TableProblem


@dataclass(frozen=True)
class TableCheckRequest:
    """table : a .csv or .parquet file. schema : a .toml file, or the name of a dataset; None for the one beside it."""

    table: Path
    schema: str | None = None


@dataclass(frozen=True)
class TableCheckResult:
    """How many people are in the table, and everything that is wrong with it, the target included if it is there."""

    table: Path
    people: int
    problems: tuple[TableProblem, ...]

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        listed = [asdict(problem) for problem in self.problems]
        return {"file": str(self.table), "fits": not self.problems, "people": self.people, "problems": listed}


def check_table(request: TableCheckRequest, listener: Listener | None = None) -> TableCheckResult:
    """Everything that stands between a table and its schema; ``listener`` hears :mod:`lcifr.runs.events`."""
    from lcifr.data import Individuals, read_target
    from lcifr.runs.formulas import read_schema, schema_of_file
    from lcifr.runs.people.loading import read_whole
    from lcifr.runs.people.tables import pick_columns

    file = request.table
    problems: list[TableProblem] = []
    people = 0
    with listening(listener):
        if not (is_remote(file) or file.exists()):  # before a schema is missed that stands beside no table
            raise no_such_file(file)
        if (named := request.schema or schema_of_file(file)) is None:
            raise LcifrError(
                f"no schema: there is no {file.with_suffix('.toml')}",
                fix=f"name one with --schema; `lcifr init {file}` drafts it",
            )
        schema = read_schema(named)
        try:
            table = read_whole(file, "data check")
            people = len(table)
            columns = pick_columns(table.column_names, str(file), schema, None, labelled=False)
            Individuals.read(table.select(columns), schema)
        except TableError as error:
            problems += error.problems
            if not people:  # no rows, or columns that share a name: nothing more can be said
                return TableCheckResult(file, people, tuple(problems))
    if schema.target in table.column_names:
        try:
            read_target(table, schema)
        except TableError as error:
            problems += error.problems
    return TableCheckResult(file, people, tuple(problems))
