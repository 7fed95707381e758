"""The type of a column of CSV is the one that Arrow finds in the whole file, however few texts one sees at a time."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from lcifr.data.ingest import KINDS, MISSING, OF_IDS, fitting, fitting_id_types, infer_types, read_as, spells_missing

WHOLE = ["0", "1", "7", "007", "-3", " 5", "0x1F", "9" * 20]
FRACTIONS = ["1.5", "2.0", "1e3", "+1", "1.", "inf", " nan", "1e400"]
TRUTHS = ["0", "1", "true", "True", "FALSE", " true", "tRue"]
DAYS = ["2026-01-01", " 2026-01-01", "2026-01-01T10:00", "2026-01-01 10:00:00.5", "2026-01-01T10:00:00Z", "1600-01-01"]
TIMES = ["10:00", "23:59:59", "10:00:00.5", "24:00"]
WORDS = ["x", "n/a?", "é", "a,b", 'say "x"', "two\nlines", "  ", "\u00a07"]
NONE = ["", *MISSING.to_pylist()]
ONE_KIND = [WHOLE, WHOLE + FRACTIONS, TRUTHS, DAYS, TIMES, WORDS]
COLUMNS = st.sampled_from([*ONE_KIND, [text for some in ONE_KIND for text in some]]).flatmap(
    lambda some: st.lists(st.sampled_from(some) | st.sampled_from(NONE), min_size=1, max_size=8)
)


def texts_of(column: Sequence[str]) -> pa.Table:
    return pa.table({"n": [str(row) for row in range(len(column))], "y": pa.array(column, pa.string())})


def whole_file(column: Sequence[str]) -> pa.Table:
    """As it is read from a file, all at once."""
    lines = [f'{row},"{text.replace(chr(34), 2 * chr(34))}"' for row, text in enumerate(column)]
    content = pa.BufferReader("\n".join(["n,y", *lines]).encode())
    return csv.read_csv(content, parse_options=csv.ParseOptions(newlines_in_values=True))


@given(column=COLUMNS)
def test_texts_are_typed_as_in_a_file_of_their_own(column: list[str]) -> None:
    found, expected = infer_types(texts_of(column)), whole_file(column)
    assert found.schema.equals(expected.schema)
    assert str(found["y"].to_pylist()) == str(expected["y"].to_pylist())  # NaN is itself


@given(column=COLUMNS, cut=st.integers(0, 8))
def test_the_type_does_not_depend_on_how_many_are_seen_at_a_time(column: list[str], cut: int) -> None:
    texts, left = texts_of(column)["y"], KINDS
    for part in (texts.slice(0, cut), texts.slice(cut)):
        left = fitting(part, left)
    assert left[0] == whole_file(column)["y"].type


@given(column=COLUMNS)
def test_what_is_missing_in_the_file_is_spelled_so(column: list[str]) -> None:
    if whole_file(column)["y"].null_count:
        assert spells_missing(texts_of(column)["y"])


@given(column=COLUMNS, cut=st.integers(0, 8))
def test_ids_print_as_they_are_written(column: list[str], cut: int) -> None:
    """Unless they are missing; whole numbers are numbers, however few one sees at a time."""
    texts, left = texts_of(column)["y"], OF_IDS
    for part in (texts.slice(0, cut), texts.slice(cut)):
        left = fitting_id_types(part, left)
    found = read_as(pa.table({"y": texts}), {"y": left[0]})["y"].to_pylist()
    assert [written if one is None else str(one) for one, written in zip(found, column, strict=True)] == column
    assert all(one is not None or written in NONE for one, written in zip(found, column, strict=True))
    if set(column) <= {"0", "1", "7", "-3"}:
        assert found == [int(written) for written in column]


def test_a_column_that_is_no_text_has_its_own_type() -> None:
    for column in (pa.chunked_array([[1.5]]), pa.chunked_array([pa.array(["NA"], pa.large_string())])):
        assert fitting(column, KINDS) == [column.type]
        assert not spells_missing(column)


def test_a_text_far_down_decides() -> None:
    column = ["1"] * 200_000  # more than a block
    assert infer_types(texts_of([*column, "x"]))["y"].type == pa.string()
    assert infer_types(texts_of([*column, "NA"]))["y"].to_pylist()[-2:] == [1, None]
