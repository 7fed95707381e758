"""``lcifr produce``: the producer's work. Learn z, prove everybody's radius, hand over, write the proofs."""

from __future__ import annotations

from lcifr.cli.options import Call, new_app, refuse_other_family, request_command
from lcifr.cli.output import say, watched
from lcifr.cli.statements import show_produced
from lcifr.errors import LcifrError
from lcifr.workflows.producing import ProduceRequest
from lcifr.workflows.producing import produce as run_produce
from lcifr.workflows.results import ProduceResult

app = new_app()
EXAMPLE = "Example: lcifr produce people.csv --phi people.phi --target repaid --out producer"


@request_command(app, ProduceRequest, epilog=EXAMPLE)
def produce(request: ProduceRequest, call: Call) -> None:
    """Train an encoder or booster on a table and φ, prove everyone's radius, and write the hand-over.

    --learner network trains an encoder. --learner trees boosts step functions of attributes; z is then one score per
    attribute.

    Some people are held out and not used for training. OUT/handover is for the consumer and contains no attribute of
    anyone; everything else in OUT is private. OUT/bundle contains the proofs about the held-out people, for an auditor.

    Training needs everyone in memory: at most 2,000,000 people. For a larger TABLE, train on a --sample, then hand over
    everyone with `lcifr represent`, which reads in chunks. A bundle holds at most 100,000 people.

    Ctrl-C during training loses the training. After that, proofs are kept, and the same command resumes.
    """
    refuse_other_family(call, request)
    for name in ("gamma", "stretch"):
        if request.unaware and call.is_asked(name):
            raise LcifrError(
                f"--unaware trains for the label alone, so --{name} has no effect with it",
                fix=f"leave out --{name}, or --unaware",
            )
    call.print(run_produce(request, argv=call.argv, verbose=watched()), _show, request)


def _show(result: ProduceResult, request: ProduceRequest) -> None:
    say(f"{result.produced.phi.english}\n")
    if result.unaware:
        say("the unaware model: trained for the label alone, without the attributes that φ leaves free")
    show_produced(result.produced, request.out, own=result.model is not None)
