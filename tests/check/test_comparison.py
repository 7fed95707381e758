"""The reader's people against those of a bundle, and the exit code that follows from all comparisons."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.judge import CheckReport
from lcifr.check.people import (
    DIFFERS,
    NAMED,
    NO_IDS,
    NOT_GIVEN,
    SAME,
    CanonicalPeople,
    FileComparison,
    exit_code,
    match,
    person_line,
)

KINDS = {"age": None, "job": ("clerk", "cook", "true")}
Values = dict[str, Any]


def people(values: dict[str, Values]) -> CanonicalPeople:
    return CanonicalPeople({name: person_line(name, one) for name, one in values.items()})


def matched(yours: dict[str, Values], bundle: dict[str, Values]) -> FileComparison:
    return match(people(yours), people(bundle), KINDS, CheckReport())


PERSONS = st.fixed_dictionaries({"age": st.integers(0, 3).map(float), "job": st.sampled_from(["clerk", "cook"])})
TABLES = st.dictionaries(st.sampled_from("abcd"), PERSONS, min_size=1)


@given(TABLES, TABLES)
def test_the_same_is_said_of_the_same_people_alone(yours: dict[str, Values], bundle: dict[str, Values]) -> None:
    found = matched(yours, bundle)
    assert (found.status == SAME) == (yours == bundle) == (people(yours).digest == people(bundle).digest)
    assert set(found.names["missing"]) == yours.keys() - bundle.keys()
    assert set(found.names["strangers"]) == bundle.keys() - yours.keys()
    assert (NO_IDS in found.details) == bool(yours and not yours.keys() & bundle.keys())
    assert set(found.names["differ"]) == {name for name in yours.keys() & bundle.keys() if yours[name] != bundle[name]}


@given(TABLES)
def test_people_who_are_alike_in_the_readers_own_file_are_no_copies(table: dict[str, Values]) -> None:
    assert not matched(table, table).names["copies"]
    more = matched(table, {**table, "new": next(iter(table.values()))})
    assert [one.partition(" of ")[0] for one in more.names["copies"]] == ["new"]


def test_a_person_with_a_missing_value_is_incomplete_where_nothing_is_said_of_them() -> None:
    yours = {"a": {"age": 1.0, "job": None}, "b": {"age": 2.0, "job": "cook"}}
    left_out = matched(yours, {"b": yours["b"]})
    assert left_out.status == SAME
    assert left_out.names["incomplete"] == ["a"]
    assert exit_code(CheckReport(), [left_out]) == 4
    made_up = matched(yours, {**yours, "a": {"age": 1.0, "job": "clerk"}})
    assert made_up.status == DIFFERS
    assert "job is missing in your file, 'clerk' in the bundle" in made_up.details[0]


@pytest.mark.parametrize(
    ("text", "taken", "same"),
    [
        (" cook", "cook", True),
        ("True", "true", True),
        (" TRUE ", "true", True),
        ("Cook", "cook", False),
        ("coo k", "cook", False),
        ("clerk", "cook", False),
    ],
)
def test_spellings_that_a_table_allows_are_named_and_no_others(text: str, taken: str, same: bool) -> None:
    found = matched({"a": {"age": 1.0, "job": text}}, {"a": {"age": 1.0, "job": taken}})
    assert found.status == (SAME if same else DIFFERS)
    assert bool(found.names["spelled"]) == same


@pytest.mark.parametrize("text", ["007", "7.0", "+7", " 007"])
def test_a_category_that_looks_like_a_number_is_its_text(text: str) -> None:
    known = {"code": ("7", "8")}
    yours, bundle = (people({"a": {"code": one}}) for one in (text, "7"))
    assert match(yours, bundle, known, CheckReport()).status == DIFFERS


def test_texts_that_look_alike_are_shown_so_that_one_sees_the_difference() -> None:
    found = matched({"a": {"age": 1.0, "job": "caf\u00e9"}}, {"a": {"age": 1.0, "job": "cafe\u0301"}})
    assert found.details[0].isascii()
    assert r"caf\xe9" in found.details[0]


def test_names_that_move_the_cursor_are_written_out() -> None:
    found = matched({"\x1b[2J": {"age": 1.0, "job": "cook"}}, {})
    assert all(line.isprintable() for line in found.lines())


def test_exit_codes_tell_the_worst_that_was_found() -> None:
    worst = {SAME: 0, NAMED: 6, NOT_GIVEN: 6, DIFFERS: 5}
    for statuses in product(worst, repeat=2):
        compared = [FileComparison("file", status) for status in statuses]
        expected = 5 if DIFFERS in statuses else max(worst[status] for status in statuses)
        assert exit_code(CheckReport(), compared) == expected
        unclaimed = CheckReport(names={"unclaimed": ["a"], "unproved": []})
        assert exit_code(unclaimed, compared) == (5 if expected == 5 else 4)
        assert exit_code(CheckReport(rejected={"a": "why"}), compared) == 1
    assert exit_code(CheckReport(names={"unclaimed": ["a"], "unproved": []}), []) == 0  # as without --strict
