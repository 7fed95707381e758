"""What every weight of the promise costs and gives, from request to result; the chosen model as a producer's folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.learn.parameters import ENCODER, GAMMAS, Learner
from lcifr.workflows.events import Listener, StepKind, listening, step
from lcifr.workflows.folders import Command, Run, run_folder
from lcifr.workflows.options import LEARNERS, REQUIRED, TOLERANCE, WEIGHTS, option
from lcifr.workflows.producing import (
    LearningRequest,
    summarize,
    write_encoder,
    write_handover,
    write_model,
    write_people,
    write_proofs,
)

if TYPE_CHECKING:
    from lcifr.estimators import Frontier
    from lcifr.estimators.heads import Head
    from lcifr.estimators.tuning import Producer
    from lcifr.workflows.people import TrainTest
    from lcifr.workflows.results import ConsumerSummary, ProducerSummary, TuneResult

PLOT, MODEL = "frontier.svg", "model.safetensors"


@dataclass(frozen=True, kw_only=True)
class TuneRequest(LearningRequest):
    """What to try, on whom, and where the result goes; see :class:`lcifr.workflows.options.LearningOptions`."""

    required: float = option(REQUIRED, "The lowest acceptable score (R² for numbers).", most=1.0, before="target")
    by: str = option(
        "accuracy",
        "The score: accuracy, or balanced accuracy if one class is rare.",
        choices=("accuracy", "balanced"),
        before="target",
    )
    gammas: tuple[float, ...] = option(GAMMAS, "Weights to try.", spelling=WEIGHTS, before="held_out")
    tolerance: float | None = option(None, TOLERANCE, least=0.0, before="whole_numbers")
    learner: str = option(
        "network", f"{LEARNERS} both: search both, and choose one model.", choices=("network", "trees", "both")
    )

    def families(self, people: TrainTest, verbose: bool) -> list[Producer]:
        """What is searched: one of each family that was asked for."""
        wanted = (Learner.NETWORK, Learner.TREES) if self.learner == Learner.BOTH else (self.learner,)
        options = dict[str, Any](tolerance=float(self.tolerance or 0), verbose=verbose)
        return [self.producer(people, family, **options) for family in wanted]


def tune(
    request: TuneRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = (), verbose: bool = False
) -> TuneResult:
    """Learn with rising weights until the score falls below what is required, beside both baselines, and choose one.

    Where one is chosen, the folder ``request.out`` is a producer's and a consumer's. If interrupted, every finished
    model is kept, and the same request resumes.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
    verbose : whether learning has a bar on stderr.
    """
    from lcifr.workflows.producing import head_of

    with listening(listener):
        people = request.read_people()
        head = head_of(people.train.y, "auto", request.tolerance, request.class_weight, random_state=request.seed)
        if head._task == "regression" and request.by == "balanced":
            raise LcifrError("--by balanced is for classes, and the labels are numbers", fix="leave it out: R² counts")
        families = request.families(people, verbose)
        command = Command.of("tune", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            run.lost = "The model that was being learned starts anew."
            frontier, learned_from = _search(run, people, families, head, request)
            frontier.plot(run.work / PLOT)
            produced = model = None
            if frontier.encoder is not None:
                run.lost = "What was learned is kept."
                produced, model = _produce(run, people, frontier, learned_from, request)
            result = _result(frontier, request, produced, model)
            run.finish(result.to_dict())
    return result


def _search(
    run: Run, people: TrainTest, families: list[Producer], head: Head, request: TuneRequest
) -> tuple[Frontier, int]:
    """What was found, and from how many people everything was learned."""
    from lcifr.estimators import tune as search
    from lcifr.estimators.validation import split_rows
    from lcifr.workflows.producing import one_thread

    labels = None if head._task == "regression" else people.train.y
    rows, others = split_rows(
        len(people.train), ENCODER.validation_fraction, labels, request.seed
    )  # as fit itself does: the same models
    training, checking = people.train.take(rows), people.train.take(others)
    most = len(families) * (len(request.gammas) + 2)
    title = f"Learning up to {most} models from {len(training)} people"
    with one_thread(say=False), step(title, StepKind.LONG):
        found = search(
            families,
            training.X,
            training.y,
            validation=(checking.X, checking.y),
            required=request.required,
            gammas=list(request.gammas),
            by=request.by,
            head=head,
            folder=run.work / "search",
        )
    return found, len(training)


def _produce(
    run: Run, people: TrainTest, frontier: Frontier, learned_from: int, request: TuneRequest
) -> tuple[ProducerSummary, ConsumerSummary]:
    """The chosen models as a producer's and a consumer's folder have them."""
    encoder, head = frontier.encoder, frontier.head
    assert encoder is not None
    assert head is not None
    write_people(run.work, people)
    write_encoder(run.steps, people, request.phi, encoder)
    write_handover(run.steps, people, encoder, request)
    if request.bundle:
        write_proofs(run.steps, people, encoder)
    warned = [f"{type(encoder).__name__}: {one}" for one in encoder.degeneracies_]
    produced = summarize(run.work, people, encoder, warned, bundle=request.bundle)
    return produced, write_model(run.work, produced, head, learned_from)


def _result(
    frontier: Frontier, request: TuneRequest, produced: ProducerSummary | None, model: ConsumerSummary | None
) -> TuneResult:
    from lcifr.workflows.results import TuneResult

    chosen = frontier.chosen
    return TuneResult(
        required=frontier.required,
        by=frontier.by,
        chosen=None if chosen is None else chosen.name,
        gamma=None if chosen is None else chosen.gamma,
        why=frontier.why,
        stretch=request.stretch,
        decoder_weight=request.decoder_weight,
        class_weight=request.class_weight,
        whole_numbers=request.whole_numbers,
        plain=frontier.plain,
        unaware=frontier.unaware,
        points=tuple(frontier.points),
        files={"plot": PLOT} if produced is None else {"plot": PLOT, "model": MODEL, **produced.files},
        produced=produced,
        model=model,
        others=frontier.others,
        tried=request.learner,
    )
