"""Dataflow graphs and the chains that compute them: the same function exactly, with the model's own weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loaders.dataflow import (
    AffineVector,
    FlowVector,
    Layering,
    LeafVector,
    ReluVector,
    SignedVector,
    affine,
    chosen,
    clipped,
    joined,
    larger,
    layer_out,
    leaf,
    leaky,
    negative,
    relu,
    scaled,
)
from tests.effort import sampled


def directly(vector: FlowVector, person: dict[str, Fraction]) -> list[Fraction]:
    """The vector by its definition, without any chain."""
    match vector:
        case LeafVector():
            return [person[column] for column in vector.columns]
        case ReluVector():
            return [max(value, Fraction(0)) for value in directly(vector.of, person)]
        case SignedVector():
            return [sign * directly(base, person)[i] for base, i, sign in vector.parts]
        case AffineVector():
            total = [Fraction(shift) for shift in vector.bias.tolist()]
            for term in vector.terms:
                values = directly(term.vector, person)
                for row, weights in enumerate(term.weight.tolist()):
                    total[row] += sum((Fraction(w) * v for w, v in zip(weights, values, strict=True)), Fraction(0))
            return total
    raise AssertionError(vector)


def by_layers(chain: Layering, person: dict[str, Fraction]) -> list[Fraction]:
    values = [person[column] for column in chain.columns] + [Fraction(0)] * chain.spare
    for network in chain.networks:
        for number, layer in enumerate(network.layers):
            rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
            values = [sum((Fraction(w) * v for w, v in zip(ws, values, strict=True)), Fraction(b)) for ws, b in rows]
            if number < network.depth:
                values = [max(value, Fraction(0)) for value in values]
    return values


NUMBERS = st.sampled_from([-1.5, -1.0, -0.25, 0.0, 0.1, 1.0, 3.0])
KINDS = ("affine", "relu", "negative", "chosen", "joined", "clip", "leaky", "larger", "scaled")


@st.composite
def graphs(draw: st.DrawFn) -> FlowVector:
    """Random graphs over three columns, in which anything may be used again anywhere."""
    pool: list[FlowVector] = [leaf(["a", "b", "c"]), leaf(["c", "a"])]
    for _ in range(draw(st.integers(1, 7))):
        one, other = (pool[draw(st.integers(0, len(pool) - 1))] for _ in range(2))
        pool.append(drawn(draw, draw(st.sampled_from(KINDS)), one, other))
    return pool[-1]


def drawn(draw: st.DrawFn, kind: str, one: FlowVector, other: FlowVector) -> FlowVector:
    """A vector of this kind, made of two others."""
    if kind == "affine":
        rows = draw(st.integers(1, 3))
        terms = [(np.array([[draw(NUMBERS) for _ in range(v.width)] for _ in range(rows)]), v) for v in (one, other)]
        return affine(*terms, bias=np.full(rows, draw(NUMBERS)))
    if kind == "chosen":
        return chosen(one, draw(st.lists(st.integers(0, one.width - 1), min_size=1, max_size=4)))
    if kind == "joined":
        return joined([one, other])
    if kind == "clip":
        upper = draw(st.sampled_from([0.75, np.inf]))
        return clipped(one, np.full(one.width, -0.5), np.full(one.width, upper))
    if kind == "larger":
        return larger(chosen(one, [0]), chosen(other, [other.width - 1]))
    if kind == "scaled":
        return scaled(one, 3.0, 0.5, spare=draw(st.sampled_from([0, 0, 5])))
    return {"relu": relu, "negative": negative, "leaky": lambda vector: leaky(vector, 0.1)}[kind](one)


PEOPLE = [dict(zip("abc", map(Fraction, values), strict=True)) for values in [(0, 0, 0), (1, -2, 3), (-1, 0.5, -0.125)]]


@sampled(300)
@given(graphs())
def test_a_chain_is_the_graph_exactly(vector: FlowVector) -> None:
    chain = layer_out(vector, Arithmetic.FLOAT32)
    for person in PEOPLE:
        assert by_layers(chain, person) == directly(vector, person)


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_no_weight_is_made_up(vector: FlowVector) -> None:
    """Every entry of every layer is a weight of the graph, its negative, ±1 or 0."""
    known, open_vectors = {0.0, 1.0}, [vector]
    while open_vectors:
        one = open_vectors.pop()
        if isinstance(one, AffineVector):
            known |= {abs(w) for term in one.terms for w in term.weight.ravel().tolist()}
            known |= {abs(b) for b in one.bias.tolist()}
            open_vectors += [term.vector for term in one.terms]
        open_vectors += [one.of] if isinstance(one, ReluVector) else []
        open_vectors += [base for base, _, _ in one.parts] if isinstance(one, SignedVector) else []
    for network in layer_out(vector, Arithmetic.FLOAT64).networks:
        for layer in network.layers:
            assert {abs(w) for part in (layer.weight, layer.bias) for w in part.ravel().tolist()} <= known


def test_affine_maps_with_nothing_between_stay_apart() -> None:
    start = leaf(["a", "b"])
    hidden = relu(scaled(affine((np.ones((2, 2)), start)), 0.3, 0.1))
    networks = layer_out(affine((np.ones((1, 2)), hidden)), Arithmetic.FLOAT32).networks
    assert [[layer.weight.shape for layer in network.layers] for network in networks] == [[(2, 2)], [(2, 2), (1, 2)]]
    assert all(network.native is Arithmetic.FLOAT32 for network in networks)


def test_spare_terms_widen_the_layer_before() -> None:
    chain = layer_out(affine((np.ones((1, 2)), leaf(["a", "b"])), spare=6), Arithmetic.FLOAT32)
    assert chain.spare == 6
    assert chain.networks[0].inputs == 8


def test_what_grows_without_end_is_refused() -> None:
    vector: FlowVector = leaf(["a"])
    for _ in range(11):
        vector = joined([vector, vector])
    with pytest.raises(NetworkError, match="numbers side by side"):
        joined([vector, vector])


def test_what_is_too_deep_is_refused() -> None:
    vector: FlowVector = leaf(["a"])
    for _ in range(3000):
        vector = relu(scaled(vector, 0.5))
    with pytest.raises(NetworkError, match="layers deep"):
        layer_out(vector, Arithmetic.FLOAT64)
