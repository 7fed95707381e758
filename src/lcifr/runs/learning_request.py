"""What ``produce`` and ``tune`` have in common: the people to learn from, how to learn, and an encoder made of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.learn.defaults import ENCODER, HELD_OUT_SHARE
from lcifr.runs.formulas import fit_similarity, read_formula
from lcifr.runs.people.tables import is_file
from lcifr.runs.people.train_test import TrainTest, read_train_test

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder


@dataclass(frozen=True, kw_only=True)
class LearningRequest:
    """From whom an encoder is learned, and how, whatever the weight of the promise.

    Parameters
    ----------
    table : a .csv or .parquet file of people, or the name of a dataset. phi : a .phi file, or the name of a ready one.
    out : the new folder. force : replace it if lcifr wrote it.
    target, schema, id_column : what is predicted, what the columns mean, and who people are; None as the schema says,
        for the .toml beside φ or what is inferred, and for row numbers.
    sample : learn from so many people, drawn at random. held_out : the share that nobody trains on.
    stretch, decoder_weight, class_weight, whole_numbers, latent, hidden, epochs, batch : as
        :class:`lcifr.FairEncoder` has them.
    share_formula : whether the hand-over shows φ. bundle : whether proofs are written for the exact checker.
    arithmetic : in which the encoder is computed: ``exact``, ``float64`` or ``float32``.
    workers : processes; None for one per core. chunk : people per part; None to choose. seed : of splits and training.
    """

    table: str
    phi: str
    out: Path
    target: str | None = None
    schema: str | None = None
    id_column: str | None = None
    sample: int | None = None
    held_out: float = HELD_OUT_SHARE
    stretch: float = ENCODER.stretch
    decoder_weight: float = ENCODER.decoder_weight
    class_weight: str | None = None
    whole_numbers: bool = False
    latent: int = ENCODER.latent_dim
    hidden: tuple[int, ...] = ENCODER.hidden
    epochs: int = ENCODER.epochs
    batch: int = ENCODER.batch_size
    share_formula: bool = True
    bundle: bool = True
    arithmetic: str = "float64"
    workers: int | None = None
    chunk: int | None = None
    seed: int = 0
    force: bool = False

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that are read, by argument."""
        files = {"phi": self.phi, "schema": self.schema}
        named = {name: Path(file) for name, file in files.items() if file and Path(file).is_file()}
        return ({"table": Path(self.table)} if is_file(self.table) else {}) | named

    def read_people(self) -> TrainTest:
        """Those to learn from and those held out; too many for a bundle are refused before anything is learned."""
        from lcifr.runs.handing_over import refuse_bundle

        people = read_train_test(
            self.table, self.phi, self.schema, self.target, self.id_column, self.held_out, self.seed, self.sample
        )
        if self.bundle:
            refuse_bundle(len(people.held_out))
        return people

    def encoder(self, people: TrainTest, **more: Any) -> FairEncoder:
        """Not yet fitted; a formula that bounds nothing is refused before anything is learned."""
        from lcifr.estimators import FairEncoder

        similarity = fit_similarity(*read_formula(self.phi), people.schema, people.train.X)
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
