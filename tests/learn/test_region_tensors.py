"""The bound loss: its gradient is right, it is the bound of the proofs, and training on it lowers what is proved."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from torch.nn.functional import softplus

from lcifr.data import Encoding
from lcifr.errors import LearningError
from lcifr.estimators import FairEncoder, plain
from lcifr.learn.encoder import EncoderTraining, bound_radius
from lcifr.learn.parameters import EncoderSettings
from lcifr.learn.region_tensors import RegionTensors
from lcifr.learn.target import EncodedPeople, Target
from lcifr.models.loaders.torch import torch_parameters
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from lcifr.prove import radius
from lcifr.prove.networks.linear_bounds import tensors
from tests.learn.populations import FORMULA, SCHEMA, population

FORMULAS = {
    "categories and a box": FORMULA,
    "only categories": "same(all except sex, job)",
    "two cells": "same(all except sex) or same(categorical) and numeric within 0.5 sd",
    "conditions on x": 'same(job) and (sex = "male" implies age\' >= age) and numeric within 0.4 sd',
    "linear rows": "same(job) and numeric within 0.5 sd and |age' - age - 12*income' + 12*income| <= 1",
}


def setting(text: str, people: int = 12, seed: int = 0) -> tuple[np.ndarray, RegionTensors, Similarity, object]:
    training, _ = population(200, seed=1)
    encoding = Encoding.fit(training, SCHEMA)
    similarity = Similarity(text, SCHEMA, encoding)
    X, _ = population(people, seed=seed)
    region = similarity.region(X)
    return encoding.encode(X), RegionTensors.of(region), similarity, region


def random_layers(features: int, widths: tuple[int, ...], seed: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    draw = torch.Generator().manual_seed(seed)
    sizes = [features, *widths]
    return [
        (
            torch.randn(n, m, generator=draw, dtype=torch.float64) / m**0.5,
            torch.randn(n, generator=draw, dtype=torch.float64) / 4,
        )
        for m, n in pairwise(sizes)
    ]


def forward(layers: list[tuple[torch.Tensor, torch.Tensor]], x: torch.Tensor) -> torch.Tensor:
    for weight, bias in layers[:-1]:
        x = torch.relu(x @ weight.T + bias)
    return x @ layers[-1][0].T + layers[-1][1]


@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "linear rows"])
@pytest.mark.parametrize("widths", [(3,), (6, 3), (5, 4, 2)])
def test_gradient_equals_finite_differences(name: str, widths: tuple[int, ...]) -> None:
    x, region, _, _ = setting(FORMULAS[name])
    layers = random_layers(x.shape[1], widths, seed=len(widths))
    index = torch.arange(len(x))

    def total(*flat: torch.Tensor) -> torch.Tensor:
        pairs = list(zip(flat[0::2], flat[1::2], strict=True))
        return region.radius(pairs, forward(pairs, torch.as_tensor(x)), index).sum()

    flat = [part.clone().requires_grad_() for pair in layers for part in pair]
    gradients = torch.autograd.grad(total(*flat), flat, allow_unused=True)
    draw = torch.Generator().manual_seed(7)
    for _ in range(4):
        direction = [torch.randn(part.shape, generator=draw, dtype=torch.float64) for part in flat]
        step = 1e-6
        up = total(*(part.detach() + step * d for part, d in zip(flat, direction, strict=True)))
        down = total(*(part.detach() - step * d for part, d in zip(flat, direction, strict=True)))
        slope = sum(float((g * d).sum()) for g, d in zip(gradients, direction, strict=True) if g is not None)
        assert float(up - down) / (2 * step) == pytest.approx(slope, rel=1e-4, abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(name=st.sampled_from(list(FORMULAS)), seed=st.integers(0, 10_000), depth=st.integers(1, 3))
def test_loss_is_never_below_what_is_reached_nor_below_the_proof(name: str, seed: int, depth: int) -> None:
    x, bounded, _, region = setting(FORMULAS[name], people=6, seed=seed)
    layers = random_layers(x.shape[1], (5, 4, 3)[-depth:], seed)
    network = Network.from_arrays([(w.numpy(), b.numpy()) for w, b in layers])
    latent = torch.as_tensor(network(x))
    loss = bounded.radius(tensors(network), latent, torch.arange(len(x))).numpy()
    points = region.sample(100, seed=seed)  # type: ignore[attr-defined]
    reached = np.abs(network(np.nan_to_num(points)) - latent.numpy()[:, None]).max(2)
    reached[np.isnan(points[:, :, 0])] = 0.0
    assert (reached.max(1) <= loss + 1e-9).all()
    plain_bounds = bound_radius(network, x, region).radius  # type: ignore[arg-type]
    np.testing.assert_allclose(loss, plain_bounds, rtol=1e-6, atol=1e-9)  # the loss is what is proved
    assert (reached.max(1) <= plain_bounds).all()
    if name == "linear rows":
        return  # each side chooses its own multipliers there
    # The proofs spend more on slopes than a loss does, so they may be tighter, never looser.
    assert (radius(network, x, region, method="bounds").radius <= loss + 1e-9).all()  # type: ignore[arg-type]


def test_rows_make_the_bound_smaller() -> None:
    x, with_rows, _, _ = setting(FORMULAS["linear rows"], people=30)
    loose = "same(job) and numeric within 0.5 sd"
    _, without, _, _ = setting(loose, people=30)
    layers = random_layers(x.shape[1], (6, 3), seed=3)
    latent, index = forward(layers, torch.as_tensor(x)), torch.arange(len(x))
    tight, wide = (side.radius(layers, latent, index) for side in (with_rows, without))
    assert (tight <= wide + 1e-9).all()
    assert float(tight.mean()) < 0.98 * float(wide.mean())


@pytest.mark.parametrize("method", ["bounds", "dl2"])
@pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
def test_training_lowers_the_proved_radius_of_people_held_out(method: str) -> None:
    X, y = population(300)
    others, labels = population(150, seed=9)
    gamma = 3.0 if method == "bounds" else 0.3
    encoder = FairEncoder(
        FORMULA, schema=SCHEMA, method=method, gamma=gamma, batch_size=32, epochs=15, latent_dim=4, learning_rate=5e-3
    )
    fair, bare = encoder.fit(X, y), plain(encoder).fit(X, y)

    def relative(model: FairEncoder) -> float:
        """ε against the spread of z: shrinking z as a whole gains nothing."""
        found = model.radius(others)
        return float(found.radius.mean() / found.latent.std(0).mean())

    assert relative(fair) < 0.6 * relative(bare)
    assert fair.history_[-1].validation.score > 0.7
    assert fair.history_[-1].validation.certified > bare.history_[-1].validation.certified
    assert labels.mean() == pytest.approx(0.5, abs=0.2)


def test_the_label_must_survive_the_stretched_radius() -> None:
    """(plain + γ·worst) / (1 + γ), the worst loss of two classes being softplus(stretch·ε‖w‖₁ − y·logit)."""
    x, bounded, _, region = setting(FORMULA, people=20)
    label = (np.arange(20) % 2).astype(float)
    people = EncodedPeople(x, region, label, np.ones(20))  # type: ignore[arg-type]
    target, index = Target.of(label), torch.arange(20)
    losses = []
    for stretch in (0.5, 1.0, 4.0):
        chosen = EncoderSettings(gamma=3.0, stretch=stretch, latent_dim=4, dtype="float64")
        torch.manual_seed(5)  # the same weights each time
        producer = EncoderTraining(people, people, target, chosen, seed=0)
        layers, (weight, bias) = torch_parameters(producer.module.encoder), torch_parameters(producer.module.head)[0]
        latent = forward(layers, torch.as_tensor(x))
        logit = (latent @ weight.T + bias)[:, 0] * torch.as_tensor(2 * label - 1)
        reach = stretch * bounded.radius(layers, latent, index) * weight.abs().sum()
        expected = (softplus(-logit).mean() + 3.0 * softplus(reach - logit).mean()) / 4.0
        losses.append(float(producer.loss(index, 1.0).detach()))
        assert losses[-1] == pytest.approx(float(expected.detach()), rel=1e-9)
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]


@pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
def test_stretch_certifies_more_people_where_gamma_alone_does_not() -> None:
    X, y = population(300)
    encoder = FairEncoder(
        FORMULA, schema=SCHEMA, gamma=30.0, batch_size=32, epochs=15, latent_dim=4, learning_rate=5e-3
    )
    shares = [clone(encoder).set_params(stretch=s).fit(X, y).history_[-1].validation.certified for s in (1.0, 4.0)]
    assert shares[1] > shares[0]


@pytest.mark.parametrize("stretch", [0.0, -1.0, float("nan"), float("inf")])
def test_a_stretch_that_is_no_factor_is_refused(stretch: float) -> None:
    X, y = population(30)
    with pytest.raises(LearningError, match="stretch"):
        FairEncoder(FORMULA, schema=SCHEMA, stretch=stretch).fit(X, y)


def test_memory_does_not_grow_with_the_number_of_categories() -> None:
    """One allowed mask and one fixed part per person: nothing is enumerated."""
    few, many = (_sizes(values) for values in (3, 60))
    assert many["still"] <= few["still"] + 57
    assert many["allowed"] == 60


def _sizes(values: int) -> dict[str, int]:
    from lcifr.regions.region import Region

    people, columns = 5, np.arange(1, values + 1)
    region = Region.from_arrays(
        np.zeros((people, values + 1)),
        np.ones((people, values + 1)),
        [(columns, np.ones((people, values), bool))],
    )
    (cell,) = RegionTensors.of(region).cells
    return {"still": cell.still.shape[1], "allowed": cell.allowed[0].shape[1]}
