"""Audits of fitted scikit-learn models on raw columns: verdicts against enumeration, the library's word on each."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC

from lcifr import Encoding, Schema, Similarity, Verdict, audit
from lcifr.certification.reference import MADE_UP
from lcifr.errors import LcifrError, NetworkError, SimilarityError, TableError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

AGES, VISITS, JOBS, SEXES = range(20, 32), range(4), ("clerk", "cook", "pilot"), (False, True)
PHI = "same(job, sex, note) and age within 2 and visits within 1 and age' - 2*visits' <= age - 2*visits + 2"


def table(count: int = 80) -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": random.choice(AGES, count),
            "visits": random.choice(VISITS, count),
            "job": random.choice(JOBS, count),
            "sex": random.random(count) < 0.5,
            "note": random.choice(["a", "b"], count),
        }
    )


PEOPLE = table()
SCHEMA = Schema.infer(PEOPLE, ranges={"age": (min(AGES), max(AGES)), "visits": (min(VISITS), max(VISITS))})
WORTH = PEOPLE["age"] + 4 * (PEOPLE["job"] == "cook") + 5 * PEOPLE["sex"] + 2 * PEOPLE["visits"]
LABELS = np.where(WORTH + np.random.default_rng(4).normal(size=len(PEOPLE)) > WORTH.median(), "yes", "no")
EVERYBODY = pd.DataFrame(
    list(product(AGES, VISITS, JOBS, SEXES, ("a", "b"))), columns=["age", "visits", "job", "sex", "note"]
)


def prepare(numbers: Any, jobs: Any) -> ColumnTransformer:
    return ColumnTransformer([("n", numbers, ["age", "visits"]), ("j", jobs, ["job"]), ("s", "passthrough", ["sex"])])


MODELS = {
    "logistic": make_pipeline(prepare(StandardScaler(), OneHotEncoder(drop="first")), LogisticRegression()),
    "clipped": make_pipeline(prepare(MinMaxScaler((0, 3), clip=True), OrdinalEncoder()), LogisticRegression(C=100.0)),
    "threshold": FixedThresholdClassifier(
        make_pipeline(prepare(MinMaxScaler(), OneHotEncoder()), LogisticRegression()), threshold=0.35, pos_label="yes"
    ),
    "network": make_pipeline(
        prepare(StandardScaler(), OneHotEncoder()),
        MLPClassifier(hidden_layer_sizes=(6,), max_iter=60, random_state=0, learning_rate_init=0.05),
    ),
}


def similar(phi: str = PHI) -> Similarity:
    return Similarity(phi, SCHEMA, PEOPLE)


def enumerated(phi: Similarity, row: int) -> pd.DataFrame:
    """Everybody similar to a person."""
    return EVERYBODY[phi.holds(PEOPLE.iloc[[row]], EVERYBODY)]


@pytest.mark.parametrize("name", MODELS)
def test_verdicts_are_those_of_enumeration(name: str):
    model, phi = MODELS[name].fit(PEOPLE, LABELS), similar()
    found = audit(model, PEOPLE, similarity=phi, arithmetic="exact")
    decided, own = 0, model.predict(PEOPLE)
    for row in range(len(PEOPLE)):
        unfair = (model.predict(enumerated(phi, row)) != own[row]).any()
        if found.verdict[row] != Verdict.UNDECIDED:
            assert (found.verdict[row] == Verdict.COUNTEREXAMPLE) == unfair
            decided += 1
    assert decided > 0.9 * len(PEOPLE)
    assert found.violated.any()
    assert found.certified.any() or name == "clipped"
    assert list(found.prediction) == list(own)


def test_counterexamples_are_people_of_the_table_whom_the_library_decides_otherwise():
    model, phi = MODELS["logistic"].fit(PEOPLE, LABELS), similar()
    found = audit(model, PEOPLE, similarity=phi)
    rows = np.flatnonzero(found.violated)
    others = found.others.take(rows).to_pandas().astype({"sex": str}).replace({"sex": {"true": True, "false": False}})
    others["sex"] = others["sex"].astype(bool)
    assert (model.predict(others[PEOPLE.columns]) != model.predict(PEOPLE.iloc[rows])).all()
    assert phi.holds(PEOPLE.iloc[rows], others).all()
    assert len(found.counterexample(int(rows[0]))) == 2


def test_numbers_are_audited_within_a_tolerance():
    model = make_pipeline(prepare(StandardScaler(), OneHotEncoder()), LinearRegression()).fit(PEOPLE, WORTH)
    phi = similar()
    own = model.predict(PEOPLE)
    worst = np.array([np.abs(model.predict(enumerated(phi, row)) - own[row]).max() for row in range(len(PEOPLE))])
    tolerance = float(np.median(worst)) - 1e-3
    found = audit(model, PEOPLE, similarity=phi, tolerance=tolerance)
    decided = found.verdict != Verdict.UNDECIDED
    assert np.array_equal(found.violated[decided], worst[decided] > tolerance)
    assert found.violated.any()
    assert found.certified.any()


def test_a_text_is_a_similarity_over_the_tables_own_columns():
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    text = "same(all except sex)"
    by_text = audit(model, PEOPLE, similarity=text)
    by_object = audit(model=model, X=PEOPLE, similarity=similar(text))
    assert list(by_text.verdict) == list(by_object.verdict)


def test_columns_that_the_model_does_not_read_change_nothing():
    """φ frees "note", which no transformer takes; and keeps what the model reads."""
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    assert audit(model, PEOPLE, similarity=similar("same(all except note)")).certified.all()


def test_nobody_has_a_category_at_which_the_model_raises():
    seen = PEOPLE[PEOPLE["job"] != "pilot"].reset_index(drop=True)
    model = MODELS["logistic"].fit(seen, LABELS[PEOPLE["job"] != "pilot"])
    found = audit(model, seen, similarity=similar("same(all except job)"))
    jobs = found.others.take(np.flatnonzero(found.violated)).to_pandas()["job"]
    assert "pilot" not in set(jobs)


def _lying(monkeypatch: pytest.MonkeyPatch, about: Any) -> Any:
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    honest = type(model).predict

    def predict(self: Any, frame: pd.DataFrame) -> np.ndarray:
        found = honest(self, frame)
        return np.where(about(frame), np.where(found == "yes", "no", "yes"), found)

    monkeypatch.setattr(type(model), "predict", predict)
    return model


@pytest.mark.parametrize("phi", ["same(all)", Similarity("same(all)", SCHEMA, PEOPLE)])
def test_who_has_a_category_at_which_the_model_raises_is_refused_by_name(phi: Any):
    model = MODELS["logistic"].fit(PEOPLE[PEOPLE["job"] != "cook"], LABELS[PEOPLE["job"] != "cook"])
    with pytest.raises(TableError, match=r'"job", row [0-9]+: the model raises an error at the category "cook"'):
        audit(model, PEOPLE, similarity=phi)


def test_a_table_without_rows_is_said_to_have_none():
    with pytest.raises(TableError, match="there are no rows") as found:
        audit(MODELS["logistic"].fit(PEOPLE, LABELS), PEOPLE[:0], similarity="same(all)")
    assert "leave out columns" not in str(found.value)


def test_a_model_that_is_read_wrongly_is_refused(monkeypatch: pytest.MonkeyPatch):
    model = _lying(monkeypatch, lambda frame: frame["age"] == 25)
    with pytest.raises(NetworkError, match="the library decides otherwise than its model as it was read"):
        audit(model, PEOPLE, similarity=similar())


def test_nothing_is_a_counterexample_that_the_library_does_not_confirm(monkeypatch: pytest.MonkeyPatch):
    """A library that says "no" to everybody but those with whom it is compared: who is refused already stays so."""
    model, phi = MODELS["logistic"].fit(PEOPLE, LABELS), similar()
    before = audit(model, PEOPLE, similarity=phi)
    honest = type(model).predict

    def predict(self: Any, frame: pd.DataFrame) -> np.ndarray:
        return honest(self, frame) if len(frame) in (len(PEOPLE), MADE_UP) else np.full(len(frame), "no")

    monkeypatch.setattr(type(model), "predict", predict)
    after = audit(model, PEOPLE, similarity=phi)
    refused = before.violated & (before.prediction == "no")
    assert refused.any()
    assert not after.violated[refused].any()
    assert (after.verdict[refused] == Verdict.UNDECIDED).all()
    assert np.array_equal(after.certified, before.certified)


def test_the_own_route_is_as_before_and_says_what_is_missing():
    with pytest.raises(LcifrError, match=r"audit\(encoder, model, X\), or audit\(model, X, similarity=…\)"):
        audit(MODELS["logistic"], PEOPLE)
    with pytest.raises(LcifrError, match="a similarity of its own"):
        audit("encoder", MODELS["logistic"], PEOPLE, similarity=similar())


def test_a_similarity_moves_to_another_encoding_with_its_meaning():
    phi = similar("same(all except age) and age within 1 sd")
    other = Encoding.fit(PEOPLE.iloc[:20], SCHEMA)
    moved = phi.over(other)
    assert moved.encoding is other
    assert moved == phi
    shuffled = PEOPLE.iloc[::-1].reset_index(drop=True)
    assert np.array_equal(moved.holds(PEOPLE, shuffled), phi.holds(PEOPLE, shuffled))


def test_rows_with_missing_values_are_left_out_and_counted():
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    gaps = PEOPLE.astype({"age": float, "job": object})
    gaps.loc[3, "age"], gaps.loc[7, "job"], gaps.loc[9, "job"], gaps.loc[11, "note"] = np.nan, None, " ", None
    names = [f"p{row}" for row in range(len(PEOPLE))]
    found = audit(model, gaps, ids=names, similarity=similar())
    assert found.left_out == ("p3", "p7", "p9", "p11")
    assert repr(found).startswith(f"<Audit of {len(PEOPLE)} people")
    assert "4 not examined" in repr(found)
    assert "4 rows have missing values and are not examined." in found._repr_html_()
    assert "4 rows have missing values" in found._repr_html_()
    whole = audit(model, PEOPLE, ids=names, similarity=similar())
    kept = [row for row, name in enumerate(names) if name not in found.left_out]
    assert found.ids == tuple(names[row] for row in kept)
    assert list(found.verdict) == list(whole.verdict[kept])
    assert audit(model, gaps, similarity="same(all except sex)").left_out == (3, 7, 9, 11)
    assert whole.left_out == ()


def test_a_table_of_missing_values_alone_is_an_error():
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    with pytest.raises(LcifrError, match="every row has a missing value"):
        audit(model, PEOPLE.assign(note=None), similarity=similar())


def test_dates_and_prose_are_errors_that_say_what_is_possible():
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    days = PEOPLE.assign(since=pd.to_datetime("2024-01-01"), letter=[f"dear {row}" for row in range(len(PEOPLE))])
    days = pd.concat([days] * 2, ignore_index=True).assign(letter=[f"dear {row}" for row in range(2 * len(PEOPLE))])
    with pytest.raises(
        LcifrError, match=r"since.*dates(.|\n)*letter.*too many(.|\n)*Fix: leave out columns(.|\n)*drop"
    ):
        audit(model, days, similarity="same(all except sex)")
    known = days.drop(columns=["since", "letter"])
    phi = Similarity("same(all except sex)", Schema.infer(known), known)
    assert len(audit(model, days, similarity=phi)) == len(days)


def test_a_column_that_the_table_does_not_have_is_named():
    model = MODELS["logistic"].fit(PEOPLE, LABELS)
    with pytest.raises(NetworkError, match='reads the column "visits", which the table does not have'):
        audit(model, PEOPLE.rename(columns={"visits": "visit"}), similarity=similar())


def test_a_path_is_the_model_in_its_file(tmp_path: Any):
    skops_io = pytest.importorskip("skops.io")
    model = MODELS["network"].fit(PEOPLE, LABELS)
    skops_io.dump(model, tmp_path / "model.skops")
    found = audit(tmp_path / "model.skops", PEOPLE, similarity=similar())
    expected = audit(model, PEOPLE, similarity=similar())
    assert list(found.verdict) == list(expected.verdict)
    assert np.array_equal(found.margin, expected.margin)


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_float_verdicts_are_those_of_enumeration_too(arithmetic: str):
    model, phi = MODELS["logistic"].fit(PEOPLE, LABELS), similar()
    found = audit(model, PEOPLE, similarity=phi, arithmetic=arithmetic)
    own = model.predict(PEOPLE)
    for row in np.flatnonzero(found.verdict != Verdict.UNDECIDED):
        unfair = (model.predict(enumerated(phi, row)) != own[row]).any()
        assert (found.verdict[row] == Verdict.COUNTEREXAMPLE) == unfair
    assert (found.verdict != Verdict.UNDECIDED).mean() > 0.9
    assert str(found.arithmetic) == arithmetic


CHAINS = {
    "pca": make_pipeline(prepare(StandardScaler(), OneHotEncoder()), PCA(4), LogisticRegression()),
    "whitened": make_pipeline(
        prepare(MinMaxScaler(), OneHotEncoder()),
        PCA(3, whiten=True),
        StandardScaler(),
        MLPClassifier(hidden_layer_sizes=(3,), activation="identity", max_iter=80, random_state=0),
    ),
    "calibrated": make_pipeline(
        prepare(StandardScaler(), OrdinalEncoder()), CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3)
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_verdicts_on_chains_of_factors_are_those_of_enumeration(name: str):
    model, phi, some = CHAINS[name].fit(PEOPLE, LABELS), similar(), PEOPLE.iloc[:40]
    found = audit(model, some, similarity=phi)
    assert str(found.arithmetic) == "float64"
    own = model.predict(some)
    for row in np.flatnonzero(found.verdict != Verdict.UNDECIDED):
        unfair = (model.predict(enumerated(phi, row)) != own[row]).any()
        assert (found.verdict[row] == Verdict.COUNTEREXAMPLE) == unfair
    assert (found.verdict != Verdict.UNDECIDED).mean() > 0.9
    assert found.violated.any()


@pytest.mark.parametrize("own", ["same(visits)", "visits within 1", "free(visits)"])
def test_a_number_that_is_the_same_for_everyone_needs_no_scale_where_none_is_asked_for(own: str):
    """The model learned from people among whom it varies; verdicts are those of enumeration."""
    model, here = MODELS["logistic"].fit(PEOPLE, LABELS), PEOPLE.assign(visits=1)[:25]
    phi = Similarity(f"same(job, sex, note) and age within 2 and {own}", SCHEMA, here)
    found = audit(model, here, similarity=phi, arithmetic="exact")
    unfair = [
        (model.predict(EVERYBODY[phi.holds(here.iloc[[row]], EVERYBODY)]) != found.prediction[row]).any()
        for row in range(len(here))
    ]
    assert found.violated.tolist() == unfair
    assert any(unfair)
    assert (found.verdict != Verdict.UNDECIDED).all()
    phi.explain()
    found.explain()


def test_a_distance_in_standard_deviations_needs_one_and_it_is_said_what_to_write():
    with pytest.raises(SimilarityError, match=r'(?s)"visits" is .*the same for everyone.*Fix: .*same\(visits\)'):
        Similarity("same(categorical) and numeric within 0.3 sd", SCHEMA, PEOPLE.assign(visits=1))
