"""A schema proposed for a table, without columns that can be no attribute; and what to know about the rest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data import Numeric, Schema
from lcifr.data.frames import as_text
from lcifr.data.inference import MalformedNumber, find_malformed_number
from lcifr.data.table import complete_rows, missing_values
from lcifr.errors import LcifrError, TableError, TableProblem
from lcifr.phi.formula import quote_name
from lcifr.runs.people.loading import read_whole
from lcifr.runs.people.source import no_column
from lcifr.runs.preparing.column_choices import ColumnChoices
from lcifr.runs.preparing.model_columns import kinds_of_model, refuse_unknown_columns, with_values_of_model
from lcifr.runs.preparing.proposed_formula import freed_attributes, write_formula

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.models.source import ModelOutline

FEW = 12  # whole numbers with so few values may be codes
MANY = 20  # values in the same order as the target's: no chance
DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?\s*")
# Words in a column's name that often mean: this must not matter. Only a proposal, and said so in the file.
DELICATE = re.compile(
    r"\b(sex|gender|geschlecht|sexe|genre|race|ethnic\w*|rasse|herkunft|religion|nationality|staatsangeh\w+|foreign\w*"
    r"|marit\w*|married|familienstand|disab\w*|pregnan\w*|orientation)\b"
)


@dataclass(frozen=True)
class Proposal:
    """left_out : for each column without meaning here, what to do. to_know : what a reader should look at."""

    schema: Schema
    formula: str
    people: int
    left_out: dict[str, str]
    to_know: tuple[str, ...]


def propose(table: Path, choices: ColumnChoices, outline: ModelOutline | None = None) -> Proposal:
    """Look at a table, and guess; ``outline`` : of a model that reads its columns."""
    frame = read_whole(table, "lcifr init")
    schema, left_out = propose_schema(frame, table, choices, outline)
    delicate = [one.name for one in schema if DELICATE.search(_words(one.name))]
    freed = freed_attributes(schema, delicate)
    columns = _about_the_columns(frame, schema, choices.target, skipped=outline is not None)
    to_know = (*columns, *_about_the_guess(schema, delicate, freed))
    flat = [one.name for one in schema.numeric if _is_flat(frame[one.name])]
    return Proposal(schema, write_formula(table, schema, freed, flat), len(frame), left_out, to_know)


def propose_schema(
    frame: pa.Table, table: Path, choices: ColumnChoices, outline: ModelOutline | None = None
) -> tuple[Schema, dict[str, str]]:
    """The attributes that the columns of a table look like; and for each column that is left out, what to do.

    A model that reads the columns knows which are categories, and which values they may have beyond those of the table.

    Raises
    ------
    NetworkError
        If the model reads a column that the table has not, or that can be no attribute.
    """
    if outline is not None:
        refuse_unknown_columns(outline, frame.column_names, str(table), {})
        choices = kinds_of_model(choices, outline)
    for name in choices.named:
        if name not in frame.column_names:
            raise no_column(str(table), name, frame.column_names)
    if not len(frame):
        raise LcifrError(f"{table} has no rows", fix="give a table of people")
    left_out = dict.fromkeys(choices.drop, "dropped (--drop)")
    if choices.id_column is not None:
        left_out[choices.id_column] = "used as the id (--id)"
    known = {choices.target, *choices.categorical, *choices.numeric}
    read = () if outline is None else outline.columns or ()
    for name in frame.column_names:
        if name in left_out or name in known or (name in read and _is_flat(frame[name])):
            continue
        if advice := _advice(frame, name):
            left_out[name] = advice
    if outline is None:
        return _infer(frame, choices, left_out), left_out
    try:
        schema = _infer(frame, choices, left_out)
    except TableError as error:
        left_out |= {str(one.column): one.message for one in error.problems if one.column in (outline.columns or ())}
        refuse_unknown_columns(
            outline, [name for name in frame.column_names if name not in left_out], str(table), left_out
        )
        raise
    refuse_unknown_columns(outline, schema.names, str(table), left_out)
    return with_values_of_model(schema, outline), left_out


def _infer(frame: pa.Table, choices: ColumnChoices, left_out: dict[str, str]) -> Schema:
    """What the library infers, without the columns that it refuses; they are added to those left out."""

    def infer() -> Schema:
        return Schema.infer(
            frame,
            target=choices.target,
            categorical=choices.categorical,
            numeric=choices.numeric,
            drop=list(left_out),
        )

    try:
        return infer()
    except TableError as error:
        refused = {one.column: _for_a_shell(one) for one in error.problems if one.column is not None}
        if not refused or set(refused) & {*choices.categorical, *choices.numeric}:
            raise
        left_out |= refused
    if len(left_out) + (choices.target is not None) >= len(frame.column_names):
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
