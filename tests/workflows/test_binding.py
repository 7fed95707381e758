"""The same is said only of what was derived from the reader's own file: other spellings, missing files, all models."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.certification.bundle import ProofSample
from tests.story import lcifr
from tests.workflows.binding_lender import OWN, Plain, changed, check, lender, statuses
from tests.workflows.credit import PHI, READ, fit

SAME, DIFFERS, NAMED, NOT_GIVEN = "the same", "DIFFERS", "named, content not compared", "not given"


def people() -> pd.DataFrame:
    return pd.read_csv(lender() / "people.csv")


SPELLINGS = {
    "other orders and columns": lambda table: (
        table[table.columns[::-1]].sample(frac=1, random_state=1).assign(note="x\ny")
    ),
    "exponents": lambda table: table.assign(income=[f"{value:.17e}" for value in table["income"]]),
    "spaces around categories": lambda table: table.assign(job="  " + table["job"]),
}


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_table_that_is_spelled_otherwise_holds_the_same_people(spelled: str, tmp_path: Path) -> None:
    SPELLINGS[spelled](people()).to_csv(tmp_path / "people.csv", index=False, encoding="utf-8-sig")
    assert statuses(people=tmp_path / "people.csv")["people"] == SAME


def test_parquet_holds_the_same_people(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "people.parquet")
    assert statuses(people=tmp_path / "people.parquet", model=None)["people"] == SAME


def test_the_next_float_is_another_person(tmp_path: Path) -> None:
    table = people()
    table.loc[3, "income"] = math.nextafter(table.loc[3, "income"], math.inf)
    table.to_csv(tmp_path / "people.csv", index=False)
    said = check("audit", "--json", people=tmp_path / "people.csv").json["compared"][0]
    assert said["names"]["differ"] == [table.loc[3, "person"]]
    assert said["details"][0].startswith(f"{table.loc[3, 'person']}: income is ")


@pytest.mark.parametrize("given", sorted(OWN.keys() - {"id"}))
def test_what_is_not_given_is_never_the_same(given: str) -> None:
    """And whoever was read with something of the bundle's own is not the same by that either."""
    lost = {given: None} if given != "schema" else {"schema": None, "phi": str(_phi_alone())}
    said = check("audit", "--json", **lost, expect=6)
    found = {one["what"]: one["status"] for one in said.json["compared"]}
    assert found[given] == NOT_GIVEN
    needs = {"schema": {"model", "phi", "train"}, "train": {"phi"}}.get(given, set())
    assert {name for name, status in found.items() if status == NAMED} == needs


def _phi_alone() -> Path:
    """The formula without a schema beside it."""
    path = lender() / "alone.phi"
    path.write_text(PHI, encoding="utf-8")
    return path


def test_a_formula_without_standard_deviations_needs_no_training_table(tmp_path: Path) -> None:
    (tmp_path / "plain.phi").write_text("same(job) and age within 1 and income within 3", encoding="utf-8")
    assert statuses(phi=tmp_path / "plain.phi", train=None)["phi"] == DIFFERS


def test_one_bit_of_a_weight_is_another_model(tmp_path: Path) -> None:
    def change(plain: Plain) -> None:
        row = (
            plain["model.json"][0][0]
            if isinstance(plain["model.json"], list)
            else plain["model.json"]["factors"][-1][0][0]
        )
        row[0] = math.nextafter(row[0], math.inf)

    assert statuses(changed(tmp_path, change))["model"] == DIFFERS


def test_ranks_are_those_of_the_training_table(tmp_path: Path) -> None:
    text = "same(job, sex, region) and age within 1 and debt within 5 and 0 <= income' <= 9000 and "
    text += "|rank(income' by job') - rank(income by job)| < 3"
    (tmp_path / "rank.phi").write_text(text, encoding="utf-8")
    people().head(3).to_csv(tmp_path / "few.csv", index=False)
    asked = ("few.csv", "--model", lender() / "model.skops", "--phi", "rank.phi", "--id", "person", "--workers", "1")
    files = {"schema": lender() / "rule.toml", "reference": lender() / "train.csv"}
    words = [str(word) for name, file in files.items() for word in (f"--{name}", file)]
    lcifr("audit", *asked, *words, "--no-baselines", "--out", "audit", cwd=tmp_path, expect=None)
    own = {"people": tmp_path / "few.csv", "phi": tmp_path / "rank.phi"}
    assert set(statuses(tmp_path / "audit", **own).values()) == {SAME}
    assert statuses(tmp_path / "audit", **own, train=None)["phi"] == NAMED
    moved = pd.read_csv(lender() / "train.csv")
    moved.loc[0, "income"], moved.loc[1, "income"] = moved.loc[1, "income"], moved.loc[0, "income"]
    moved.loc[[0, 1], "job"] = ["clerk", "pilot"]
    moved.to_csv(tmp_path / "train.csv", index=False)
    found = check(tmp_path / "audit", **own, train=tmp_path / "train.csv")
    assert found.code == 5
    assert "the values among which income is ranked by job" in found.out


def test_a_file_that_is_not_there_is_said_before_anything_is_checked() -> None:
    for name in ("people", "model", "train"):
        assert "no such file" in check(**{name: "nowhere.csv"}, expect=2).err
    assert "nowhere.phi" in check(phi="nowhere.phi", expect=2).err


def test_what_does_not_fit_the_readers_own_schema_is_wrong_use(tmp_path: Path) -> None:
    people().drop(columns="debt").to_csv(tmp_path / "train.csv", index=False)
    assert "debt" in check(train=tmp_path / "train.csv", expect=2).err
    (tmp_path / "bad.phi").write_text("same(jobb)", encoding="utf-8")
    assert "jobb" in check(phi=tmp_path / "bad.phi", expect=2).err


def test_python_alone_names_model_and_formula_and_ends_with_6(tmp_path: Path) -> None:
    words = [word for name, file in OWN.items() for word in (f"--{name}", file)]
    run = [sys.executable, "-m", "lcifr.check", "audit/bundle", *words]
    done = subprocess.run(run, cwd=lender(), capture_output=True, text=True, check=False)
    assert done.returncode == 6, done.stderr
    assert "people: the same" in done.stdout
    for name in ("model", "phi", "schema", "train"):
        assert f"\n{name}: named, content not compared\n" in done.stdout
    said = check("audit", "--json").json["compared"][0]
    assert all(f"  {detail}" in done.stdout for detail in said["details"])


def test_the_digest_of_a_table_is_the_one_that_a_comparison_prints() -> None:
    asked = ("evidence", "digest", "people.csv", "--schema", "rule.toml", "--id", "person")
    said = lcifr(*asked, cwd=lender())
    assert f"digest of your file {said.out.strip()}\n  digest of the bundle {said.out.strip()}\n" in check().out
    assert "applied_on, repaid" in said.err
    assert lcifr(*asked, "--json", cwd=lender()).json["digest"] == said.out.strip()


def test_a_sample_is_the_one_that_its_seed_draws_and_never_all_of_it(tmp_path: Path) -> None:
    """The bundle of an audit with ``--proofs 20``, and others of as many people."""
    drawn = ProofSample(20, 28, 3)

    def keep(rows: Any) -> Callable[[Plain], None]:
        def change(plain: Plain) -> None:
            plain["lines"] = [plain["lines"][row] for row in rows]
            plain["manifest"]["drawn"] = asdict(drawn)

        return change

    said = check(changed(tmp_path / "drawn", keep(drawn.rows())), expect=6)
    assert "people: the same, of a sample\n  your people who are missing in the bundle (8): " in said.out
    assert "20 of 28 people, drawn at random (seed 3), as this seed draws them" in said.out
    others = sorted({*range(28)} - {int(drawn.rows()[0])})[:20]
    assert "people: DIFFERS" in check(changed(tmp_path / "chosen", keep(others)), expect=5).out


def saved_models(folder: Path) -> dict[str, tuple[Any, ...]]:
    """One of each kind of file: its name, the attributes that it takes, and what an audit of it needs."""
    train = pd.read_csv(lender() / "train.csv")
    numbers, yes = ["age", "income", "debt"], (train["repaid"] == "yes").astype(int)
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from skops.io import dump

    types = [(name, (FloatTensorType if name in numbers else StringTensorType)([None, 1])) for name in READ]
    onnx = to_onnx(fit(train), initial_types=types, options={"zipmap": False})
    (folder / "pipeline.onnx").write_bytes(onnx.SerializeToString())
    xgboost.XGBClassifier(n_estimators=4, max_depth=2).fit(train[numbers], yes).save_model(folder / "boosted.json")
    boosted = lightgbm.LGBMClassifier(n_estimators=4, num_leaves=4, verbose=-1).fit(train[numbers], yes)
    boosted.booster_.save_model(folder / "boosted.txt")
    dump(RandomForestClassifier(3, max_depth=2, random_state=0).fit(train[numbers], yes), folder / "forest.skops")
    dump(LinearRegression().fit(train[numbers], train["income"] / 1000), folder / "number.skops")
    dump(LogisticRegression(max_iter=2000).fit(train[numbers], train["job"]), folder / "jobs.skops")
    found: dict[str, tuple[Any, ...]] = dict.fromkeys(("boosted.json", "boosted.txt", "forest.skops"), ())
    return found | {"pipeline.onnx": (), "number.skops": ("--tolerance", "0.5"), "jobs.skops": ("--same", "clerk,cook")}


@pytest.mark.long
def test_every_kind_of_model_is_recognised_and_told_from_the_others(tmp_path: Path) -> None:
    files = saved_models(tmp_path)
    people().head(2).drop(columns="repaid").to_csv(tmp_path / "people.csv", index=False)
    for name, more in files.items():
        asked = ("people.csv", "--model", name, "--phi", lender() / "rule.phi", "--schema", lender() / "rule.toml")
        asked += ("--reference", lender() / "train.csv", "--id", "person", "--workers", "1", "--no-baselines")
        lcifr("audit", *asked, *more, "--out", f"audit-{name}", cwd=tmp_path, expect=None)
    for name in files:
        own = {"people": tmp_path / "people.csv"}
        found = {other: statuses(tmp_path / f"audit-{name}", **own, model=tmp_path / other)["model"] for other in files}
        assert {other for other, status in found.items() if status == SAME} == {name}


def test_folders_of_a_producer_and_a_consumer(story: Path, tmp_path: Path) -> None:
    train = story / "producer" / "people" / "train.parquet"
    own = {"phi": story / "people.phi", "schema": story / "producer" / "schema.toml", "train": train}
    words = [str(word) for name, file in own.items() for word in (f"--{name}", file)]

    def found(bundle: str, *folders: str) -> dict[str, str]:
        models = [word for folder in folders for word in ("--model", folder)]
        said = lcifr("check", bundle, *words, *models, "--json", cwd=story, expect=None)
        return {one["what"]: one["status"] for one in said.json["compared"]}

    assert found("audit", "producer", "consumer") == {"people": NOT_GIVEN} | dict.fromkeys(
        ("model", "phi", "schema", "train"), SAME
    )
    assert found("producer", "producer")["model"] == SAME  # of a hand-over, which has no model
    assert found("producer", "producer", "consumer")["model"] == DIFFERS  # a model decides, and the bundle has none
    assert found("audit", "producer")["model"] == NAMED
    assert found("audit", "consumer")["model"] == NAMED
    assert "contains neither encoder" in lcifr("check", "audit", "--model", tmp_path, cwd=story, expect=2).err
