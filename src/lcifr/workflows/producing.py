"""The work of ``lcifr produce``: learn z, prove each person's radius, hand over, write proofs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lcifr.errors import LcifrError
from lcifr.learn.parameters import ENCODER, Learner
from lcifr.workflows.events import Listener, StepKind, listening, step, warn
from lcifr.workflows.folders import Command, Run, run_folder
from lcifr.workflows.options import LearningOptions, learned, option
from lcifr.workflows.people import (
    HELD,
    HELD_OUT,
    TRAIN,
    PeopleSource,
    TrainTest,
    fit_similarity,
    is_file,
    part_for,
    read_formula,
    read_train_test,
    refuse_more,
    source_in_memory,
    write_table,
)
from lcifr.workflows.results import (
    MODEL,
    TRAINING,
    ConsumerSummary,
    FormulaSummary,
    ProducerSummary,
    classes_of,
    plain_findings,
    read_findings,
)

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.estimators.heads import Head
    from lcifr.estimators.tuning import Producer
    from lcifr.phi import Similarity
    from lcifr.workflows.executors import Workers
    from lcifr.workflows.folders import Steps
    from lcifr.workflows.results import ProduceResult


# Learning of encoders and heads the same way every time: one thread, warnings as plain lines, heads by task.


@contextmanager
def one_thread(*, say: bool = True) -> Iterator[list[str]]:
    """Train on one thread: small networks lose time to more, and sums come out the same. Collects warnings.

    ``say`` : whether warnings are printed too; not if many models are trained, as they do not name the model.
    """
    from lcifr.learn.scores import DegenerateModelWarning
    from lcifr.workflows.executors import single_thread

    said = list[str]()
    with single_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateModelWarning)
        yield said
    for one in caught:
        text = str(one.message)
        if text not in said:
            said.append(text)
            if say:
                warn(text)


def load_encoder(folder: Path) -> Producer:
    """The encoder or booster of a producer's folder; training people are there for formulas that take ranks."""
    from lcifr.estimators.saving import load_producer

    training = folder / TRAINING
    found: Producer = load_producer(folder / "encoder.safetensors", training=training if training.is_file() else None)
    return found


def head_of(
    y: Any, task: str, tolerance: float | None, class_weight: str | None, *, instead: str = "", **options: Any
) -> Head:
    """A classifier or a regressor, as the labels need; refused where what was asked for is about the other."""
    from lcifr.estimators import RobustClassifier, RobustRegressor
    from lcifr.learn.target import Target
    from lcifr.models.rule import Kind

    number = Target.of(y, task).kind is Kind.NUMBER
    if number and tolerance is None:
        raise LcifrError(
            "the labels are numbers, so a tolerance is needed: how far apart two predictions may be",
            fix=f"for example {example_tolerance(y)}, a tenth of their standard deviation{instead}",
        )
    if number and class_weight is not None:
        raise LcifrError("--class-weight is for classes, and the labels are numbers", fix="leave it out")
    if not number and tolerance is not None:
        raise LcifrError("--tolerance is for numbers, and the labels are classes", fix="leave it out")
    if number:
        return RobustRegressor(tolerance=float(tolerance or 0), **options)
    return RobustClassifier(class_weight=class_weight, **options)


def example_tolerance(y: Any) -> str:
    """An option to begin with: a tenth of these labels' standard deviation, one digit of it."""
    import numpy as np

    tenth = float(np.std(np.asarray(y, dtype=np.float64))) / 10
    return f"--tolerance {float(f'{tenth:.0e}'):g}"


# What ``produce`` and ``tune`` have in common: the people to learn from, what learns, and how.


@dataclass(frozen=True, kw_only=True)
class LearningRequest(LearningOptions):
    """From which people to learn, and how; see :class:`lcifr.workflows.options.LearningOptions`."""

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that are read, by argument."""
        files = {"phi": self.phi, "schema": self.schema}
        named = {name: Path(file) for name, file in files.items() if file and Path(file).is_file()}
        return ({"table": Path(self.table)} if is_file(self.table) else {}) | named

    def read_people(self) -> TrainTest:
        """Those to learn from and those held out; too many for a bundle are refused before anything is learned."""

        people = read_train_test(
            self.table, self.phi, self.schema, self.target, self.id_column, self.held_out, self.seed, self.sample
        )
        if self.bundle:
            refuse_bundle(len(people.held_out))
        return people

    def producer(self, people: TrainTest, family: str, **more: Any) -> Producer:
        """A producer of this family, not yet fitted; a formula that bounds nothing is refused before any training."""
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
            monotone=self.monotone,
            **shared,
        )


# Z and proved radius into a folder, proofs into another, and what to say of it.

BUNDLE = "bundle"


class HandingOver(Protocol):
    """What a request says of how people are handed over."""

    @property
    def share_formula(self) -> bool: ...
    @property
    def arithmetic(self) -> str: ...
    @property
    def crew(self) -> Workers: ...
    @property
    def chunk(self) -> int | None: ...


def hand_over(
    steps: Steps,
    name: str,
    encoder: Producer | FrozenEncoder,
    source: PeopleSource,
    options: HandingOver,
    *,
    title: str,
    device: str = "cpu",
) -> None:
    """Write the hand-over of these people to the folder ``name``, part by part, unless that is done already.

    Nothing else is written into that folder, which a consumer gets. ``device`` : where bounds are computed.
    """
    from lcifr.workflows.executors import job_device
    from lcifr.workflows.jobs import represent_file
    from lcifr.workflows.parts import note_resumed

    if steps.kept(name):
        return
    with step(title, StepKind.LONG):
        done = represent_file(
            encoder,
            source.worked_on,
            steps.work / name,
            id_column=source.id_column,
            chunk=part_for(source.count, options.chunk),
            workers=options.crew,
            share_formula=options.share_formula,
            arithmetic=options.arithmetic,
            device=job_device(device, options.crew),
        )
    steps.keep(name)
    note_resumed(done)


def refuse_bundle(people: int) -> None:
    """Before anything is proved: proofs are held in memory until they are written."""
    refuse_more(people, HELD, "--bundle", "say --no-bundle; or give a table of fewer people")


def prove_radii(steps: Steps, encoder: Producer | FrozenEncoder, source: PeopleSource, handed: str) -> None:
    """Write proofs of the radii in the hand-over ``handed`` to the bundle, unless they are already there."""
    from lcifr.certification.bundle import write_bundle
    from lcifr.certification.handover import Representation

    if not steps.kept(BUNDLE):
        with step(f"Writing the proofs of {source.count:,} people for the exact checker"):
            write_bundle(steps.work / BUNDLE, encoder, source.individuals(), Representation.read(steps.work / handed))
        steps.keep(BUNDLE)


# A producer's folder: people, labels, encoder, φ, the hand-over and the proofs; ``produce`` and ``tune`` write it.

ENCODER_FILE, LABELS = "encoder.safetensors", "labels.csv"
LEARNED = (ENCODER_FILE, "similar.phi", "schema.toml", LABELS)
HANDED = "handover"


def write_people(work: Path, people: TrainTest) -> None:
    """Attributes of both splits; formulas that take ranks need them to load an encoder."""
    for name, split in people.splits().items():
        write_table(work / "people" / f"{name}.parquet", split.X)


def write_encoder(steps: Steps, people: TrainTest, phi: str, encoder: Producer) -> None:
    """Labels, φ, schema and the encoder itself."""
    work = steps.work
    (work / "similar.phi").write_text(read_formula(phi)[0], encoding="utf-8")
    people.schema.save(work / "schema.toml")
    _write_labels(work / LABELS, people)
    encoder.save(work / ENCODER_FILE)
    steps.keep(*LEARNED)


def _write_labels(path: Path, people: TrainTest) -> None:
    import pandas as pd

    target = str(people.schema.target)
    name = "id" if target != "id" else "person"
    splits = people.splits().values()
    labels = {
        name: [one for split in splits for one in split.ids],
        target: [one for split in splits for one in split.y],
    }
    pd.DataFrame(labels).to_csv(path, index=False)


def write_handover(steps: Steps, people: TrainTest, encoder: Producer, options: HandingOver) -> None:
    """Write z and proved radius of everyone, each split in its own folder, unless they are already there."""
    for name, split in people.splits().items():
        title = f"Proving the radius of {len(split)} people ({name})"
        source = source_in_memory(split, people.schema)
        hand_over(steps, f"{HANDED}/{name}", encoder, source, options, title=title)


def write_proofs(steps: Steps, people: TrainTest, encoder: Producer) -> None:
    """Write proofs of the held-out people's radii, for an auditor."""
    prove_radii(steps, encoder, source_in_memory(people.held_out, people.schema), f"{HANDED}/{HELD_OUT}")


def summarize(
    work: Path, people: TrainTest, encoder: Producer, warned: Sequence[str], *, bundle: bool
) -> ProducerSummary:
    """What a producer's folder says of itself."""
    from lcifr.certification.handover import freeze, radius_summary
    from lcifr.estimators.boosters import BaseBooster
    from lcifr.phi.lint import lint

    similarity, network = encoder.similarity_, not isinstance(encoder, BaseBooster)
    return ProducerSummary(
        target=str(people.schema.target),
        data=people.data,
        task="classification" if encoder.target_ and len(encoder.target_.classes) else "regression",
        sizes={name: len(split) for name, split in people.splits().items()},
        held_out=people.held_out.ids,
        phi=FormulaSummary(similarity.text, similarity.explain(), similarity.hash, similarity.source),
        encoder=freeze(encoder).function.hash,
        unread=tuple(encoder.unread_),
        epochs=encoder.history_[-1].number + 1 if encoder.history_ else 0,
        radius=radius_summary(work / HANDED / HELD_OUT),
        warnings=tuple(warned),
        files={"encoder": ENCODER_FILE, "handover": HANDED, "bundle": BUNDLE if bundle else None, "labels": LABELS},
        learner=str(Learner.NETWORK if network else Learner.TREES),
        scores=() if network else tuple(map(str, encoder.get_feature_names_out())),
        findings=read_findings(plain_findings(tuple(lint(similarity, people.train.X)))),  # words, and no one's values
    )


def write_model(work: Path, made: ProducerSummary, head: Head, trained_on: int) -> ConsumerSummary:
    """A model on z beside the encoder: the folder is then a consumer's, too. Returns what it says of that."""
    from lcifr.certification.handover import Representation

    head.save(work / MODEL)
    return ConsumerSummary(
        target=made.target,
        task=made.task,
        classes=classes_of(head.model_),
        tolerance=getattr(head, "tolerance", None),
        trained_on=trained_on,
        provenance=Representation.read(work / HANDED / HELD_OUT).provenance,
        model=head.network_.hash,
    )


def suggest_tolerance(folder: Path, made: ProducerSummary) -> str:
    """An option to begin with, where labels are numbers: from those of the people who were learned from."""
    import pandas as pd

    labels = pd.read_csv(folder / LABELS)
    return example_tolerance(labels[made.target].to_numpy()[: made.sizes[TRAIN]])  # these come first


# The producer's work from request to result: learn z, prove everyone's radius, hand over, write proofs.


@dataclass(frozen=True, kw_only=True)
class ProduceRequest(LearningRequest):
    """What to learn, from whom, and where the result goes; see :class:`lcifr.workflows.options.LearningOptions`."""

    gamma: float = learned(ENCODER, "gamma", before="stretch")
    unaware: bool = option(
        False,
        "Train for the label alone, without the attributes that φ leaves free; ignores φ otherwise.",
        before="stretch",
    )


def produce(
    request: ProduceRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = (), verbose: bool = False
) -> ProduceResult:
    """Learn an encoder or booster from a table and φ, prove how far anyone similar can land, and hand over.

    Writes the folder ``request.out``. If interrupted after training, the same request resumes where it
    stopped.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
    verbose : whether learning has a bar on stderr.
    """
    from lcifr.estimators import FairBooster
    from lcifr.estimators.heads import Head  # noqa: F401  # a booster's folder holds a head: refused now without torch
    from lcifr.workflows.results import ProduceResult

    with listening(listener):
        people = request.read_people()
        command = Command.of("produce", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            encoder, warned = _encoder(run, people, request, verbose)
            write_handover(run.steps, people, encoder, request)
            if request.bundle:
                write_proofs(run.steps, people, encoder)
            summary = summarize(run.work, people, encoder, warned, bundle=request.bundle)
            own = None
            if isinstance(encoder, FairBooster):
                own = write_model(run.work, summary, encoder.head_, len(people.train))
            result = ProduceResult(unaware=request.unaware, produced=summary, model=own)
            run.finish(result.to_dict())
    return result


def _encoder(run: Run, people: TrainTest, request: ProduceRequest, verbose: bool) -> tuple[Producer, list[str]]:
    """Learned now, or by the run that was stopped later."""

    write_people(run.work, people)
    if run.steps.kept(*LEARNED):
        encoder = load_encoder(run.work)
        return encoder, [f"{type(encoder).__name__}: {one}" for one in encoder.degeneracies_]
    encoder = request.producer(people, request.learner, gamma=request.gamma, verbose=verbose)
    if request.unaware:
        encoder = _unaware(encoder, request.phi)
    run.lost = "Learning is not kept, it starts anew."
    with one_thread() as warned, step(f"Training on {len(people.train)} people", StepKind.LONG):
        encoder.fit(people.train.X, people.train.y)
    write_encoder(run.steps, people, request.phi, encoder)
    run.lost = "What was learned is kept."
    return encoder, warned


def _unaware(encoder: Producer, phi: str) -> Producer:
    """The baseline by that name; refused where there is nothing it could be unaware of."""
    from lcifr.estimators import unaware

    if not encoder.similarity.free_attributes:
        raise LcifrError(
            f"--unaware: {phi} mentions every attribute, so there is none for the encoder to ignore",
            fix="leave out --unaware, or remove the attributes that must not matter from φ",
        )
    return unaware(encoder)
