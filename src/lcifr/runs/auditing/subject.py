"""AuditSubject: what an audit is about, wherever it comes from: φ, encoding, model, arithmetic, library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, did_you_mean

if TYPE_CHECKING:
    from lcifr.certification.bundles.manifest import Hashes
    from lcifr.certification.library.library_model import LibraryModel
    from lcifr.certification.producer import FrozenEncoder
    from lcifr.data import Individuals, Schema
    from lcifr.models.arithmetic import Arithmetic
    from lcifr.models.model import Model
    from lcifr.runs.auditing.result import ModelSummary


class AuditSubject(ABC):
    """The whole model with its φ: h ∘ f of a producer and a consumer, or a model of another library.

    ``encoder`` has the φ that is asked about; ``arithmetic`` is the one in which both are computed.
    """

    encoder: FrozenEncoder
    arithmetic: Arithmetic

    @property
    @abstractmethod
    def model(self) -> Model:
        """What decides on the encoder's numbers, as proofs see it."""

    @property
    def library(self) -> LibraryModel | None:
        """The library that the model comes from, without whose word nothing is a counterexample; None for our own."""
        return None

    @abstractmethod
    def summary(self) -> ModelSummary:
        """What is said of it in every result."""

    @property
    def schema(self) -> Schema:
        return self.encoder.encoding.schema

    @cached_property
    def hashes(self) -> Hashes:
        """What all verdicts must be about."""
        from lcifr.certification.bundles.manifest import Hashes

        return Hashes.of(self.encoder, self.model, self.arithmetic)

    def decide(self, people: Individuals) -> Any:
        """(people,) decisions in the model's own labels."""
        if not len(people):
            return []
        return self.model.predict(self.encoder.transform(people))

    def check_groups(self, asked: tuple[str, ...] | None) -> None:
        """Refuse subgroups by what is no attribute, before anything is proved."""
        for name in asked or ():
            if name not in self.schema:
                raise LcifrError(f'--by: there is no attribute "{name}".{did_you_mean(name, self.schema.names)}')

    def groups(self, people: Individuals, asked: tuple[str, ...] | None) -> dict[str, Any]:
        """Subgroups by category: those that were asked for, or those that φ leaves free."""
        similarity = self.encoder.similarity
        free = {*similarity.free_attributes, *similarity.sometimes_free_attributes}
        wanted = asked or [one.name for one in self.schema.categorical if one.name in free]
        return {name: people.to_pandas()[name].to_numpy() for name in wanted}
