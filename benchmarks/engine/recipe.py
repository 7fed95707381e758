"""Weights and people for the benchmarks: short training runs on the paper's datasets, the same on every machine."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from lcifr import datasets
from lcifr.data.encoding import Encoding
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Setting:
    """One benchmark: which data, which ready formula, which encoder and head, and how they are trained.

    Parameters
    ----------
    hidden : neurons of the encoder's hidden layers. head : of the head's; none is a linear head.
    """

    dataset: str
    similarity: str
    hidden: tuple[int, ...]
    latent: int
    fairness: float
    epochs: int
    people: int
    head: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """For the table."""
        kind = "plain" if self.fairness == 0 else f"γ {self.fairness:g}"
        return f"{self.similarity}, {'+'.join(map(str, (*self.hidden, self.latent)))}, {kind}"


@dataclass(frozen=True)
class Case:
    """Encoder, head, test people and their regions.

    Parameters
    ----------
    encoder : the network whose radius is asked for. head : of the decision, one output.
    x : (people, features). region : of these people; narrow : of those with whole numbers where the schema says so.
    """

    encoder: Network
    head: Network
    x: np.ndarray
    region: Region
    narrow: Region

    @property
    def targets(self) -> np.ndarray:
        """(people,) the radius up to which the decision of a linear head cannot change: |logit| / ‖w‖₁."""
        (last,) = self.head.layers
        return np.asarray(np.abs(self.head(self.encoder(self.x))[:, 0]) / np.abs(last.weight).sum())


def prepare(setting: Setting, seed: int) -> Case:
    """Load, encode, train, and lower the similarity for the whole test set."""
    data = datasets.load(setting.dataset)
    encoding = Encoding.fit(data.train.X, data.schema)
    similarity = Similarity.ready(setting.similarity, data.schema, encoding)
    train = torch.tensor(encoding.encode(data.train.X))
    label = torch.tensor(np.asarray(data.train.y, dtype=np.float64))
    near = similarity.region(data.train.X).sample(4, seed=seed) if setting.fairness else None
    encoder, head = fit(train, label, None if near is None else torch.tensor(near), setting, seed)
    regions = (similarity.region(data.test.X, whole_numbers=whole) for whole in (False, True))
    return Case(Network.from_torch(encoder), Network.from_torch(head), encoding.encode(data.test.X), *regions)


def fit(
    x: torch.Tensor, y: torch.Tensor, near: torch.Tensor | None, setting: Setting, seed: int
) -> tuple[nn.Sequential, nn.Sequential]:
    """Adam on the logistic loss, plus the weighted distance between people and sampled similar people."""
    torch.manual_seed(seed)
    encoder, head = layers(x.shape[1], *setting.hidden, setting.latent), layers(setting.latent, *setting.head, 1)
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(setting.epochs):
        for batch in torch.randperm(len(x)).split(256):
            z = encoder(x[batch])
            loss = nn.functional.binary_cross_entropy_with_logits(head(z)[:, 0], y[batch])
            if near is not None:
                moved = (encoder(near[batch]) - z[:, None]).abs().amax((1, 2))
                loss = loss + setting.fairness * moved.mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return encoder, head


def layers(*widths: int) -> nn.Sequential:
    """Affine layers with ReLU between them."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        parts += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*parts[:-1]).double()


def classifier(dataset: str, similarity: str, hidden: tuple[int, ...], seed: int, passes: int = 200) -> Case:
    """scikit-learn's MLPClassifier with its own settings, on all training people; the encoder passes people on."""
    from sklearn.neural_network import MLPClassifier

    data = datasets.load(dataset)
    encoding = Encoding.fit(data.train.X, data.schema)
    similar = Similarity.ready(similarity, data.schema, encoding)
    learner = MLPClassifier(hidden, max_iter=passes, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it could still learn more
        learner.fit(encoding.encode(data.train.X), np.asarray(data.train.y))
    head = Network.from_arrays(
        (weight.T, bias) for weight, bias in zip(learner.coefs_, learner.intercepts_, strict=True)
    )
    identity = Network.from_arrays([(np.eye(head.inputs), np.zeros(head.inputs))])
    regions = (similar.region(data.test.X, whole_numbers=whole) for whole in (False, True))
    return Case(identity, head, encoding.encode(data.test.X), *regions)
