"""Deployment of encoders and models: each alone, and the one on top of the other, as machines compute them."""

from __future__ import annotations

from typing import Protocol

from lcifr.data import Encoding
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rounding import Deployment, Stage
from lcifr.models.trees import CATEGORY, NetworkOnTrees, Trees, TreesDeployment, TreesOnLatents
from lcifr.phi.similarity import Similarity


class Encoder(Protocol):
    """Anything with a function to z, a similarity, the encoding of both, and whom its hand-overs cover."""

    @property
    def function(self) -> Network | Trees: ...

    @property
    def similarity(self) -> Similarity: ...

    @property
    def encoding(self) -> Encoding: ...

    @property
    def whole_numbers(self) -> bool: ...


def is_raw(encoder: Encoder) -> bool:
    """Whether z is x itself, encoded: then a model on top is one of people as they are."""
    return isinstance(encoder.function, Network) and encoder.function.is_identity


AskedModel = Deployment | TreesDeployment | NetworkOnTrees
"""A model about which one question is asked, from end to end."""
WholeModel = AskedModel | TreesOnLatents
"""A model as machines compute it."""


def deploy_model(model: Model, arithmetic: Arithmetic) -> Deployment | TreesDeployment:
    """The model alone, from z to its outputs."""
    if isinstance(model.function, Trees):
        return TreesDeployment(model.function, arithmetic)
    return deploy_networks(model, arithmetic)


def deploy_networks(model: Model, arithmetic: Arithmetic) -> Deployment:
    """The same of a model of networks."""
    return Deployment.on_latents(*(Stage(factor, arithmetic) for factor in model.factors))


def deploy_encoder(encoder: Encoder, arithmetic: Arithmetic) -> Deployment | TreesDeployment:
    """The encoder alone, from the table's values to z."""
    if isinstance(encoder.function, Trees):
        return TreesDeployment(encoder.function, arithmetic)
    return Deployment.on_people(encoder.encoding, Stage(encoder.function, arithmetic))


def deploy_both(encoder: Encoder, model: Model, arithmetic: Arithmetic, handed: Arithmetic | None) -> WholeModel:
    """The model on top of the encoder, whose own arithmetic is ``handed`` if it is another one."""
    handed = arithmetic if handed is None else handed
    if isinstance(model.function, Trees):
        trees = TreesDeployment(model.function, arithmetic)
        if is_raw(encoder):
            return trees
        if (model.function.nodes.kind == CATEGORY).any():
            raise NetworkError(
                "the trees split categories, and an encoder that mixes columns gives numbers only",
                fix="audit them on the raw columns, or trees that were trained on this encoder's latents",
            )
        if encoder.function.outputs != model.function.inputs:
            raise NetworkError(
                f"the encoder gives {encoder.function.outputs} numbers, the model takes {model.function.inputs}",
                fix="audit a model that was trained on this encoder's latents",
            )
        return TreesOnLatents(deploy_encoder(encoder, handed), trees)
    if isinstance(encoder.function, Trees):
        return NetworkOnTrees(TreesDeployment(encoder.function, handed), deploy_networks(model, arithmetic))
    first = Stage(encoder.function, handed)
    return Deployment.on_people(encoder.encoding, first, *(Stage(factor, arithmetic) for factor in model.factors))
