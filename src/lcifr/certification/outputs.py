"""Outputs of people and latents: as computed here, and how far they can be from those that verdicts speak about."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.encoder import Encoder
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.deployed import REFUSED, Deployment, Stage
from lcifr.models.network import Network, gamma

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Outputs:
    """Parameters
    ----------
    values : (people, outputs) computed in float64, here.
    rounding_error : (people, outputs) how far ``values`` can be from exact arithmetic.
    deployment_error : (people, outputs) how far a machine that computes in the deployed arithmetic can be from exact;
        0 for exact arithmetic, REFUSED where it may overflow.
    """

    values: FloatArray
    rounding_error: FloatArray
    deployment_error: FloatArray

    @property
    def error(self) -> FloatArray:
        """(people, outputs) how far ``values`` can be from what a machine computes."""
        return np.asarray(self.rounding_error + self.deployment_error)

    @property
    def may_overflow(self) -> BoolArray:
        """(people,)"""
        return np.asarray((self.deployment_error >= REFUSED).any(1))

    def exactly(self) -> Outputs:
        """The same, to be compared with exact arithmetic."""
        return replace(self, deployment_error=np.zeros_like(self.values))

    def take(self, rows: NDArray[np.int64]) -> Outputs:
        """Of some of the people."""
        return Outputs(self.values[rows], self.rounding_error[rows], self.deployment_error[rows])


def deploy_both(encoder: Encoder, model: Network, arithmetic: Arithmetic, handed: Arithmetic | None) -> Deployment:
    """The model on top of the encoder, whose own arithmetic is ``handed`` if it is another one."""
    first = Stage(encoder.network, arithmetic if handed is None else handed)
    return Deployment.on_people(encoder.encoding, first, Stage(model, arithmetic))


def deploy_encoder(encoder: Encoder, arithmetic: Arithmetic) -> Deployment:
    """The encoder alone, from the table's values to z."""
    return Deployment.on_people(encoder.encoding, Stage(encoder.network, arithmetic))


def deploy_model(model: Network, arithmetic: Arithmetic) -> Deployment:
    """The model alone, from z to its outputs."""
    return Deployment.on_latents(Stage(model, arithmetic))


def outputs_of_latents(model: Network, latent: FloatArray, arithmetic: Arithmetic) -> Outputs:
    """The model's outputs at stored latents (people, width)."""
    error = deploy_model(model, arithmetic).error_at(latent)
    return Outputs(model(latent), 2.0 * model.error(latent), error)


def outputs_end_to_end(deployment: Deployment, features: FloatArray, *, roughly: bool = False) -> Outputs:
    """Two plain forward passes from encoded people (people, features).

    Parameters
    ----------
    roughly : one error of the deployment for all, which takes no time and is larger than that of each.
    """
    encoder, model = (stage.network for stage in deployment.stages)
    latent, rounding_error = encoder(features), encoder.error(features)
    for layer in model.layers:  # ReLU does not enlarge a difference
        rounding_error = rounding_error @ np.abs(layer.weight).T * (1.0 + gamma(layer.weight.shape[1] + 8))
    values = model(latent)
    error = np.tile(deployment.error_among(features), (len(values), 1)) if roughly else deployment.error_at(features)
    return Outputs(values, 2.0 * (rounding_error + model.error(latent)), error)
