"""Frozen encoders: the network, formula and scales that certificates are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import Network

if TYPE_CHECKING:
    from lcifr.artifacts.handover import Representation
    from lcifr.data import Encoding
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

    Examples
    --------
    >>> FrozenEncoder.identity(similarity)  # doctest: +SKIP
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
        """The arithmetic of the network's runtime; EXACT where the encoding has steps of its own."""
        return self.network.native if self.encoding.standardises else Arithmetic.EXACT

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, width) z."""
        return self.network(self.encoding.encode(X))

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """See :func:`lcifr.certification.producer.represent`."""
        from lcifr.certification.producer import represent

        return represent(self, X, ids, **options)
