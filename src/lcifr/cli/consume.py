"""``lcifr consume``: the consumer's work. A model on z alone, and who is certified; no attribute of anybody needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.options import (
    AnyArithmeticOption,
    ClassWeight,
    ClassWeightOption,
    EpochsOption,
    ForceOption,
    HiddenOption,
    OnOption,
    OutOption,
    SeedOption,
    Task,
    ToleranceOption,
    finite,
    list_text,
    new_app,
    widths_of,
)
from lcifr.cli.output import JsonOption, command, print_json, say, to_stderr, words_of
from lcifr.learn.parameters import HEAD
from lcifr.workflows.consuming import ConsumeRequest
from lcifr.workflows.consuming import consume as run_consume

if TYPE_CHECKING:
    from lcifr.workflows.results import ConsumeResult

PANEL = "A tree model that was trained on z elsewhere"
HIDDEN = list_text(HEAD.hidden)
app = new_app()
EXAMPLE = (
    "Example: lcifr consume producer/handover labels.csv --out consumer\n\n"
    "With trees on z: lcifr consume producer/handover labels.csv --model trees.json --out consumer"
)
LatentModelOption = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="Its file: XGBoost, LightGBM, skops.", rich_help_panel=PANEL),
]


@app.command(epilog=EXAMPLE)
def consume(
    context: typer.Context,
    handover: Annotated[Path, typer.Argument(metavar="HANDOVER", help="The hand-over: a folder from the producer.")],
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A .csv or .parquet file with the labels, by id.")],
    out: OutOption,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="COLUMN", help="The column to predict. (Default: the only one besides the ids.)"
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help='The column of ids. (Default: "id", if there is one, else row numbers.)'
        ),
    ] = None,
    task: Annotated[Task, typer.Option(help="Predict classes or numbers; auto decides by the labels.")] = Task.AUTO,
    tolerance: ToleranceOption = None,
    hidden: HiddenOption = HIDDEN,
    gamma: Annotated[
        float, typer.Option(min=0.0, callback=finite, help="Weight of certification against accuracy.")
    ] = HEAD.gamma,
    class_weight: ClassWeightOption = ClassWeight.NONE,
    epochs: EpochsOption = HEAD.epochs,
    on: OnOption = None,
    model: LatentModelOption = None,
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            metavar="CLASS,CLASS,…",
            help="Names of the classes of --model, in the order of their numbers in the file.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    population: Annotated[
        bool,
        typer.Option(
            "--population", help="Declare that --model was not trained on held-out people.", rich_help_panel=PANEL
        ),
    ] = False,
    checked: Annotated[
        Path | None,
        typer.Option(
            "--checked", metavar="FILE", help="The output of `lcifr check BUNDLE --json`: these radii count as checked."
        ),
    ] = None,
    arithmetic: AnyArithmeticOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a classifier or regressor on a hand-over and labels, and certify its decisions.

    Trains on the training people, and certifies them and the held-out people. Only the held-out people support a
    statement about the population. Each verdict rests on the producer's radius until it is checked (--checked).

    Training needs the hand-over in memory: at most 2,000,000 people. `lcifr certify` takes any number of other people.

    With --model, nothing is trained. FILE is a tree model (XGBoost, LightGBM, or scikit-learn saved with skops) that
    was trained on z. It is compared with its library and certified on the box. lcifr does not know who it was trained
    on, so it makes a statement about the population only with --population.

    Ctrl-C loses the training, which takes seconds.
    """
    request = ConsumeRequest(
        handover=handover,
        labels=labels,
        out=out,
        target=target,
        id_column=id_column,
        task=task.value,
        tolerance=tolerance,
        hidden=widths_of(hidden),
        gamma=gamma,
        class_weight=class_weight.setting,
        epochs=epochs,
        on=None if on is None else on.value,
        checked=checked,
        arithmetic=None if arithmetic is None else arithmetic.value,
        seed=seed,
        force=force,
        model=model,
        classes=tuple(name.strip() for name in classes.split(",")) if classes else (),
        population=population,
    )
    result = run_consume(request, argv=words_of(context))
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out, handover)


def _show(result: ConsumeResult, out: Path, handover: Path) -> None:
    from lcifr.cli.output import people_words, show_origin, statement_lines
    from lcifr.display.text import arithmetic_words

    tolerance = result.model.tolerance
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
