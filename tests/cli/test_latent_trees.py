"""A consumer with trees of another library on z: from the file of the model to verdicts, audit, proofs and report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.certification.handover import Representation
from lcifr.workflows.results import ConsumeResult
from tests.story import lcifr

EXACT = "the hand-over is proved for exact arithmetic only"


def training(story: Path) -> tuple[np.ndarray, np.ndarray]:
    """z of those to learn from, and whether they repaid."""
    handed = Representation.read(story / "producer" / "handover" / "train")
    labels = pd.read_csv(story / "producer" / "labels.csv").set_index("id")["repaid"]
    return handed.latent, (labels.loc[[int(name) for name in handed.ids]] == "yes").to_numpy(int)


@pytest.fixture(scope="session")
def booster(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an XGBoost model on z."""
    library = pytest.importorskip("xgboost")
    path = tmp_path_factory.mktemp("trees") / "trees.json"
    library.XGBClassifier(n_estimators=8, max_depth=2, n_jobs=1).fit(*training(story)).save_model(path)
    return path


@pytest.fixture(scope="session")
def consumer(story: Path, booster: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("consumer")
    consume(story, booster, place / "consumer", "--classes", "no,yes")
    return place / "consumer"


def consume(story: Path, model: Path, out: Path, *words: Any, expect: int = 0) -> Any:
    given = ("producer/handover", "producer/labels.csv", "--model", model, "--out", out)
    return lcifr("consume", *given, *words, cwd=story, expect=expect)


def test_a_model_of_another_library_is_certified_on_the_box(consumer: Path, booster: Path) -> None:
    result = ConsumeResult.read(consumer)
    assert (result.on, result.arithmetic, result.held_out) == ("box", "float32", False)
    assert result.model.classes == ("no", "yes")
    assert result.model.trained_on is None
    assert result.origin is not None
    assert result.origin.rule.startswith("the decision is yes where")  # by the names of --classes
    assert (result.origin.file, result.origin.format) == (str(booster), "XGBoost")
    assert result.statement.lower is None  # nobody knows whom it was trained on
    assert result.statement.accuracy is not None
    assert result.statement.certified > 0


def test_the_audit_proves_it_and_the_checker_confirms(story: Path, consumer: Path, tmp_path: Path) -> None:
    words = ("audit", "producer", consumer, "--out", tmp_path / "audit", "--no-baselines")
    said = lcifr(*words, "--json", cwd=story, expect=None)
    found = said.json
    assert said.code == (1 if found["violated"] else 3 if found["undecided"] else 0)
    assert found["certified"] > 0
    assert found["held_out"] is False
    checked = found["checked"]
    assert (checked["certified"], checked["counterexamples"]) == (found["certified"], found["violated"])
    assert not checked["rejected"]
    assert found["certified"] >= ConsumeResult.read(consumer).statement.certified
    lcifr("check", tmp_path / "audit" / "bundle", cwd=story)
    for folder in (tmp_path / "audit", consumer):
        page = tmp_path / f"{folder.name}.html"
        lcifr("report", folder, "--out", page, cwd=story)
        assert "8 trees" in page.read_text(encoding="utf-8")


def test_new_people_are_certified_from_a_hand_over_and_from_end_to_end(
    story: Path, consumer: Path, tmp_path: Path
) -> None:
    handed = ("represent", "producer", "new.csv", "--out", tmp_path / "handed")
    lcifr(*handed, cwd=story)
    said = lcifr("certify", consumer, tmp_path / "handed/handover", "--out", tmp_path / "a", "--json", cwd=story).json
    assert said["proved"] == "hand-over, box"
    assert (said["arithmetic"], said["encoder_arithmetic"]) == ("float32", "float64")
    table = ("certify", consumer, "new.csv", "--producer", "producer", "--out", tmp_path / "b", "--json")
    whole = lcifr(*table, cwd=story).json
    assert whole["certified"] >= said["certified"] > 0


def test_a_hand_over_in_exact_arithmetic_decides_nothing(story: Path, consumer: Path, tmp_path: Path) -> None:
    handed = ("represent", "producer", "new.csv", "--arithmetic", "exact", "--out", tmp_path / "handed")
    lcifr(*handed, cwd=story)
    words = ("certify", consumer, tmp_path / "handed/handover", "--out", tmp_path / "a", "--strict")
    lcifr(*words, cwd=story, expect=3)
    rows = pd.read_parquet(tmp_path / "a" / "certificates.parquet")
    assert (rows["verdict"] == "UNDECIDED").all()
    assert rows["reason"].str.startswith(EXACT).all()


def test_population_is_the_word_of_whoever_trained_it(story: Path, booster: Path, tmp_path: Path) -> None:
    said = consume(story, booster, tmp_path / "c", "--classes", "no,yes", "--population", "--json").json
    assert said["held_out"] is True
    assert said["lower"] is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--classes no,yes"),
        (("--classes", "no,perhaps,yes"), "names 3 classes"),
        (("--hidden", "9"), "a training option"),
        (("--tolerance", "1"), "a tolerance is for numbers"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(
    story: Path, booster: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    said = consume(story, booster, tmp_path / "c", *words, expect=2)
    assert message in said.err
    assert not (tmp_path / "c").exists()


def test_classes_without_a_model_are_refused(story: Path, tmp_path: Path) -> None:
    words = ("consume", "producer/handover", "producer/labels.csv", "--classes", "a,b", "--out", tmp_path / "c")
    assert "--model FILE" in lcifr(*words, cwd=story, expect=2).err


def test_trees_on_other_numbers_are_refused(story: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("lightgbm")
    z, y = training(story)
    narrow = library.LGBMClassifier(n_estimators=2, num_leaves=3, n_jobs=1, verbose=-1).fit(z[:, :2], y)
    narrow.booster_.save_model(tmp_path / "narrow.txt")
    assert "takes 2 numbers" in consume(story, tmp_path / "narrow.txt", tmp_path / "c", expect=2).err
    frame = pd.DataFrame(z, columns=[f"z{j}" for j in range(z.shape[1])])[["z1", "z0", "z2", "z3"]]
    library.LGBMClassifier(n_estimators=2, num_leaves=3, n_jobs=1, verbose=-1).fit(frame, y).booster_.save_model(
        tmp_path / "turned.txt"
    )
    assert "in this order" in consume(story, tmp_path / "turned.txt", tmp_path / "c", expect=2).err
