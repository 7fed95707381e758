"""Trees on a hand-over's box: what is certified, every stored z in the box gets from the library's own predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcifr.certification.consumer import certify
from lcifr.certification.handover import Provenance, Representation
from lcifr.certification.verdicts import Reason, Verdict
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_model
from lcifr.models.network import Network
from lcifr.models.trees import LEAF, Trees

GIVEN = Provenance("", "", "", "", None, 1e-6, "given", arithmetic=Arithmetic.FLOAT64)
PEOPLE, WIDTH = 40, 3


def learner(kind: str) -> Any:
    """A small learner of some library."""
    if kind.startswith("xgboost"):
        library = pytest.importorskip("xgboost")
        made = library.XGBRegressor if kind.endswith("numbers") else library.XGBClassifier
        return made(n_estimators=6, max_depth=3, n_jobs=1, random_state=0)
    if kind == "lightgbm":
        return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=5, num_leaves=6, n_jobs=1, verbose=-1)
    from sklearn import ensemble

    made = {
        "forest": ensemble.RandomForestClassifier(7, max_depth=4, random_state=0),
        "gradient": ensemble.GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
        "histogram": ensemble.HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, random_state=0),
    }
    return made[kind]


def fitted(kind: str, classes: int = 2) -> tuple[Any, np.ndarray]:
    """A model on latents, and latents of people."""
    rng = np.random.default_rng(7)
    z = rng.normal(size=(300, WIDTH))
    score = z[:, 0] + np.abs(z[:, 1]) * z[:, 2]
    y = score if kind.endswith("numbers") else np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return learner(kind).fit(z, y), rng.normal(size=(PEOPLE, WIDTH))


def handed_over(z: np.ndarray, arithmetic: Arithmetic = Arithmetic.FLOAT64) -> Representation:
    """Boxes that are not centred at z, within a ball."""
    rng = np.random.default_rng(3)
    radius = rng.choice([0.01, 0.1, 0.4], size=len(z))
    ends = (z - radius[:, None] * rng.random(z.shape), z + radius[:, None] * rng.random(z.shape))
    yes = np.ones(len(z), np.bool_)
    return Representation(tuple(range(len(z))), z, radius, *ends, yes, ~yes, replace(GIVEN, arithmetic=arithmetic))


def points_in(function: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Stored numbers of a box: at random, and with every coordinate at, before and after some threshold."""
    assert isinstance(function, Trees)
    rng, nodes = np.random.default_rng(1), function.nodes
    points = rng.uniform(lower, upper, size=(400, WIDTH))
    for column in range(WIDTH):
        used = nodes.threshold[(nodes.kind != LEAF) & (nodes.column == column)]
        used = np.concatenate([used, np.nextafter(used, -np.inf), np.nextafter(used, np.inf)])
        used = used[(used >= lower[column]) & (used <= upper[column])]
        if len(used):
            points[: len(points) // 2, column] = rng.choice(used, len(points) // 2)
    return points


KINDS = ["xgboost", "lightgbm", "forest", "gradient", "histogram"]


@pytest.mark.parametrize(("kind", "classes"), [*((kind, 2) for kind in KINDS), ("xgboost", 3), ("forest", 3)])
@pytest.mark.parametrize("on", ["ball", "box"])
def test_everybody_in_the_box_gets_the_certified_decision(kind: str, classes: int, on: Any) -> None:
    model, z = fitted(kind, classes)
    handed = handed_over(z)
    found = certify(handed, model, on=on)
    np.testing.assert_array_equal(found.prediction, model.predict(z))
    ends = (handed.lower, handed.upper) if on == "box" else (z - handed.radius[:, None], z + handed.radius[:, None])
    function = read_model(model).function
    assert 0 < (found.verdict == Verdict.CERTIFIED).sum() < PEOPLE
    for i in range(PEOPLE):
        decided = model.predict(points_in(function, ends[0][i], ends[1][i]))
        if found.verdict[i] == Verdict.CERTIFIED:
            assert (decided == found.prediction[i]).all()
        elif (decided != found.prediction[i]).any():
            assert found.reason[i] in (Reason.WIDE, Reason.TIE)


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_are_the_librarys_at_every_float64_beside_a_threshold(kind: str) -> None:
    model, z = fitted(kind)
    known = read_model(model)
    points = points_in(known.function, z.min(0), z.max(0))
    np.testing.assert_array_equal(known.predict(points), model.predict(points))


def test_numbers_stay_within_the_tolerance_of_each_other() -> None:
    model, z = fitted("xgboost numbers")
    handed = handed_over(z)
    found = certify(handed, model, on="box", tolerance=0.5)
    function = read_model(model, tolerance=0.5).function
    assert 0 < (found.verdict == Verdict.CERTIFIED).sum() < PEOPLE
    for i in np.flatnonzero(found.verdict == Verdict.CERTIFIED):
        said = model.predict(np.concatenate([points_in(function, handed.lower[i], handed.upper[i]), z[i : i + 1]]))
        assert float(said.max()) - float(said.min()) < 0.5


@pytest.mark.parametrize("arithmetic", [None, "exact"])
def test_a_box_without_the_encoders_rounding_decides_nothing(arithmetic: str | None) -> None:
    model, z = fitted("gradient")
    found = certify(handed_over(z, Arithmetic.EXACT), model, on="box", arithmetic=arithmetic)
    assert (found.verdict == Verdict.UNDECIDED).all()
    assert (found.reason == Reason.EXACT_BALL).all()
    assert (found.largest_radius == 0).all()


def test_nobody_within_the_largest_radius_is_decided_otherwise() -> None:
    model, z = fitted("lightgbm")
    found = certify(handed_over(z), model)
    function, reach = read_model(model).function, np.minimum(found.largest_radius, 10.0)
    assert (reach > 0).any()
    for i in range(PEOPLE):
        assert (model.predict(points_in(function, z[i] - reach[i], z[i] + reach[i])) == found.prediction[i]).all()


def test_another_width_is_refused() -> None:
    model, z = fitted("gradient")
    with pytest.raises(NetworkError, match="takes 3 numbers, the representation gives 2"):
        certify(handed_over(z[:, :2]), model)


def test_categories_of_a_library_are_no_latents() -> None:
    pandas, library = pytest.importorskip("pandas"), pytest.importorskip("xgboost")
    frame = pandas.DataFrame({"a": pandas.Categorical(["x", "y", "z"] * 20), "b": np.arange(60.0)})
    model = library.XGBClassifier(n_estimators=2, enable_categorical=True).fit(frame, frame["a"] == "y")
    with pytest.raises(NetworkError, match="z has numbers only"):
        read_model(model)


@pytest.mark.parametrize("missing", [0.0, 0.1, -1.0])
def test_every_z_that_a_library_casts_to_what_it_takes_as_missing_is_missing(missing: float) -> None:
    library, rng = pytest.importorskip("xgboost"), np.random.default_rng(2)
    z = np.where(rng.random((300, WIDTH)) < 0.3, missing, rng.normal(size=(300, WIDTH)))
    model = library.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1, missing=missing)
    model.fit(z, (z[:, 0] == missing) | (z[:, 1] > 0.5))
    cast = np.float32(missing)
    nearby = [float(np.nextafter(cast, np.float32(side))) for side in (-np.inf, np.inf)]
    halfway = [(float(cast) + one) / 2 for one in nearby]
    close = [np.nextafter(one, side) for one in (*halfway, *nearby) for side in (-np.inf, np.inf)]
    points = np.array(
        [[one, two, 0.3][:WIDTH] for one in (missing, float(cast), *halfway, *close) for two in (0.0, 1.0)]
    )
    margins = model.predict(points, output_margin=True)
    assert len(np.unique(margins)) > 1
    np.testing.assert_allclose(read_model(model).function(points)[:, 0], margins, atol=1e-5)


def test_networks_are_read_as_before() -> None:
    network = Network.from_arrays([(np.ones((1, WIDTH)), [0.0])])
    assert read_model(network).function is network
