"""The closed form of affine functions: that of all vertices in rational numbers, rounded outward."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lcifr.models.network import Network
from lcifr.models.rounding import LARGEST
from lcifr.prove.gate import build_question
from lcifr.prove.networks.closed_form import bound_affine
from lcifr.prove.networks.linear_search import bound_people
from lcifr.prove.question import Question, SharedAnswer
from lcifr.regions.cell import Choice
from lcifr.regions.region import Region

PEOPLE, NUMBERS = 40, 3
CHOICES = ([3, 4], [5, 6, 7])
FEATURES = 8


def question_about(
    seed: int, outputs: int, directions: np.ndarray, *, cells: int = 1, together: bool = False
) -> Question:
    """A question about random cells: some numbers stand still, some weights tie, some people have no cell."""
    draw = np.random.default_rng(seed)
    weight = draw.integers(-2, 3, (outputs, FEATURES)) * draw.choice([0.1, 1.0, 1e9], (outputs, 1))
    network = Network.from_arrays([(weight, draw.normal(size=outputs))])
    region = Region.union([_region(draw) for _ in range(cells)])
    question = build_question(network, directions, region, resources=100)
    if not together:
        return question
    offset = draw.normal(size=question.directions.shape[:2])
    return replace(question, shared=SharedAnswer(offset, np.full(PEOPLE, -np.inf)))


def _region(draw: np.random.Generator) -> Region:
    lower = np.zeros((PEOPLE, FEATURES))
    lower[:, :NUMBERS] = draw.normal(size=(PEOPLE, NUMBERS))
    upper = lower + draw.choice([0.0, 0.1, 3.0], (PEOPLE, FEATURES))
    upper[:, NUMBERS:] = 1.0
    choices = []
    for columns in CHOICES:
        allowed = draw.random((PEOPLE, len(columns))) < 0.5
        if draw.random() < 0.5:  # settled for everybody
            allowed = np.eye(len(columns), dtype=bool)[draw.integers(0, len(columns), PEOPLE)]
        choices.append((columns, allowed))
    return Region.from_arrays(lower, upper, choices)


def largest_exactly(question: Question, person: int, direction: np.ndarray) -> Fraction | None:
    """By trying every vertex of every cell in rational numbers; None where the region is empty."""
    (layer,), found = question.network.layers, list[Fraction]()
    slopes = [
        sum(Fraction(d) * Fraction(w) for d, w in zip(direction, column, strict=True)) for column in layer.weight.T
    ]
    level = sum(Fraction(d) * Fraction(b) for d, b in zip(direction, layer.bias, strict=True))
    for cell in question.region.cells:
        if not cell.present[person]:
            continue
        ends = [
            [slopes[column] * Fraction(bounds[person, place]) for bounds in (cell.lower, cell.upper)]
            for place, column in enumerate(cell.numeric)
        ]
        ends += [[slopes[c] for c in choice.columns[choice.allowed[person]]] for choice in cell.choices]
        found += [level + sum(vertex) for vertex in itertools.product(*ends)]
    return max(found, default=None)


def directions_of(kind: str, outputs: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed + 99)
    if kind == "signs":
        return draw.choice([-1.0, 1.0], (PEOPLE, 1, outputs))
    return draw.normal(size=(4, outputs) if kind == "alike" else (PEOPLE, 3, outputs))


KINDS = [("signs", 1), ("signs", 3), ("alike", 1), ("alike", 3), ("own", 1), ("own", 3)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "outputs"), KINDS)
@pytest.mark.parametrize("cells", [1, 3])
def test_bound_is_the_largest_vertex_rounded_outward(kind: str, outputs: int, cells: int, seed: int) -> None:
    question = question_about(seed, outputs, directions_of(kind, outputs, seed), cells=cells)
    found = bound_affine(question)
    rows = np.broadcast_to(question.directions, (PEOPLE, *question.directions.shape[-2:]))
    for person in range(PEOPLE):
        for k, direction in enumerate(rows[person]):
            exact = largest_exactly(question, person, direction)
            if exact is None:
                assert np.isneginf(found.upper[person, k])
                assert np.isnan(found.witness[person, k]).all()
                continue
            size = float(np.abs(direction) @ np.abs(question.network.layers[0].weight).sum(1)) * 10 + 10
            assert exact <= Fraction(found.upper[person, k]) <= exact + Fraction(1e-11 * size)
            assert question.region.take([person]).contains(found.witness[[person], k])[0]
            reached = direction @ question.network(found.witness[person, k])
            assert abs(reached - float(exact)) <= 1e-12 * size


@pytest.mark.parametrize(("kind", "outputs"), KINDS)
@pytest.mark.parametrize("together", [False, True])
def test_as_the_bounds_of_networks_with_hidden_layers(kind: str, outputs: int, together: bool) -> None:
    question = question_about(7, outputs, directions_of(kind, outputs, 7), cells=2, together=together)
    ours, theirs = bound_affine(question), bound_people(question)
    np.testing.assert_allclose(ours.upper, theirs.upper, rtol=1e-12, atol=1e-4 if outputs == 3 else 1e-6)
    assert ours.witness.shape == theirs.witness.shape
    np.testing.assert_array_equal(np.isnan(ours.witness), np.isnan(theirs.witness))
    assert np.isnan(bound_affine(question, climbing=False).witness).all()


@pytest.mark.parametrize(("kind", "outputs"), [("signs", 1), ("alike", 3)])
def test_nobodys_bound_depends_on_who_else_is_asked_about(kind: str, outputs: int) -> None:
    question = question_about(5, outputs, directions_of(kind, outputs, 5), cells=2)
    together = bound_affine(question)
    for person in range(PEOPLE):
        alone = bound_affine(question.take(np.array([person])))
        assert alone.upper.tobytes() == together.upper[[person]].tobytes()
        assert alone.witness.tobytes() == together.witness[[person]].tobytes()


def test_giants_have_no_bound() -> None:
    question = question_about(1, 1, directions_of("signs", 1, 1))
    [cell] = question.region.cells
    giant = replace(cell, upper=np.where(np.arange(PEOPLE)[:, None] == 3, 10 * LARGEST, cell.upper))
    found = bound_affine(replace(question, region=replace(question.region, cells=(giant,))))
    assert found.upper[3, 0] == (np.inf if cell.present[3] else -np.inf)
    assert np.isfinite(np.delete(found.upper, 3)[np.delete(cell.present, 3)]).all()


@pytest.mark.parametrize("seed", range(20))
def test_only_value_of_a_choice(seed: int) -> None:
    draw = np.random.default_rng(seed)
    values = int(draw.integers(1, 4))
    allowed = draw.random((4, values)) < 0.5
    if seed % 2:
        allowed = np.eye(values, dtype=bool)[draw.integers(0, values, 4)]
    only = Choice(np.arange(values), allowed).only
    if (allowed.sum(1) == 1).all():
        assert only is not None
        np.testing.assert_array_equal(only, allowed.argmax(1))
    else:
        assert only is None
