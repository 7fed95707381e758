"""Hand-overs whose z are scores of attributes: boxes, verdicts, audits and bundles, for any φ and kind of head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr import FairBooster, FairBoosterRegressor, audit, certify
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder, freeze, represent
from lcifr.check.bundle import check_bundle, read_judge, read_people
from lcifr.data import Individuals
from lcifr.models.additive import AdditiveModel, AttributeBins, ShapeFunction
from lcifr.models.loaders.tree_ensembles import identity
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.models.trees import as_trees, score_trees, summing_head
from tests.certification.scenes import FORMULAS, people, similarity
from tests.learn.populations import FORMULA, SCHEMA, population
from tests.prove.instances import random_network

COUNT = 12


def additive(seed: int, formula: str, outputs: int = 1) -> tuple[AdditiveModel, FrozenEncoder]:
    """A model with made-up step functions of every attribute, and its scores as an encoder."""
    rng, similar = np.random.default_rng(seed), similarity(formula)
    shapes = []
    for name in similar.schema.names:
        numeric = name in similar.schema.names_numeric
        bins = AttributeBins(name, similar.encoding.columns(name), np.linspace(-2, 2, 9) if numeric else None)
        shapes.append(ShapeFunction(bins, rng.normal(size=(bins.count, outputs))))
    model = AdditiveModel(rng.normal(size=outputs) / 4, tuple(shapes), len(similar.encoding.features))
    return model, FrozenEncoder(score_trees(model), similar)


def confirmed(folder: Path) -> Any:
    report = check_bundle(folder)
    assert not report.rejected, report.rejected
    return report


@pytest.mark.parametrize("formula", FORMULAS)
def test_everybody_similar_lands_in_the_box_and_the_checker_says_so(formula: str, tmp_path: Path) -> None:
    _, encoder = additive(1, formula)
    X = people(COUNT, 5)
    handed = represent(encoder, X)
    region = encoder.region(Individuals.read(X, encoder.encoding.schema))
    own = encoder.transform(X)
    np.testing.assert_array_equal(handed.latent, own)
    points = region.sample(100)
    for row in np.flatnonzero(region.nonempty):
        z = encoder.function(points[row])
        assert (z >= handed.lower[row]).all()
        assert (z <= handed.upper[row]).all()
    np.testing.assert_array_equal(handed.vacuous, ~region.nonempty)
    write_bundle(tmp_path / "bundle", encoder, X, handed)
    assert len(confirmed(tmp_path / "bundle").names["radius"]) == COUNT


@pytest.mark.parametrize("arithmetic", ["exact", "float64", "float32"])
@pytest.mark.parametrize("hidden", [(), (3,)])
def test_verdicts_on_ball_box_and_from_end_to_end_are_confirmed(
    hidden: tuple[int, ...], arithmetic: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(7)
    for place, formula in enumerate((FORMULAS[0], FORMULAS[2], FORMULAS[3])):  # one cell, several, rows
        _, encoder = additive(place, formula)
        head = random_network(rng, [encoder.function.outputs, *hidden, 1])
        X = people(COUNT, 40 + place)
        handed = represent(encoder, X, arithmetic=arithmetic)
        for on in ("ball", "box"):
            said = certify(handed, head, on=on, arithmetic=arithmetic, largest_radius=False)  # type: ignore[arg-type]
            write_bundle(tmp_path / f"{place}{on}", encoder, X, handed, said)
            assert len(confirmed(tmp_path / f"{place}{on}").names["certified"]) == said.certified.sum()
        found = audit(encoder, head, X, arithmetic=arithmetic)
        assert found.box is not None
        assert found.ball is not None
        assert (found.ball <= found.box).all()
        assert (found.box <= found.certified).all()  # over whole numbers, cell by cell
        write_bundle(tmp_path / f"{place}whole", encoder, X, decisions=found)
        report = confirmed(tmp_path / f"{place}whole")
        assert len(report.names["certified"]) == found.certified.sum()
        assert len(report.names["counterexample"]) == found.violated.sum()


@pytest.mark.parametrize("formula", [FORMULAS[0], FORMULAS[1], FORMULAS[2], FORMULAS[4]])
def test_a_head_that_sums_up_decides_and_is_certified_as_the_model_itself(formula: str) -> None:
    """The direct audit of the trees is the oracle: without rows nothing is lost by the box of scores of each cell."""
    for seed in (0, 1):
        model, encoder = additive(seed, formula)
        X = people(40, seed + 9)
        whole = Model(as_trees(model), Rule.of(1))
        direct = audit(FrozenEncoder(identity(model.features), encoder.similarity), whole, X, modular=False)
        found = audit(encoder, summing_head(model), X)
        np.testing.assert_array_equal(found.prediction, direct.prediction)
        np.testing.assert_array_equal(found.certified, direct.certified)
        np.testing.assert_array_equal(found.violated, direct.violated)
        assert (found.certified | found.violated).all()


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_a_booster_is_handed_over_and_audited(kind: str, tmp_path: Path) -> None:
    X, y = population(60, kind=kind)
    options: dict[str, Any] = {"schema": SCHEMA, "rounds": 20, "learning_rate": 0.3, "min_people": 3}
    booster = (FairBoosterRegressor if kind == "number" else FairBooster)(FORMULA, tolerance=700.0, **options)
    booster.fit(X, y)
    z, head = booster.transform(X), booster.head_
    assert z.shape == (60, len(booster.get_feature_names_out()))
    np.testing.assert_allclose(head.network_(z), booster.scores(X), rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(head.predict(z), booster.predict(X)) if kind != "number" else None
    near, handed = booster.reach(X), booster.represent(X)
    assert (near.lower >= handed.lower).all()
    assert (near.upper <= handed.upper).all()
    np.testing.assert_allclose(near.lower, handed.lower, rtol=1e-5, atol=1e-5)
    found = audit(booster, head, X, tolerance=700.0 if kind == "number" else None)
    np.testing.assert_array_equal(found.certified, booster.certified(X))
    assert 0 < found.certified.sum() < len(X)
    write_bundle(tmp_path / "bundle", booster, X, decisions=found)
    assert len(confirmed(tmp_path / "bundle").names["certified"]) == found.certified.sum()


def test_a_pair_of_attributes_is_one_more_score(tmp_path: Path) -> None:
    """Proved term by term, so never more than the search over all trees together; and never refuted by it."""
    X, _ = population(150)
    y = ((X["age"] > 45) ^ (X["income"] > 0)).to_numpy().astype(int)  # what no sum of attributes says
    options: dict[str, Any] = {"rounds": 30, "learning_rate": 0.3, "min_people": 3, "interactions": 2, "gamma": 0.3}
    booster = FairBooster(FORMULA, schema=SCHEMA, **options).fit(X, y)
    assert booster.additive_.pairs
    names = booster.get_feature_names_out()
    assert len(names) == booster.transform(X).shape[1]
    assert any(" × " in name for name in names)
    np.testing.assert_allclose(booster.head_.network_(booster.transform(X)), booster.scores(X), atol=1e-12)
    found = audit(booster, booster.head_, X)
    direct = audit(booster, X, similarity=booster.similarity_)
    assert not (found.certified & direct.violated).any()
    assert (found.certified <= direct.certified).all()
    handed = booster.represent(X)
    assert handed.exact.all()
    said = certify(handed, booster.head_, on="box", largest_radius=False)
    write_bundle(tmp_path / "bundle", booster, X, handed, said)
    assert len(confirmed(tmp_path / "bundle").names["certified"]) == said.certified.sum() > 0


def test_a_booster_that_reads_nothing_says_nothing() -> None:
    encoding = similarity(FORMULAS[0]).encoding
    model = AdditiveModel(np.array([0.5, -1.0]), (), len(encoding.features))
    z = score_trees(model)(encoding.encode(people(3, 0)))
    np.testing.assert_array_equal(z, np.zeros((3, 2)))
    np.testing.assert_array_equal(summing_head(model)(z), np.tile(model.base, (3, 1)))


def lies(line: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Lines of a bundle that say more than is true of a person."""
    latent, decision = line["latent"], line["decision"]
    width = [a - b for a, b in zip(latent["upper"], latent["lower"], strict=True)]
    widest = int(np.argmax(width))
    shrunk = [v if j != widest else v - width[widest] / 2 for j, v in enumerate(latent["upper"])]
    flipped = {**decision, "prediction": 1 - decision["prediction"]}
    return {
        "a smaller box": {**line, "latent": {**latent, "upper": shrunk}},
        "a smaller radius": {**line, "latent": {**latent, "radius": latent["radius"] / 2}},
        "another decision": {**line, "decision": flipped},
        "another arithmetic": {**line, "latent": {**latent, "arithmetic": "exact"}},
    }


def test_lies_about_scores_are_not_confirmed(tmp_path: Path) -> None:
    model, encoder = additive(2, FORMULAS[0])
    X = people(40, 3)
    handed = represent(encoder, X)
    said = certify(handed, summing_head(model), on="box", largest_radius=False)
    write_bundle(tmp_path / "bundle", encoder, X, handed, said)
    judge, report, _ = read_judge(tmp_path / "bundle")
    lines = [*read_people(tmp_path / "bundle/people.jsonl.gz", report.hashes["people.jsonl.gz"])]
    sure = [line for line in lines if line["decision"]["verdict"] == "certified"]
    assert len(sure) > 5
    for line in sure[:5]:
        for name, lie in lies(line).items():
            judge.judge(json.loads(json.dumps(lie)), report)
            assert report.rejected.pop(str(line["id"]), None), name


def test_nobody_with_a_counterexample_is_certified_by_the_proof_of_another(tmp_path: Path) -> None:
    """From end to end the checker computes the box itself, so a proof that is valid elsewhere shows nothing here."""
    model, encoder = additive(4, FORMULAS[0])
    X = people(60, 8)
    found = audit(encoder, summing_head(model), X, modular=False)
    write_bundle(tmp_path / "bundle", encoder, X, decisions=found)
    judge, report, _ = read_judge(tmp_path / "bundle")
    lines = [*read_people(tmp_path / "bundle/people.jsonl.gz", report.hashes["people.jsonl.gz"])]
    proof = next(line["decision"] for line in lines if line["decision"]["verdict"] == "certified")
    refuted = [line for line in lines if line["decision"]["verdict"] == "counterexample"]
    assert refuted
    for line in refuted:
        claim = {**proof, "prediction": line["decision"]["prediction"]}
        judge.judge({**line, "decision": claim}, report)
        assert str(line["id"]) in report.rejected


def test_a_network_stays_a_network_and_trees_are_not_taken_for_one() -> None:
    _, encoder = additive(0, FORMULAS[0])
    assert freeze(encoder) is encoder
    with pytest.raises(Exception, match="Trees is not a network"):
        _ = encoder.network
    assert isinstance(FrozenEncoder(identity(encoder.function.inputs), encoder.similarity).network, Network)
