"""German credit, the built-in data: every certificate of its test set is checked exactly."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from benchmarks.online import OnlineCertifier
from sklearn.neural_network import MLPClassifier

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import FrozenEncoder, Representation, represent
from lcifr.certification.population import lower_bound, state
from lcifr.check.__main__ import main
from lcifr.check.bundle import check_bundle
from lcifr.data import Encoding
from lcifr.datasets import Dataset, load
from lcifr.errors import TableError
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity


@pytest.fixture(scope="module")
def german() -> Dataset:
    return load("german")


@pytest.fixture(scope="module")
def parts(german: Dataset) -> tuple[FrozenEncoder, Network]:
    """A network with a narrow second layer, cut in two there: an encoder, and a model that begins with its ReLU."""
    encoding = Encoding.fit(german.train.X, german.schema)
    learner = MLPClassifier((8, 4), alpha=3.0, max_iter=120, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(encoding.encode(german.train.X), german.train.y)
    layers = [(weight.T, bias) for weight, bias in zip(learner.coefs_, learner.intercepts_, strict=True)]
    similar = Similarity.ready("german/cat_noise", german.schema, encoding)
    return (
        FrozenEncoder(Network.from_arrays(layers[:2]), similar),
        Network.from_arrays([(np.eye(4), np.zeros(4)), layers[2]]),
    )


def test_every_certificate_of_the_test_set_is_confirmed_exactly(
    german: Dataset, parts: tuple[FrozenEncoder, Network], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder, model = parts
    handed = represent(encoder, german.test.X)
    found = audit(encoder, model, german.test.X, modular=handed)
    write_bundle(tmp_path / "whole", encoder, german.test.X, handed, found)
    report = check_bundle(tmp_path / "whole")
    assert (report.rejected, report.names["unproved"]) == ({}, [])
    assert len(report.names["certified"]) == found.certified.sum() > 0
    assert len(report.names["counterexample"]) == found.violated.sum()
    assert len(report.names["radius"]) == len(german.test.X)
    on_ball = certify(handed, model, largest_radius=False)
    write_bundle(tmp_path / "ball", encoder, german.test.X, handed, on_ball)
    assert main([str(tmp_path / "ball"), "--json"]) == 0
    (tmp_path / "report.json").write_text(capsys.readouterr().out)
    checked = handed.with_report(tmp_path / "report.json")
    assert set(checked.radius_status) == {"checked"}
    shares = found.modularity()
    assert shares["ball"] <= shares["box"] <= 1 - shares["violated"]
    assert len(json.loads((tmp_path / "report.json").read_text())["names"]["certified"]) == on_ball.certified.sum()
    _check_statement(german, found)
    handed.write(tmp_path / "handed")
    assert Representation.read(tmp_path / "handed").latent_hash == handed.latent_hash


def _check_statement(german: Dataset, found: object) -> None:
    truth = np.asarray(german.test.y).astype(int)
    statement = state(found, truth, held_out=True, by={"sex": german.test.X["sex"]})  # type: ignore[arg-type]
    assert statement.lower is not None
    assert statement.lower < statement.share
    assert statement.subgroups["people"].sum() == len(truth)
    assert "certified with respect to φ" in str(statement)
    assert state(found, held_out=False).lower is None  # type: ignore[arg-type]


def test_one_person_at_a_time_agrees_with_the_audit(german: Dataset, parts: tuple[FrozenEncoder, Network]) -> None:
    encoder, model = parts
    table = german.test.X.head(12)
    found = audit(encoder, model, table, modular=False)
    desk = OnlineCertifier(encoder, model)
    for row, person in enumerate(table.to_dict("records")):
        decided = desk.decide(person)
        assert (decided.verdict == "CERTIFIED") == found.certified[row]
        assert decided.prediction == found.prediction[row]
    odd = table.iloc[0].to_dict()
    with pytest.raises(TableError, match="sex"):
        desk.decide(odd | {"sex": "unheard of"})
    with pytest.raises(TableError, match="missing"):
        desk.decide({name: value for name, value in odd.items() if name != "sex"})
    spaced = desk.decide(odd | {"sex": f" {odd['sex']} "})  # what the gate accepts, the desk accepts
    assert spaced == desk.decide(odd)


@pytest.mark.parametrize(("people", "certified"), [(1, 1), (10, 0), (200, 190), (1000, 1000)])
def test_the_confidence_bound_is_exact(people: int, certified: int) -> None:
    """At the bound, so many or more successes have exactly the probability that is left."""
    from scipy.stats import binom

    bound = lower_bound(certified, people, 0.95)
    if certified == 0:
        assert bound == 0
    else:
        assert binom.sf(certified - 1, people, bound) == pytest.approx(0.05, rel=1e-6)
