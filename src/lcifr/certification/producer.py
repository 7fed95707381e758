"""The producer's proof: encoders as certificates see them, and the radius and box of every person."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.folder import versions
from lcifr.artifacts.handover import FloatArray, Representation
from lcifr.artifacts.provenance import Provenance
from lcifr.data import Encoding, Individuals
from lcifr.data.io.ids import Id, as_ids
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.deployed import REFUSED, Deployment, Stage
from lcifr.models.network import Network
from lcifr.prove import Budget, radius
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.similarity import Similarity


def freeze(encoder: Any) -> FrozenEncoder:
    """A frozen copy of an encoder: of ``network_`` and ``similarity_`` if it is fitted, else of those without _."""
    if isinstance(encoder, FrozenEncoder):
        return encoder
    # A fitted estimator first: its `similarity` without _ is what it was asked for, which may be a text.
    for network, similarity in (("network_", "similarity_"), ("network", "similarity")):
        if isinstance(getattr(encoder, network, None), Network):
            whole = bool(getattr(encoder, "whole_numbers", False))
            return FrozenEncoder(getattr(encoder, network), getattr(encoder, similarity), whole)
    raise LcifrError(
        f"{type(encoder).__name__} has no network and similarity",
        fix="pass a fitted FairEncoder, or FrozenEncoder(network, similarity)",
    )


class Encoder(Protocol):
    """Anything with a network, a similarity and the encoding that both speak about, and whom its hand-overs cover."""

    @property
    def network(self) -> Network: ...

    @property
    def similarity(self) -> Similarity: ...

    @property
    def encoding(self) -> Encoding: ...

    @property
    def whole_numbers(self) -> bool: ...


@dataclass(frozen=True)
class FrozenEncoder:
    """An encoder that cannot be trained: for networks trained elsewhere, and for models of people as they are.

    Parameters
    ----------
    whole_numbers : whether its hand-overs speak about whole numbers only, where the schema calls an attribute whole.
    """

    network: Network
    similarity: Similarity
    whole_numbers: bool = False

    def __post_init__(self) -> None:
        features = len(self.encoding.features)
        if self.network.inputs != features:
            raise LcifrError(
                f"the network takes {self.network.inputs} features, the encoding gives {features}",
                fix="train the network on what Encoding.encode gives",
            )

    @classmethod
    def identity(cls, similarity: Similarity) -> FrozenEncoder:
        """z is x itself, encoded: audits of models that were trained on people, not on representations."""
        features = len(similarity.encoding.features)
        return cls(Network.from_arrays([(np.eye(features), np.zeros(features))]), similarity)

    @property
    def encoding(self) -> Encoding:
        return self.similarity.encoding

    @property
    def native(self) -> Arithmetic:
        """The arithmetic of the network's runtime."""
        return self.network.native

    @property
    def free_attributes(self) -> set[str]:
        """Those that φ leaves free, always or sometimes."""
        return {*self.similarity.free_attributes, *self.similarity.sometimes_free_attributes}

    def region(self, people: Individuals) -> Region:
        """S_φ of these people over the reals."""
        return self.similarity.region(people)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, width) z."""
        return self.network(self.encoding.encode(X))

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """See :func:`represent`."""
        return represent(self, X, ids, **options)


def deploy_encoder(encoder: Encoder, arithmetic: Arithmetic) -> Deployment:
    """The encoder alone, from the table's values to z."""
    return Deployment.on_people(encoder.encoding, Stage(encoder.network, arithmetic))


TOLERANCE = 1e-6
"""How far, in absolute and relative terms, a proved radius may lie above the true one."""
ROOM = 0.5
"""Share of the tolerance that is added to every end of a box: room in which the same bound is proved again, by another
tree or in exact arithmetic. The proofs get the rest, so that the radius is as tight as was asked for."""


def represent(
    encoder: Any,
    X: Any,
    ids: Any = None,
    *,
    share_formula: bool = True,
    tolerance: float = TOLERANCE,
    budget: Budget | int | None = None,
    device: str | None = None,
    arithmetic: str | None = None,
) -> Representation:
    """Latents of people with the proved radius and box within which everybody similar lands.

    Parameters
    ----------
    encoder : a fitted ``FairEncoder``, or anything with ``network``, ``similarity`` and ``encoding``.
    X : a table of people.
    ids : one per person, text or whole numbers, each once; 0, 1, … if None.
    share_formula : whether the manifest shows the text of φ, with the scales that it takes to compare it with its
        hash, which is always there. A formula with ranks is never shown: its hash is one of training people's numbers.
    tolerance, budget, device : of the proofs; see :func:`lcifr.prove.radius`.
    arithmetic : in which the encoder is computed; as for :func:`lcifr.audit`. Ball and box hold what any such machine
        computes for the person and for everybody similar.
    """
    encoder = freeze(encoder)
    people = Individuals.read(X, encoder.encoding.schema)
    names = as_ids(ids, len(people))  # before hours of proofs
    region = encoder.similarity.region(people, whole_numbers=encoder.whole_numbers)
    deployed = choose_arithmetic(arithmetic, encoder.native)
    provenance = provenance_of(encoder, share_formula, tolerance, deployed)
    return represent_region(encoder, people, region, names, provenance, budget=budget, device=device)


def represent_region(
    encoder: Encoder,
    people: Individuals,
    region: Region,
    ids: tuple[Id, ...],
    provenance: Provenance,
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Representation:
    """:func:`represent` of people whose regions are at hand; ``provenance`` names tolerance and arithmetic."""
    tolerance = provenance.tolerance
    found = radius(
        encoder.network,
        encoder.encoding.encode(people),
        region,
        tolerance=(1 - ROOM) * tolerance,
        budget=budget,
        device=device,
    )
    room = _deployment_error(encoder, provenance.arithmetic, ids, people, region)
    lower = _widened(found.lower, -ROOM * tolerance) - room
    upper = _widened(found.upper, ROOM * tolerance) + room
    return Representation(
        ids=ids,
        latent=found.latent,
        radius=covering(found.latent, lower, upper),
        lower=lower,
        upper=upper,
        exact=found.exact,
        vacuous=~region.nonempty,
        provenance=provenance,
    )


def represent_lowered(
    encoder: Encoder,
    people: Individuals,
    lowered: Region,
    *,
    arithmetic: Arithmetic,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Representation:
    """The hand-over that an audit asks about, of people whose regions over the reals are at hand; φ is not shown."""
    region = narrow_to_whole_numbers(lowered, encoder.encoding) if encoder.whole_numbers else lowered
    provenance = provenance_of(encoder, False, TOLERANCE, arithmetic)
    names = as_ids(None, len(people))
    return represent_region(encoder, people, region, names, provenance, budget=budget, device=device)


def _deployment_error(
    encoder: Encoder, arithmetic: Arithmetic, ids: Sequence[Id], people: Individuals, region: Region
) -> FloatArray:
    """(people, width) how far a machine's f(x) and f(x′) can be from exact ones; overflow has no box and is refused."""
    deployment = deploy_encoder(encoder, arithmetic)
    error = np.maximum(deployment.error_at(encoder.encoding.encode(people)), deployment.error_over(region))
    rows = np.flatnonzero((error >= REFUSED).any(1))
    if len(rows):
        raise LcifrError(
            f'numbers may overflow in {arithmetic} for somebody similar to "{ids[rows[0]]}", so there is no radius',
            fix='say arithmetic="exact", or scale the weights down',
        )
    return np.asarray(error * (1.0 + 1e-9))


def _widened(ends: FloatArray, room: float) -> FloatArray:
    return np.asarray(ends + room * (1.0 + np.abs(ends)))


def covering(latent: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(people,) the radius of the ball around z that holds the box, rounded up."""
    return np.asarray(np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf))


def provenance_of(encoder: Encoder, share_formula: bool, tolerance: float, arithmetic: Arithmetic) -> Provenance:
    schema = json.dumps(encoder.encoding.schema.to_dict(), ensure_ascii=True).encode()
    shown = share_formula and not encoder.similarity.takes_ranks
    return Provenance(
        weights=encoder.network.hash,
        schema=hashlib.sha256(schema).hexdigest(),
        encoding=encoder.encoding.hash,
        similarity=encoder.similarity.hash,
        similarity_text=encoder.similarity.canonical_text if shown else None,
        scales=encoder.encoding.to_dict() if shown else None,
        tolerance=tolerance,
        method="cascade",
        whole_numbers=encoder.whole_numbers,
        arithmetic=arithmetic,
        versions=versions(),
    )
