"""Verdicts in deployed arithmetic: true on every machine that computes in it, and undecided where rounding decides."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from lcifr.artifacts.handover import Representation
from lcifr.certification import FrozenEncoder, Reason, Verdict, audit, certify, represent
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.load import read_model
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule
from lcifr.similarity.similarity import Similarity
from tests.certification.scenes import FORMULAS, Scene, scene, thin
from tests.models.machines import Machine

FLOATS = (Arithmetic.FLOAT64, Arithmetic.FLOAT32)
CHAINS = tuple(product(FLOATS, FLOATS))
SAMPLES = 4


# -- the case of a module that outputs −2, 2 and 6 where exact arithmetic has 2 ----------------------------------------


def cancelling_module() -> torch.nn.Module:
    """2 for everybody in exact arithmetic; in float32, 2²⁵ + 2 ± δ is rounded to 2²⁵ or to 2²⁵ + 4."""
    large, delta = 2.0**25, 2.0**-20
    first, second = torch.nn.Linear(4, 3), torch.nn.Linear(3, 1)
    left, right = [1.0, 2 + delta, 2 - delta], [1.0, 2 - delta, 2 + delta]
    with torch.no_grad():
        rows = [[0.0, *left], [0.0, *right], [0.0, *(a - b for a, b in zip(left, right, strict=True))]]
        first.weight.copy_(torch.tensor(rows))
        first.bias.copy_(torch.tensor([large, large, 10.0]))
        second.weight.copy_(torch.tensor([[1.0, -1.0, -1.0]]))
        second.bias.copy_(torch.tensor([12.0]))
    return torch.nn.Sequential(first, torch.nn.ReLU(), second)


def three_kinds() -> tuple[FrozenEncoder, pd.DataFrame]:
    schema = Schema((Numeric("age"), Categorical("kind", ("a", "b", "c"))))
    table = pd.DataFrame({"age": [30.0, 40.0, 50.0], "kind": ["a", "b", "c"]})
    encoding = Encoding.fit(table, schema)
    return FrozenEncoder.identity(Similarity("same(all except kind)", schema, encoding)), table


def test_a_float32_module_with_other_outputs_than_exact_arithmetic_is_not_certified() -> None:
    module, (encoder, table) = cancelling_module(), three_kinds()
    with torch.no_grad():
        said = module(torch.tensor(encoder.encoding.encode(table), dtype=torch.float32))[:, 0]
    assert said.tolist() == pytest.approx([2, 6, -2], abs=1e-5)
    exact = audit(encoder, module, table, arithmetic="exact")
    assert exact.certified.all()
    assert exact.margin == pytest.approx(np.full(3, 2.0), abs=1e-4)
    found = audit(encoder, module, table)
    assert found.arithmetic is Arithmetic.FLOAT32
    assert (found.verdict == Verdict.UNDECIDED).all()
    assert (found.reason == Reason.ROUNDING).all()
    assert not found.ball.any()  # type: ignore[union-attr]
    assert not found.box.any()  # type: ignore[union-attr]
    assert audit(encoder, module, table, arithmetic="float64").certified.all()


def test_nor_is_it_certified_on_a_hand_over() -> None:
    module, (encoder, table) = cancelling_module(), three_kinds()
    for on in ("ball", "box"):
        found = certify(represent(encoder, table, arithmetic="float32"), module, on=on)  # type: ignore[arg-type]
        assert (found.arithmetic, found.handover_arithmetic) == (Arithmetic.FLOAT32, Arithmetic.FLOAT32)
        assert not found.certified.any()


# -- what is certified, or refuted, is so on machines ------------------------------------------------------------------


def machine_outputs(here: Scene, people: Individuals, arithmetics: Any, rng: np.random.Generator) -> list[Any]:
    """Whatever some machines compute for these people, from the table's values to the outputs."""
    found = []
    for row in range(len(people)):
        values = encoded(here.encoder.encoding, people, row, Machine.drawn(arithmetics[0], rng))
        for network, arithmetic in zip((here.encoder.network, here.model), arithmetics, strict=True):
            values = Machine.drawn(arithmetic, rng).outputs(network, values)
        found.append(values)
    return found


def encoded(encoding: Encoding, people: Individuals, row: int, machine: Machine) -> list[Fraction]:
    features = [Fraction(v) for v in encoding.encode(people.take([row]))[0].tolist()]
    for j, column in enumerate(encoding.numeric_columns):
        features[column] = machine.encode(float(people.numbers[row, j]), encoding.programs[j])
    return features


def similar_people(here: Scene, row: int, seed: int) -> Individuals | None:
    """Some who are really similar to a person, and exist."""
    people = Individuals.read(here.people, here.encoder.encoding.schema)
    region = here.encoder.similarity.region(people.take([row]), whole_numbers=True)
    if not region.nonempty[0]:
        return None
    found = region.decode(region.sample(SAMPLES, seed=seed))
    return found.individuals.take(np.flatnonzero(found.confirmed.reshape(-1)))


@pytest.mark.parametrize("arithmetic", FLOATS)
def test_certified_and_refuted_people_are_so_on_every_machine(arithmetic: Arithmetic) -> None:
    rng, counted = np.random.default_rng(1), {Verdict.CERTIFIED: 0, Verdict.COUNTEREXAMPLE: 0, Reason.ROUNDING: 0}
    for seed in range(12):
        here = thin(scene(seed), seed)
        people = Individuals.read(here.people, here.encoder.encoding.schema)
        found = audit(here.encoder, here.model, here.people, modular=False, arithmetic=arithmetic)
        for row, verdict in enumerate(found.verdict):
            counted[Reason.ROUNDING] += found.reason[row] == Reason.ROUNDING
            if verdict == Verdict.UNDECIDED:
                continue
            counted[verdict] += 1
            both = (arithmetic, arithmetic)
            own = [machine_outputs(here, people.take([row]), both, rng)[0][0] > 0 for _ in range(3)]
            assert set(own) == {bool(found.prediction[row])}
            others = found.others.take([row]) if verdict == Verdict.COUNTEREXAMPLE else similar_people(here, row, seed)
            for (output,) in [] if others is None else machine_outputs(here, others, both, rng):
                assert (output > 0) == ((verdict == Verdict.CERTIFIED) == own[0])
    assert counted[Verdict.CERTIFIED] > 10
    assert counted[Verdict.COUNTEREXAMPLE] > 3
    assert (counted[Reason.ROUNDING] > 3) == (arithmetic is Arithmetic.FLOAT32)


def test_coarser_arithmetic_certifies_and_refutes_no_more() -> None:
    for seed in range(10):
        here = thin(scene(seed), seed)
        exact, double, single = (
            audit(here.encoder, here.model, here.people, arithmetic=name) for name in ("exact", "float64", "float32")
        )
        for fine, coarse in ((exact, double), (double, single)):
            for name in ("certified", "violated", "ball", "box"):
                assert (getattr(coarse, name) <= getattr(fine, name)).all()
        assert (exact.reason != Reason.ROUNDING).all()


@pytest.mark.parametrize(("first", "second"), CHAINS)
def test_a_ball_or_box_holds_what_machines_compute_and_the_decision_is_theirs(
    first: Arithmetic, second: Arithmetic
) -> None:
    rng = np.random.default_rng(2)
    certified = 0
    for seed in range(8):
        here = thin(scene(seed), seed)
        people = Individuals.read(here.people, here.encoder.encoding.schema)
        handed = represent(here.encoder, here.people, arithmetic=first)
        assert handed.provenance.arithmetic is first
        found = {on: certify(handed, here.model, on=on, arithmetic=second) for on in ("ball", "box")}  # type: ignore[arg-type]
        for row in range(len(people)):
            others = similar_people(here, row, seed)
            everybody = people.take([row]) if others is None else Individuals.joined([people.take([row]), others])
            for one in range(len(everybody)):
                machine = Machine.drawn(first, rng)
                point = encoded(here.encoder.encoding, everybody, one, machine)
                z = machine.outputs(here.encoder.network, point)
                assert all(
                    Fraction(low) <= value <= Fraction(high)
                    for low, value, high in zip(handed.lower[row], z, handed.upper[row], strict=True)
                )
                (output,) = Machine.drawn(second, rng).outputs(here.model, z)
                for on in found.values():
                    certified += on.certified[row]
                    assert not on.certified[row] or (output > 0) == bool(on.prediction[row])
    assert certified > 20


@pytest.mark.parametrize(("first", "second"), CHAINS)
def test_a_number_within_the_tolerance_is_so_on_every_machine(first: Arithmetic, second: Arithmetic) -> None:
    rng, certified = np.random.default_rng(3), 0
    for seed in range(5):
        here = thin(scene(seed), seed)
        people = Individuals.read(here.people, here.encoder.encoding.schema)
        handed = represent(here.encoder, here.people, arithmetic=first)
        reach = np.abs(handed.upper - handed.lower).max() * 3
        for found in (
            certify(handed, here.model, on="box", tolerance=reach, arithmetic=second),
            audit(here.encoder, here.model, here.people, tolerance=reach, modular=False, arithmetic=first),
        ):
            chain = (first, found.arithmetic)
            for row in np.flatnonzero(found.certified):
                certified += 1
                ((own,),) = machine_outputs(here, people.take([row]), chain, rng)
                others = similar_people(here, int(row), seed)
                for (output,) in [] if others is None else machine_outputs(here, others, chain, rng):
                    assert abs(output - own) < Fraction(float(reach))
    assert certified > 5


# -- hand-overs, defaults, refusals ------------------------------------------------------------------------------------


def test_a_float_verdict_on_an_exact_hand_over_is_undecided_with_that_reason() -> None:
    here = scene(1)
    handed = represent(here.encoder, here.people, arithmetic="exact")
    assert certify(handed, here.model, arithmetic="exact").certified.any()
    for name in FLOATS:
        found = certify(handed, here.model, arithmetic=name)
        assert (found.verdict == Verdict.UNDECIDED).all()
        assert (found.reason == Reason.EXACT_BALL).all()
        assert (found.largest_radius == 0).all()


def test_a_hand_over_names_its_arithmetic_also_in_its_folder(tmp_path: Any) -> None:
    here = scene(2)
    for name in Arithmetic:
        handed = represent(here.encoder, here.people, arithmetic=name)
        handed.write(tmp_path / name)
        again = Representation.read(tmp_path / name)
        assert again.provenance.arithmetic is name
        assert again.provenance.latent_format == "float64"
    radii = [represent(here.encoder, here.people, arithmetic=name).radius for name in Arithmetic]
    assert (radii[0] <= radii[1]).all()
    assert (radii[1] < radii[2]).all()


def test_the_largest_radius_is_one_at_which_the_person_is_still_certified() -> None:
    for seed, depth in product(range(4), (0, 1)):
        here = scene(seed, depth=depth)
        handed = represent(here.encoder, here.people, arithmetic="float32")
        found = certify(handed, here.model, arithmetic="float32")
        wide = np.maximum(found.largest_radius * (1 - 1e-6), 0.0)
        rows = np.flatnonzero((found.largest_radius > 0) & np.isfinite(wide))
        ends = {"lower": handed.latent - wide[:, None], "upper": handed.latent + wide[:, None]}
        again = certify(replace(handed, radius=wide, **ends), here.model, arithmetic="float32")
        assert again.certified[rows].all()


def test_the_default_is_what_the_networks_come_from() -> None:
    here = scene(0)
    z = np.random.default_rng(0).normal(size=(40, here.encoder.network.outputs))
    labels = (z[:, 0] > 0).astype(int)
    double, single = (torch.nn.Linear(z.shape[1], 1, dtype=kind) for kind in (torch.float64, torch.float32))
    both = torch.nn.Sequential(torch.nn.Linear(z.shape[1], 2), torch.nn.Linear(2, 1))
    cases = [
        (here.model, Arithmetic.FLOAT64),
        (double, Arithmetic.FLOAT64),
        (single, Arithmetic.FLOAT32),
        (torch.nn.Linear(z.shape[1], 1, dtype=torch.bfloat16), Arithmetic.EXACT),
        (both, Arithmetic.EXACT),  # merged
        (LogisticRegression().fit(z, labels), Arithmetic.FLOAT64),
        (make_pipeline(StandardScaler(), LogisticRegression()).fit(z, labels), Arithmetic.FLOAT64),
    ]
    for model, expected in cases:
        found = audit(here.encoder, model, here.people)
        assert found.arithmetic is expected
        assert set(found.frame()["arithmetic"]) == {str(expected)}
    assert read_model(single).network.native is Arithmetic.FLOAT32


def test_an_unknown_arithmetic_is_refused_with_the_names() -> None:
    here = scene(0)
    for call in (
        lambda: audit(here.encoder, here.model, here.people, arithmetic="bfloat16"),
        lambda: represent(here.encoder, here.people, arithmetic="bfloat16"),
    ):
        with pytest.raises(LcifrError, match='"exact", "float64", "float32"'):
            call()


def test_possible_overflow_is_undecided_and_has_no_radius() -> None:
    here = scene(1)
    layers = [(layer.weight * 1e30, layer.bias) for layer in here.encoder.network.layers]
    encoder = FrozenEncoder(Network.from_arrays(layers), here.encoder.similarity)
    found = audit(encoder, here.model, here.people, modular=False, arithmetic="float32")
    assert (found.reason == Reason.OVERFLOW).all()
    assert (audit(encoder, here.model, here.people, modular=False).reason != Reason.OVERFLOW).all()
    with pytest.raises(LcifrError, match="may overflow in float32"):
        represent(encoder, here.people, arithmetic="float32")


def test_a_tie_in_exact_arithmetic_is_called_a_tie() -> None:
    here = scene(0)
    zero = Network.from_arrays([(np.zeros((1, here.encoder.network.outputs)), [0.0])])
    for name in Arithmetic:
        assert (audit(here.encoder, zero, here.people, modular=False, arithmetic=name).reason == Reason.TIE).all()
    assert Rule.of(1).kind is Kind.SIGN


@pytest.mark.parametrize("kind", StepFormat)
def test_an_encoding_with_steps_of_its_own_is_covered_from_the_tables_values_on(kind: StepFormat) -> None:
    """Numbers become small on the way and are scaled back: what a machine may flush there is covered."""
    rng, certified = np.random.default_rng(2), 0
    for seed in range(3):
        here = scene(seed)
        encoding = here.encoder.encoding
        factors = 2.0**-140 if kind == "float64" else 2.0**-100, 2.0**130 if kind == "float64" else 2.0**100
        ways = tuple(ProgramStep(Operation.MULTIPLY, kind, (factor,)) for factor in factors)
        programs = tuple(Program((*program.steps, *ways)) for program in encoding.programs)
        foreign = Similarity(FORMULAS[1], encoding.schema, replace(encoding, programs=programs))
        here = replace(here, encoder=replace(here.encoder, similarity=foreign))
        people = Individuals.read(here.people, encoding.schema)
        found = audit(here.encoder, here.model, here.people, modular=False)
        assert found.arithmetic is Arithmetic.FLOAT64
        for row in np.flatnonzero(found.certified):
            others = similar_people(here, int(row), seed)
            group = people.take([row]) if others is None else others
            for (output,) in machine_outputs(here, group, (Arithmetic.FLOAT64,) * 2, rng):
                certified += 1
                assert (output > 0) == bool(found.prediction[row])
    assert certified > 20


def test_divisions_behind_a_matrix_have_no_exact_arithmetic() -> None:
    here = scene(0)
    z = np.random.default_rng(0).normal(size=(40, here.encoder.network.outputs))
    labels = (z[:, 0] > 0).astype(int)
    divides, multiplies = (
        make_pipeline(scaler, LogisticRegression()).fit(z, labels) for scaler in (StandardScaler(), MinMaxScaler())
    )
    with pytest.raises(LcifrError, match='step "standardscaler" divides'):
        audit(here.encoder, divides, here.people, arithmetic="exact")
    for model, names in ((divides, ("float64", "float32")), (multiplies, tuple(Arithmetic))):
        for name in names:
            assert audit(here.encoder, model, here.people, arithmetic=name).certified.any()
