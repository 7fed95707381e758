"""A table that nobody prepared: odd names, umlauts, booleans, dates, ids, free text; and names that bite."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Schema
from tests.story import QUICK, lcifr


def customers(people: int = 80) -> pd.DataFrame:
    random = np.random.default_rng(0)
    income = np.round(random.normal(30000, 9000, people), 2)
    sex = random.choice(["weiblich", "männlich"], people)
    days = pd.to_timedelta(random.integers(0, 15000, people), "D")
    return pd.DataFrame(
        {
            "Kunden Nr": np.arange(1000, 1000 + people),
            "Geschlecht": sex,
            "Alter (Jahre)": random.integers(18, 80, people),
            "Jahres-Einkommen €": income,
            "Beruf": random.choice(
                ["Büro; außen", 'Werk "Süd"', "<script>alert(1)</script>", "[bold]x[/bold]"], people
            ),
            "Raucher?": random.random(people) < 0.3,
            "Geburts datum": (pd.to_datetime("1950-01-01") + days).strftime("%Y-%m-%d"),
            "angelegt": (pd.to_datetime("2020-01-01") + days).strftime("%d.%m.%Y"),
            "Bemerkung": [f"Text {i} über etwas" for i in range(people)],
            "Land": "DE",
            "zurück gezahlt": np.where(income / 9000 + (sex == "weiblich") > 3.6, "ja", "nein"),
        }
    )


def test_from_a_csv_to_an_audit(tmp_path):
    customers().to_csv(tmp_path / "Kunden Liste.csv", index=False)
    target, named = ("--target", "zurück gezahlt"), ("--id", "Kunden Nr")
    said = lcifr("init", "Kunden Liste.csv", *target, cwd=tmp_path)
    for name, advice in {
        "Geburts datum": "turn them into a number",
        "angelegt": "turn them into a number",
        "Kunden Nr": "use --id",
        "Bemerkung": "free text",
        "Land": "for everyone",
    }.items():
        line = next(line for line in said.out.splitlines() if f'left out: "{name}"' in line)
        assert advice in line
    schema = Schema.load(tmp_path / "Kunden Liste.toml")
    assert schema.names == ("Geschlecht", "Alter (Jahre)", "Jahres-Einkommen €", "Beruf", "Raucher?")
    assert schema["Raucher?"].values == ("false", "true")
    assert schema["Alter (Jahre)"].integer
    explained = lcifr("phi", "explain", "Kunden Liste.phi", "--schema", "Kunden Liste.toml", cwd=tmp_path).out
    assert "May differ freely, on purpose: Geschlecht." in explained
    assert "'Kunden Liste.csv'" in said.err  # as a shell needs it

    words = ("produce", "Kunden Liste.csv", "--phi", "Kunden Liste.phi", *target, *named, *QUICK, "--epochs", "10")
    made = lcifr(*words, "--out", "producer", cwd=tmp_path)
    assert '"Geburts datum"' in made.err  # what is left out is said
    words = ("consume", "producer/handover", "Kunden Liste.csv", *target, *named, "--out", "consumer")
    assert "of 16 held-out people" in lcifr(*words, cwd=tmp_path).out
    words = ("audit", "producer", "consumer", "Kunden Liste.csv", *named, "--no-baselines", "--no-bundle", "--json")
    found = lcifr(*words, "--out", "audit", cwd=tmp_path, expect=None).json
    assert found["people"] == 80
    assert found["accuracy"] > 0.6
    ids = pd.read_parquet(tmp_path / "audit/audited/audit.parquet")["id"]
    assert ids.tolist() == [str(n) for n in range(1000, 1080)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("shape", ["{:03d}", "{}.10", "2026-01-01T10:{:02d}"])
def test_ids_that_look_like_numbers_or_times_stay_as_they_are_written(kind, shape, tmp_path):
    """So that labels are found whatever kind of file they come from: in memory "007" would become 7."""
    ids = [shape.format(i) for i in range(30)]
    table = customers(30)[["Geschlecht", "Beruf", "Alter (Jahre)", "zurück gezahlt"]].assign(nr=ids)
    getattr(table, f"to_{kind}")(tmp_path / f"k.{kind}", index=False)
    (tmp_path / "k.phi").write_text("same(Beruf) and `Alter (Jahre)` within 1", encoding="utf-8")
    target, named = ("--target", "zurück gezahlt"), ("--id", "nr")
    words = ("produce", f"k.{kind}", "--phi", "k.phi", *target, *named, *QUICK, "--epochs", "1", "--no-bundle")
    lcifr(*words, "--out", "producer", cwd=tmp_path)
    handed = [json.loads(path.read_text()) for path in (tmp_path / "producer/handover").rglob("ids.json")]
    assert sorted(one for some in handed for one in some) == sorted(ids)
    table.to_csv(tmp_path / "labels.csv", index=False)
    for labels in (("producer/labels.csv",), ("labels.csv", *target, *named), (f"k.{kind}", *target, *named)):
        made = lcifr("consume", "producer/handover", *labels, "--json", "--force", "--out", "consumer", cwd=tmp_path)
        assert made.json["trained_on"] == len(max(handed, key=len))
    lcifr("represent", "producer", f"k.{kind}", *named, "--out", "again", cwd=tmp_path)
    assert json.loads((tmp_path / "again/handover/ids.json").read_text()) == ids


def test_without_init_a_date_is_refused_with_advice(tmp_path):
    customers(30).to_csv(tmp_path / "k.csv", index=False)
    (tmp_path / "s.phi").write_text("same(categorical) and numeric within 0.3 sd", encoding="utf-8")
    words = ("produce", "k.csv", "--phi", "s.phi", "--target", "zurück gezahlt", "--out", "p")
    refused = lcifr(*words, cwd=tmp_path, expect=2)
    assert 'column "Geburts datum": contains dates' in refused.err
    assert "Fix: run `lcifr init k.csv`" in refused.err
    assert not list(tmp_path.glob(".p*"))


def test_init_asks_before_it_replaces(tmp_path):
    customers(30).to_parquet(tmp_path / "k.parquet")
    lcifr("init", "k.parquet", cwd=tmp_path)
    (tmp_path / "k.phi").write_text("my work")
    assert "--force" in lcifr("init", "k.parquet", cwd=tmp_path, expect=2).err
    assert (tmp_path / "k.phi").read_text() == "my work"
    lcifr("init", "k.parquet", "--force", "--categorical", "Alter (Jahre)", "--drop", "Beruf", cwd=tmp_path)
    schema = Schema.load(tmp_path / "k.toml")
    assert "Alter (Jahre)" in schema.names_categorical
    assert "Beruf" not in schema


def test_ids_with_gaps_between_them_are_ids(tmp_path):
    customers(60).rename(columns={"Kunden Nr": "customer"}).iloc[::2].to_csv(tmp_path / "k.csv", index=False)
    assert 'left out: "customer"' in lcifr("init", "k.csv", cwd=tmp_path).out


def test_init_says_what_is_missing_and_its_next_command_works(tmp_path):
    table = customers(30).rename(columns={"zurück gezahlt": "repaid"})
    table.loc[[3, 4], "Beruf"] = None
    table.loc[5, "Jahres-Einkommen €"] = None
    table.to_csv(tmp_path / "k.csv", index=False)
    said = lcifr("init", "k.csv", "--target", "repaid", cwd=tmp_path)
    assert '"Beruf": values are missing in 2 of 30 rows, which `lcifr produce` refuses: write "unknown"' in said.out
    assert (
        '"Jahres-Einkommen €": values are missing in 1 of 30 rows, which `lcifr produce` refuses: fill them' in said.out
    )
    lines = (tmp_path / "k.phi").read_text(encoding="utf-8").splitlines()
    assert lines[3] == "same(categorical except Geschlecht) and"  # at the top, where a report shows it

    command = next(line for line in said.err.splitlines() if "phi check" in line)
    checked = lcifr(*shlex.split(command)[1:], cwd=tmp_path)
    assert "k.csv: 3 of 30 rows have missing values and are left out" in checked.err
    assert '"Geburts datum"' in checked.err  # left out as before
    assert "k.phi, on k.csv" in checked.out


HOSTILE = [
    "a\nnumeric within 9 sd # b",
    "`tick`",
    '"quote"',
    "[red]z[/red]",
    "../../etc/passwd",
    "id",
    "similar:id",
    "and",
    "--force",
    "$(rm -rf .)",
    "<img src=x onerror=alert(1)>",
    "ü\u202e\x1b[2J",
]


def test_names_and_categories_that_bite(tmp_path):
    random = np.random.default_rng(1)
    people = 40
    frame = pd.DataFrame({name: random.choice([f"{name}!", "b\nc", "x"], people) for name in HOSTILE[:6]})
    frame = frame.assign(**{name: random.normal(0, 1, people) for name in HOSTILE[6:]})
    frame["target\n# x"] = np.where(frame["--force"] > 0, "yes\n", "[/no]")
    frame.to_parquet(tmp_path / "t.parquet")
    lcifr("init", "t.parquet", "--target", "target\n# x", cwd=tmp_path)
    schema = Schema.load(tmp_path / "t.toml")
    assert set(schema.names) == set(HOSTILE)
    words = (
        "produce",
        "t.parquet",
        "--phi",
        "t.phi",
        "--target",
        "target\n# x",
        *QUICK,
        "--epochs",
        "6",
        "--no-bundle",
    )
    lcifr(*words, "--out", "p", cwd=tmp_path)
    lcifr(
        "consume",
        "p/handover",
        "t.parquet",
        "--target",
        "target\n# x",
        "--id",
        "id",
        "--out",
        "c",
        cwd=tmp_path,
        expect=2,
    )
    (tmp_path / "l.csv").write_bytes((tmp_path / "p/labels.csv").read_bytes())
    frame[["target\n# x"]].to_parquet(tmp_path / "labels.parquet")
    lcifr("consume", "p/handover", "labels.parquet", "--out", "c", cwd=tmp_path)
    said = lcifr("audit", "p", "c", "t.parquet", "--no-baselines", "--out", "a", cwd=tmp_path, expect=None)
    found = json.loads((tmp_path / "a/result.json").read_text(encoding="utf-8"))
    assert found["people"] == people
    assert found["checked"]["rejected"] == {}
    assert found["target"] == "target\n# x"
    assert str(found["certified"]) in said.out
    assert "\x1b" not in said.out + said.err  # nothing that a terminal would obey
    assert "\u202e" not in said.out + said.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["a", "c", "p"]


@pytest.mark.parametrize("kind", ["number", "three classes", "booleans"])
def test_other_labels(tmp_path, kind):
    frame = customers(60)[["Geschlecht", "Alter (Jahre)", "Jahres-Einkommen €"]]
    income = frame["Jahres-Einkommen €"]
    frame["y"] = {
        "number": income / 1000 + 0.5,
        "three classes": np.select([income < 25000, income < 33000], ["low", "mid"], "high"),
        "booleans": income > 30000,
    }[kind]
    frame.to_csv(tmp_path / "k.csv", index=False)
    lcifr("init", "k.csv", "--target", "y", cwd=tmp_path)
    lcifr("produce", "k.csv", "--phi", "k.phi", *QUICK, "--epochs", "6", "--no-bundle", "--out", "p", cwd=tmp_path)
    words = ("consume", "p/handover", "p/labels.csv", "--out", "c")
    if kind == "number":
        assert "--tolerance" in lcifr(*words, cwd=tmp_path, expect=2).err
        words = (*words, "--tolerance", "4")
    lcifr(*words, cwd=tmp_path)
    words = ("audit", "p", "c", "--out", "a", "--no-baselines", "--json")
    found = lcifr(*words, cwd=tmp_path, expect=None).json
    assert found["task"] == ("regression" if kind == "number" else "classification")
    assert found["checked"]["rejected"] == {}
    assert Path(tmp_path / "a/audited/audit.parquet").is_file()
