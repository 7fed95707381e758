"""What ``produce`` and ``tune`` have in common: settings, and an encoder made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lcifr.runs.formulas import fit_similarity, read_formula
from lcifr.runs.tables import Crowd

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder


@dataclass(frozen=True)
class Recipe:
    """How to learn, whatever the weight of the promise."""

    stretch: float
    whole_numbers: bool
    latent: int
    hidden: tuple[int, ...]
    epochs: int
    batch: int
    seed: int

    def encoder(self, crowd: Crowd, phi: str, **more: Any) -> FairEncoder:
        """Not yet fitted; a formula that bounds nothing is refused before anything is learned."""
        from lcifr.estimators import FairEncoder

        similarity = fit_similarity(*read_formula(phi), crowd.schema, crowd.train.X)
        similarity.region(crowd.train.X.slice(0, 1))
        return FairEncoder(
            similarity,
            stretch=self.stretch,
            whole_numbers=self.whole_numbers,
            latent_dim=self.latent,
            hidden=self.hidden,
            epochs=self.epochs,
            batch_size=self.batch,
            random_state=self.seed,
            **more,
        )

    @property
    def words(self) -> str:
        """What a command line needs besides its defaults to learn alike."""
        stretch = "" if self.stretch == 1 else f" --stretch {self.stretch:g}"
        return stretch + (" --whole-numbers" if self.whole_numbers else "")
