"""The producer's proof: encoders as certificates see them, and the radius and box of every person."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.folder import versions
from lcifr.artifacts.handover import FloatArray, Representation
from lcifr.artifacts.provenance import Provenance
from lcifr.certification.deployment import Encoder, deploy_encoder
from lcifr.data import Encoding, Individuals
from lcifr.data.io.ids import Id, as_ids
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.deployed import REFUSED
from lcifr.models.network import Network, as_network
from lcifr.models.trees.trees import Trees
from lcifr.prove import Budget
from lcifr.prove.radius import prove_box
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.similarity import Similarity


def freeze(encoder: Any) -> FrozenEncoder:
    """A frozen copy of an encoder: of what was fitted (``network_``, ``score_trees_``), else of ``network``."""
    if isinstance(encoder, FrozenEncoder):
        return encoder
    # A fitted estimator first: its `similarity` without _ is what it was asked for, which may be a text.
    for name, similarity in FITTED:
        function = getattr(encoder, name, None)
        if isinstance(function, Network | Trees):
            whole = bool(getattr(encoder, "whole_numbers", False))
            return FrozenEncoder(function, getattr(encoder, similarity), whole)
    raise LcifrError(
        f"{type(encoder).__name__} has no network or trees, and no similarity",
        fix="pass a fitted FairEncoder or FairBooster, or FrozenEncoder(network, similarity)",
    )


FITTED = (("network_", "similarity_"), ("score_trees_", "similarity_"), ("network", "similarity"))
"""Where encoders keep the function that gives z, and φ."""


@dataclass(frozen=True)
class FrozenEncoder:
    """An encoder that cannot be trained: for networks trained elsewhere, and for models of people as they are.

    Parameters
    ----------
    function : from encoded people to z: a network, or the trees of a booster, whose z are scores of attributes.
    whole_numbers : whether its hand-overs speak about whole numbers only, where the schema calls an attribute whole.
    """

    function: Network | Trees
    similarity: Similarity
    whole_numbers: bool = False

    def __post_init__(self) -> None:
        features = len(self.encoding.features)
        if self.function.inputs != features:
            raise LcifrError(
                f"the encoder takes {self.function.inputs} features, the encoding gives {features}",
                fix="train the network on what Encoding.encode gives",
            )

    @classmethod
    def identity(cls, similarity: Similarity) -> FrozenEncoder:
        """z is x itself, encoded: audits of models that were trained on people, not on representations."""
        features = len(similarity.encoding.features)
        return cls(Network.from_arrays([(np.eye(features), np.zeros(features))]), similarity)

    @property
    def network(self) -> Network:
        """The function, where it is a network; an error that says what it is instead."""
        return as_network(self.function)

    @property
    def encoding(self) -> Encoding:
        return self.similarity.encoding

    @property
    def native(self) -> Arithmetic:
        """The arithmetic of the encoder's runtime."""
        return self.function.native

    @property
    def free_attributes(self) -> set[str]:
        """Those that φ leaves free, always or sometimes."""
        return {*self.similarity.free_attributes, *self.similarity.sometimes_free_attributes}

    def region(self, people: Individuals) -> Region:
        """S_φ of these people over the reals."""
        return self.similarity.region(people)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, width) z."""
        return self.function(self.encoding.encode(X))

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """See :func:`represent`."""
        return represent(self, X, ids, **options)


TREES = "trees"
"""The method of a hand-over whose z are scores of attributes: leaves that can be reached, in closed form."""
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
    encoder : a fitted ``FairEncoder`` or ``FairBooster``, or anything with ``network``, ``similarity`` and
        ``encoding``.
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
    tight: bool = False,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Representation:
    """:func:`represent` of people whose regions are at hand; ``provenance`` names tolerance and arithmetic.

    ``tight``: every end of the box as near as the tolerance, not only those that the radius needs.
    """
    tolerance = provenance.tolerance
    options = dict[str, Any](tolerance=(1 - ROOM) * tolerance, tight=tight, budget=budget, device=device)
    found = prove_box(encoder.function, encoder.encoding.encode(people), region, **options)
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
        weights=encoder.function.hash,
        schema=hashlib.sha256(schema).hexdigest(),
        encoding=encoder.encoding.hash,
        similarity=encoder.similarity.hash,
        similarity_text=encoder.similarity.canonical_text if shown else None,
        scales=encoder.encoding.to_dict() if shown else None,
        tolerance=tolerance,
        method=TREES if isinstance(encoder.function, Trees) else "cascade",
        whole_numbers=encoder.whole_numbers,
        arithmetic=arithmetic,
        versions=versions(),
    )
