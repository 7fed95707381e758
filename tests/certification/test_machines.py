"""Verdicts on machines: whatever one computes in its arithmetic, who is certified or refuted is so there."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from lcifr.certification import Reason, Verdict, audit, certify, represent
from lcifr.data import Encoding, Individuals
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.models.arithmetic import Arithmetic
from lcifr.phi.similarity import Similarity
from tests.certification.scenes import FORMULAS, Scene, scene, thin
from tests.effort import quartered
from tests.models.machines import Machine

FLOATS = (Arithmetic.FLOAT64, Arithmetic.FLOAT32)
CHAINS = tuple(product(FLOATS, FLOATS))
SAMPLES = 4


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


@pytest.mark.sampled
@pytest.mark.parametrize("arithmetic", FLOATS)
def test_certified_and_refuted_people_are_so_on_every_machine(arithmetic: Arithmetic) -> None:
    rng, counted = np.random.default_rng(1), {Verdict.CERTIFIED: 0, Verdict.COUNTEREXAMPLE: 0, Reason.ROUNDING: 0}
    for seed in range(quartered(12)):
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
    assert counted[Verdict.CERTIFIED] >= quartered(11)
    assert counted[Verdict.COUNTEREXAMPLE] >= quartered(4)
    assert (counted[Reason.ROUNDING] >= quartered(4)) == (arithmetic is Arithmetic.FLOAT32)


@pytest.mark.sampled
@pytest.mark.parametrize(("first", "second"), CHAINS)
def test_a_ball_or_box_holds_what_machines_compute_and_the_decision_is_theirs(
    first: Arithmetic, second: Arithmetic
) -> None:
    rng = np.random.default_rng(2)
    certified = 0
    for seed in range(quartered(8)):
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
    assert certified > quartered(20)


@pytest.mark.sampled
@pytest.mark.parametrize(("first", "second"), CHAINS)
def test_a_number_within_the_tolerance_is_so_on_every_machine(first: Arithmetic, second: Arithmetic) -> None:
    rng, certified = np.random.default_rng(3), 0
    for seed in range(quartered(5)):
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
    assert certified > quartered(5)


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
