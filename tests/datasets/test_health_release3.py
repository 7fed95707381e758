"""The prize's raw tables become member-years by the stated rules: checked against a slow count, row by row."""

from __future__ import annotations

import csv
import random
import zipfile

import pandas as pd
import pytest

from lcifr.data import Individuals
from lcifr.datasets import load
from lcifr.datasets.health import AGES, CATEGORIES, SEXES, TABLES, aggregate
from lcifr.errors import DatasetError

CLAIM_COLUMNS = ["MemberID", "ProviderID", "Vendor", "PCP", "Year", "Specialty", "PlaceSvc", "PayDelay", "LengthOfStay"]
CLAIM_COLUMNS += ["DSFS", "PrimaryConditionGroup", "CharlsonIndex", "ProcedureGroup", "SupLOS"]
YEARS = ("Y1", "Y2", "Y3")
CHARLSON = {"0": 0, "1-2": 1, "3-4": 2, "5+": 3}


def made_up(seed, members=60, claims=900):
    """The four tables as lists of dicts; "" is a missing value."""
    rng = random.Random(seed)
    people = rng.sample(range(10**6, 10**8), members)
    values = {column: [v for v in known if not v.endswith("_?")] + [""] for column, known in CATEGORIES.items()}

    def claim():
        row = dict.fromkeys(CLAIM_COLUMNS, "")
        row |= {"MemberID": rng.choice(people[3:]), "Year": rng.choice(YEARS), "SupLOS": "0", "DSFS": "0- 1 month"}
        row |= {name: rng.choice(["", "17", "23", "42"]) for name in ("ProviderID", "Vendor", "PCP")}
        row |= {column: rng.choice(known) for column, known in values.items()}
        return row | {"PayDelay": rng.choice(["0", "28", "161", "162+"]), "CharlsonIndex": rng.choice([*CHARLSON])}

    def month(name, top):
        count = rng.choice(["1", "2", top])
        return {"MemberID": rng.choice(people[1:]), "Year": rng.choice(YEARS), "DSFS": "1- 2 months", name: count}

    member_rows = [
        {"MemberID": person, "AgeAtFirstClaim": rng.choice([*AGES[:-1], ""]), "Sex": rng.choice(["F", "M", ""])}
        for person in people
    ]
    return {
        "Claims.csv": [claim() for _ in range(claims)],
        "Members.csv": member_rows,
        "DrugCount.csv": [month("DrugCount", "7+") for _ in range(70)],
        "LabCount.csv": [month("LabCount", "10+") for _ in range(50)],
    }


def write(tables, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        with open(folder / name, "w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return folder


def expected_order(tables):
    """(member, year) as the rules say; members without anything come last, without a year."""
    keys = []
    for name in ("LabCount.csv", "DrugCount.csv", "Claims.csv"):
        here = sorted({(row["Year"], row["MemberID"]) for row in tables[name]})
        keys += [(member, year) for year, member in here if (member, year) not in keys]
    members = list(dict.fromkeys([member for member, _ in keys] + [row["MemberID"] for row in tables["Members.csv"]]))
    years = {member: [year for other, year in keys if other == member] or [None] for member in members}
    return [(member, year) for member in members for year in years[member]]


def expected_row(tables, member, year):
    def of(name):
        return [row for row in tables[name] if (row["MemberID"], row["Year"]) == (member, year)]

    claims, drugs, labs = of("Claims.csv"), of("DrugCount.csv"), of("LabCount.csv")
    delays = [int(row["PayDelay"].strip("+")) for row in claims]
    person = next(row for row in tables["Members.csv"] if row["MemberID"] == member)
    row = {
        "LabCount_total": sum(int(month["LabCount"].strip("+")) for month in labs),
        "LabCount_months": len(labs),
        "DrugCount_total": sum(int(month["DrugCount"].strip("+")) for month in drugs),
        "DrugCount_months": len(drugs),
        "no_Claims": sum(claim["ProviderID"] != "" for claim in claims),
        "no_Providers": len({claim["ProviderID"] for claim in claims} - {""}),
        "no_Vendors": len({claim["Vendor"] for claim in claims} - {""}),
        "no_PCPs": len({claim["PCP"] for claim in claims} - {""}),
        "max_CharlsonIndex": max((CHARLSON[claim["CharlsonIndex"]] for claim in claims), default=0),
        "PayDelay_total": sum(delays),
        "PayDelay_max": max(delays, default=0),
        "PayDelay_min": min(delays, default=0),
        "AgeAtFirstClaim": person["AgeAtFirstClaim"] or "?",
        "Sex": person["Sex"] or "?",
    }
    for column, values in CATEGORIES.items():
        for value in values:
            raw = "" if value.endswith("_?") else value
            row[f"{column}={value}"] = sum(claim[column] == raw for claim in claims)
    return row


@pytest.mark.parametrize("seed", range(3))
def test_member_years_are_what_a_slow_count_says(tmp_path, seed):
    tables = made_up(seed)
    frame = aggregate(write(tables, tmp_path), CATEGORIES)
    expected = [expected_row(tables, member, year) for member, year in expected_order(tables)]
    assert len(frame) == len(expected)
    assert set(frame.columns) == set(expected[0])
    for found, row in zip(frame.to_dict("records"), expected, strict=True):
        assert found == row


def test_made_up_tables_hold_what_the_rules_are_about():
    tables = made_up(0)
    keys = {name: {(row["MemberID"], row["Year"]) for row in tables[name]} for name in TABLES if name != "Members.csv"}
    labs, drugs, claims = keys["LabCount.csv"], keys["DrugCount.csv"], keys["Claims.csv"]
    assert labs - drugs - claims
    assert drugs - labs - claims
    assert claims - labs - drugs
    assert {row["MemberID"] for row in tables["Members.csv"]} - {member for member, _ in labs | drugs | claims}


@pytest.mark.parametrize("where", ["health", "health/HHP_release3", "zip", "zip with a folder"])
def test_folder_and_zip_are_the_same(tmp_path, where):
    tables = made_up(7)
    plain = write(tables, tmp_path / "plain" / "health")
    root = tmp_path / "root"
    if where.startswith("zip"):
        (root / "health").mkdir(parents=True)
        with zipfile.ZipFile(root / "health" / "HHP_release3.zip", "w") as archive:
            for name in TABLES:
                archive.write(plain / name, f"HHP/{name}" if "folder" in where else name)
    else:
        write(tables, root / where)
    one, other = load("health", folder=tmp_path / "plain"), load("health", folder=root)
    pd.testing.assert_frame_equal(one.train.X, other.train.X)
    pd.testing.assert_series_equal(one.test.y, other.test.y)
    Individuals.read(one.train.X, one.schema)


def test_labels(tmp_path):
    tables = made_up(3)
    root = write(tables, tmp_path / "health").parent
    rows = [expected_row(tables, member, year) for member, year in expected_order(tables)]
    plain, transfer = load("health", folder=root), load("health", folder=root, label="METAB3")
    for data, label in (
        (plain, lambda row: row["max_CharlsonIndex"] != 1),  # also 2 and 3: the quirk of the paper's code
        (transfer, lambda row: row["PrimaryConditionGroup=METAB3"] > 0),
    ):
        for split in (data.train, data.validation, data.test):
            assert [bool(value) for value in split.y] == [label(rows[row]) for row in split.y.index]


def test_the_aggregated_file_gives_the_same_people(tmp_path):
    raw = write(made_up(4), tmp_path / "raw" / "health")
    frame = aggregate(raw, CATEGORIES)
    hot = {f"AgeAtFirstClaim={age}": (frame["AgeAtFirstClaim"] == age).astype(int) for age in AGES}
    hot |= {f"Sex={sex}": (frame["Sex"] == sex).astype(int) for sex in SEXES}
    (tmp_path / "agg" / "health").mkdir(parents=True)
    pd.concat([frame.drop(columns=["AgeAtFirstClaim", "Sex"]), pd.DataFrame(hot)], axis=1).to_csv(
        tmp_path / "agg" / "health" / "health_by_member_year.csv", index=False
    )
    one, other = load("health", folder=tmp_path / "raw"), load("health", folder=tmp_path / "agg", verify=False)
    pd.testing.assert_frame_equal(one.validation.X, other.validation.X)
    assert any("aggregated" in caution for caution in other.cautions)
    assert not any("aggregated" in caution for caution in one.cautions)


def test_unknown_values_are_refused(tmp_path):
    tables = made_up(5)
    tables["Claims.csv"][3]["PlaceSvc"] = "Moon"
    with pytest.raises(DatasetError, match="PlaceSvc: unknown values Moon"):
        aggregate(write(tables, tmp_path), CATEGORIES)


def test_a_zip_without_a_table_is_refused(tmp_path):
    (tmp_path / "health").mkdir()
    with zipfile.ZipFile(tmp_path / "health" / "HHP_release3.zip", "w") as archive:
        archive.writestr("Claims.csv", "MemberID\n1\n")
    with pytest.raises(DatasetError, match=r"holds no Members\.csv"):
        load("health", folder=tmp_path)
