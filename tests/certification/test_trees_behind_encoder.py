"""Trees behind an encoder, from end to end: verdicts against everybody in a universe that can be enumerated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.verdicts import Reason, Verdict
from lcifr.data import Individuals
from lcifr.errors import LcifrError
from lcifr.models.loading import read_model
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.models.trees import NumberNode, TreeLeaf, Trees
from tests.certification.encoded_trees import EVERYBODY, LEARNERS, TinyWorld, tiny_world

TOLERANCE = 0.5


def others_decided(world: TinyWorld, row: int) -> bool:
    """Whether somebody similar is decided otherwise, by the library's own word."""
    mine, theirs = world.decide(world.people.iloc[[row]]), world.decide(world.similar(row))
    if mine.dtype.kind == "f":
        return bool((np.abs(theirs - mine) > TOLERANCE).any())
    return bool((theirs != mine).any())


@pytest.mark.parametrize("kind", list(LEARNERS))
@pytest.mark.parametrize("seed", [3, 8, 13])
def test_verdicts_are_right_about_everybody_who_can_exist(kind: str, seed: int) -> None:
    world = tiny_world(kind, seed)
    found = audit(world.encoder, world.model, world.people, tolerance=TOLERANCE if kind == "numbers" else None)
    refuted = [others_decided(world, row) for row in range(len(world.people))]
    for row, verdict in enumerate(found.verdict):
        assert not (verdict == Verdict.CERTIFIED and refuted[row])
        assert not (verdict == Verdict.COUNTEREXAMPLE and not refuted[row])
        assert (verdict == Verdict.UNDECIDED) == (found.reason[row] != Reason.NONE)
    assert found.certified.any()
    assert found.violated.any()
    assert found.box is not None
    assert not (found.box & found.violated).any()
    shown = found.others.to_pandas()[found.violated]
    holds = world.encoder.similarity.holds(found.people.take(found.violated), found.others.take(found.violated))
    assert holds.all()
    differ = world.decide(shown) != world.decide(world.people[found.violated])
    assert differ.all()


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_the_library_decides_as_the_model_that_was_read(arithmetic: str) -> None:
    world = tiny_world("classes", 0)
    found = audit(world.encoder, world.model, EVERYBODY, arithmetic=arithmetic, modular=False)
    np.testing.assert_array_equal(found.prediction, world.decide(EVERYBODY))


def test_nothing_is_certified_in_exact_arithmetic() -> None:
    world = tiny_world("classes", 0)
    found = audit(world.encoder, world.model, world.people, arithmetic="exact", modular=False)
    same = audit(world.encoder, world.model, world.people, modular=False)
    assert not found.certified.any()
    assert same.certified.any()
    assert (found.reason[same.certified] == Reason.EXACT_BALL).all()


def step_at(threshold: float) -> Model:
    """Class 1 where the first number of z is above the threshold."""
    leaves = TreeLeaf((-1.0,)), TreeLeaf((1.0,))
    return Model(Trees.of(2, [0.0], [NumberNode(0, threshold, *leaves)]), Rule.of(1))


def test_a_threshold_within_the_rounding_of_z_decides_nothing() -> None:
    world = tiny_world("classes", 0)
    person = world.people.head(1)
    z = float(world.encoder.transform(person)[0, 0])
    for threshold in (z, np.nextafter(z, -np.inf), np.nextafter(z, np.inf)):
        (verdict,) = audit(world.encoder, step_at(threshold), person, modular=False).verdict
        assert verdict == Verdict.UNDECIDED


def test_a_pocket_that_one_similar_person_falls_into_is_never_certified() -> None:
    world = tiny_world("classes", 0)
    person = world.people.head(1)
    z, mine = world.encoder.transform(world.similar(0))[:, 0], world.encoder.transform(person)[0, 0]
    for far in (z.min(), z.max()):
        between = mine + 0.999 * (far - mine)
        (verdict,) = audit(world.encoder, step_at(float(between)), person, modular=False).verdict
        assert (far == mine) or verdict == Verdict.COUNTEREXAMPLE


def test_a_person_without_anybody_similar_is_certified_as_vacuous() -> None:
    world = tiny_world("classes", 0)
    nobody = world.encoder.similarity.over(world.encoder.encoding)
    text = "same(all) and age > 200"
    alone = FrozenEncoder(world.encoder.function, type(nobody)(text, nobody.schema, nobody.encoding))
    found = audit(alone, world.model, world.people, modular=False)
    assert found.vacuous.all()
    assert found.certified.all()


def test_trees_on_the_scores_of_trees_are_audited_alike() -> None:
    scores = [NumberNode(column, 0.0, TreeLeaf((-1.0, 0.0)), TreeLeaf((0.5, 0.0))) for column in (0,)]
    scores += [NumberNode(1, 0.3, TreeLeaf((0.0, 0.25)), TreeLeaf((0.0, 2.0)))]
    world = tiny_world("classes", 0)
    encoder = FrozenEncoder(Trees.of(7, [0.0, 0.0], scores), world.encoder.similarity)
    booster = replace(world, encoder=encoder)
    model = LEARNERS["classes"]().fit(encoder.transform(EVERYBODY), (EVERYBODY.age > 4) & (EVERYBODY.debts > 2))
    booster = replace(booster, model=model)
    found = audit(encoder, model, world.people)
    refuted = np.array([others_decided(booster, row) for row in range(len(world.people))])
    assert found.certified.any()
    assert found.violated.any()
    assert not (found.certified & refuted).any()
    assert not (found.violated & ~refuted).any()


def test_a_model_of_another_width_is_refused() -> None:
    world = tiny_world("classes", 0)
    wide = Trees.of(3, [0.0], [NumberNode(2, 0.0, TreeLeaf((-1.0,)), TreeLeaf((1.0,)))])
    with pytest.raises(LcifrError, match="gives 2 numbers, the model takes 3"):
        audit(world.encoder, Model(wide, Rule.of(1)), world.people)


def test_who_may_overflow_is_undecided_and_everybody_else_is_not() -> None:
    world = tiny_world("classes", 0)
    layers = [(layer.weight, layer.bias) for layer in world.encoder.network.layers]
    weight, bias = layers[0]
    large = np.where(np.arange(weight.shape[1]) == 0, 1e38, 0.0)  # of age: only the old overflow float32
    network = Network.from_arrays([(weight + large, bias), *layers[1:]])
    encoder = FrozenEncoder(network, world.encoder.similarity)
    found = audit(encoder, world.model, world.people, arithmetic="float32")
    assert (found.reason == Reason.OVERFLOW).any()
    assert not (found.certified & (found.reason == Reason.OVERFLOW)).any()


def test_outputs_of_every_machine_are_within_the_error_that_is_said() -> None:
    from lcifr.certification.counterexample import CounterexampleChecker
    from lcifr.certification.demands import outputs_at
    from lcifr.certification.subject import Subject
    from lcifr.models.arithmetic import Arithmetic

    world, rng = tiny_world("classes", 2), np.random.default_rng(0)
    model, people = read_model(world.model), Individuals.read(EVERYBODY, world.encoder.encoding.schema)
    for arithmetic in (Arithmetic.FLOAT64, Arithmetic.FLOAT32):
        checker = CounterexampleChecker(Subject(world.encoder, model, arithmetic), people)
        said = outputs_at(checker.deployment, checker.features)
        z, off = world.encoder.transform(EVERYBODY), checker.deployment.first.error_at(checker.features)  # type: ignore[union-attr]
        for _ in range(20):
            machine = model.function(z + off * rng.uniform(-1, 1, size=z.shape))
            assert (np.abs(machine - said.values) <= said.error).all()


def machines(network: Network, features: np.ndarray) -> list[np.ndarray]:
    """z as machines compute it that add in another order, or more precisely."""

    def forward(add: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        value = features
        for number, layer in enumerate(network.layers):
            value = add(value, layer.weight, layer.bias)
            value = value if number == len(network.layers) - 1 else np.maximum(value, 0.0)
        return value

    def one_by_one(value: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        total = np.tile(bias, (len(value), 1))
        for k in range(weight.shape[1]):
            total = total + value[:, [k]] * weight[:, k]
        return total

    def backwards(value: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        total = np.zeros((len(value), len(bias)))
        for k in reversed(range(weight.shape[1])):
            total = total + value[:, [k]] * weight[:, k]
        return np.asarray(total + bias)

    def precisely(value: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        wide = value.astype(np.longdouble) @ weight.T.astype(np.longdouble) + bias
        return np.asarray(wide.astype(np.float64))

    return [forward(add) for add in (one_by_one, backwards, precisely)]


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_hold_on_machines_that_add_in_another_order(seed: int) -> None:
    world, rng = tiny_world("classes", seed), np.random.default_rng(seed)
    everyone = Individuals.read(EVERYBODY, world.encoder.encoding.schema)
    z = machines(world.encoder.network, world.encoder.encoding.encode(everyone))
    threshold = float(z[0][rng.integers(len(EVERYBODY)), 0])  # where somebody is, to the last bit
    for model in (step_at(threshold), step_at(float(np.nextafter(threshold, -np.inf)))):
        found = audit(world.encoder, model, world.people, modular=False)
        decisions = np.stack([model.function(one)[:, 0] > 0 for one in z])
        for row in np.flatnonzero(found.certified):
            similar = decisions[:, world.similar(int(row)).index]
            assert similar.all() or not similar.any()
        assert found.certified.any()
