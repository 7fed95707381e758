"""The work of ``lcifr phi`` and ``lcifr data``: formulas and tables checked, datasets described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data.codec import Record, to_json
from lcifr.data.files import is_remote
from lcifr.errors import LcifrError, TableError, no_such_file
from lcifr.workflows.events import Listener, StepKind, listening, note, step
from lcifr.workflows.options import argument, option
from lcifr.workflows.people import (
    find_schema,
    fit_similarity,
    is_file,
    pick_columns,
    read_formula,
    read_schema,
    schema_beside,
    with_fix,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Schema
    from lcifr.datasets import Source
    from lcifr.errors import TableProblem
    from lcifr.phi import Similarity
    from lcifr.phi.lint import Finding
    from lcifr.phi.neighbours import Neighbours


# A formula looked at with people: its English, what is odd about it, and what it means for them.


@dataclass(frozen=True)
class FormulaRequest:
    """Which formula to look at, and the people to look at it with.

    Parameters
    ----------
    data : None for the dataset of a ready-made formula. schema : None for the .toml next to the formula, else inferred.
    """

    formula: str = argument("FILE|NAME", "A .phi file, or a ready-made formula; see `lcifr phi list`.")
    data: str | None = option(
        None,
        "The people: a .csv or .parquet file, or the name of a dataset (its training people).",
        metavar="FILE|NAME",
    )
    schema: str | None = option(None, "The schema: a .toml file, or the name of a dataset.", metavar="FILE|NAME")


@dataclass(frozen=True)
class CountOptions:
    """How many people's neighbours are counted, and which."""

    most: int = option(500, "Count the similar people of at most this many people.", least=1)
    seed: int = option(0, "Seed for the sample and the examples.")


@dataclass(frozen=True)
class ExplainedFormula(Record):
    """source : the file or name of the formula. formula : its text as lcifr prints it. english : what it says."""

    source: str
    formula: str
    english: str


@dataclass(frozen=True, eq=False)
class FormulaCheckResult:
    """The findings on a formula, and its effect on people.

    Parameters
    ----------
    data : the people it was checked on. seed : of samples and examples.
    left_out : rows of the table with missing values, which were not looked at. Rows are counted with them.
    """

    similarity: Similarity
    data: str
    findings: tuple[Finding, ...]
    neighbours: Neighbours
    seed: int
    left_out: int = 0

    @property
    def has_errors(self) -> bool:
        """Whether nothing could be proved about the formula."""
        from lcifr.phi.lint import Severity

        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        from lcifr.certification.population import scale_sources
        from lcifr.phi.formula import print_formula

        found = self.neighbours
        return {
            "source": self.similarity.source,
            "formula": print_formula(self.similarity.formula),
            "hash": self.similarity.hash,
            "data": self.data,
            "english": self.similarity.explain(),
            "scales": to_json(scale_sources(self.similarity, self.data)),
            "findings": [self._finding(finding) for finding in self.findings],
            "neighbours": {
                "people": found.people,
                "left_out": self.left_out,
                "asked": len(found.asked),
                "sampled": found.is_sample,
                "seed": self.seed,
                "median": found.median,
                "largest": found.largest,
                "largest_row": found.largest_row,
                "share_without": found.share_isolated,
                "similar_pairs": to_json(found.similar),
                "just_missed_pairs": to_json(found.missed),
            },
        }

    def _finding(self, finding: Finding) -> dict[str, Any]:
        from lcifr.phi.syntax_errors import find_position

        place = find_position(self.similarity.text, finding.span.start) if finding.span else None
        return {
            "code": finding.code,
            "severity": str(finding.severity),
            "message": finding.message,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "examples": to_json(finding.examples),
        }


def explain_formula(request: FormulaRequest) -> ExplainedFormula:
    """A formula in English; distances in standard deviations are said in the data's own units where it is given."""
    from lcifr.phi.explain import explain
    from lcifr.phi.formula import print_formula
    from lcifr.phi.parser import parse

    text, source = read_formula(request.formula)
    if request.data is not None:
        similarity = _read_people(request.data, request).fit(text, source)
        return ExplainedFormula(source, print_formula(similarity.formula), similarity.explain())
    known = _schema_alone(request)
    tree = parse(text, known, source=source)
    return ExplainedFormula(source, print_formula(tree), explain(tree, known))


def check_formula(
    request: FormulaRequest, listener: Listener | None = None, *, most: int = 500, seed: int = 0
) -> FormulaCheckResult:
    """Look for what is odd about a formula, and for what it means for people.

    Parameters
    ----------
    listener : receives the events of :mod:`lcifr.workflows.events`.
    most : people whose neighbours are counted; of more a sample is drawn. seed : of the sample and the examples.
    """
    with listening(listener):
        text, source = read_formula(request.formula)
        people = _read_people(request.data or _dataset_of(request.formula), request)
        return people.in_file(check_with_people(people.fit(text, source), people.name, most=most, seed=seed))


def check_with_people(similarity: Similarity, data: str, *, most: int = 500, seed: int = 0) -> FormulaCheckResult:
    """:func:`check_formula` of one that is at hand, with the people its encoding was fitted on; data : their name."""
    from lcifr.phi.lint import lint
    from lcifr.phi.neighbours import find_neighbours

    findings = lint(similarity, seed=seed)
    with step("Comparing people", StepKind.COUNT) as progress:
        training = similarity.encoding.training
        neighbours = find_neighbours(similarity, training, most=most, seed=seed, progress=progress)
    return FormulaCheckResult(similarity, data, tuple(findings), neighbours, seed)


@dataclass(frozen=True, eq=False)
class _FormulaPeople:
    """The people a formula is looked at with: where they come from, their schema and table.

    table : of rows with gaps too, from which scales are taken like all others.
    rows : of a file with gaps, those in which nothing is missing. left_out : how many others there are.
    """

    name: str
    schema: Schema
    table: Any
    rows: Sequence[int] | None = None
    left_out: int = 0

    def fit(self, text: str, source: str) -> Similarity:
        """The formula with the scales of these people."""
        try:
            return fit_similarity(text, source, self.schema, self.table, skip_missing=self.rows is not None)
        except TableError as error:
            raise with_fix(error, self.name) from None

    def in_file(self, result: FormulaCheckResult) -> FormulaCheckResult:
        """What was found about these people, with the rows of their file."""
        if self.rows is None:
            return result
        findings = tuple(finding.among(self.rows) for finding in result.findings)
        return replace(result, findings=findings, neighbours=result.neighbours.among(self.rows), left_out=self.left_out)


def _read_people(data: str, request: FormulaRequest) -> _FormulaPeople:
    from lcifr.datasets import load
    from lcifr.workflows.people import read_whole

    if is_file(data):
        table = read_whole(Path(data), "looking at people with φ")
        known = find_schema(table, data, request.formula, request.schema, None, None)
        columns = pick_columns(table.column_names, data, known, None, labelled=False)
        return _complete_people(data, known, table.select(columns))
    dataset = load(data)
    if dataset.partial:
        note(dataset.partial)
    known = read_schema(request.schema) if request.schema is not None else dataset.schema
    return _FormulaPeople(f"the {len(dataset.train)} training people of {dataset.source.title}", known, dataset.train.X)


def _complete_people(data: str, schema: Schema, table: pa.Table) -> _FormulaPeople:
    """The rows without missing values: φ is not defined for others, and an audit of a model leaves them out too."""
    from lcifr.data.table import complete_rows

    kept = complete_rows(table, schema)
    rows = [row for row, is_complete in enumerate(kept.tolist()) if is_complete]
    if len(rows) in (0, len(table)):
        return _FormulaPeople(data, schema, table)
    left_out = len(table) - len(rows)
    note(f"{data}: {left_out:,} of {len(table):,} rows have missing values and are left out")
    return _FormulaPeople(data, schema, table, rows, left_out)


def _is_ready(formula: str) -> bool:
    from lcifr.phi import ready_names

    return formula in ready_names() and not Path(formula).is_file()


def _dataset_of(formula: str) -> str:
    """The dataset that a ready formula is about."""
    if not _is_ready(formula):
        raise LcifrError(
            f"{formula} needs people to be checked on", fix="add --data, for example --data german or --data people.csv"
        )
    return formula.split("/")[0]


def _schema_alone(request: FormulaRequest) -> Schema:
    from lcifr.datasets import find

    schema = request.schema or schema_beside(request.formula)
    if schema is not None:
        return read_schema(schema)
    if not _is_ready(request.formula):
        raise LcifrError(
            f"the columns that {request.formula} uses are not described",
            fix="add --schema people.toml, or --data people.csv",
        )
    return find(request.formula.split("/")[0]).schema


# A table checked against a schema: every problem, with row and column.


@dataclass(frozen=True)
class TableCheckRequest:
    """Which table to check, against which schema."""

    table: Path = argument("TABLE", "The table: .csv or .parquet.")
    schema: str | None = option(
        None,
        "The schema: a .toml file, or the name of a dataset. "
        "(Default: the .toml file next to the table, with the same name.)",
    )


@dataclass(frozen=True)
class TableCheckResult:
    """How many people are in the table, and everything that is wrong with it, the target included if it is there."""

    table: Path
    people: int
    problems: tuple[TableProblem, ...]

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        problems = to_json(self.problems)
        return {"file": str(self.table), "fits": not self.problems, "people": self.people, "problems": problems}


def check_table(request: TableCheckRequest, listener: Listener | None = None) -> TableCheckResult:
    """Everything that stands between a table and its schema; ``listener`` hears :mod:`lcifr.workflows.events`."""
    from lcifr.data import Individuals, read_target
    from lcifr.workflows.people import read_whole, schema_of_file

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


# A dataset by name: its description, whether its files are here, and how to get them.

PLAIN = ("name", "title", "homepage", "licence", "citation", "summary", "positive")


@dataclass(frozen=True)
class DatasetInfo:
    """A dataset and where it stands.

    Parameters
    ----------
    state : ``built in``, ``here``, ``to fetch``, or ``by hand``. by_hand : what to do where it cannot be downloaded.
    """

    source: Source
    state: str
    by_hand: str | None

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        source = self.source
        return {
            **{name: getattr(source, name) for name in PLAIN},
            "by_hand": self.by_hand,
            "labels": source.labels,
            "cautions": source.cautions,
            "state": self.state,
            "files": to_json(source.files),
            "schema": source.schema.to_dict(),
        }


def dataset_info(name: str, folder: Path | None = None) -> DatasetInfo:
    """The dataset by this name; ``folder`` is that of all datasets, None for ``$LCIFR_DATA`` or the user's cache."""
    from lcifr.datasets import find
    from lcifr.datasets.downloads import data_folder

    source = find(name)
    place = data_folder(folder) / source.name
    return DatasetInfo(source, _state(source, place), source.instructions(place))


def _state(source: Source, place: Path) -> str:
    """Whether a dataset can be loaded: built in, here, or how to get it."""
    if source.builtin:
        return "built in"
    if source.by_hand:
        return "here" if place.is_dir() and any(place.iterdir()) else "by hand"
    return "here" if all((place / file.name).is_file() for file in source.files) else "to fetch"
