"""Audits of tree models: nobody certified has a similar person whom the library decides otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import lcifr
from lcifr.certification.verdicts import Verdict
from tests.models.loaders.tree_semantics import before, table

PHI = "same(town) and numeric within 0.2 sd"


def neighbours(frame: pd.DataFrame, row: int, count: int, seed: int) -> pd.DataFrame:
    """People that PHI calls similar to one of the table."""
    rng = np.random.default_rng(seed)
    some = pd.concat([frame.iloc[[row]]] * count, ignore_index=True)
    for name in ("age", "income", "score"):
        reach = 0.199 * frame[name].std()
        some[name] = some[name] + rng.uniform(-reach, reach, count)
    some["age"] = np.trunc(some.age).clip(np.ceil(frame.age[row] - 0.199 * frame.age.std())).astype(int)
    some["sex"] = rng.choice(["f", "m"], count)
    return some


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(n_estimators=20, random_state=0),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        RandomForestClassifier(15, max_depth=5, random_state=0),
        RandomForestClassifier(9, random_state=0),
    ],
    ids=lambda one: type(one).__name__ + str(one.get_params().get("max_depth")),
)
def test_verdicts_are_the_librarys_own(estimator):
    frame, labels = table()
    model = make_pipeline(before(), estimator).fit(frame, labels)
    people = frame.head(60)
    found = lcifr.audit(model, people, similarity=lcifr.Similarity(PHI, lcifr.Schema.infer(frame), frame))
    assert set(found.verdict) == {Verdict.CERTIFIED, Verdict.COUNTEREXAMPLE}
    own = model.predict(people)
    for row in np.flatnonzero(found.certified)[:20]:
        others = neighbours(frame, int(row), 200, int(row))
        assert (model.predict(others) == own[row]).all()
    others = found.others.to_pandas()[list(frame.columns)]
    assert (model.predict(others)[found.violated] != own[found.violated]).all()


def test_a_pocket_is_never_certified():
    """A thousandth of a standard deviation wide, in one town: no sample finds it, the search does."""
    frame, _ = table(count=3000)
    frame["income"] = np.round(frame.income, 4)
    inside = (frame.town == "Oslo") & (frame.income.between(20, 20.02))
    frame.loc[frame.index[:3], ["town", "income"]] = [["Oslo", 20.005], ["Oslo", 20.01], ["Oslo", 20.015]]
    inside.iloc[:3] = True
    model = make_pipeline(before(), DecisionTreeClassifier(random_state=0)).fit(frame, inside)
    near = frame[(frame.town == "Oslo") & frame.income.between(19, 21) & ~inside].head(30).reset_index(drop=True)
    schema = lcifr.Schema.infer(frame)
    found = lcifr.audit(model, near, similarity=lcifr.Similarity("same(town) and numeric within 0.5 sd", schema, frame))
    assert len(near) > 5
    assert (found.verdict == Verdict.COUNTEREXAMPLE).all()


def test_trees_that_split_categories_are_refused_behind_an_encoder():
    frame, labels = table(count=80)
    model = make_pipeline(before(), GradientBoostingClassifier(n_estimators=2)).fit(frame, labels)
    schema = lcifr.Schema.infer(frame)
    similarity = lcifr.Similarity(PHI, schema, frame)
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.models.loading import read_table_model
    from lcifr.models.network import Network

    read = read_table_model(model, frame, similarity.encoding)
    width = len(read.encoding.features)
    mixing = Network.from_arrays([(np.full((width, width), 0.5), np.zeros(width))])
    with pytest.raises(lcifr.LcifrError, match="split categories"):
        lcifr.audit(FrozenEncoder(mixing, similarity.over(read.encoding)), read.model, frame)
