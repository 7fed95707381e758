"""Weights and people for the benchmarks: short training runs on the paper's datasets, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from lcifr import datasets
from lcifr.data.encoding import Encoding
from lcifr.models.network import Network
from lcifr.regions.region import Region
from lcifr.similarity.similarity import Similarity


@dataclass(frozen=True)
class Setting:
    """One benchmark: which data, which ready formula, which encoder, and how it is trained."""

    dataset: str
    similarity: str
    hidden: int
    latent: int
    fairness: float
    epochs: int
    people: int

    @property
    def title(self) -> str:
        """For the table."""
        kind = "plain" if self.fairness == 0 else f"γ {self.fairness:g}"
        return f"{self.similarity}, {self.hidden}+{self.latent}, {kind}"


@dataclass(frozen=True)
class Case:
    """Encoder, linear head, test people and their regions.

    Parameters
    ----------
    encoder : the network whose radius is asked for. head : (latent,) and bias of the decision.
    x : (people, features). region : of these people.
    """

    encoder: Network
    head: np.ndarray
    bias: float
    x: np.ndarray
    region: Region

    @property
    def targets(self) -> np.ndarray:
        """(people,) the radius up to which the head's decision cannot change: |logit| / ‖w‖₁."""
        return np.asarray(np.abs(self.encoder(self.x) @ self.head + self.bias) / np.abs(self.head).sum())


def prepare(setting: Setting, seed: int) -> Case:
    """Load, encode, train, and lower the similarity for the whole test set."""
    data = datasets.load(setting.dataset)
    encoding = Encoding.fit(data.train.X, data.schema)
    similarity = Similarity.ready(setting.similarity, data.schema, encoding)
    train = torch.tensor(encoding.encode(data.train.X))
    label = torch.tensor(np.asarray(data.train.y, dtype=np.float64))
    near = similarity.region(data.train.X).sample(4, seed=seed) if setting.fairness else None
    encoder, head = fit(train, label, None if near is None else torch.tensor(near), setting, seed)
    x = encoding.encode(data.test.X)
    weight = head.weight.detach().numpy()[0]
    return Case(Network.from_torch(encoder), weight, float(head.bias.detach()), x, similarity.region(data.test.X))


def fit(
    x: torch.Tensor, y: torch.Tensor, near: torch.Tensor | None, setting: Setting, seed: int
) -> tuple[nn.Sequential, nn.Linear]:
    """Adam on the logistic loss, plus the weighted distance between people and sampled similar people."""
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Linear(x.shape[1], setting.hidden), nn.ReLU(), nn.Linear(setting.hidden, setting.latent))
    head = nn.Linear(setting.latent, 1)
    encoder.double(), head.double()
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
