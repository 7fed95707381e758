"""A schema without columns that can be no attribute, and a formula with comments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.frames import as_text
from lcifr.data.malformed_numbers import MalformedNumber, find_malformed_number
from lcifr.errors import LcifrError, TableError, TableProblem
from lcifr.language.names import quote_name, quote_value
from lcifr.runs.people.sample import read_whole
from lcifr.runs.people.tables import no_column
from lcifr.similarity.proposal_mark import mark_of

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Attribute

SHOWN = 8  # categories in a comment
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
    to_know: list[str]


def propose(
    table: Path,
    target: str | None,
    id_column: str | None,
    categorical: Sequence[str],
    numeric: Sequence[str],
    drop: Sequence[str],
) -> Proposal:
    """Look at a table; options name columns whose kind is known better."""
    frame = read_whole(table, "lcifr init")
    for name in (target, id_column, *categorical, *numeric, *drop):
        if name is not None and name not in frame.column_names:
            raise no_column(str(table), name, frame.column_names)
    if not len(frame):
        raise LcifrError(f"{table} has no rows", fix="give a table of people")
    left_out = dict.fromkeys(drop, "as you say")
    if id_column is not None:
        left_out[id_column] = "names people (--id)"
    chosen = {*categorical, *numeric}
    for name in frame.column_names:
        if name not in left_out and name != target and name not in chosen and (advice := _advice(frame, name)):
            left_out[name] = advice
    schema = _infer(frame, target, categorical, numeric, left_out)
    delicate = [one.name for one in schema if DELICATE.search(_words(one.name))]
    freed = _freed(schema, delicate)
    to_know = [*_about_the_columns(frame, schema, target), *_about_the_guess(schema, delicate, freed)]
    return Proposal(schema, _formula(table, schema, freed), len(frame), left_out, to_know)


def _infer(
    frame: pa.Table, target: str | None, categorical: Sequence[str], numeric: Sequence[str], left_out: dict[str, str]
) -> Schema:
    """What the library infers, without the columns that it refuses."""
    try:
        return Schema.infer(frame, target=target, categorical=categorical, numeric=numeric, drop=list(left_out))
    except TableError as error:
        refused = {one.column: _for_a_shell(one) for one in error.problems if one.column is not None}
        if not refused or set(refused) & {*categorical, *numeric}:
            raise
        left_out |= refused
    if len(left_out) + (target is not None) >= len(frame.column_names):
        raise LcifrError("no column is left that can be an attribute", fix="turn dates and texts into numbers first")
    return Schema.infer(frame, target=target, categorical=categorical, numeric=numeric, drop=list(left_out))


def _for_a_shell(problem: TableProblem) -> str:
    """What the library says of a column, with options instead of arguments."""
    named = f"--categorical {shlex.quote(str(problem.column))}"
    said = problem.message.replace("drop it, or say categorical=[…]", f"an id (--id), free text, or else {named}")
    said = said.replace("say categorical=[…]", named)
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
            return "holds dates, which no formula can compare; turn it into a number (an age in years)"
        if distinct == len(frame) > 20 and _slip(column) is None:
            return "is different for everybody: an id (say --id) or free text"
    elif pa.types.is_integer(column.type) and distinct == len(frame) > 20:
        values = column.to_pylist()
        looks = bool(re.search(r"(^|\W)(id|nr|no|key|number|nummer)$", _words(name)))
        if looks or values == sorted(values):  # all different and in order: given one after the other
            return "is a different whole number for everybody: an id? say --id, or --numeric to keep it"
    if distinct == 1 and not column.null_count:
        return f"is {column[0].as_py()!r} for everybody, so it tells nobody apart"
    return None


def _words(name: str) -> str:
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()


def _about_the_columns(frame: pa.Table, schema: Schema, target: str | None) -> Iterator[str]:
    import pyarrow.compute as pc

    if target is None:
        yield "no --target was given, so every column counts as an attribute; what is to be predicted must not be one"
    elif (slip := _slip(frame[target])) is not None:
        yield f'the target "{target}", row {slip.row} (from 0): {slip}'
    for one in schema:
        column = frame[one.name]
        if missing := _missing(column, one):
            instead = "fill them" if isinstance(one, Numeric) else 'write "unknown" for them and run init again'
            yield f'"{one.name}": {missing} values are missing, which is refused: {instead}, or drop these rows'
        if isinstance(one, Numeric) and one.integer and (few := pc.count_distinct(column).as_py()) <= FEW:
            named = f"--categorical {shlex.quote(one.name)}"
            yield f'"{one.name}" has {few} different whole numbers and is taken as a number; if they are codes: {named}'
        if isinstance(one, Numeric) and target is not None and _tells(column, frame[target]):
            yield (
                f'"{one.name}" puts people in the very order of the target: is it the target in another unit, or known '
                f"only afterwards? Then: --drop {shlex.quote(one.name)}"
            )
    if zero_one := [one.name for one in schema.categorical if one.values == ("0", "1")]:
        yield f"0 and 1 are taken as two categories in {_listed(zero_one)}; where they are counts: --numeric COLUMN"


def _about_the_guess(schema: Schema, delicate: list[str], freed: list[str]) -> Iterator[str]:
    if freed:
        yield f"guessed from their names that these must not matter, and freed: {_listed(freed)}; correct the formula"
    elif schema.categorical and schema.target is not None and not delicate:
        one = quote_name(schema.names_categorical[0])
        yield (
            "the formula frees nothing, since no column is called sex, race or the like; what must not matter is yours "
            f"to write, for example  same(categorical except {one}) and numeric within 0.3 sd and free({one})"
        )
    for name in (name for name in delicate if name not in freed):
        if isinstance(schema[name], Numeric):
            how = f"if its numbers are codes, --categorical {shlex.quote(name)} frees it"
            how += "; else free it yourself, with a range in the schema"
        else:
            how = "freeing it would leave nothing to compare people by"
        yield f'"{name}" must perhaps not matter, by its name, but is not freed: {how}'


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


def _missing(column: pa.ChunkedArray, one: Attribute) -> int:
    """How many values are missing; of texts, those that are blank too."""
    return int((as_text(column) if isinstance(one, Categorical) else column).null_count)


# -- the formula -------------------------------------------------------------------------------------------------------


def _formula(table: Path, schema: Schema, freed: list[str]) -> str:
    """A formula with everything in the comments that one needs to correct it."""
    listed = [f"#   {_describe(one)}" for one in schema]
    body = _body(schema, freed)
    return "\n".join(
        [
            f"# Who counts as similar? lcifr init guessed this from {quote_name(table.name)} {mark_of(body)}.",
            "# Correct it, and delete the line above when somebody stands by it: until then a report calls it a guess.",
            "",
            body,
            "",
            "# Two people for whom this holds must get the same decision.",
            "# What there is to write it with; a name with ' is the other person's value:",
            "#",
            *listed,
            "#",
            "#   same(SET)               every attribute of SET is equal",
            "#   free(SET)               what must not matter: the other person may have any value there",
            "#   SET within 0.3 sd       every number differs by at most 0.3 standard deviations",
            "#   SET within 5            … by at most 5, in its own unit",
            "#   SET: all, numeric, categorical, or names; `except` takes some out",
            "#   and, or, not, implies, (…); comparisons such as  |age' - age| <= 2  or  job' = \"clerk\"",
            "#",
            "# What is not mentioned may have any value, too; free(…) says that it was not forgotten.",
            "# Numbers that may have any value need a range in the schema (lower = …, upper = …).",
            "# Mind proxies: freeing one attribute leaves others that tell it.",
            "",
        ]
    )


def _describe(one: Attribute) -> str:
    if isinstance(one, Categorical):
        values = ", ".join(quote_value(value) for value in one.values[:SHOWN])
        more = f", … ({len(one.values)} in all)" if len(one.values) > SHOWN else ""
        return f"{quote_name(one.name)}: {values}{more}"
    return f"{quote_name(one.name)}: a {'whole ' if one.integer else ''}number"


def _freed(schema: Schema, delicate: list[str]) -> list[str]:
    """What the formula frees: categories alone, since a free number needs a range; and never all there is."""
    free = [name for name in schema.names_categorical if name in delicate]
    return free if len(free) < len(schema) else []


def _body(schema: Schema, freed: list[str]) -> str:
    names = ", ".join(quote_name(name) for name in freed)
    parts = []
    if len(freed) < len(schema.categorical):
        parts.append(f"same(categorical{' except ' if freed else ''}{names})")
    if schema.numeric:
        parts.append("numeric within 0.3 sd")
    if freed:
        parts.append(f"free({names})")
    return " and\n".join(parts)
