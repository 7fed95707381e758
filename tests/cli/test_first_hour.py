"""The first hour on a table that nobody here has touched: what ``init`` says is true, and a guess is called a guess."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Categorical, Numeric, Schema
from lcifr.phi.free_attributes import free_attributes
from lcifr.phi.lint import is_untouched
from lcifr.phi.parser import parse
from tests.story import QUICK, lcifr


def convicts(people: int = 120) -> pd.DataFrame:
    """Shaped like lifelines' rossi: most columns are 0 or 1."""
    random = np.random.default_rng(0)

    def coin(share: float) -> np.ndarray:
        return (random.random(people) < share).astype(int)

    return pd.DataFrame(
        {
            "week": random.integers(1, 53, people),
            "arrest": coin(0.4),
            "fin": coin(0.5),
            "age": random.integers(17, 45, people),
            "race": coin(0.8),
            "prio": random.integers(0, 19, people),
        }
    )


def debtors(people: int = 300) -> pd.DataFrame:
    """Shaped like ISLP's Default."""
    random = np.random.default_rng(1)
    balance = np.abs(random.normal(835, 480, people))
    return pd.DataFrame(
        {
            "default": np.where(balance > 1200, "Yes", "No"),
            "student": random.choice(["Yes", "No"], people),
            "balance": balance,
            "income": random.normal(33500, 9000, people),
        }
    )


def proposed(tmp_path, frame: pd.DataFrame, *words: str, **options):
    frame.to_csv(tmp_path / "t.csv", index=False, **options)
    said = lcifr("init", "t.csv", "--force", *words, cwd=tmp_path)
    return said, Schema.load(tmp_path / "t.toml"), (tmp_path / "t.phi").read_text(encoding="utf-8")


def said_to_be_freed(text: str) -> set[str]:
    found = re.search(r"so the formula frees them: (.*)", text)
    return set(re.findall(r'"([^"]+)"', found[1])) if found else set()


@pytest.mark.parametrize(
    "frame",
    [
        convicts(),
        convicts().assign(race=lambda t: t.race + 1),  # codes 1 and 2: a number, which is not freed
        convicts()[["arrest", "race"]],  # nothing else to compare people by
        debtors(),
        debtors().assign(sex="m").assign(sex=lambda t: np.where(t.index % 2, "f", t.sex)),
    ],
)
def test_init_says_it_freed_exactly_what_it_freed(tmp_path, frame):
    target = "arrest" if "arrest" in frame else "default"
    said, schema, text = proposed(tmp_path, frame, "--target", target)
    assert said_to_be_freed(said.out) == set(free_attributes(parse(text, schema), schema))


def test_zeros_and_ones_are_categories_and_the_other_way_is_said(tmp_path):
    said, schema, _ = proposed(tmp_path, convicts(), "--target", "arrest")
    assert schema.names_categorical == ("fin", "race")
    assert schema["race"] == Categorical("race", ("0", "1"))
    assert "--numeric COLUMN" in said.out
    _, schema, _ = proposed(tmp_path, convicts(), "--target", "arrest", "--numeric", "fin")
    assert isinstance(schema["fin"], Numeric)


def test_what_init_prints_as_options_can_be_pasted(tmp_path):
    frame = convicts().assign(race=lambda t: t.race + 1).rename(columns={"race": "race of 2"})
    said, _, _ = proposed(tmp_path, frame, "--target", "arrest")
    assert "may have to be freed, but is not: if its numbers are codes" in said.out
    words = shlex.split(re.search(r"if they are codes, use (--categorical .*)", said.out)[1])
    said, schema, _ = proposed(tmp_path, frame, "--target", "arrest", *words)
    assert schema["race of 2"].values == ("1", "2")
    assert said_to_be_freed(said.out) == {"race of 2"}


@pytest.mark.parametrize(
    ("change", "row", "words"),
    [
        (
            lambda t: t.assign(balance=t.balance.astype(object).where(t.index != 17, "?")),
            17,
            ('"?" is not a number', "299"),
        ),
        (lambda t: t.assign(balance=t.balance.map("${:,.2f}".format)), 0, ("as it stands", "300 values", "; write ")),
    ],
)
def test_a_slip_among_numbers_is_said_as_that(tmp_path, change, row, words):
    said, schema, _ = proposed(tmp_path, change(debtors()), "--target", "default")
    line = next(line for line in said.out.splitlines() if "balance" in line)
    assert line.startswith(f'left out: "balance": row {row} (from 0): ')
    assert all(word in line for word in words)
    assert "too many" not in said.out
    assert "balance" not in schema
    checked = lcifr("data", "check", "t.csv", "--schema", "other.toml", cwd=_with_schema(tmp_path), expect=1)
    assert f'column "balance", row {row}: ' in checked.out


def _with_schema(tmp_path):
    Schema.infer(debtors(), target="default").save(tmp_path / "other.toml")
    return tmp_path


@pytest.mark.parametrize("command", ["init", "data check", "phi check", "produce"])
def test_latin_1_is_refused_by_every_command_that_reads_people(tmp_path, command):
    debtors().assign(city="São Paulo").assign(city=lambda t: np.where(t.index % 2, "Köln", t.city)).to_csv(
        tmp_path / "t.csv", index=False, encoding="latin-1"
    )
    (tmp_path / "s.phi").write_text("numeric within 1 sd")
    words = {
        "init": ("init", "t.csv"),
        "data check": ("data", "check", "t.csv", "--schema", "other.toml"),
        "phi check": ("phi", "check", "s.phi", "--data", "t.csv"),
        "produce": ("produce", "t.csv", "--phi", "s.phi", "--target", "default", "--out", "p"),
    }[command]
    said = lcifr(*words, cwd=_with_schema(tmp_path), expect=2)
    assert 't.csv, line 2: "S\\xe3o Paulo" is not UTF-8' in said.err
    assert "Fix: " in said.err


def test_the_target_in_another_unit_is_noticed(tmp_path):
    frame = debtors().assign(log=lambda t: np.log(t.balance))[["log", "income", "student", "balance"]]
    said, _, _ = proposed(tmp_path, frame, "--target", "balance")
    assert '"log" orders people exactly like the target' in said.out
    assert '"income" orders people' not in said.out


def test_without_a_target_the_next_command_asks_for_one(tmp_path):
    said, _, _ = proposed(tmp_path, debtors())
    command = next(line for line in said.err.splitlines() if line.startswith("  lcifr "))
    assert "lcifr produce" not in said.err
    words = shlex.split(command.replace("COLUMN", "default"))[1:]
    lcifr(*words, cwd=tmp_path)
    assert Schema.load(tmp_path / "t.toml").target == "default"


# -- a guess is called a guess -----------------------------------------------------------------------------------------


def test_a_guess_is_untouched_until_what_it_says_is_changed(tmp_path):
    _, _, text = proposed(tmp_path, convicts(), "--target", "arrest")
    assert is_untouched(text)
    assert is_untouched(text.replace("and\n", "and   # a remark\r\n\r\n"))
    assert not is_untouched(text.replace("0.3 sd", "0.2 sd", 1))
    assert not is_untouched(text + "and week' >= 1")
    assert not is_untouched(text.split("\n", 1)[1])  # the line that says so is gone
    said = lcifr("phi", "check", "t.phi", "--data", "t.csv", cwd=tmp_path)
    assert "unedited draft of lcifr init" in said.out
    (tmp_path / "t.phi").write_text(text.split("\n", 1)[1], encoding="utf-8")
    assert "untouched" not in lcifr("phi", "check", "t.phi", "--data", "t.csv", cwd=tmp_path).out


def test_reports_warn_of_a_guess_once(tmp_path):
    """A hand-over holds φ without its comments, which no hash binds: only the auditor, who has the file, can tell."""
    proposed(tmp_path, convicts(), "--target", "arrest")
    words = ("produce", "t.csv", "--phi", "t.phi", "--target", "arrest", *QUICK, "--epochs", "2", "--out", "producer")
    lcifr(*words, cwd=tmp_path)
    lcifr("consume", "producer/handover", "t.csv", "--target", "arrest", "--out", "consumer", cwd=tmp_path)
    words = ("audit", "producer", "consumer", "t.csv", "--no-baselines", "--no-bundle", "--out", "audit")
    lcifr(*words, cwd=tmp_path, expect=None)
    codes = [one["code"] for one in lcifr("report", "audit", "--json", cwd=tmp_path).json["cautions"]]
    assert codes.count("untouched-proposal") == 1
