"""Random small models of every library: decisions beside thresholds and at odd numbers, and whole worlds tried out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder

import lcifr
from lcifr.data import Categorical, Individuals, Numeric, Schema
from lcifr.models.loading import load_file
from lcifr.models.rule import Kind
from lcifr.models.source import TableModel
from lcifr.models.trees import DeployedTrees, Trees
from tests.models.loaders.tree_semantics import as_frame, people_at_thresholds, read

xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
glassbox = pytest.importorskip("interpret.glassbox")
pytestmark = pytest.mark.filterwarnings("ignore")

Made = Callable[[np.random.Generator], Any]
SMALLEST, LARGEST = float(np.float32(1e-35)), float(np.finfo(np.float32).max)
ODD = np.array(
    [
        sign * value
        for sign in (1.0, -1.0)
        for value in (0.0, 5e-324, 1e-60, 2.0**-150, 2.0**-149, 1e-40, SMALLEST, 2e-35, 0.1, 1.0, 1e30, LARGEST)
    ]
)
"""Zeros of both signs, numbers that float32 makes 0 or that LightGBM takes for it, and the largest of float32."""
SIZES = (1e-42, 1e-36, 1e-20, 1.0, 1e3)


def people(rng: np.random.Generator, count: int = 100) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of any size with many zeros, whole numbers, truth values and categories; and two or three classes."""
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=count) * rng.choice(SIZES),
            "k": rng.integers(-2, 6, count).astype(float) + 0.5,
            "u": rng.choice([0.0, -0.0, 0.1, 0.5, 1.0], count),
            "b": rng.random(count) < 0.5,
            "t": rng.choice(["a", "b", "c", "d"], count),
        }
    )
    frame.loc[rng.random(count) < 0.3, "x"] = 0.0
    if rng.random() < 0.3:
        frame = frame.astype({"x": np.float32, "u": np.float32})
    worth = frame.x.rank(pct=True) + 0.2 * frame.k + frame.u + 0.5 * frame.b + (frame.t == "b") + rng.normal(size=count)
    cuts = np.quantile(worth, np.linspace(0, 1, int(rng.choice([3, 4])))[1:-1])
    return frame, np.searchsorted(cuts, worth)


def of_xgboost(rng: np.random.Generator, missing: tuple[float, ...] = (np.nan, 0.0, 0.1, 1.5, 1e-60)) -> Any:
    return xgboost.XGBClassifier(
        n_estimators=int(rng.integers(1, 8)),
        max_depth=int(rng.integers(1, 5)),
        min_child_weight=0,
        missing=float(rng.choice(missing)),
        enable_categorical=True,
        max_cat_to_onehot=int(rng.choice([1, 5])),
        n_jobs=1,
    )


def of_lightgbm(rng: np.random.Generator) -> Any:
    return lightgbm.LGBMClassifier(
        n_estimators=int(rng.integers(1, 8)),
        num_leaves=int(rng.integers(2, 8)),
        zero_as_missing=bool(rng.random() < 0.4),
        use_missing=bool(rng.random() < 0.8),
        boosting_type=str(rng.choice(["gbdt", "dart"])),
        min_child_samples=2,
        min_data_in_bin=1,
        min_data_per_group=1,
        cat_smooth=1.0,
        cat_l2=0.0,
        max_cat_to_onehot=1,
        n_jobs=1,
        verbose=-1,
    )


def sparse(rng: np.random.Generator) -> ColumnTransformer:
    numbers = MaxAbsScaler() if rng.random() < 0.5 else "passthrough"
    parts = [("numbers", numbers, ["x", "k", "u"]), ("texts", OneHotEncoder(sparse_output=True), ["t"])]
    return ColumnTransformer(parts, sparse_threshold=1.0)


def coded() -> ColumnTransformer:
    return ColumnTransformer([("texts", OrdinalEncoder(), ["t"])], remainder="passthrough")


def forest(rng: np.random.Generator) -> Any:
    return RandomForestClassifier(int(rng.integers(1, 6)), max_depth=4, random_state=int(rng.integers(99)))


KINDS: dict[str, Made] = {
    "xgboost": of_xgboost,
    "xgboost behind a sparse matrix": lambda rng: make_pipeline(sparse(rng), of_xgboost(rng, (np.nan, 0.0))),
    "lightgbm": of_lightgbm,
    "lightgbm behind a sparse matrix": lambda rng: make_pipeline(sparse(rng), of_lightgbm(rng)),
    "forest": lambda rng: make_pipeline(coded(), forest(rng)),
    "forest behind a sparse matrix": lambda rng: make_pipeline(sparse(rng), forest(rng)),
    "boosting": lambda rng: make_pipeline(coded(), GradientBoostingClassifier(n_estimators=3, max_depth=2)),
    "histogram boosting": lambda rng: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=2),
    "explainable boosting": lambda rng: glassbox.ExplainableBoostingClassifier(
        interactions=int(rng.integers(0, 2)), max_rounds=12, outer_bags=1, min_samples_leaf=1, max_bins=8, n_jobs=1
    ),
}
OWN_CATEGORIES = ("xgboost", "lightgbm", "histogram boosting")


def fitted(kind: str, seed: int) -> tuple[Any, pd.DataFrame]:
    """A model of a kind, and the frame that it was fitted on."""
    rng = np.random.default_rng([seed, len(kind)])
    frame, labels = people(rng)
    if kind in OWN_CATEGORIES:
        frame["t"] = frame.t.astype("category")
    if kind == "explainable boosting":
        labels = (labels > 0).astype(int)  # pairs are of two classes
    return KINDS[kind](rng).fit(frame, labels), frame


def compared(found: TableModel, predict: Callable[[Any], Any], frame: pd.DataFrame, seed: int) -> int:
    """How many people both decide alike about; an error where one of them differs beyond rounding."""
    group = people_at_thresholds(found, frame, seed)
    rng = np.random.default_rng(seed)
    numbers, codes = [group.numbers], [group.codes]
    for j in range(group.numbers.shape[1]):
        who = rng.integers(len(group), size=len(ODD))
        moved = group.numbers[who].copy()
        moved[:, j] = ODD
        numbers, codes = [*numbers, moved], [*codes, group.codes[who]]
    own = as_frame(Individuals(group.schema, np.concatenate(numbers), np.concatenate(codes)), frame)
    group = Individuals.read(own, group.schema)
    points, trees, rule = found.encoding.encode(group), found.model.function, found.model.rule
    assert isinstance(trees, Trees)
    values = trees(points)
    room = DeployedTrees(trees, trees.native).error_at(points) + trees.error(points)
    if rule.kind is Kind.SIGN:
        strict = (values < rule.band[0] - room)[:, 0] | (values > rule.band[1] + room)[:, 0]
    else:
        top = np.sort(values, axis=1)
        strict = top[:, -1] - top[:, -2] > rule.band[1] + 2 * room.max(1)
    decided, library = found.model.decide(values), np.asarray(predict(own))
    assert (decided[strict] == library[strict]).all()
    return int(strict.sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_odd_numbers_and_thresholds(kind: str, seed: int) -> None:
    model, frame = fitted(kind, seed)
    assert compared(read(model, frame), model.predict, frame, seed) > 50


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["xgboost", "lightgbm"])
def test_files_of_random_models(kind: str, seed: int, tmp_path: Any) -> None:
    """A file says nothing of a number that is missing, so there NaN is."""
    model, frame = fitted(kind, seed)
    if kind == "xgboost":
        path = tmp_path / f"model.{('json', 'ubj')[seed % 2]}"
        model.set_params(missing=np.nan).save_model(path)
    else:
        path = tmp_path / "model.txt"
        model.booster_.save_model(path)
    plain = frame.astype({"t": object})
    encoding = read(model, frame).encoding
    found = load_file(path).read_table(plain, lcifr.Encoding.fit(plain, encoding.schema))
    compared(found, model.predict, frame, seed)


WORLD = pd.DataFrame(
    list(itertools.product(range(-1, 4), range(3), ["a", "b", "c"], ["no", "yes"])), columns=["k", "x", "t", "b"]
)
SCHEMA = Schema(
    (
        Numeric("k", integer=True, lower=-1, upper=3),
        Numeric("x", integer=True, lower=0, upper=2),
        Categorical("t", ("a", "b", "c")),
        Categorical("b", ("no", "yes")),
    )
)
SIMILAR = (
    "same(t) and k within 1 and x within 2 and free(b)",
    "k within 2 and same(x, b) and free(t)",
    "k' >= k and k within 3 and x within 1 and same(t) and free(b)",
    "same(t, b) and (k <= 1 and k' <= 1 and x within 1 or k > 1 and same(k) and x within 2)",
    "free(t, b) and k within 1 and x within 1",
)


def of_world(kind: str, rng: np.random.Generator) -> tuple[Any, pd.DataFrame]:
    """A model of a kind, fitted on some of the world, and everyone in it as the model takes them."""
    texts = ["t", "b"]
    everyone = WORLD.astype(dict.fromkeys(texts, "category")) if kind in OWN_CATEGORIES else WORLD
    some = pd.concat([everyone.iloc[rng.integers(len(WORLD), size=80)], everyone.iloc[[0, 45, 89]]], ignore_index=True)
    worth = some.k * rng.normal() + some.x * rng.normal() + (some.t == "b") * rng.normal() + rng.normal(size=len(some))
    first = ColumnTransformer(
        [("numbers", "passthrough", ["k", "x"]), ("texts", OneHotEncoder(sparse_output=True), texts)],
        sparse_threshold=1.0,
    )
    made = {
        "xgboost": lambda: of_xgboost(rng, (np.nan, 0.0, 1.0)),
        "lightgbm": lambda: of_lightgbm(rng),
        "xgboost behind a sparse matrix": lambda: make_pipeline(first, of_xgboost(rng, (np.nan, 0.0))),
        "histogram boosting": lambda: KINDS[kind](rng),
        "explainable boosting": lambda: KINDS[kind](rng),
    }
    return made[kind]().fit(some, (worth > worth.median()).astype(int)), everyone


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [*OWN_CATEGORIES, "xgboost behind a sparse matrix", "explainable boosting"])
def test_everyone_of_a_small_world_through_the_library(kind: str, seed: int) -> None:
    """No one certified has a similar person with another decision, and everyone with a counterexample has one."""
    rng = np.random.default_rng([seed, len(kind)])
    model, everyone = of_world(kind, rng)
    decided = np.asarray(model.predict(everyone))
    first, second = np.divmod(np.arange(len(WORLD) ** 2), len(WORLD))
    known = Individuals.read(WORLD, SCHEMA)
    for text in SIMILAR:
        similar = lcifr.Similarity(text, SCHEMA, WORLD)
        pairs = similar.holds(known.take(first), known.take(second)).reshape(len(WORLD), -1)
        differ = (pairs & (decided[:, None] != decided)).any(1)
        found = lcifr.audit(model, everyone, similarity=similar)
        assert np.array_equal(found.prediction, decided)
        assert not (found.certified & differ).any()
        assert not (found.violated & ~differ).any()
        assert (found.certified | found.violated).mean() > 0.8
