"""Verdicts in deployed arithmetic: true on every machine that computes in it, and undecided where rounding decides."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from lcifr.certification import FrozenEncoder, Reason, Verdict, audit, certify, represent
from lcifr.certification.handover import Representation
from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_model
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule
from lcifr.phi.similarity import Similarity
from tests.certification.scenes import scene, thin

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


# -- coarser arithmetic, hand-overs, defaults, refusals ----------------------------------------------------------------


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
