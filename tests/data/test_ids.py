"""Ids of people: what is none is refused with its row, and duplicates are found in bounded memory."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.data.ingest import DuplicateIds, hash_id, read_chunks
from lcifr.errors import LcifrError
from tests.certification.scenes import SCHEMA, people


@given(ids=st.lists(st.text(max_size=2) | st.integers(-9, 99), max_size=40), held=st.integers(1, 5))
def test_a_duplicate_id_is_found(ids: list[str | int], held: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As by a set in memory, however few hashes are held at a time; a number and its digits are one id."""
    folder = tmp_path_factory.getbasetemp()
    with DuplicateIds(folder, held) as names:
        for start in range(0, len(ids), 7):
            names.add(ids[start : start + 7])
        found = names.repeated()
    texts = [str(name) for name in ids]
    assert (found is None) == (len(set(texts)) == len(texts))
    if found is not None:
        assert [hash_id(text) for text in texts].count(found) > 1


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "b", None], 'column "who" has no id in row 2'),
        (["a", "", "c"], 'column "who" has no id in row 1'),
        (["a", "b", "  "], 'column "who" has no id in row 2'),
        ([float("nan"), 1.5, 2.5], 'column "who" has no id in row 0'),
        ([0.5, 1.5, 2.5], r'column "who" has the float 0\.5 in row 0'),
        ([True, False, True], 'column "who" has the bool True in row 0'),
    ],
)
def test_what_is_no_id_is_refused_with_its_row(ids: list[Any], said: str) -> None:
    frame = pa.Table.from_pandas(people(3, 5)).append_column("who", pa.array(ids))
    with pytest.raises(LcifrError, match=said):
        list(read_chunks(frame, SCHEMA, 2, "who"))


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([b"a", b"b", b"c"]),
        pa.array([b"a", b"b", b"c"], pa.large_binary()),
        pa.array([b"a", b"b", b"c"], pa.binary(1)),
        pa.array([["a"], ["b"], ["c"]]),
        pa.array([{"no": 1}, {"no": 2}, {"no": 3}]),
    ],
    ids=lambda one: str(one.type),
)
def test_ids_of_binary_or_nested_types_are_refused_by_type(ids: pa.Array) -> None:
    frame = pa.Table.from_pandas(people(3, 5)).append_column("who", ids)
    with pytest.raises(LcifrError, match=r'the ids in column "who" are of the type .*\nFix: turn them into text'):
        list(read_chunks(frame, SCHEMA, 2, "who"))


def test_ids_that_pandas_writes_as_categories_are_their_texts() -> None:
    ids = pa.array(["a", "b", "c"], pa.large_string()).dictionary_encode()
    frame = pa.Table.from_pandas(people(3, 5)).append_column("who", ids)
    assert [one for chunk in read_chunks(frame, SCHEMA, 2, "who") for one in chunk.ids] == ["a", "b", "c"]
