"""The canonical form of people: one digest for all spellings of the same people, another one for other people."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from lcifr.check.exact import Rejected
from lcifr.check.people import MISSING, CanonicalPeople, number_text, person_line, read_csv

KINDS = {"age": None, "job": ("clerk", "cook")}
TABLE = 'person,age,job\n7,1000,clerk\nb,0.1,"cook"\n'


def read(
    tmp_path: Path, text: str | bytes, *, name: str = "people.csv", id_column: str | None = "person"
) -> CanonicalPeople:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv(path, KINDS, id_column)


def test_the_digest_is_what_the_page_says(tmp_path: Path) -> None:
    lines = ['["lcifr-people-1"]', '["7",["age",1000],["job","clerk"]]', '["b",["age",0.1],["job","cook"]]']
    expected = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert read(tmp_path, TABLE).digest == expected


SPELLINGS = {
    "exponent": TABLE.replace("1000", "1e3"),
    "decimals": TABLE.replace("1000", "1000.0"),
    "sign and spaces": TABLE.replace("1000", " +1000 "),
    "more digits than a float64 has": TABLE.replace("0.1", "0.1000000000000000055511151231257827"),
    "rows in another order": "person,age,job\nb,0.1,cook\n7,1000,clerk\n",
    "columns in another order": "job,person,age\nclerk,7,1000\ncook,b,0.1\n",
    "more columns": 'person,age,job,note\n7,1000,clerk,"a\nb"\nb,0.1,cook,\n',
    "byte order mark": "\ufeff" + TABLE,
    "line ends of another system": TABLE.replace("\n", "\r\n"),
    "quotes everywhere": '"person","age","job"\n"7","1000","clerk"\n"b","0.1","cook"\n',
    "blank lines": TABLE.replace("\n", "\n\n"),
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_other_spellings_of_the_same_people_have_the_same_digest(spelled: str, tmp_path: Path) -> None:
    assert read(tmp_path, spelled).digest == read(tmp_path, TABLE).digest


OTHERS = {
    "an id with zeros before it": TABLE.replace("7,", "007,"),
    "an id with a space": TABLE.replace("7,", "7 ,"),
    "an id of the same number": TABLE.replace("7,", "7.0,"),
    "a category in capitals": TABLE.replace("clerk", "Clerk"),
    "a category with a space": TABLE.replace("clerk", "clerk "),
    "the next float": TABLE.replace("0.1", repr(math.nextafter(0.1, 1))),
    "a missing number": TABLE.replace("0.1", "NA"),
    "a missing category": TABLE.replace('"cook"', '""'),
    "a category that is called missing": TABLE.replace('"cook"', "NA"),
    "the id's name of a person of one table for the other's": TABLE.replace("b,", "c,"),
    "one person less": "person,age,job\n7,1000,clerk\n",
}


def test_other_people_have_other_digests(tmp_path: Path) -> None:
    found = [read(tmp_path, text).digest for text in (TABLE, *OTHERS.values())]
    assert len(set(found)) == len(found)


def test_letters_of_two_unicode_forms_are_two_texts(tmp_path: Path) -> None:
    one, two = (read(tmp_path, f"person,age,job\n1,2,caf{letter}\n").digest for letter in ("\u00e9", "e\u0301"))
    assert one != two


def test_integers_beyond_the_floats_are_rounded_correctly(tmp_path: Path) -> None:
    near, even = (read(tmp_path, f"person,age,job\n1,{text},cook\n").digest for text in (2**53 + 1, 2**53))
    assert near == even
    assert read(tmp_path, f"person,age,job\n1,{2**53 + 3},cook\n").lines["1"].count(str(2**53 + 4).encode()) == 1


def test_zero_has_no_sign(tmp_path: Path) -> None:
    assert read(tmp_path, "person,age,job\n1,-0.0,cook\n").digest == read(tmp_path, "person,age,job\n1,0,cook\n").digest


def test_missing_is_what_readers_of_tables_take_for_it() -> None:
    known = csv.ConvertOptions().null_values
    assert all(MISSING.fullmatch(text) for text in known)
    others = ("None", "?", "-", "NAN", "na", "N/A N/A", "#N/A N", "1.#INF", "--nan")
    assert not any(MISSING.fullmatch(text) for text in others)
    assert not set(others) & set(known)


WRONG = {
    "twice": (TABLE + "7,1,cook\n", "occurs twice"),
    "no id": (TABLE + " ,1,cook\n", "row 2 has no id"),
    "no column of an attribute": ("person,age\n7,1\n", 'no column "job"'),
    "no column of ids": ("age,job\n1,cook\n", 'no column "person"'),
    "two columns of one name": ("person,age,job,age\n7,1,cook,2\n", "two columns"),
    "a decimal comma": ('person,age,job\n7,"3,5",cook\n', "not a number"),
    "an underscore": ("person,age,job\n7,1_000,cook\n", "not a number"),
    "digits of another script": ("person,age,job\n7,\u0661\u0662,cook\n", "not a number"),
    "infinite": ("person,age,job\n7,inf,cook\n", "not a number"),
    "beyond the floats": ("person,age,job\n7,1e999,cook\n", "beyond every float64"),
    "a row that is too short": ("person,age,job\n7,1\n", "2 values, the header 3"),
    "a quote that does not end": ('person,age,job\n7,1,"cook\n', "no CSV file"),
    "no UTF-8": ("person,age,job\n7,1,caf\u00e9\n".encode("latin-1"), "UnicodeDecodeError"),
    "nothing": ("", "no column"),
}


@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_table_of_people_is_refused(text: str | bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(Rejected, match=why):
        read(tmp_path, text)


def test_files_with_tabs_and_compressed_ones_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, TABLE.replace(",", "\t"), name="people.tsv").digest == read(tmp_path, TABLE).digest
    assert read(tmp_path, gzip.compress(TABLE.encode()), name="people.csv.gz").digest == read(tmp_path, TABLE).digest


def test_a_compressed_file_that_is_damaged_anywhere_is_refused(tmp_path: Path) -> None:
    """Also in the compressed stream itself, where it is zlib that complains."""
    whole = gzip.compress((TABLE + "".join(f"{k},1,cook\n" for k in range(90, 200))).encode(), mtime=0)
    sound, refused = read(tmp_path, whole, name="people.csv.gz").digest, 0
    for place in range(len(whole)):
        damaged = bytes(byte ^ 0xFF if place <= at < place + 3 else byte for at, byte in enumerate(whole))
        try:
            assert read(tmp_path, damaged, name="people.csv.gz").digest == sound  # its date, say
        except (Rejected, OSError):
            refused += 1
    assert refused > len(whole) - 10


def test_without_ids_people_are_rows_and_other_columns_are_listed(tmp_path: Path) -> None:
    found = read(tmp_path, TABLE, id_column=None)
    assert set(found.lines) == {"0", "1"}
    assert found.unbound == ("person",)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself_and_no_shorter_text_does(value: float) -> None:
    text = number_text(value)
    assert struct.pack("d", float(text)) == struct.pack("d", value + 0.0)
    digits = text.lower().partition("e")[0].lstrip("-").replace(".", "").strip("0")
    assert len(digits) <= len(repr(value).lower().partition("e")[0].lstrip("-").replace(".", "").strip("0"))


def test_numbers_are_written_as_rfc_8785_takes_them_from_javascript() -> None:
    known = {
        "0": -0.0,
        "1e+21": 1e21,
        "100000000000000000000": 1e20,
        "9.999999999999997e+22": 9.999999999999997e22,
        "0.000001": 0.000001,
        "1e-7": 1e-7,
        "5e-324": 5e-324,
        "-1.7976931348623157e+308": -1.7976931348623157e308,
        "333333333.3333333": 333333333.3333333,
        "295147905179352830000": 295147905179352830000.0,
        "4.5": 4.5,
        "0.002": 2e-3,
    }
    assert {number_text(value) for value in known.values()} == set(known)
    assert all(number_text(value) == text for text, value in known.items())


@given(st.text(min_size=1), st.dictionaries(st.text(), st.none() | st.text() | st.floats(-1e9, 1e9), max_size=3))
def test_a_line_is_one_line_of_json_that_tells_people_apart(name: str, values: dict[str, float | str | None]) -> None:
    line = person_line(name, values)
    assert line.count(b"\n") == 1
    first, *pairs = json.loads(line)
    assert first == name
    assert dict(pairs) == values
    assert [one for one, _ in pairs] == sorted(values)
