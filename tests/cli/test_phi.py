"""``lcifr phi``: explain, check and list, for people and for machines, with errors that point at the place."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from lcifr.cli import build
from lcifr.datasets import find, load
from lcifr.phi import Similarity, ready, ready_names

pytestmark = pytest.mark.usefixtures("empty_data_folder")


def run(*arguments):
    return CliRunner().invoke(build(), [str(argument) for argument in arguments])


@pytest.fixture
def formula(tmp_path):
    def write(text: str):
        path = tmp_path / "similar.phi"
        path.write_text(text, encoding="utf-8")
        return path

    return write


# -- list --------------------------------------------------------------------------------------------------------------


def test_list():
    result = run("phi", "list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in ready_names())
    listed = json.loads(run("phi", "list", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(ready_names())
    assert all(entry["formula"] == ready(entry["name"]) and len(entry["summary"]) > 20 for entry in listed)


# -- explain -----------------------------------------------------------------------------------------------------------


def test_explain_a_ready_formula():
    result = run("phi", "explain", "adult/cat_noise")
    assert result.exit_code == 0
    assert "0.3 standard deviations" in result.stdout
    assert "Free, with any value at all: sex." in result.stdout


def test_explain_with_data_speaks_the_datas_units():
    english = run("phi", "explain", "german/attribute_only", "--data", "german").stdout
    assert "0.2 standard deviations" in english
    assert "age may differ by at most 2." in english


def test_explain_a_file(formula, tmp_path):
    path = formula("# comment\nsame(all except sex)\n")
    assert run("phi", "explain", path, "--schema", "german").stdout.endswith("Free, with any value at all: sex.\n")
    find("german").schema.save(tmp_path / "schema.toml")
    result = run("phi", "explain", path, "--schema", tmp_path / "schema.toml", "--json")
    shown = json.loads(result.stdout)
    assert shown["formula"] == "same(all except sex)"
    assert shown["source"] == str(path)
    assert shown["english"].endswith("sex.")


def test_explain_needs_to_know_the_names(formula):
    result = run("phi", "explain", formula("same(all)"))
    assert result.exit_code == 2
    assert "--schema" in result.stderr


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["explain", "check"])
def test_a_formula_that_cannot_be_read_is_shown_with_a_caret(formula, command):
    path = formula("same(categorical) and\nagee within 5 and duration' * age' <= 3")
    result = run("phi", command, path, "--data", "german")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "similar.phi, line 2, column 1" in result.stderr
    assert 'Did you mean "age"?' in result.stderr
    assert "\n    ^^^^\n" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "german/cat-noise"), 'Did you mean "german/cat_noise"'),
        (("explain", "nowhere.phi", "--schema", "german"), "there is no such file"),
        (("check", "german/cat", "--data", "nowhere.csv"), "there is no such file"),
        (("check", "german/cat", "--data", "germann"), 'Did you mean "german"'),
        (("check", "adult/cat"), "lcifr data fetch adult"),
        (("check", "german/cat", "--data", "german", "--schema", "nothing.toml"), "nothing.toml"),
    ],
)
def test_wrong_use(arguments, message):
    result = run("phi", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_check_of_a_file_needs_people(formula):
    result = run("phi", "check", formula("same(all)"))
    assert result.exit_code == 2
    assert "--data" in result.stderr


# -- check -------------------------------------------------------------------------------------------------------------


def test_check_a_ready_formula_on_its_own_data():
    result = run("phi", "check", "german/cat_noise", "--most", "100")
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "640 training people of German Credit" in text
    assert "Of 100 random people (seed 0), each compared with the other 639 in the data" in text
    assert "number of similar people: median" in text
    assert "note (distance-below-one)" in text
    assert text.count("- row ") == 6
    assert "made up" in text  # the data has no two such people


def test_check_as_json_agrees_with_the_library():
    result = run("phi", "check", "german/attribute", "--json", "--most", "640")
    shown = json.loads(result.stdout)
    german = load("german")
    from lcifr.data import Encoding

    similarity = Similarity.ready("german/attribute", german.schema, Encoding.fit(german.train.X, german.schema))
    assert shown["hash"] == similarity.hash
    assert shown["english"] == similarity.explain()
    assert shown["neighbours"]["asked"] == shown["neighbours"]["people"] == 640
    assert not shown["neighbours"]["sampled"]
    for kind, expected in (("similar_pairs", True), ("just_missed_pairs", False)):
        pairs = shown["neighbours"][kind]
        assert len(pairs) == 3
        for pair in pairs:
            x, other = pd.DataFrame([pair["x"]]), pd.DataFrame([pair["other"]])
            assert similarity.holds(x, other).tolist() == [expected]
            assert pair["differing"] == [name for name in pair["x"] if pair["x"][name] != pair["other"][name]]


def test_check_a_file_with_a_schema_or_without(formula, german_csv, tmp_path):
    path = formula("same(categorical except sex) and numeric within 2 sd")
    find("german").schema.save(tmp_path / "schema.toml")
    with_schema = run("phi", "check", path, "--data", german_csv, "--schema", tmp_path / "schema.toml")
    assert with_schema.exit_code == 0, with_schema.output
    assert "all 200 people" in with_schema.stdout
    inferred = run("phi", "check", path, "--data", german_csv)
    assert inferred.exit_code == 0
    assert "inferred" in inferred.stderr
    assert "inferred" not in inferred.stdout


def test_check_shows_where(formula):
    path = formula("same(all except age) and age within 5\nand age' >= age")
    result = run("phi", "check", path, "--data", "german", "--most", "50")
    assert result.exit_code == 0
    assert "warning (not-symmetric)" in result.stdout
    assert "at line 2, column 5:" in result.stdout
    assert "\n        ^^^^^^^^^^^\n" in result.stdout


def test_check_exits_1_where_nothing_can_be_proved(formula):
    result = run("phi", "check", formula("same(categorical)"), "--data", "german", "--most", "20", "--json")
    assert result.exit_code == 1
    codes = {finding["code"]: finding["severity"] for finding in json.loads(result.stdout)["findings"]}
    assert codes["unbounded"] == "error"


@pytest.mark.parametrize("command", ["list", "explain", "check"])
def test_every_command_has_help_with_an_example(command):
    result = run("phi", command, "--help")
    assert result.exit_code == 0
    assert f"Example: lcifr phi {command}" in " ".join(result.stdout.split())


# -- a table of one's own ----------------------------------------------------------------------------------------------


def test_what_init_proposes_can_be_checked_as_it_says(formula, tmp_path):
    """Columns that init left out (ids, dates) are left out here too, and the schema beside the formula is found."""
    path = formula("same(categorical except sex) and numeric within 0.3 sd")
    find("german").schema.save(path.with_suffix(".toml"))
    people = load("german").test.X.head(30).assign(customer=range(30), opened="2020-01-01")
    people.to_csv(tmp_path / "people.csv", index=False)
    result = run("phi", "check", path, "--data", tmp_path / "people.csv")
    assert result.exit_code == 0, result.output
    assert 'ignored columns that are not in the schema: "customer", "opened"' in result.stderr
    assert run("phi", "explain", path).exit_code == 0

    people.assign(age=None).to_csv(tmp_path / "people.csv", index=False)
    result = run("phi", "check", path, "--data", tmp_path / "people.csv")
    assert result.exit_code == 2
    assert "people.csv has 30 problems" in result.stderr
    assert "Fix: " in result.stderr


def test_people_with_missing_values_are_left_out_and_rows_are_those_of_the_file(formula, tmp_path):
    path = formula("same(categorical except sex) and numeric within 0.3 sd")
    find("german").schema.save(path.with_suffix(".toml"))
    people = load("german").test.X.head(40)
    people = pd.concat([people.assign(age=None).head(3), people.assign(sex="male"), people.assign(sex="female")])
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ("phi", "check", path, "--data", tmp_path / "people.csv")
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "people.csv: 3 of 83 rows have missing values and are left out" in result.stderr
    assert "Of all 80 people, each compared with the other 79 in the data (3 left out: values are missing):" in (
        result.stdout
    )
    found = json.loads(run(*words, "--json").stdout)["neighbours"]
    assert (found["people"], found["left_out"]) == (80, 3)
    written = pd.read_csv(tmp_path / "people.csv")
    for pair in (*found["similar_pairs"], *found["just_missed_pairs"]):
        for row, one in zip(pair["rows"], (pair["x"], pair["other"]), strict=True):
            assert row is None or {name: written[name][row] for name in one} == one
    assert any(None not in pair["rows"] for pair in found["similar_pairs"])
    assert f"(row {found['largest_row']})" in result.stdout
    assert found["largest_row"] >= 3


def test_a_slip_in_the_formula_is_said_before_what_is_wrong_with_the_people(formula, tmp_path):
    path = formula("agee within 5")
    find("german").schema.save(path.with_suffix(".toml"))
    load("german").test.X.assign(age=None).to_csv(tmp_path / "people.csv", index=False)
    assert 'Did you mean "age"?' in run("phi", "check", path, "--data", tmp_path / "people.csv").stderr
