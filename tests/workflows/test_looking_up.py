"""``lcifr certify --sweep``: who is in a proved cell needs no search; what does not fit is refused by its name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from lcifr.errors import ArtefactError
from lcifr.workflows import CertifyResult, SweepResult
from lcifr.workflows.sweeping import SweepLookUp
from tests.certification.sweep.tiny import FORMULAS, SCHEMA, everybody, fitted
from tests.story import lcifr

ASKED = ("--model", "model.skops", "--phi", "people.phi", "--schema", "people.toml")


@pytest.fixture(scope="module")
def tiny_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looking_up")
    everybody().to_pandas().to_csv(folder / "people.csv", index=False)
    skops.io.dump(fitted(LogisticRegression(), 1), folder / "model.skops")
    (folder / "people.phi").write_text(FORMULAS[0])
    SCHEMA.save(folder / "people.toml")
    lcifr("sweep", "people.csv", *ASKED, "--out", "swept", cwd=folder, expect=1)
    return folder


def certificates(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder / "audited" / "audit.parquet")


def test_the_sweep_alone_names_what_people_are_certified_for(tiny_place: Path):
    said = lcifr("certify", "people.csv", "--sweep", "swept", "--out", "certified", cwd=tiny_place)
    swept, result = SweepResult.read(tiny_place / "swept"), CertifyResult.read(tiny_place / "certified")
    assert result.looked_up is not None
    assert result.looked_up.people == swept.people.by_cell["proved"] > 0
    assert f"looked up in swept: {result.looked_up.people} of 72 people; the others were searched" in said.out
    assert "sweep: claimed" in said.out
    lcifr("certify", "people.csv", *ASKED, "--reference", "people.csv", "--out", "searched", cwd=tiny_place)
    rows, before = certificates(tiny_place / "certified"), certificates(tiny_place / "searched")
    assert rows["verdict"].tolist() == before["verdict"].tolist()
    assert rows["prediction"].tolist() == before["prediction"].tolist()
    looked_up = rows["cell"] >= 0
    assert set(rows.loc[looked_up, "sweep_hash"]) == {swept.sweep.hash}
    assert set(rows.loc[looked_up, "verdict"]) == {"CERTIFIED"}
    assert "cell" not in before.columns
    report = lcifr("certify", "people.csv", "--sweep", "swept", "--out", "again", "--json", cwd=tiny_place).json
    assert report["looked_up"]["checked"] == 0
    assert report["looked_up"]["claimed"] == report["looked_up"]["people"]


def test_cells_that_the_checker_confirmed_are_checked(tiny_place: Path):
    lcifr("sweep", "people.csv", *ASKED, "--out", "with_proofs", "--bundle", cwd=tiny_place, expect=1)
    said = lcifr("certify", "people.csv", "--sweep", "with_proofs", "--out", "on_proofs", cwd=tiny_place)
    found = CertifyResult.read(tiny_place / "on_proofs").looked_up
    assert found is not None
    assert found.checked > 0
    assert f"sweep: checked by the exact checker for {found.checked} of them" in said.out
    rows = certificates(tiny_place / "on_proofs")
    assert (rows["sweep"] == "checked").sum() == found.checked
    confirmed = {
        int(name) for name in json.loads((tiny_place / "with_proofs" / "checked.json").read_text())["names"]["proved"]
    }
    assert set(rows.loc[rows["sweep"] == "checked", "cell"]) <= confirmed
    report = tiny_place / "with_proofs" / "checked.json"
    report.write_text(report.read_text().replace('"proved"', '"proven"'))
    with pytest.raises(ArtefactError, match="not what the sweep wrote"):
        SweepLookUp.read(tiny_place / "with_proofs")


def test_another_formula_is_refused_by_name_and_nothing_is_written(tiny_place: Path):
    (tiny_place / "other.phi").write_text(FORMULAS[1])
    asked = [word if word != "people.phi" else "other.phi" for word in ASKED]
    said = lcifr(
        "certify", "people.csv", *asked, "--reference", "people.csv", "--sweep", "swept", "--out", "none",
        cwd=tiny_place, expect=2,
    )  # fmt: skip
    assert "another φ" in said.err
    assert "Fix:" in said.err
    assert not (tiny_place / "none").exists()


def test_a_folder_that_was_changed_is_refused(tiny_place: Path):
    shutil.copytree(tiny_place / "swept", tiny_place / "changed")
    cells = pd.read_parquet(tiny_place / "changed" / "cells.parquet")
    cells["standing"] = "proved"
    cells.to_parquet(tiny_place / "changed" / "cells.parquet")
    with pytest.raises(ArtefactError, match="not what the sweep wrote"):
        SweepResult.read(tiny_place / "changed")


def test_what_cannot_be_looked_up_in_is_said(tiny_place: Path):
    said = lcifr("certify", "people.csv", "--sweep", "people.csv", "--out", "none", cwd=tiny_place, expect=2)
    assert "`lcifr sweep`" in said.err
    shutil.copytree(tiny_place / "swept", tiny_place / "elsewhere")
    said = lcifr(
        "certify",
        tiny_place / "people.csv",
        "--sweep",
        tiny_place / "swept",
        "--out",
        "none",
        cwd=tiny_place.parent,
        expect=2,
    )
    assert "is not there" in said.err
    assert "run it where the sweep was run" in said.err
    said = lcifr("certify", "people.csv", "elsewhere", "--sweep", "swept", "--out", "none", cwd=tiny_place, expect=2)
    assert "is a hand-over" in said.err
