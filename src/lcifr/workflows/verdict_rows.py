"""Verdicts as Arrow tables with a fixed schema, one row per person; and read again as the library's own objects.

The schema follows from the attributes, the model's labels and what is asked alone: the same for every chunk of people,
on every machine, whoever is in it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet

from lcifr.certification.verdicts import NOBODYS, Audit, Certificates, LookedUp, Reason, Verdict
from lcifr.data import Categorical, Individuals, Numeric, Schema
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import arithmetic_of
from lcifr.models.model import Model
from lcifr.models.rule import Kind

SWEPT = ["sweep", "sweep_hash", "cell"]
"""Which cell of which sweep certifies somebody."""
SIMILAR = "similar:"
"""Before the name of an attribute: its value for the similar person of a counterexample; null where there is none."""


LEAST = "least_probability"
"""Of the certified: no similar person's probability of this decision is smaller. Null for others."""


def audit_schema(schema: Schema, model: Model, *, modular: bool, radius: bool, swept: bool = False) -> pa.Schema:
    """The columns of an audit.

    Parameters
    ----------
    modular : with who is certified on ball and box. radius : with the proved radius. swept : with cells of a sweep.
    """
    asked = [("certified_on_ball", pa.bool_()), ("certified_on_box", pa.bool_())] if modular else []
    looked_up = [("sweep", pa.string()), ("sweep_hash", pa.string()), ("cell", pa.int64())] if swept else []
    proved = [("radius", pa.float64())] if radius else []
    known = [] if model.rule.log_odds is None else [(LEAST, pa.float64())]
    others = [(f"{SIMILAR}{attribute.name}", _similar_type(attribute)) for attribute in schema]
    return pa.schema(
        [
            ("id", pa.string()),
            ("verdict", pa.string()),
            ("prediction", label_type(model)),
            ("margin", pa.float64()),
            *known,
            ("reason", pa.string()),
            ("vacuous", pa.bool_()),
            ("arithmetic", pa.string()),
            *asked,
            *looked_up,
            ("alone", pa.bool_()),
            *proved,
            *others,
        ]
    )


def _similar_type(attribute: Numeric | Categorical) -> pa.DataType:
    """Whole numbers are written as such, other numbers as floats, which print the same decimals as the table's."""
    if not isinstance(attribute, Numeric):
        return pa.string()
    return pa.int64() if attribute.integer else pa.float64()


def certificate_schema(model: Model) -> pa.Schema:
    """The columns of a consumer's certificates."""
    kinds = {"margin": pa.float64(), "largest_radius": pa.float64(), "vacuous": pa.bool_()}
    names = ("id", "verdict", "prediction", "margin", "largest_radius", "reason", "radius", "vacuous")
    typed = kinds | {"prediction": label_type(model)}
    return pa.schema([(name, typed.get(name, pa.string())) for name in (*names, "arithmetic", "handover_arithmetic")])


def label_type(model: Model) -> pa.DataType:
    """The type of decisions: that of the model's labels; numbers, or the numbers of nameless classes."""
    if model.rule.kind is Kind.NUMBER:
        return pa.float64() if model.rule.outputs == 1 else pa.list_(pa.float64())
    if model.labels is None:
        return pa.int64()
    if model.labels.dtype.kind in "OUS":
        plain = {type(label) for label in model.labels.tolist()}
        return {frozenset({int}): pa.int64(), frozenset({bool}): pa.bool_(), frozenset({float}): pa.float64()}.get(
            frozenset(plain), pa.string()
        )
    return pa.from_numpy_dtype(model.labels.dtype)


def audit_rows(found: Audit, radius: NDArray[np.float64] | None = None, *, swept: bool = False) -> pa.Table:
    """An audit as a table of :func:`audit_schema`; ``swept`` : whether people were looked up in a sweep."""
    asked = {"modular": found.ball is not None, "radius": radius is not None, "swept": swept}
    schema = audit_schema(found.people.schema, found.model, **asked)
    columns: dict[str, Any] = {
        **_verdicts(found, schema),
        LEAST: pa.array(found.least_probability, from_pandas=True),
        "vacuous": found.vacuous,
        "arithmetic": _repeated(str(found.arithmetic), len(found)),
        "certified_on_ball": found.ball,
        "certified_on_box": found.box,
        **_looked_up(found.looked_up, len(found)),
        "alone": found.alone,
        "radius": radius,
        **_similar(found.others, found.violated, schema),
    }
    return pa.table([pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema)


def certificate_rows(found: Certificates) -> pa.Table:
    """Certificates as a table of :func:`certificate_schema`."""
    schema = certificate_schema(found.model)
    columns = {
        **_verdicts(found, schema),
        "largest_radius": found.largest_radius,
        "radius": [str(one) for one in found.radius_status],
        "vacuous": found.vacuous,
        "arithmetic": _repeated(str(found.arithmetic), len(found)),
        "handover_arithmetic": _repeated(str(found.handover_arithmetic), len(found)),
    }
    return pa.table([pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema)


def _verdicts(found: Audit | Certificates, schema: pa.Schema) -> dict[str, Any]:
    decided = np.asarray(found.prediction)
    if decided.ndim > 1:
        decided = decided.tolist()
    elif pa.types.is_string(schema.field("prediction").type):
        named, which = np.unique(decided.astype(str), return_inverse=True)
        decided = pa.DictionaryArray.from_arrays(which.reshape(-1), named.tolist()).cast(pa.string())
    return {
        "id": [str(name) for name in found.ids],
        "verdict": _texts(found.verdict, Verdict),
        "prediction": decided,
        "margin": found.margin,
        "reason": _texts(found.reason, Reason),
    }


def _looked_up(found: LookedUp | None, people: int) -> dict[str, Any]:
    if found is None:
        return {"sweep": _repeated("", people), "sweep_hash": _repeated("", people), "cell": np.full(people, NOBODYS)}
    return found.columns()


def _texts(words: NDArray[np.object_], kind: Iterable[StrEnum]) -> pa.Array:
    known, codes = list(kind), np.full(len(words), -1, np.int8)
    rest = np.arange(len(words))
    for code, word in enumerate(known):  # nearly everybody has one of the first
        is_it = np.asarray(words[rest] == word)
        codes[rest[is_it]] = code
        rest = rest[~is_it]
    if len(rest):
        raise ValueError(f"{words[rest[0]]!r} is none of {', '.join(known)}")
    return pa.DictionaryArray.from_arrays(codes, [str(word) for word in known]).cast(pa.string())


def _repeated(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _similar(others: Individuals, violated: NDArray[np.bool_], schema: pa.Schema) -> dict[str, pa.Array]:
    """For each attribute its value for the similar person, in the column's type; null where there is none."""
    mask, written, differing = pa.array(violated), dict[str, pa.Array](), others.take(violated)
    for attribute in others.schema:
        column, kind = f"{SIMILAR}{attribute.name}", schema.field(f"{SIMILAR}{attribute.name}").type
        if isinstance(attribute, Numeric):
            values = _numbers(differing.number(attribute.name), kind, attribute.name)
        else:
            values = differing.column(attribute.name)
        written[column] = pc.replace_with_mask(pa.nulls(len(violated), kind), mask, values)
    return written


def _numbers(values: NDArray[np.float64], kind: pa.DataType, name: str) -> pa.Array:
    """Numbers in the column's type, none of them rounded."""
    try:
        return pa.array(values).cast(kind)
    except pa.ArrowInvalid:
        raise LcifrError(
            f'a similar person has a value of "{name}" that is not a whole number of 64 bits',
            fix=f'remove "integer = true" from {name} in the schema, or state its range there',
        ) from None


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as the bytes of a Parquet file; equal tables give equal bytes."""
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def read_audit(rows: pa.Table, people: Individuals, model: Model) -> Audit:
    """The audit of these people in the rows that :func:`audit_rows` gave of them."""
    verdict = _words(rows["verdict"], list(Verdict))
    return Audit(
        ids=tuple(rows["id"].to_pylist()),
        people=people,
        verdict=verdict,
        reason=_words(rows["reason"], list(Reason)),
        prediction=rows["prediction"].to_pandas().to_numpy(),
        margin=rows["margin"].to_numpy(),
        vacuous=_mask(rows, "vacuous"),
        alone=_mask(rows, "alone"),
        others=_others(people, rows, np.asarray(verdict == Verdict.COUNTEREXAMPLE)),
        ball=_mask(rows, "certified_on_ball"),
        box=_mask(rows, "certified_on_box"),
        model=model,
        arithmetic=arithmetic_of(pc.unique(rows["arithmetic"]).to_pylist()),
        looked_up=None if "cell" not in rows.column_names else LookedUp.of_rows(rows.select(SWEPT).to_pandas()),
    )


def _words(column: pa.ChunkedArray, known: Sequence[StrEnum]) -> NDArray[np.object_]:
    """(people,) texts as words; ValueError for a text that is none."""
    meant, texts = np.empty(len(known), dtype=object), pa.array([str(word) for word in known])
    meant[:] = list(known)
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    found = [np.empty(0, dtype=object)]
    for chunk in coded.chunks:
        codes = pc.index_in(chunk.dictionary, texts)
        if codes.null_count or chunk.null_count:
            odd = chunk.dictionary.filter(codes.is_null()).to_pylist()
            raise ValueError(f"{odd[0] if odd else None!r} is none of {', '.join(known)}")
        found.append(meant[codes.to_numpy()[chunk.indices.to_numpy()]])
    return np.concatenate(found)


def _mask(rows: pa.Table, name: str) -> Any:
    return rows[name].to_numpy().astype(np.bool_) if name in rows.column_names else None


def _others(people: Individuals, rows: pa.Table, violated: NDArray[np.bool_]) -> Individuals:
    """The similar people as the rows have them; the person, where there is none."""
    numbers, codes = people.numbers.copy(), people.codes.copy()
    written = rows.filter(pa.array(violated))
    for j, numeric in enumerate(people.schema.numeric):
        numbers[violated, j] = written[f"{SIMILAR}{numeric.name}"].cast(pa.float64()).to_numpy()
    for j, categorical in enumerate(people.schema.categorical):
        texts = written[f"{SIMILAR}{categorical.name}"].to_pylist()
        codes[violated, j] = [categorical.values.index(text) for text in texts]
    return Individuals(people.schema, numbers, codes)
