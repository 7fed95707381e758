"""The producer's work from request to result: learn z, prove everybody's radius, hand over, write proofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lcifr.errors import LcifrError
from lcifr.learn.parameters import ENCODER
from lcifr.runs.events import Listener, StepKind, listening, step
from lcifr.runs.folders.producer import (
    LEARNED,
    summarize,
    write_encoder,
    write_handover,
    write_model,
    write_people,
    write_proofs,
)
from lcifr.runs.folders.run import Run, run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.learning_request import LearningRequest

if TYPE_CHECKING:
    from lcifr.estimators.baselines import Producer
    from lcifr.runs.folders.results import ProduceResult
    from lcifr.runs.people.train_test import TrainTest


@dataclass(frozen=True, kw_only=True)
class ProduceRequest(LearningRequest):
    """What to learn, from whom, and where the result goes; see :class:`LearningRequest`.

    Parameters
    ----------
    gamma : weight of the promise against accuracy.
    unaware : learn for the label alone, without reading what φ leaves free; gamma and stretch then mean nothing.
    """

    gamma: float = ENCODER.gamma
    unaware: bool = False


def produce(
    request: ProduceRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = (), verbose: bool = False
) -> ProduceResult:
    """Learn an encoder or booster from a table and φ, prove how far anybody similar can land, and hand over.

    Writes the folder ``request.out``. Stopped once it has learned, the same request goes on where it was.

    Parameters
    ----------
    listener : hears the events of :mod:`lcifr.runs.events`. argv : the words of the command line, for the settings.
    verbose : whether learning has a bar on stderr.
    """
    from lcifr.estimators import FairBooster
    from lcifr.runs.folders.results import ProduceResult

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
            result = ProduceResult(request.unaware, summary, own)
            run.finish(result.to_dict())
    return result


def _encoder(run: Run, people: TrainTest, request: ProduceRequest, verbose: bool) -> tuple[Producer, list[str]]:
    """Learned now, or by the run that was stopped later."""
    from lcifr.runs.learning import load_encoder, one_thread

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
