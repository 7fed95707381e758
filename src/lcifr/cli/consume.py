"""``lcifr consume``: the consumer's work. A model on z alone, and who is certified; no attribute of anybody needed."""

from __future__ import annotations

from pathlib import Path

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import command, say, to_stderr
from lcifr.cli.statements import people_words, show_origin, statement_lines
from lcifr.display.text import arithmetic_words
from lcifr.workflows.consuming import ConsumeRequest
from lcifr.workflows.consuming import consume as run_consume
from lcifr.workflows.results import ConsumeResult

app = new_app()
EXAMPLE = (
    "Example: lcifr consume producer/handover labels.csv --out consumer\n\n"
    "With trees on z: lcifr consume producer/handover labels.csv --model trees.json --out consumer"
)


@request_command(app, ConsumeRequest, epilog=EXAMPLE)
def consume(request: ConsumeRequest, call: Call) -> None:
    """Train a classifier or regressor on a hand-over and labels, and certify its decisions.

    Trains on the training people, and certifies them and the held-out people. Only the held-out people support a
    statement about the population. Each verdict rests on the producer's radius until it is checked (--checked).

    Training needs the hand-over in memory: at most 2,000,000 people. `lcifr certify` takes any number of other people.

    With --model, nothing is trained. FILE is a tree model (XGBoost, LightGBM, or scikit-learn saved with skops) that
    was trained on z. It is compared with its library and certified on the box. lcifr does not know who it was trained
    on, so it makes a statement about the population only with --population.

    Ctrl-C loses the training, which takes seconds.
    """
    call.print(run_consume(request, argv=call.argv), _show, request)


def _show(result: ConsumeResult, request: ConsumeRequest) -> None:
    out, handover, tolerance = request.out, request.handover, result.model.tolerance
    said = statement_lines(
        result.statement,
        held_out=result.held_out,
        tolerance=tolerance,
        sees_z_alone=True,
        trained_on=result.is_in_sample,
    )
    say("\n".join(said))
    show_origin(result.origin, 0, counterexamples=False)
    say(f"proved on each person's {result.on} around z")
    say(f"arithmetic {arithmetic_words(result.arithmetic, result.model.provenance.arithmetic)}")
    if result.claimed:
        say(
            f"radius: {result.claimed} claimed by the producer, {result.checked} checked. "
            "Verdicts on a claimed radius rely on the producer."
        )
    else:
        say(f"radius: checked for all {result.checked}")
    trained = result.model.trained_on
    made = f"read from {result.origin.file}" if result.origin else f"trained on {people_words(trained or 0)}"
    say(f"\n{out}/model.safetensors      {made}; it sees only z")
    say(f"{out}/certificates.parquet   everyone's verdict")
    if result.origin is not None and not result.held_out:
        to_stderr("\nIf the model was not trained on the held-out people, add --population for a statement about it.")
    producer = handover.parent if (handover.parent / "encoder.safetensors").is_file() else Path("producer")
    then = command("audit", producer, out, "--out", "audit")
    to_stderr(f"\nNext, for an auditor with the producer's folder: {then}")
