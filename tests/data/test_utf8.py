"""Text that is no UTF-8 is refused with its place, wherever a table is read; never read as something else."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from lcifr.data import Encoding, Schema, read_frame
from lcifr.data.frames import BLOCK, check_utf8
from lcifr.data.ingest import column_names, read_tables
from lcifr.errors import LcifrError
from lcifr.phi import Similarity

ROWS = [("Müller", 34), ("São Paulo", 51), ("Zoe", 7)] * 40


def write(path: Path, encoding: str, names: str = "name,age") -> Path:
    text = "\n".join([names, *(f"{name},{age}" for name, age in ROWS)]) + "\n"
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def streamed(path: Path) -> list[str]:
    return [name for table in read_tables(path, None) for name in table["name"].to_pylist()]


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
@pytest.mark.parametrize("read", [read_frame, streamed, Schema.infer])
def test_latin_1_is_refused_with_its_place_and_a_way_out(tmp_path, name, read):
    with pytest.raises(LcifrError) as caught:
        read(write(tmp_path / name, "latin-1"))
    said = str(caught.value)
    assert 'line 2: "M\\xfcller" is not UTF-8' in said
    assert 'it reads "Müller"' in said
    assert "Fix: save it as UTF-8" in said
    assert "iconv -f WINDOWS-1252" in said


@pytest.mark.parametrize("read", [read_frame, column_names, streamed])
def test_names_of_columns_are_text_too(tmp_path, read):
    with pytest.raises(LcifrError, match=r'line 1: "gr\\xf6\\xdfe" is not UTF-8'):
        read(write(tmp_path / "people.csv", "latin-1", "größe,age"))


@pytest.mark.parametrize("read", [read_frame, column_names])
def test_utf_16_is_called_by_its_name(tmp_path, read):
    with pytest.raises(LcifrError, match="is UTF-16"):
        read(write(tmp_path / "people.csv", "utf-16"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf_8_is_read_as_it_is(tmp_path, encoding):
    path = write(tmp_path / "people.csv", encoding)
    assert read_frame(path)["name"].to_pylist() == [name for name, _ in ROWS]
    assert streamed(path) == [name for name, _ in ROWS]
    check_utf8(path)


def test_windows_line_ends_and_blank_lines_are_no_people(tmp_path):
    (tmp_path / "p.csv").write_bytes("\ufeffname,age\r\nMüller,3\r\n\r\n\r\nZoe,4\r\n".encode())
    assert read_frame(tmp_path / "p.csv").to_pylist() == [{"name": "Müller", "age": 3}, {"name": "Zoe", "age": 4}]


@pytest.mark.parametrize("before", [0, 5, BLOCK - 9, BLOCK - 1, BLOCK, BLOCK + 1])
@pytest.mark.parametrize("wrong", [b"\xfc", b"\xe3o", b"\xe4\xb8"])
def test_the_place_does_not_depend_on_where_a_block_ends(tmp_path, before, wrong):
    good = "name\n" + "ä" * 3 + "\n" + "x" * before
    (tmp_path / "p.csv").write_bytes(good.encode() + wrong)
    with pytest.raises(LcifrError) as caught:
        check_utf8(tmp_path / "p.csv")
    assert "line 3: " in str(caught.value)
    assert "x" * min(before, 5) + wrong.decode("utf-8", "backslashreplace") in str(caught.value)


def test_bytes_of_a_frame_are_text_or_refused():
    frame = pd.DataFrame({"name": [b"Zoe", "Müller".encode()], "age": [1, 2]})
    assert Schema.infer(frame)["name"].values == ("Müller", "Zoe")
    with pytest.raises(LcifrError, match=r"Fix: decode the column"):
        Schema.infer(frame.assign(name=[b"Zoe", "Müller".encode("latin-1")]))


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("age;ok\n3;1\n", "save it with commas"),
        ("age;ok;n\n3;1;2\n", "save it with commas"),
        ("a,b\n1,2\n4,5,6\n", "as many values as the first"),
    ],
)
@pytest.mark.parametrize("read", [read_frame, lambda path: list(read_tables(path, None))])
def test_other_separators_and_ragged_lines_say_what_to_do(tmp_path, text, fix, read):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(LcifrError, match=f"Fix: .*{fix}"):
        read(tmp_path / "p.csv")


def test_formulas_and_schemas_in_another_encoding_say_what_to_do(tmp_path):
    schema = Schema.infer(pd.DataFrame({"größe": [1, 2], "sex": ["f", "m"]}))
    (tmp_path / "s.phi").write_bytes("same(größe)".encode("latin-1"))
    with pytest.raises(LcifrError, match="Fix: give a text file, saved as UTF-8"):
        Similarity.load(
            tmp_path / "s.phi", schema, Encoding.fit(pd.DataFrame({"größe": [1, 2], "sex": ["f", "m"]}), schema)
        )
    (tmp_path / "s.toml").write_bytes('target = "größe"'.encode("latin-1"))
    with pytest.raises(LcifrError, match="Fix: give a text file, saved as UTF-8"):
        Schema.load(tmp_path / "s.toml")


def test_a_schema_that_a_windows_editor_saved_can_be_read(tmp_path):
    schema = Schema.infer(pd.DataFrame({"age": [1, 2], "sex": ["f", "m"]}))
    schema.save(tmp_path / "s.toml")
    (tmp_path / "s.toml").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "s.toml").read_bytes())
    assert Schema.load(tmp_path / "s.toml") == schema
