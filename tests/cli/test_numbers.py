"""A label that is a number, through every command: one unit, how good it is, and what its tolerance means."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.story import QUICK, lcifr

TOLERANCE = 250.0


def workers(people: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    age, sex = rng.integers(20, 65, people), rng.choice(["f", "m"], people)
    job = rng.choice(["clerk", "cook", "nurse"], people)
    pay = 40_000 + 300 * (age - 40) + 4_000 * (job == "nurse") + 3_000 * (sex == "m") + 500 * rng.normal(size=people)
    return pd.DataFrame({"age": age, "sex": sex, "job": job, "pay": np.round(pay, 2)})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learned without a weight for the promise: some people are certified, and some refuted."""
    place = tmp_path_factory.mktemp("numbers")
    workers(120).to_csv(place / "w.csv", index=False)
    (place / "w.phi").write_text("same(job) and age within 1\n", encoding="utf-8")
    words = ("--phi", "w.phi", "--target", "pay", *QUICK, "--epochs", "60", "--gamma", "0", "--no-bundle")
    produced = lcifr("produce", "w.csv", *words, "--out", "p", cwd=place)
    (place / "produced").write_text(produced.err, encoding="utf-8")
    consumed = lcifr("consume", "p/handover", "p/labels.csv", "--tolerance", TOLERANCE, "--out", "c", cwd=place)
    (place / "consumed").write_text(consumed.out, encoding="utf-8")
    audited = lcifr("audit", "p", "c", "--out", "a", cwd=place, expect=None)
    (place / "audited").write_text(audited.out, encoding="utf-8")
    return place


def result(place: Path, name: str) -> dict:
    return json.loads((place / name / "result.json").read_text(encoding="utf-8"))


def test_one_unit_everywhere(place):
    labels = pd.read_csv(place / "p/labels.csv")["pay"]
    for file in ("c/certificates.parquet", "a/audited/audit.parquet"):
        rows = pd.read_parquet(place / file)
        assert rows["prediction"].between(labels.min() - 5_000, labels.max() + 5_000).all()
        assert (rows["margin"] <= TOLERANCE).all()
    manifest = json.loads((place / "a/bundle/manifest.json").read_text(encoding="utf-8"))
    assert manifest["decision"]["tolerance"] == TOLERANCE
    found = result(place, "a")
    assert found["checked"]["rejected"] == {}
    assert found["counterexamples"]
    for one in found["counterexamples"]:
        assert abs(one["prediction"] - one["other_prediction"]) > TOLERANCE
        assert labels.min() - 5_000 < one["prediction"] < labels.max() + 5_000


def test_how_good_it_is_stands_beside_the_share(place):
    for name in ("c", "a"):
        found = result(place, name)
        assert found["accuracy"] is None
        assert found["r2"] > 0.5
        assert 0 < found["mean_error"] < found["mean_error_of_mean"]
    said = result(place, "a")["baselines"]
    assert set(said) == {"plain", "unaware", "always the mean"}
    assert all(figures["r2"] <= 1 and figures["mean_error"] > 0 for figures in said.values())
    assert said["always the mean"]["certified"] == 1.0
    assert said["unaware"]["r2"] > said["always the mean"]["r2"]
    groups = result(place, "a")["subgroups"]
    assert groups
    assert all(row["mean_error"] > 0 for row in groups)


def test_words_say_what_a_tolerance_means(place):
    for name in ("consumed", "audited"):
        said = " ".join((place / name).read_text(encoding="utf-8").split())  # whatever the width of the terminal
        assert "R² 0." in said
        assert "always predicting the mean errs by" in said
        assert "tolerance 250: predictions less than 250 apart" in said
    assert "more than the tolerance of 250" in said
    assert "R²" in said.split("percent", 1)[1]


def test_the_next_command_names_a_tolerance(place):
    assert "--tolerance" in (place / "produced").read_text(encoding="utf-8")
    refused = lcifr("consume", "p/handover", "p/labels.csv", "--out", "c2", cwd=place, expect=2).err
    hint = float(refused.split("--tolerance ")[1].split(",")[0])
    assert 100 < hint < 2_000


def test_labels_that_are_all_one_number(place):
    workers(40).assign(pay=12.5).to_csv(place / "flat.csv", index=False)
    words = ("--phi", "w.phi", "--target", "pay", *QUICK, "--out", "flat")
    assert "12.5" in lcifr("produce", "flat.csv", *words, cwd=place, expect=2).err


def test_the_page_speaks_of_numbers(place):
    lcifr("report", "a", "--out", "r.md", cwd=place)
    page = (place / "r.md").read_text(encoding="utf-8")
    found = result(place, "a")
    assert "The tolerance is 250: predictions closer than that count as the same decision." in page
    assert "| Model | R² | Mean error |" in page
    assert "always the mean" in page
    assert "Accuracy unknown" not in page
    assert "gets “" not in page.split("## Person by person")[1].split("## What this report does not say")[0]
    assert page.count("gets a prediction within 250 of ") == found["certified"]
    assert page.count("more than the tolerance of 250") == found["violated"]
    lcifr("report", "c", "--out", "c.md", cwd=place)
    assert "gets a prediction within 250 of " in (place / "c.md").read_text(encoding="utf-8")
