"""A cut-off and a missing number that only a description declares, through the commands that take a model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Schema
from tests.story import lcifr

xgboost = pytest.importorskip("xgboost")
THRESHOLD = """[output]
meaning = "probability"
comparison = ">="
threshold = 0.8
"""
HEAD = 'format = "lcifr-model-1"\n'
MODEL = ("--model", "model.json")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained with -9 for unknown debts, which its file does not say."""
    folder = tmp_path_factory.mktemp("declared")
    random = np.random.default_rng(0)
    people = pd.DataFrame({"age": random.integers(18, 80, 160), "debt": random.integers(-12, 40, 160).astype(float)})
    people.loc[::5, "debt"] = -9.0
    label = (people["age"] / 40 - people["debt"] / 20 + random.normal(0, 0.4, 160) > 0.5).astype(int)
    label[people["debt"] == -9.0] = (people["age"] > 50).astype(int)
    model = fitted(people, label)
    model.save_model(folder / "model.json")
    (folder / "p.phi").write_text("debt within 2 and same(age)\n")
    (folder / "cut.toml").write_text(HEAD + "missing = -9\n" + THRESHOLD)
    (folder / "plain.toml").write_text(HEAD + "missing = -9.0\n")
    people.assign(granted=label).to_csv(folder / "people.csv", index=False)
    lcifr("init", "people.csv", *MODEL, "--missing", "-9", "--target", "granted", "--out", "schema", cwd=folder)
    schema = Schema.load(folder / "schema" / "people.toml")
    ranges = {"age": (18.0, 80.0), "debt": (-12.0, 40.0)}
    known = [replace(one, lower=ranges[one.name][0], upper=ranges[one.name][1]) for one in schema.numeric]
    replace(schema, attributes=tuple(known)).save(folder / "people.toml")
    return folder


def fitted(people: pd.DataFrame, label: Any) -> Any:
    return xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1, missing=-9.0).fit(people, label)


def table(place: Path) -> tuple[Any, pd.DataFrame]:
    people = pd.read_csv(place / "people.csv")
    columns = people[["age", "debt"]]
    return fitted(columns, people["granted"]), columns


def audit(place: Path, out: str, *more: str) -> Any:
    asked = ("--phi", "p.phi", "--schema", "people.toml", "--no-baselines", "--workers", "1", "--out", out)
    said = lcifr("audit", "people.csv", *MODEL, *asked, *more, cwd=place, expect=None)
    assert said.code in (0, 1, 3), said.err
    rows = pd.read_parquet(place / out / "audited" / "audit.parquet")
    return said, rows["prediction"].astype(int).to_numpy()


def test_an_audit_decides_by_the_declared_number_and_threshold(place: Path) -> None:
    model, columns = table(place)
    said, decided = audit(place, "cut", "--describe", "cut.toml")
    assert (decided == (model.predict_proba(columns)[:, 1] >= 0.8)).all()
    assert "the decision is 1 where its probability is >= 0.8, else 0" in said.out
    assert "NaN is assumed" not in said.out
    declared = "-9 is declared to stand for a missing value"
    assert declared in " ".join(said.out.split())
    said, decided = audit(place, "option", "--missing", "-9")
    assert (decided == model.predict(columns)).all()
    assert "NaN is assumed" not in said.out
    said, unaware = audit(place, "assumed")
    assert (unaware != model.predict(columns)).any()  # which the file cannot show
    assert "NaN is assumed" in " ".join(said.out.split())
    lcifr("report", "assumed", "--out", "assumed.html", cwd=place)
    assert "NaN is assumed" in (place / "assumed.html").read_text()
    lcifr("report", "cut", "--out", "cut.html", cwd=place)
    page = (place / "cut.html").read_text()
    assert "NaN is assumed" not in page
    assert declared in page
    shown = lcifr("model", "show", "model.json", "--missing", "-9", cwd=place).out
    assert declared in " ".join(shown.split())
    assert "its probability is &gt;= 0.8" in page or "its probability is >= 0.8" in page


def test_a_declared_missing_number_in_the_table_is_warned_about(place: Path) -> None:
    rows = int((pd.read_csv(place / "people.csv")["debt"] == -9).sum())
    words = (
        f'-9 stands for a missing value, but φ and its standard deviations take it for a number: "debt" ({rows} of 160'
    )
    said, _ = audit(place, "warned", "--missing", "-9")
    assert words in " ".join(said.err.split())
    warnings = json.loads((place / "warned" / "result.json").read_text(encoding="utf-8"))["warnings"]
    assert [text for text in warnings if words in text]
    said, _ = audit(place, "other", "--missing", "-8.5")
    assert "stands for a missing value, but" not in said.err


def test_a_description_named_like_the_table_is_not_taken_for_its_schema(place: Path, tmp_path: Path) -> None:
    for name, there in (("people.csv", "people.csv"), ("model.json", "people.json"), ("cut.toml", "people.toml")):
        (tmp_path / there).write_bytes((place / name).read_bytes())
    described = (tmp_path / "people.toml").read_text(encoding="utf-8")
    model = ("--model", "people.json", "--target", "granted")
    said = lcifr("doctor", *model[:2], "--data", "people.csv", *model[2:], cwd=tmp_path)
    assert "All agree" in said.out
    assert "the schema was inferred" in said.err
    refused = lcifr("init", "people.csv", *model, "--force", cwd=tmp_path, expect=2)
    assert "people.toml describes a model, and the schema would replace it" in refused.err
    assert (tmp_path / "people.toml").read_text(encoding="utf-8") == described
    lcifr("init", "people.csv", *model, "--out", "drafts", cwd=tmp_path)
    assert list(Schema.load(tmp_path / "drafts" / "people.toml").names) == ["age", "debt"]


def test_a_bundle_of_another_rule_differs_by_name(place: Path) -> None:
    audit(place, "half", "--describe", "plain.toml", "--bundle")
    own = ("--people", "people.csv", "--schema", "people.toml", *MODEL, "--json")
    for described, status in (("plain.toml", "the same"), ("cut.toml", "DIFFERS")):
        said = lcifr("check", "half/bundle", *own, "--describe", described, cwd=place, expect=None)
        (model,) = (one for one in said.json["compared"] if one["what"] == "model")
        assert model["status"] == status
        details = " ".join(model["details"])
        assert ("another rule: class 1 where the output is above " in details) == (status == "DIFFERS")
        assert "{" not in details
    said = lcifr("check", "half/bundle", *own, "--missing", "-9", cwd=place, expect=None)
    assert [one["status"] for one in said.json["compared"] if one["what"] == "model"] == ["the same"]
    said = lcifr("check", "half/bundle", *own, cwd=place, expect=None)  # with NaN, the trees are others
    assert [one["status"] for one in said.json["compared"] if one["what"] == "model"] == ["DIFFERS"]
    words = lcifr("check", "half/bundle", "--describe", "cut.toml", cwd=place, expect=2).err
    assert "--describe works only with --model" in words


def test_doctor_and_model_show_say_the_rule(place: Path) -> None:
    model, columns = table(place)
    asked = ("--data", "people.csv", "--schema", "people.toml")
    said = lcifr("doctor", *MODEL, *asked, "--describe", "cut.toml", cwd=place)
    others = int((model.predict(columns) != (model.predict_proba(columns)[:, 1] >= 0.8)).sum())
    words = " ".join(said.out.split())
    assert others > 0
    assert "All agree" in words
    assert "the decision is 1 where its probability is >= 0.8, else 0" in words
    assert f"the library decides otherwise about {others:,} of 160 rows" in words
    plain = lcifr("doctor", *MODEL, *asked, "--missing", "-9", "--json", cwd=place).json
    assert plain["declared"] is None
    assert plain["agrees"]
    assert "This rule is declared" not in lcifr("doctor", *MODEL, *asked, cwd=place).out
    shown = " ".join(lcifr("model", "show", "model.json", cwd=place).out.split())
    assert "NaN is assumed" in shown
    shown = " ".join(lcifr("model", "show", "model.json", "--describe", "cut.toml", cwd=place).out.split())
    assert "NaN is assumed" not in shown
    assert "probability is >= 0.8" in shown
    assert "What the file does not say is described in cut.toml" in shown
    shown = " ".join(lcifr("model", "show", "model.json", "--missing", "-9", cwd=place).out.split())
    assert "What the file does not say is declared with --missing" in shown


def test_certify_and_sweep_take_the_number(place: Path) -> None:
    model, columns = table(place)
    asked = (*MODEL, "--phi", "p.phi", "--schema", "people.toml", "--reference", "people.csv")
    lcifr("certify", "people.csv", *asked, "--missing", "-9", "--workers", "1", "--out", "certified", cwd=place)
    found = [pd.read_parquet(one) for one in (place / "certified").rglob("*.parquet")]
    (rows,) = (one for one in found if "prediction" in one.columns)
    assert (rows["prediction"].astype(int) == model.predict(columns)).all()
    said = lcifr("sweep", "people.csv", *asked, "--missing", "-9", "--out", "swept", cwd=place, expect=None)
    assert said.code in (0, 1, 3), said.err
    lcifr("certify", "people.csv", "--sweep", "swept", "--workers", "1", "--out", "from-sweep", cwd=place)


def test_the_number_is_refused_where_it_means_nothing(place: Path, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    _, columns = table(place)
    label = (columns["age"] > 40).astype(int)
    lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(columns, label).booster_.save_model(tmp_path / "m.txt")
    said = lcifr("model", "show", "m.txt", "--missing", "-9", cwd=tmp_path, expect=2)
    assert "--missing is for XGBoost files, and m.txt is a LightGBM model" in said.err
    (tmp_path / "m.toml").write_text(HEAD + "missing = -9\n")
    said = lcifr("model", "show", "m.txt", cwd=tmp_path, expect=2)
    assert "m.toml: a model of LightGBM does not take missing" in said.err
    said = lcifr("model", "show", "model.json", "--describe", "cut.toml", "--missing", "-8", cwd=place, expect=2)
    assert "--missing -8, and cut.toml says missing = -9" in said.err
    said = lcifr("doctor", "--missing", "0", cwd=place, expect=2)
    assert "--missing works only with --model" in said.err
    said = lcifr("init", "people.csv", "--missing", "0", "--out", "none", cwd=place, expect=2)
    assert "--missing works only with --model" in said.err
    for infinite in ("inf", "1e300"):
        said = lcifr("model", "show", "model.json", "--missing", infinite, cwd=place, expect=2)
        assert "is not a float32 number" in said.err


PAST = ("--missing", "-9", "--threshold", "0.8")


def test_a_threshold_can_be_an_option_and_is_the_rule_of_a_description(place: Path) -> None:
    model, columns = table(place)
    said, decided = audit(place, "by-option", *PAST)
    assert (decided == (model.predict_proba(columns)[:, 1] >= 0.8)).all()
    assert "the decision is 1 where its probability is >= 0.8, else 0" in said.out
    own = ("--people", "people.csv", *MODEL, "--schema", "people.toml", "--phi", "p.phi")
    bundle = "by-option/bundle"
    assert lcifr("check", bundle, *own, "--describe", "cut.toml", cwd=place, expect=None).out.count("DIFFERS") == 0
    assert "DIFFERS" in lcifr("check", bundle, *own, "--missing", "-9", cwd=place, expect=None).out
    assert "DIFFERS" not in lcifr("check", bundle, *own, *PAST, cwd=place, expect=None).out
    compared = lcifr("doctor", *MODEL, "--data", "people.csv", "--schema", "people.toml", *PAST, cwd=place)
    assert "All agree" in compared.out
    shown = " ".join(lcifr("model", "show", "model.json", *PAST, cwd=place).out.split())
    assert "declared with --missing and --threshold" in shown


def test_a_threshold_of_the_score_is_compared_with_the_margin(place: Path) -> None:
    model, columns = table(place)
    _, decided = audit(place, "by-score", "--missing", "-9", "--score-threshold", "0.25")
    margin = model.predict(columns, output_margin=True)
    assert (decided == (margin >= np.float32(0.25))).all()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--threshold", "80"), "--threshold 80 is not a probability between 0 and 1"),
        (("--threshold", "nan"), "--threshold nan is not a probability between 0 and 1"),
        (("--score-threshold", "inf"), "--score-threshold inf is not a number"),
        (("--threshold", "0.5", "--score-threshold", "0"), "--threshold and --score-threshold are both given"),
        (("--describe", "cut.toml", "--threshold", "0.7"), "cut.toml says how the output decides"),
    ],
)
def test_thresholds_that_cannot_be_are_refused(place: Path, options: tuple[str, ...], error: str) -> None:
    said = lcifr("model", "show", "model.json", *options, cwd=place, expect=2)
    assert error in said.err
    assert "Fix:" in said.err


def test_a_threshold_is_for_a_model_file(place: Path) -> None:
    said = lcifr("doctor", "--threshold", "0.5", cwd=place, expect=2)
    assert "--threshold works only with --model" in said.err
