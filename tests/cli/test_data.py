"""``lcifr data``: results on stdout, errors on stderr, exit codes that scripts can rely on."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lcifr.cli
from lcifr.cli import COMMANDS, build
from lcifr.data import Schema
from lcifr.datasets import find, load, names

pytestmark = pytest.mark.usefixtures("empty_data_folder")


def run(*arguments):
    return CliRunner().invoke(build(), [str(argument) for argument in arguments])


def test_list():
    result = run("data", "list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in names())
    assert "built in" in result.stdout


def test_list_as_json(tmp_path):
    (tmp_path / "data" / "adult").mkdir(parents=True)
    for file in find("adult").files:
        (tmp_path / "data" / "adult" / file.name).touch()
    states = {entry["name"]: entry["files"] for entry in json.loads(run("data", "list", "--json").stdout)}
    assert tuple(states) == names()
    assert states["german"] == "built in"
    assert states["adult"] == "here"
    assert states["compas"] == "to fetch"
    assert states["health"] == "by hand"


@pytest.mark.parametrize("name", names())
def test_show(name):
    result = run("data", "show", name)
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    source = find(name)
    for text in (source.title, source.summary, *source.cautions):
        assert " ".join(text.split()) in shown
    assert source.schema.names[-1] in shown


@pytest.mark.parametrize("name", names())
def test_show_as_json(name):
    shown = json.loads(run("data", "show", name, "--json").stdout)
    source = find(name)
    assert Schema.from_dict(shown["schema"]) == source.schema
    assert shown["citation"] == source.citation
    assert [file["sha256"] for file in shown["files"]] == [file.sha256 for file in source.files]


def test_wrong_names_are_wrong_use():
    result = run("data", "show", "germann")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert 'Did you mean "german"?' in result.stderr
    assert "Traceback" not in result.output


def test_fetch_prints_where_the_files_are():
    result = run("data", "fetch", "german")
    assert result.exit_code == 0
    assert Path(result.stdout.strip()).is_file()


def test_fetch_explains_what_it_cannot_do():
    result = run("data", "fetch", "health")
    assert result.exit_code == 2
    assert "terms" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("named", ["german", "file"])
def test_check_a_good_table(german_csv, tmp_path, named):
    schema = named
    if named == "file":
        schema = tmp_path / "schema.toml"
        find("german").schema.save(schema)
    result = run("data", "check", german_csv, "--schema", schema)
    assert result.exit_code == 0, result.output
    assert "all 200 people fit" in result.stdout
    as_json = json.loads(run("data", "check", german_csv, "--schema", schema, "--json").stdout)
    assert as_json["fits"] is True
    assert as_json["people"] == 200


def test_check_reports_every_problem(tmp_path):
    frame = load("german").test.X.reset_index(drop=True).assign(good_credit=1).rename(columns={"age": "agee"})
    frame["purpose"] = frame["purpose"].astype(object)
    frame.loc[range(30), "purpose"] = "moon trip"
    frame.loc[7, "sex"] = ""
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    result = run("data", "check", path, "--schema", "german")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert len(lines) == 34  # 30 trips, a blank, a missing and an extra column, a target with one class
    assert 'column "sex", row 7: the value is missing' in lines
    assert any('Did you mean "agee"' in line for line in lines)
    assert any("one class only" in line for line in lines)
    assert "34 problems" in result.stderr
    as_json = run("data", "check", path, "--schema", "german", "--json")
    assert as_json.exit_code == 1
    problems = json.loads(as_json.stdout)["problems"]
    assert len(problems) == 34
    assert {"message": "the value is missing", "column": "sex", "row": 7} in problems


def test_check_leaves_out_what_the_schema_does_not_know_as_all_commands_do(tmp_path):
    path = tmp_path / "people.csv"
    load("german").test.X.assign(customer=range(200)).to_csv(path, index=False)
    result = run("data", "check", path, "--schema", "german")
    assert result.exit_code == 0, result.output
    assert 'ignored columns that are not in the schema: "customer"' in result.stderr


@pytest.mark.parametrize("content", ["age,age\n1,2\n", "age\n"])
def test_check_a_table_that_is_none(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_text(content)
    result = run("data", "check", path, "--schema", "german")
    assert result.exit_code == 1
    assert result.stdout.strip()


def test_check_without_a_file_or_schema_is_wrong_use(german_csv, tmp_path):
    assert run("data", "check", tmp_path / "none.csv", "--schema", "german").exit_code == 2
    assert run("data", "check", german_csv, "--schema", tmp_path / "none.toml").exit_code == 2
    assert run("data", "check", german_csv).exit_code == 2


@pytest.mark.parametrize("command", ["list", "show", "fetch", "check"])
def test_every_command_has_help_with_an_example(command):
    result = run("data", command, "--help")
    assert result.exit_code == 0
    assert f"Example: lcifr data {command}" in " ".join(result.stdout.split())


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("lcifr ")


def test_every_module_of_commands_is_listed_with_the_first_paragraph_of_its_help():
    shared = {"options", "output"}
    modules = {found.name for found in pkgutil.iter_modules(lcifr.cli.__path__)} - shared
    assert modules == set(COMMANDS)
    for name, summary in COMMANDS.items():
        assert lcifr.cli.load(name).help.split("\n\n")[0] == summary


def test_a_missing_table_is_said_before_a_missing_schema(tmp_path):
    for name in ("nowhere.parquet", "nowhere.csv"):
        result = CliRunner().invoke(build(), ["data", "check", str(tmp_path / name)])
        assert result.exit_code == 2
        assert f"{tmp_path / name}: there is no such file" in result.stderr
        assert "Fix: check the path" in result.stderr
