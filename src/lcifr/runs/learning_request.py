"""What ``produce`` and ``tune`` have in common: the people to learn from, what learns, and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.learn.parameters import BOOSTER, ENCODER, HELD_OUT_SHARE, Learner
from lcifr.runs.formulas import fit_similarity, read_formula
from lcifr.runs.people.tables import is_file
from lcifr.runs.people.train_test import TrainTest, read_train_test

if TYPE_CHECKING:
    from lcifr.estimators.baselines import Producer
    from lcifr.phi import Similarity


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
    learner : ``network`` for an encoder, ``trees`` for a booster; ``both`` is for ``tune``.
    stretch, class_weight, whole_numbers : as :class:`lcifr.FairEncoder` and :class:`lcifr.FairBooster` have them.
    decoder_weight, latent, hidden, epochs, batch : of :class:`lcifr.FairEncoder`.
    rounds, learning_rate, max_bins, min_people, subsample, interactions, depth, bags : of :class:`lcifr.FairBooster`.
    monotone : of boosters; pairs of an attribute and 1 (rising) or -1 (falling).
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
    learner: str = Learner.NETWORK
    stretch: float = ENCODER.stretch
    decoder_weight: float = ENCODER.decoder_weight
    class_weight: str | None = None
    whole_numbers: bool = False
    latent: int = ENCODER.latent_dim
    hidden: tuple[int, ...] = ENCODER.hidden
    epochs: int = ENCODER.epochs
    batch: int = ENCODER.batch_size
    rounds: int = BOOSTER.rounds
    learning_rate: float = BOOSTER.learning_rate
    max_bins: int = BOOSTER.max_bins
    min_people: int = BOOSTER.min_people
    subsample: float = BOOSTER.subsample
    interactions: int | str = BOOSTER.interactions
    depth: int = BOOSTER.depth
    bags: int = BOOSTER.bags
    monotone: tuple[tuple[str, int], ...] = ()
    share_formula: bool = True
    bundle: bool = True
    arithmetic: str = "float64"
    workers: int | None = None
    chunk: int | None = None
    seed: int = 0
    force: bool = False

    @property
    def crew(self) -> int | None:
        """Who proves the radii: processes of this machine."""
        return self.workers

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

    def producer(self, people: TrainTest, family: str, **more: Any) -> Producer:
        """Of this family, not yet fitted; a formula that bounds nothing is refused before anything is learned."""
        similarity = fit_similarity(*read_formula(self.phi), people.schema, people.train.X)
        similarity.region(people.train.X.slice(0, 1))
        shared = dict[str, Any](
            stretch=self.stretch,
            class_weight=self.class_weight,
            whole_numbers=self.whole_numbers,
            random_state=self.seed,
            **more,
        )
        made = self._booster if family == Learner.TREES else self._encoder
        return made(similarity, people, shared)

    def _encoder(self, similarity: Similarity, _: TrainTest, shared: dict[str, Any]) -> Producer:
        from lcifr.estimators import FairEncoder

        return FairEncoder(
            similarity,
            decoder_weight=self.decoder_weight,
            latent_dim=self.latent,
            hidden=self.hidden,
            epochs=self.epochs,
            batch_size=self.batch,
            **shared,
        )

    def _booster(self, similarity: Similarity, people: TrainTest, shared: dict[str, Any]) -> Producer:
        from lcifr.estimators import FairBooster, FairBoosterRegressor
        from lcifr.learn.target import Target
        from lcifr.models.rule import Kind

        number = Target.of(people.train.y, "auto").kind is Kind.NUMBER
        if number and self.class_weight is not None:
            raise LcifrError("--class-weight is for classes, and the labels are numbers", fix="leave it out")
        return (FairBoosterRegressor if number else FairBooster)(
            similarity,
            rounds=self.rounds,
            learning_rate=self.learning_rate,
            max_bins=self.max_bins,
            min_people=self.min_people,
            subsample=self.subsample,
            interactions=self.interactions,
            depth=self.depth,
            bags=self.bags,
            monotone=dict(self.monotone),
            **shared,
        )
