"""The formula desk: mistakes at their place, English, findings, neighbours, a person; files saved with care."""

from __future__ import annotations

import pytest

from lcifr.data import Schema
from lcifr.phi.explain import explain
from tests.workbench.bench import SCHEMA
from tests.workflows.credit import PHI

ABOUT = {"table": "people.csv", "schema": "people.toml", "file": "people.phi"}


def test_every_mistake_is_said_at_its_place(client):
    text = "same(jb) and\nage within 5 and\nsx' = sex"
    found = client.ask("formula/read", text=text, **ABOUT)["mistakes"]
    assert [text[one["start"] : one["end"]] for one in found] == ["jb", "sx'"]
    assert [(one["line"], one["column"]) for one in found] == [(1, 6), (3, 1)]
    assert 'Did you mean "job"' in found[0]["message"]


def test_places_count_characters_whatever_their_size(client):
    text = "# 🙂🙂\nsame(jb)"
    [found] = client.ask("formula/read", text=text, **ABOUT)["mistakes"]
    assert text[found["start"] : found["end"]] == "jb"


def test_the_english_is_that_of_the_command(client):
    answer = client.ask("formula/read", text=PHI, **ABOUT)
    table = client.desk.tables.open("people.csv", "people.toml")
    sds = dict(zip(table.schema.names_numeric, table.encoding.sds.tolist(), strict=True))
    from lcifr.phi.parser import parse

    assert answer["english"] == explain(parse(PHI, table.schema), table.schema, sds)
    assert answer["mistakes"] == []
    assert answer["command"] == "lcifr phi explain people.phi --data=people.csv --schema=people.toml"


def test_findings_have_their_place_and_neighbours_are_counted(client):
    text = "same(job, region) and age within 1 and income within 1000000 and debt within 0.1 sd"
    found = client.ask("formula/look", text=text, **ABOUT)
    free = next(one for one in found["findings"] if one["code"] == "free-attribute")
    assert "sex" in free["message"]
    placed = [text[one["start"] : one["end"]] for one in found["findings"] if one["start"] is not None]
    assert "income within 1000000" in placed
    assert sum(bar["people"] for bar in found["bars"]) == 58  # two rows have missing values
    assert found["command"].startswith("lcifr phi check people.phi")


def test_neighbours_of_a_person_are_those_for_whom_the_formula_holds(client):
    from lcifr.phi import Similarity

    text = "same(job) and age within 20 and income, debt within 2 sd and free(sex, region)"
    table = client.desk.tables.open("people.csv", "people.toml")
    answer = client.ask("formula/around", text=text, row=10, **ABOUT)
    similarity = Similarity(text, table.schema, table.encoding)
    place = table.place(10)
    holds = similarity.holds(table.people.take([place]), table.people)
    assert answer["count"] == holds.sum() - 1
    assert answer["compared"] == 57
    rows = {table.rows[k] for k in holds.nonzero()[0]}
    assert {one["row"] for one in answer["similar"]} <= rows - {10}
    assert not {one["row"] for one in answer["missed"]} & rows
    assert all(one["failing"] in " ".join(text.split()) and one["failing"] for one in answer["missed"])


def test_what_may_differ_is_said_in_the_tables_units(client):
    answer = client.ask("formula/around", text=PHI, row=0, **ABOUT)
    may = {row["attribute"]: row["may"] for row in answer["rows"]}
    own = int({row["attribute"]: row["own"] for row in answer["rows"]}["age"])
    assert may["job"] == "the same"
    assert may["sex"] == "female or male"
    assert may["age"] == f"{max(18, own - 1)} to {own + 1} (−1 to +1)"


def test_a_formula_without_bounds_says_so_for_a_person(client):
    answer = client.ask("formula/around", text="same(job) and age within 1", row=0, **ABOUT)
    assert "income" in answer["problem"]


def test_a_row_with_a_missing_value_is_nobody(client):
    assert "no person in row 3" in client.refusal("formula/around", text=PHI, row=3, **ABOUT)
    assert "no person in row 999" in client.refusal("formula/around", text=PHI, row=999, **ABOUT)


def test_saving_writes_the_file_and_notices_somebody_else(own):
    opened = own.ask("formula/open", name="people.phi")
    saved = own.ask("formula/save", file="people.phi", text="same(all)\n", seen=opened["sha256"])
    file = own.desk.folder.root / "people.phi"
    assert file.read_text(encoding="utf-8") == "same(all)\n"
    file.write_text("same(age)\n", encoding="utf-8")
    said = own.refusal("formula/save", file="people.phi", text="same(sex)", seen=saved["sha256"])
    assert "has been changed" in said
    assert file.read_text(encoding="utf-8") == "same(age)\n"
    assert own.ask("formula/save", file="new.phi", text="same(sex)")["text"] == "same(sex)"
    assert "new.phi" in own.ask("folder")["formulas"]


@pytest.mark.parametrize(
    "file", ["../evil.phi", "/tmp/evil.phi", "people.csv", "no/such/folder.phi", ".hidden.phi", "a\n.phi"]
)
def test_a_formula_is_saved_nowhere_else(own, file):
    own.refusal("formula/save", file=file, text="same(all)", overwrite=True)
    assert not (own.desk.folder.root.parent / "evil.phi").exists()


def test_a_table_without_a_schema_gets_a_proposal(own):
    (own.desk.folder.root / "other.csv").write_text(
        "height,kind,good\n1,a,yes\n2,b,no\n3,a,yes\n4,b,no\n", encoding="utf-8"
    )
    assert own.ask("table", table="other.csv")["schema"] == ""
    made = own.ask("table/propose", table="other.csv", target="good")
    assert (made["schema"], made["phi"]) == ("other.toml", "other.phi")
    assert made["command"] == "lcifr init other.csv --target=good"
    assert own.ask("table", table="other.csv")["schema"] == "other.toml"
    assert Schema.load(own.desk.folder.root / "other.toml").target == "good"
    assert "already in the folder" in own.refusal("table/propose", table="other.csv", target="good")


def test_a_schema_of_another_name_is_found_by_its_columns(client):
    assert client.ask("table", table="train.csv")["schema"] == "people.toml"
    assert "lower = 18.0" in SCHEMA
    attributes = [one["attribute"] for one in client.ask("table", table="train.csv")["attributes"]]
    age = next(one for one in attributes if one["name"] == "age")
    assert (age["lower"], age["integer"]) == (18.0, True)
