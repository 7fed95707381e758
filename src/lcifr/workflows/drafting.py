"""The work of ``lcifr init``: a schema and a formula proposed for a table, for a person to correct."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.codec import key
from lcifr.data.frames import as_text
from lcifr.data.schema import MalformedNumber, find_malformed_number
from lcifr.data.table import complete_rows, missing_values
from lcifr.errors import LcifrError, NetworkError, TableError, TableProblem, did_you_mean
from lcifr.models.description import is_description, write_description
from lcifr.phi.formula import quote_name, quote_value
from lcifr.phi.lint import mark_of
from lcifr.workflows.events import Listener, listening, step
from lcifr.workflows.options import DeclaredByOption, argument, id_option, missing_option, model_option, option
from lcifr.workflows.people import no_column, read_whole
from lcifr.workflows.proposed_description import propose_description, with_declared
from lcifr.workflows.results import CommandResult

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Attribute
    from lcifr.models.source import ModelOutline


# The request: a table, what the user knows of its columns, and where the files go; and the result.


@dataclass(frozen=True, kw_only=True)
class InitRequest:
    """The table to look at, what the user knows about its columns, and where the files go."""

    table: Path = argument("TABLE", "The people: a .csv or .parquet file.")
    target: str | None = option(None, "The column to predict.", metavar="COLUMN")
    id_column: str | None = id_option()
    categorical: tuple[str, ...] = option(
        (), "A column of numbers that are categories, such as postcodes. Repeatable.", metavar="COLUMN"
    )
    numeric: tuple[str, ...] = option((), "A column to read as numbers. Repeatable.", metavar="COLUMN")
    drop: tuple[str, ...] = option((), "A column to leave out. Repeatable.", metavar="COLUMN")
    model: Path | None = model_option()
    missing: float | None = missing_option()
    out: Path | None = option(None, "Where to write the files. (Default: next to the table.)", metavar="FOLDER")
    force: bool = option(False, "Replace existing results.")

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that is named."""
        known = tuple(name for name in (self.target, self.id_column) if name is not None)
        return (*known, *self.categorical, *self.numeric, *self.drop)

    @property
    def folder(self) -> Path:
        """Where schema and formula go."""
        return self.table.parent if self.out is None else self.out

    @property
    def schema_file(self) -> Path:
        return self.folder / f"{self._stem}.toml"

    @property
    def phi_file(self) -> Path:
        return self.folder / f"{self._stem}.phi"

    @property
    def description_file(self) -> Path | None:
        """Where the model's description goes; None if no model is named."""
        return None if self.model is None else (self.out or self.model.parent) / f"{self.model.stem}.toml"

    @property
    def _stem(self) -> str:
        return self.table.name.split(".")[0] or "people"


@dataclass(frozen=True)
class InitResult(CommandResult):
    """What was guessed, and where it was written.

    Parameters
    ----------
    left_out : for each column that cannot be an attribute, what to do. to_know : what the user should look at.
    description_file : of a model that does not name its columns; None for others.
    """

    format = "lcifr-proposal-1"
    command = "init"

    people: int
    schema: Schema = field(metadata=key(write=Schema.to_dict))
    formula: str
    left_out: Mapping[str, str]
    to_know: tuple[str, ...]
    schema_file: Path = field(metadata=key("files.schema"))
    phi_file: Path = field(metadata=key("files.phi"))
    description_file: Path | None = field(default=None, metadata=key("files.describe", omit=True))


# What a model says of the columns that it reads, brought into a schema.


def kinds_of_model(request: InitRequest, outline: ModelOutline) -> InitRequest:
    """The request with the kinds that the model knows of columns that the user did not name."""
    if outline.columns is None:
        return request
    kinds = {one.name: one.is_category for one in outline.inputs if one.name not in request.named}
    return replace(
        request,
        categorical=(*request.categorical, *(name for name, category in kinds.items() if category)),
        numeric=(*request.numeric, *(name for name, category in kinds.items() if category is False)),
    )


def with_values_of_model(schema: Schema, outline: ModelOutline) -> Schema:
    """The categories of the table, and those that the model knows beyond: people may have them."""
    known = {one.name: one.values for one in outline.inputs if one.is_column}
    attributes = [
        replace(one, values=tuple(sorted({*one.values, *known.get(one.name, ())})))
        if isinstance(one, Categorical)
        else one
        for one in schema
    ]
    return replace(schema, attributes=tuple(attributes))


def refuse_unknown_columns(outline: ModelOutline, names: Sequence[str], where: str, why: Mapping[str, str]) -> None:
    """Raise if the model reads a column that is not among ``names``; ``why`` says of some why they are not."""
    for name in outline.columns or ():
        if name in names:
            continue
        if name in why:
            raise NetworkError(
                f'{where}: the model reads the column "{name}", which cannot be an attribute: {why[name]}',
                fix="declare its type in a schema (`lcifr init --categorical` or `--numeric`), or train without it",
            )
        raise NetworkError(
            f'{where}: the model reads the column "{name}", which is missing.{did_you_mean(name, list(names))}',
            fix="give the columns that the model was trained on, under the same names",
        )


# A formula to begin with, and in its comments everything that one needs to correct it.

SHOWN = 8  # categories in a comment


def write_formula(table: Path, schema: Schema, freed: list[str], flat: list[str]) -> str:
    """A formula with everything in the comments that one needs to correct it.

    Parameters
    ----------
    flat : numbers that are the same for everyone: they have no standard deviation, and are held equal.
    """
    listed = [f"#   {_describe(one)}" for one in schema]
    body = _body(schema, freed, flat)
    return "\n".join(
        [
            f"# Who counts as similar? Drafted by lcifr init from {quote_name(table.name)} {mark_of(body)}.",
            "# Correct it. To adopt it as it is, delete the line above; until then, reports call it a guess.",
            "",
            body,
            "",
            "# Two people for whom this holds count as similar and must get the same decision.",
            "# These attributes are available; a name with ' is the other person's value:",
            "#",
            *listed,
            "#",
            "#   same(SET)               every attribute in SET is equal",
            "#   free(SET)               must not matter: the other person may have any value",
            "#   SET within 0.3 sd       every number in SET differs by at most 0.3 standard deviations",
            "#   SET within 5            every number in SET differs by at most 5, in its own unit",
            "#   SET                     all, numeric, categorical, or names; leave some out with `except`",
            "#   Join conditions with and, or, not, implies, (…); compare:  |age' - age| <= 2,  job' = \"clerk\"",
            "#",
            "# An attribute that is not mentioned may also have any value; free(…) shows that this is on purpose.",
            "# A number that may have any value needs a range in the schema (lower = …, upper = …).",
            "# Beware of proxies: other attributes may reveal one that you free.",
            "",
        ]
    )


def _describe(one: Attribute) -> str:
    if isinstance(one, Categorical):
        values = ", ".join(quote_value(value) for value in one.values[:SHOWN])
        more = f", … ({len(one.values)} in total)" if len(one.values) > SHOWN else ""
        return f"{quote_name(one.name)}: {values}{more}"
    return f"{quote_name(one.name)}: a {'whole ' if one.integer else ''}number"


def freed_attributes(schema: Schema, delicate: list[str]) -> list[str]:
    """What the formula frees: categories alone, since a free number needs a range; and never all there is."""
    free = [name for name in schema.names_categorical if name in delicate]
    return free if len(free) < len(schema) else []


def _body(schema: Schema, freed: list[str], flat: list[str]) -> str:
    names, constant = (", ".join(quote_name(name) for name in some) for some in (freed, flat))
    parts = []
    if len(freed) < len(schema.categorical):
        parts.append(f"same(categorical{' except ' if freed else ''}{names})")
    if len(flat) < len(schema.numeric):
        parts.append(f"numeric{' except ' if flat else ''}{constant} within 0.3 sd")
    if flat:
        parts.append(f"same({constant})")
    if freed:
        parts.append(f"free({names})")
    return " and\n".join(parts)


# A schema proposed for a table, without columns that can be no attribute; and what to know about the rest.

FEW = 12  # whole numbers with so few values may be codes
MANY = 20  # values in the same order as the target's: no chance
DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?\s*")
# Words in a column's name that often mean: this must not matter. Only a proposal, and said so in the file.
DELICATE = re.compile(
    r"\b(sex|gender|geschlecht|sexe|genre|race|ethnic\w*|rasse|herkunft|religion|nationality|staatsangeh\w+|foreign\w*"
    r"|marit\w*|married|familienstand|disab\w*|pregnan\w*|orientation)\b"
)


def propose(request: InitRequest, frame: pa.Table, outline: ModelOutline | None = None) -> InitResult:
    """Guess from the rows of a table; ``outline`` : of a model that reads its columns."""
    schema, left_out = propose_schema(frame, request, outline)
    delicate = [one.name for one in schema if DELICATE.search(_words(one.name))]
    freed = freed_attributes(schema, delicate)
    columns = _about_the_columns(frame, schema, request.target, skipped=outline is not None)
    to_know = (*columns, *_about_the_guess(schema, delicate, freed))
    flat = [one.name for one in schema.numeric if _is_flat(frame[one.name])]
    formula = write_formula(request.table, schema, freed, flat)
    return InitResult(len(frame), schema, formula, left_out, to_know, request.schema_file, request.phi_file)


def propose_schema(
    frame: pa.Table, request: InitRequest, outline: ModelOutline | None = None
) -> tuple[Schema, dict[str, str]]:
    """The attributes that the columns of a table look like; and for each column that is left out, what to do.

    A model that reads the columns knows which are categories, and which values they may have beyond those of the table.

    Raises
    ------
    NetworkError
        If the model reads a column that the table has not, or that can be no attribute.
    """
    table = str(request.table)
    if outline is not None:
        refuse_unknown_columns(outline, frame.column_names, table, {})
        request = kinds_of_model(request, outline)
    for name in request.named:
        if name not in frame.column_names:
            raise no_column(table, name, frame.column_names)
    if not len(frame):
        raise LcifrError(f"{table} has no rows", fix="give a table of people")
    left_out = dict.fromkeys(request.drop, "dropped (--drop)")
    if request.id_column is not None:
        left_out[request.id_column] = "used as the id (--id)"
    known = {request.target, *request.categorical, *request.numeric}
    read = () if outline is None else outline.columns or ()
    for name in frame.column_names:
        if name in left_out or name in known or (name in read and _is_flat(frame[name])):
            continue
        if advice := _advice(frame, name):
            left_out[name] = advice
    if outline is None:
        return _infer(frame, request, left_out), left_out
    try:
        schema = _infer(frame, request, left_out)
    except TableError as error:
        left_out |= {str(one.column): one.message for one in error.problems if one.column in (outline.columns or ())}
        refuse_unknown_columns(outline, [name for name in frame.column_names if name not in left_out], table, left_out)
        raise
    refuse_unknown_columns(outline, schema.names, table, left_out)
    return with_values_of_model(schema, outline), left_out


def _infer(frame: pa.Table, request: InitRequest, left_out: dict[str, str]) -> Schema:
    """What the library infers, without the columns that it refuses; they are added to those left out."""

    def infer() -> Schema:
        return Schema.infer(
            frame,
            target=request.target,
            categorical=request.categorical,
            numeric=request.numeric,
            drop=list(left_out),
        )

    try:
        return infer()
    except TableError as error:
        refused = {one.column: _for_a_shell(one) for one in error.problems if one.column is not None}
        if not refused or set(refused) & {*request.categorical, *request.numeric}:
            raise
        left_out |= refused
    if len(left_out) + (request.target is not None) >= len(frame.column_names):
        raise LcifrError("no column is left that can be an attribute", fix="turn dates and texts into numbers first")
    return infer()


def _for_a_shell(problem: TableProblem) -> str:
    """What the library says of a column, with options instead of arguments."""
    named = f"--categorical {shlex.quote(str(problem.column))}"
    said = problem.message.replace(
        "drop it, or use categorical=[…]", f"for an id, use --id; if it is not free text, use {named}"
    )
    said = said.replace("use categorical=[…]", named)
    return said if problem.row is None else f"row {problem.row} (from 0): {said}. Then run init again"


def _advice(frame: pa.Table, name: str) -> str | None:
    """Why a column can be no attribute, where the library would take it for one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = frame[name]
    if column.null_count == len(column) or pa.types.is_temporal(column.type):
        return None  # the library says it better
    distinct = pc.count_distinct(column).as_py()
    if pa.types.is_string(column.type):
        texts = [text for text in column.drop_null().to_pylist() if text.strip()]
        if texts and sum(bool(DATE.fullmatch(text)) for text in texts) > 0.9 * len(texts):
            return "contains dates, which a formula cannot compare; turn them into a number (such as an age in years)"
        if distinct == len(frame) > 20 and _slip(column) is None:
            return "is different for everyone: an id (use --id) or free text"
    elif pa.types.is_integer(column.type) and distinct == len(frame) > 20:
        values = column.to_pylist()
        looks = bool(re.search(r"(^|\W)(id|nr|no|key|number|nummer)$", _words(name)))
        if looks or values == sorted(values):  # all different and in order: given one after the other
            return "is a different whole number for everyone: if it is an id, use --id; to keep it, use --numeric"
    if distinct == 1 and not column.null_count:
        return f"is {column[0].as_py()!r} for everyone"
    return None


def _is_flat(column: pa.ChunkedArray) -> bool:
    """Whether every row has the same value, or none."""
    import pyarrow.compute as pc

    return int(pc.count_distinct(column).as_py()) <= 1


def _words(name: str) -> str:
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()


def _about_the_columns(frame: pa.Table, schema: Schema, target: str | None, *, skipped: bool) -> Iterator[str]:
    """``skipped`` : whether rows with missing values are left out, as in audits of models that already decide."""
    import pyarrow.compute as pc

    if target is None:
        yield "no --target was given, so every column counts as an attribute, even the one to predict"
    elif (slip := _slip(frame[target])) is not None:
        yield f'the target "{target}", row {slip.row} (from 0): {slip}'
    if lost := len(frame) - int(complete_rows(frame, schema).sum()):
        then = ": an audit does not examine them, and counts them as not certified" if skipped else " in all"
        if lost == len(frame):
            then = f": no row is complete, so there is no one to {'examine' if skipped else 'learn from'}"
        yield f"a value is missing in {lost:,} of {len(frame):,} rows{then}"
    for one in schema:
        column = frame[one.name]
        if missing := int(missing_values(column, one).sum()):
            instead = "fill them" if isinstance(one, Numeric) else 'write "unknown" for them and run init again'
            then = "" if skipped else f", which `lcifr produce` refuses: {instead}, or drop these rows"
            yield f'"{one.name}": values are missing in {missing:,} of {len(frame):,} rows{then}'
        if isinstance(one, Numeric) and one.integer and (few := pc.count_distinct(column).as_py()) <= FEW:
            named = f"--categorical {shlex.quote(one.name)}"
            yield f'"{one.name}" has {few} different whole numbers, treated as numbers; if they are codes, use {named}'
        if isinstance(one, Numeric) and target is not None and _tells(column, frame[target]):
            yield (
                f'"{one.name}" orders people exactly like the target. If it is the target in another unit, or known '
                f"only afterwards, use --drop {shlex.quote(one.name)}"
            )
    if zero_one := [one.name for one in schema.categorical if one.values == ("0", "1")]:
        yield f"0 and 1 are treated as categories in {_listed(zero_one)}; if they are counts, use --numeric COLUMN"


def _about_the_guess(schema: Schema, delicate: list[str], freed: list[str]) -> Iterator[str]:
    if freed:
        yield f"judging by their names, these should not matter, so the formula frees them: {_listed(freed)}"
    elif schema.categorical and schema.target is not None and not delicate:
        one = quote_name(schema.names_categorical[0])
        yield (
            "the formula frees nothing, because no column is called sex, race or the like. To free what must "
            f"not matter, write for example  same(categorical except {one}) and numeric within 0.3 sd and free({one})"
        )
    for name in (name for name in delicate if name not in freed):
        if isinstance(schema[name], Numeric):
            how = f"if its numbers are codes, use --categorical {shlex.quote(name)} to free it"
            how += "; else free it yourself, and declare its range in the schema"
        else:
            how = "then nothing would be left to compare people by"
        yield f'going by its name, "{name}" may have to be freed, but is not: {how}'


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _slip(column: pa.ChunkedArray) -> MalformedNumber | None:
    import pyarrow as pa

    return find_malformed_number(as_text(column)) if pa.types.is_string(column.type) else None


def _tells(column: pa.ChunkedArray, target: pa.ChunkedArray) -> bool:
    """Whether a column is a rising or falling function of a target that has many values."""
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_floating(target.type) or column.null_count or target.null_count:
        return False
    x, y = (np.asarray(values.to_numpy(), np.float64) for values in (column, target))
    steps = np.diff(x[np.argsort(y, kind="stable")])
    return len(np.unique(x)) > MANY and bool((steps >= 0).all() or (steps <= 0).all())


def init(request: InitRequest, listener: Listener | None = None) -> InitResult:
    """Propose a schema (.toml) and a similarity formula (.phi) for a table: guesses, for a person to correct.

    Parameters
    ----------
    listener : receives the events of :mod:`lcifr.workflows.events`.
    """
    files = (request.schema_file, request.phi_file)
    with listening(listener):
        outline = None if request.model is None else _outline(request.model, request.missing)
        described = None if outline is None or not outline.needs_description else request.description_file
        if described in files:
            raise LcifrError(f"schema and description would both be {described}", fix="rename the model or the table")
        if is_description(request.schema_file):
            raise LcifrError(
                f"{request.schema_file} describes a model, and the schema would replace it",
                fix="use --out for another folder, or rename the table",
            )
        there = [str(path) for path in (*files, described) if path is not None and path.exists()]
        if there and not request.force:
            raise LcifrError(
                f"already in the folder: {' and '.join(there)}",
                fix="use --force to replace, or --out for another folder",
            )
        with step(f"Reading {request.table}"):
            frame = read_whole(request.table, "lcifr init")
            found = propose(request, frame, outline)
            drafted = (
                None if outline is None or described is None else propose_description(outline, found.schema, frame)
            )
    request.folder.mkdir(parents=True, exist_ok=True)
    found.schema.save(request.schema_file)
    request.phi_file.write_text(found.formula, encoding="utf-8")
    if drafted is None or described is None:
        return found
    write_description(replace(drafted.description, missing=request.missing), described, drafted.comments)
    return replace(found, to_know=(*drafted.to_know, *found.to_know), description_file=described)


def _outline(model: Path, missing: float | None) -> ModelOutline:
    """What a model file says of its columns, without a description."""
    from lcifr.models.loading import load_file

    with step(f"Opening {model}"):
        return load_file(model, with_declared(model, None, DeclaredByOption(missing=missing))).outline()
