"""Cut-offs that a description declares: obeyed as the library's own numbers compare with them, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import lcifr
from lcifr.certification.reference import place_at_boundaries
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import (
    DescribedInput,
    DescribedOutput,
    DescriptionError,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
)
from lcifr.models.loading import ModelFile, load_file
from lcifr.workflows.consuming import read_on_latents
from tests.models.loaders.tree_semantics import NUMERIC, table

xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
skops = pytest.importorskip("skops.io")
COMPARISONS = {">": np.greater, ">=": np.greater_equal}
QUIET: dict[str, Any] = {"n_jobs": 1, "verbose": -1, "min_child_samples": 5, "n_estimators": 8}
MODELS = {
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1),
    "lightgbm": lambda: lightgbm.LGBMClassifier(**QUIET),
    "lightgbm steep": lambda: lightgbm.LGBMClassifier(sigmoid=2.5, **QUIET),
    "lightgbm forest": lambda: lightgbm.LGBMClassifier(
        boosting_type="rf", bagging_freq=1, bagging_fraction=0.7, **QUIET
    ),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "network": lambda: make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=600, random_state=0)),
    "forest": lambda: RandomForestClassifier(12, max_depth=4, random_state=0),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, random_state=0),
    "histograms": lambda: make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=8)),
}


def saved(name: str, folder: Path, classes: int = 2) -> tuple[Any, Path, pd.DataFrame]:
    """A fitted model, its file, and the table."""
    frame, labels = table(classes=classes)
    frame = frame[NUMERIC]
    model = MODELS[name]().fit(frame, labels)
    if name == "xgboost":
        model.save_model(path := folder / "model.json")
    elif name.startswith("lightgbm"):
        model.booster_.save_model(path := folder / "model.txt")
    else:
        skops.dump(model, path := folder / "model.skops")
    return model, path, frame


def declared(path: Path, threshold: float, comparison: str, meaning: Meaning = Meaning.PROBABILITY) -> ModelFile:
    output = DescribedOutput(meaning, comparison=ScoreComparison(comparison), threshold=threshold)
    return load_file(path, ModelDescription(output=output))


def unscaled(frame: pd.DataFrame) -> Encoding:
    schema = Schema.infer(frame)
    return Encoding(schema, np.zeros(len(schema.numeric)), np.ones(len(schema.numeric)))


def chances(model: Any, frame: pd.DataFrame) -> Any:
    return model.predict_proba(frame)[:, 1]


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("name", MODELS)
def test_a_declared_threshold_is_that_of_predict_proba(name: str, comparison: str, tmp_path: Path) -> None:
    model, path, frame = saved(name, tmp_path)
    probabilities, compare = chances(model, frame), COMPARISONS[comparison]
    for threshold in (0.8, 0.3, float(np.sort(probabilities)[len(frame) // 3])):  # the last one is met exactly
        file = declared(path, threshold, comparison)
        read = file.read_table(frame, unscaled(frame))
        people = Individuals.read(frame, read.encoding.schema)
        expected = model.classes_[compare(probabilities, threshold).astype(int)]
        assert (read.library_decides(people) == expected).all()
        at = probabilities.dtype.type(threshold)
        certain = abs(probabilities - at) > 4e-6
        assert (read.decide(people) == expected)[certain].all()
        assert certain.mean() > 0.5
        beside = place_at_boundaries(read, people)
        rows = beside.to_pandas()[list(frame)].astype(frame.dtypes)
        probable = chances(model, rows)
        expected = model.classes_[compare(probable, threshold).astype(int)]
        assert (read.library_decides(beside) == expected).all()
        assert (read.decide(beside) == expected)[abs(probable - at) > 4e-6].all()
    own = load_file(path).read_table(frame, unscaled(frame))
    assert (own.library_decides(people) == model.predict(frame)).all()
    assert "probability is" in file.outline().rule
    assert repr(threshold) in file.outline().rule


@pytest.mark.parametrize("name", ["xgboost", "lightgbm steep"])
def test_a_margin_of_0_is_the_declared_probability(name: str, tmp_path: Path) -> None:
    _, path, frame = saved(name, tmp_path)
    rule = declared(path, 0.8, ">=").read_table(frame, unscaled(frame)).model.rule
    least = rule.least_probability(np.array([True, False]), np.zeros(2))
    np.testing.assert_allclose(least, [0.8, 0.2], atol=1e-5)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm steep", "logistic", "forest", "histograms"])
def test_no_certificate_at_the_declared_threshold_is_refuted_by_the_library(name: str, tmp_path: Path) -> None:
    model, path, frame = saved(name, tmp_path)
    probabilities, people = chances(model, frame), frame.head(60)
    threshold = float(np.quantile(probabilities, 0.8))
    file = declared(path, threshold, ">=")
    similar = lcifr.Similarity("numeric within 0.1 sd", Schema.infer(frame), frame)
    found = lcifr.audit(file, people, similarity=similar)
    decided = chances(model, people) >= threshold
    assert (found.frame()["prediction"].to_numpy() == model.classes_[decided.astype(int)]).all()
    verdicts = found.frame()["verdict"].astype(str).str.upper().to_numpy()
    certified = np.flatnonzero(verdicts == "CERTIFIED")
    assert 5 < len(certified) < 60
    random, reach = np.random.default_rng(0), 0.1 * frame.std(ddof=0).to_numpy()
    for person in certified:
        step = random.uniform(-1, 1, (200, len(reach))) * reach
        step[:, 0] = np.trunc(step[:, 0])  # ages are whole
        moved = people.to_numpy(np.float64)[person] + step
        moved = np.clip(moved, frame.min().to_numpy(), frame.max().to_numpy())
        others = chances(model, pd.DataFrame(moved, columns=frame.columns)) >= threshold
        assert (others == decided[person]).all()
    plain = lcifr.audit(path, people, similarity=similar).frame()["verdict"].astype(str).to_numpy()
    assert (plain != found.frame()["verdict"].astype(str).to_numpy()).any()


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "logistic", "boosting", "histograms"])
def test_a_declared_score_is_the_librarys_margin(name: str, tmp_path: Path) -> None:
    model, path, frame = saved(name, tmp_path)
    if name == "xgboost":
        margins = model.predict(frame, output_margin=True)
    elif name == "lightgbm":
        margins = model.predict(frame, raw_score=True)
    else:
        margins = model.decision_function(frame)
    threshold = float(np.quantile(margins, 0.7))
    read = declared(path, threshold, ">", Meaning.SCORE).read_table(frame, unscaled(frame))
    people = Individuals.read(frame, read.encoding.schema)
    expected = model.classes_[(margins > threshold).astype(int)]
    assert (read.library_decides(people) == expected).all()
    assert (read.decide(people) == expected)[abs(margins - threshold) > 1e-5].all()


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "logistic", "forest"])
def test_declared_classes_are_what_model_and_library_decide(name: str, tmp_path: Path) -> None:
    model, path, frame = saved(name, tmp_path)
    output = DescribedOutput(Meaning.PROBABILITY, None, None, ("refused", "granted"), ScoreComparison.AT_LEAST, 0.6)
    file = load_file(path, ModelDescription(output=output))
    read = file.read_table(frame, unscaled(frame))
    people = Individuals.read(frame, read.encoding.schema)
    expected = np.where(chances(model, frame) >= 0.6, "granted", "refused")
    assert (read.library_says(people).decisions == expected).all()
    assert (read.predict(frame) == expected).all()
    assert (read.decide(people) == expected).mean() > 0.99
    assert file.outline().classes == ("refused", "granted")
    assert file.outline().rule == "the decision is granted where its probability is >= 0.6, else refused"


def test_names_of_a_skops_file_are_not_turned_around(tmp_path: Path) -> None:
    _, path, frame = saved("logistic", tmp_path)
    classes = ("1", "0")
    file = load_file(path, ModelDescription(output=DescribedOutput(Meaning.CLASS, classes=classes)))
    with pytest.raises(LcifrError, match="has the classes 0, 1, its description 1, 0"):
        file.read_table(frame, unscaled(frame))


ALL = ModelDescription(
    (DescribedInput(InputKind.NUMBER, NUMERIC[0], "X"),),
    DescribedOutput(Meaning.PROBABILITY, "p", 1, (), ScoreComparison.ABOVE, 0.7),
    Arithmetic.FLOAT64,
    "model.toml",
    -9.0,
)


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("xgboost", ["input of [[inputs]] 1", "name of [output]", "position of [output]"]),
        ("lightgbm", ["missing", "input of [[inputs]] 1", "name of [output]", "position of [output]"]),
        ("logistic", ["missing", "kind of [[inputs]] 1", "column of", "input of", "name of", "position of [output]"]),
    ],
)
def test_entries_that_a_format_does_not_take_are_refused_by_name(name: str, refused: Any, tmp_path: Path) -> None:
    _, path, _ = saved(name, tmp_path)
    with pytest.raises(DescriptionError) as problem:
        load_file(path, ALL)
    words = str(problem.value)
    assert words.startswith("model.toml: a model of ")
    assert all(one in words for one in refused)
    assert "threshold" not in words.split("\n")[0]
    assert problem.value.fix


@pytest.mark.parametrize(
    ("name", "classes", "output", "words"),
    [
        (
            "xgboost",
            3,
            DescribedOutput(Meaning.PROBABILITY, threshold=0.7),
            "by 3 numbers: threshold = 0.7 is for two classes",
        ),
        (
            "lightgbm",
            3,
            DescribedOutput(Meaning.SCORE, threshold=0.7),
            "by 3 numbers: threshold = 0.7 is for two classes",
        ),
        (
            "forest",
            3,
            DescribedOutput(Meaning.PROBABILITY, threshold=0.7),
            "by 3 numbers: threshold = 0.7 is for two classes",
        ),
        ("xgboost", 2, DescribedOutput(Meaning.SCORES), '"scores" is for one number per class'),
        ("logistic", 2, DescribedOutput(Meaning.SCORES), '"scores" is for one number per class'),
        ("lightgbm", 2, DescribedOutput(Meaning.NUMBER), 'meaning = "number" is for other models'),
        ("forest", 2, DescribedOutput(Meaning.NUMBER), 'meaning = "number" is for other models'),
        ("forest", 2, DescribedOutput(Meaning.CLASS, classes=("a", "b", "c")), "has 2 classes, its description 3"),
        ("forest", 2, DescribedOutput(Meaning.SCORE, threshold=0.1), "no decision_function"),
    ],
)
def test_a_meaning_that_a_model_cannot_have_is_refused(
    name: str, classes: int, output: DescribedOutput, words: str, tmp_path: Path
) -> None:
    _, path, frame = saved(name, tmp_path, classes)
    file = load_file(path, ModelDescription(output=output, source="model.toml"))
    for ask in (file.outline, lambda: file.read_table(frame, unscaled(frame))):
        with pytest.raises(LcifrError, match=words.replace("[", r"\[")):
            ask()


def test_two_scores_for_two_classes_take_no_threshold(tmp_path: Path) -> None:
    frame, labels = table()
    rows = xgboost.DMatrix(frame[NUMERIC], labels)
    booster = xgboost.train({"objective": "multi:softprob", "num_class": 2, "nthread": 1}, rows, 3)
    booster.save_model(path := tmp_path / "model.json")
    for meaning in (Meaning.SCORE, Meaning.PROBABILITY):
        with pytest.raises(DescriptionError, match=r"between 2 classes by 2 numbers: threshold = 0\.6"):
            declared(path, 0.6, ">", meaning).outline()
    scores = ModelDescription(output=DescribedOutput(Meaning.SCORES))
    read = load_file(path, scores).read_table(frame[NUMERIC], unscaled(frame[NUMERIC]))
    expected = booster.predict(rows).argmax(1)
    assert (read.library_decides(Individuals.read(frame[NUMERIC], read.encoding.schema)) == expected).all()


def test_a_threshold_that_the_model_already_has_gives_way_to_the_declared_one(tmp_path: Path) -> None:
    frame, labels = table()
    for inner in (LogisticRegression(max_iter=2000), RandomForestClassifier(9, max_depth=3, random_state=0)):
        own = FixedThresholdClassifier(inner, threshold=0.2, response_method="predict_proba").fit(
            frame[NUMERIC], labels
        )
        skops.dump(own, path := tmp_path / "model.skops")
        read = declared(path, 0.7, ">=").read_table(frame[NUMERIC], unscaled(frame[NUMERIC]))
        probable = own.predict_proba(frame[NUMERIC])[:, 1]
        people = Individuals.read(frame[NUMERIC], read.encoding.schema)
        assert (read.library_decides(people) == (probable >= 0.7)).all()
        assert (read.decide(people) == (probable >= 0.7))[abs(probable - 0.7) > 1e-9].all()
        assert (own.predict(frame[NUMERIC]) != (probable >= 0.7)).any()


def test_a_description_beside_a_model_on_z_is_obeyed(tmp_path: Path) -> None:
    z, random = np.random.default_rng(0).normal(size=(200, 2)), np.random.default_rng(1)
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(z, z.sum(1) + random.normal(size=200) > 0)
    model.save_model(path := tmp_path / "trees.json")
    head = 'format = "lcifr-model-1"\n'
    rule = '[output]\nmeaning = "probability"\ncomparison = ">="\nthreshold = 0.8\n'
    (tmp_path / "trees.toml").write_text(head + rule)
    read = read_on_latents(path, z, ("no", "yes"), None)
    expected = np.where(model.predict_proba(z)[:, 1] >= 0.8, "yes", "no")
    assert (read.model.predict(z) == expected).all()
    assert (expected == "yes").sum() != model.predict(z).sum()
    assert read.origin.description == str(tmp_path / "trees.toml")
    (tmp_path / "trees.toml").write_text(head + '[[inputs]]\ncolumn = "z0"\nkind = "number"\n' + rule)
    with pytest.raises(LcifrError, match="a model on z does not take kind of"):
        read_on_latents(path, z, (), None)


def test_a_path_in_python_obeys_the_description_beside_it(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"debt": random.uniform(0, 9, 80).round(1), "age": random.integers(18, 80, 80)})
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1)
    model.fit(frame, frame["debt"] + random.normal(size=80) > 4).save_model(path := tmp_path / "loan.json")
    probable, near = model.predict_proba(frame)[:, 1], "debt within 0.2 and same(age)"
    assert (lcifr.audit(path, frame, similarity=near).frame()["prediction"] == model.predict(frame)).all()
    head = 'format = "lcifr-model-1"\n'
    rule = '[output]\nmeaning = "probability"\ncomparison = ">="\nthreshold = 0.8\n'
    (beside := tmp_path / "loan.toml").write_text(head + rule)
    found = lcifr.audit(str(path), frame, similarity=near)
    assert (found.frame()["prediction"] == (probable >= 0.8)).all()
    assert (model.predict(frame) != (probable >= 0.8)).any()
    assert any(f"described in {beside}" in one for one in found.assumptions)
    beside.write_text(head + "draft = true\n" + rule)
    with pytest.raises(DescriptionError, match="is still a draft"):
        lcifr.audit(path, frame, similarity=near)


def test_several_scores_decide_as_the_library_does(tmp_path: Path) -> None:
    for name in ("xgboost", "lightgbm", "forest"):
        model, path, frame = saved(name, tmp_path, 3)
        file = load_file(path, ModelDescription(output=DescribedOutput(Meaning.SCORES, classes=("a", "b", "c"))))
        read = file.read_table(frame, unscaled(frame))
        expected = np.array(["a", "b", "c"])[model.predict(frame)]
        assert (read.library_decides(Individuals.read(frame, read.encoding.schema)) == expected).all()


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "logistic"])
def test_a_declared_arithmetic_is_that_of_an_audit_in_python(name: str, tmp_path: Path) -> None:
    _, path, frame = saved(name, tmp_path)
    file = load_file(path, ModelDescription(arithmetic=Arithmetic.EXACT))
    similar = lcifr.Similarity("numeric within 0.01 sd", Schema.infer(frame), frame)
    assert lcifr.audit(file, frame.head(3), similarity=similar).arithmetic is Arithmetic.EXACT
    assert lcifr.audit(file, frame.head(3), similarity=similar, arithmetic="float32").arithmetic == "float32"
    assert file.outline().arithmetic is Arithmetic.EXACT
