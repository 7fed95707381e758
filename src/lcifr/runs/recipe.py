"""What ``produce`` and ``tune`` have in common: settings, and an encoder made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lcifr.runs.formulas import fit_similarity, read_formula
from lcifr.runs.people.tables import TrainTest

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder


@dataclass(frozen=True)
class LearningSettings:
    """How to learn, whatever the weight of the promise."""

    stretch: float
    decoder_weight: float
    class_weight: str | None
    whole_numbers: bool
    latent: int
    hidden: tuple[int, ...]
    epochs: int
    batch: int
    seed: int

    def encoder(self, people: TrainTest, phi: str, **more: Any) -> FairEncoder:
        """Not yet fitted; a formula that bounds nothing is refused before anything is learned."""
        from lcifr.estimators import FairEncoder

        similarity = fit_similarity(*read_formula(phi), people.schema, people.train.X)
        similarity.region(people.train.X.slice(0, 1))
        return FairEncoder(
            similarity,
            stretch=self.stretch,
            decoder_weight=self.decoder_weight,
            class_weight=self.class_weight,
            whole_numbers=self.whole_numbers,
            latent_dim=self.latent,
            hidden=self.hidden,
            epochs=self.epochs,
            batch_size=self.batch,
            random_state=self.seed,
            **more,
        )
