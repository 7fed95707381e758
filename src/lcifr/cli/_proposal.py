"""A schema without columns that can be no attribute, and a formula with comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.cli._people import no_column
from lcifr.cli._sample import read_whole
from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.frames import as_text
from lcifr.errors import LcifrError, TableError
from lcifr.language.names import quote_name, quote_value

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Attribute

SHOWN = 8  # categories in a comment
FEW = 12  # whole numbers with fewer values may be codes
DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?\s*")
# Words in a column's name that often mean: this must not matter. Only a proposal, and said so in the file.
DELICATE = re.compile(
    r"\b(sex|gender|geschlecht|sexe|genre|race|ethnic\w*|rasse|herkunft|religion|nationality|staatsangeh\w+|foreign\w*"
    r"|marital\w*|familienstand|disab\w*|pregnan\w*|orientation)\b"
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
    return Proposal(
        schema, _formula(table, schema, delicate), len(frame), left_out, _to_know(frame, schema, target, delicate)
    )


def _infer(
    frame: pa.Table, target: str | None, categorical: Sequence[str], numeric: Sequence[str], left_out: dict[str, str]
) -> Schema:
    """What the library infers, without the columns that it refuses."""
    try:
        return Schema.infer(frame, target=target, categorical=categorical, numeric=numeric, drop=list(left_out))
    except TableError as error:
        refused = {problem.column: problem.message for problem in error.problems if problem.column is not None}
        if not refused or set(refused) & {*categorical, *numeric}:
            raise
        left_out |= {name: _for_a_shell(message) for name, message in refused.items()}
    if len(left_out) + (target is not None) >= len(frame.column_names):
        raise LcifrError("no column is left that can be an attribute", fix="turn dates and texts into numbers first")
    return Schema.infer(frame, target=target, categorical=categorical, numeric=numeric, drop=list(left_out))


def _for_a_shell(message: str) -> str:
    return message.replace("drop it, or say categorical=[…]", "an id (--id), free text, or else --categorical")


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
        if distinct == len(frame) > 20:
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


def _to_know(frame: pa.Table, schema: Schema, target: str | None, delicate: list[str]) -> list[str]:
    import pyarrow.compute as pc

    said = []
    if target is None:
        said.append("no --target was given, so every column counts as an attribute")
    for one in schema:
        column = frame[one.name]
        if missing := _missing(column, one):
            instead = "fill them" if isinstance(one, Numeric) else 'write "unknown" for them and run init again'
            said.append(f'"{one.name}": {missing} values are missing, which is refused: {instead}, or drop these rows')
        if isinstance(one, Numeric) and one.integer and (few := pc.count_distinct(column).as_py()) <= FEW:
            said.append(f'"{one.name}" has {few} different whole numbers; if they are codes, say --categorical')
    if delicate:
        names = ", ".join(f'"{name}"' for name in delicate)
        said.append(f"guessed from their names that these must not matter: {names}; correct it in the formula")
    return said


def _missing(column: pa.ChunkedArray, one: Attribute) -> int:
    """How many values are missing; of texts, those that are blank too."""
    return int((as_text(column) if isinstance(one, Categorical) else column).null_count)


# -- the formula -------------------------------------------------------------------------------------------------------


def _formula(table: Path, schema: Schema, delicate: list[str]) -> str:
    """A formula with everything in the comments that one needs to correct it."""
    listed = [f"#   {_describe(one)}" for one in schema]
    return "\n".join(
        [
            f"# Who counts as similar? Proposed by `lcifr init` for {quote_name(table.name)}: a guess. Correct it.",
            "# Two people for whom this holds must get the same decision.",
            "",
            _body(schema, delicate),
            "",
            "# What there is to write it with; a name with ' is the other person's value:",
            "#",
            *listed,
            "#",
            "#   same(SET)               every attribute of SET is equal",
            "#   SET within 0.3 sd       every number differs by at most 0.3 standard deviations",
            "#   SET within 5            … by at most 5, in its own unit",
            "#   SET: all, numeric, categorical, or names; `except` takes some out",
            "#   and, or, not, implies, (…); comparisons such as  |age' - age| <= 2  or  job' = \"clerk\"",
            "#",
            "# What must not matter stands after `except`, or is not mentioned at all: then it may have any value.",
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


def _body(schema: Schema, delicate: list[str]) -> str:
    free = [name for name in schema.names_categorical if name in delicate]
    parts = []
    if len(free) < len(schema.categorical):
        without = f" except {', '.join(quote_name(name) for name in free)}" if free else ""
        parts.append(f"same(categorical{without})")
    if schema.numeric:
        parts.append("numeric within 0.3 sd")
    return " and\n".join(parts) or "same(all)"
