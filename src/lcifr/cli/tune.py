"""``lcifr tune``: what every weight of the promise costs and gives; the paper's advice as a command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.options import (
    PAIRS,
    ArithmeticOption,
    BagsOption,
    BatchOption,
    BinsOption,
    BundleOption,
    ChunkOption,
    ClassWeight,
    ClassWeightOption,
    DecoderOption,
    DepthOption,
    EpochsOption,
    FallingOption,
    ForceOption,
    HeldOutOption,
    HiddenOption,
    IdOption,
    LatentOption,
    LeastOption,
    OutOption,
    PairsOption,
    PhiOption,
    RateOption,
    RisingOption,
    RoundsOption,
    SampleOption,
    SchemaOption,
    SeedOption,
    ShareOption,
    StretchOption,
    SubsampleOption,
    TableArgument,
    TargetOption,
    ToleranceOption,
    TuneLearnerOption,
    WholeOption,
    WorkersOption,
    directions_of,
    list_text,
    new_app,
    pairs_of,
    refuse_other_family,
    widths_of,
)
from lcifr.cli.output import JsonOption, console, print_json, say, show_produced, to_stderr, watched, words_of
from lcifr.errors import LcifrError
from lcifr.learn.parameters import BOOSTER, ENCODER, GAMMAS, HELD_OUT_SHARE, Learner
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.tuning import TuneRequest
from lcifr.workflows.tuning import tune as run_tune

if TYPE_CHECKING:
    from lcifr.workflows.results import TuneResult

NONE_CHOSEN = 3  # as where somebody is undecided: the work was done, and there is nothing to go on with
HIDDEN, WEIGHTS = list_text(ENCODER.hidden), list_text(GAMMAS)
app = new_app()
EXAMPLE = "Example: lcifr tune people.csv --phi people.phi --target repaid --required 0.5 --gammas 1,10 --out frontier"


class By(StrEnum):
    """The score by which models are chosen."""

    ACCURACY = "accuracy"
    BALANCED = "balanced"


@app.command(epilog=EXAMPLE)
def tune(
    context: typer.Context,
    table: TableArgument,
    phi: PhiOption,
    out: OutOption,
    required: Annotated[float, typer.Option(max=1.0, help="The lowest acceptable score (R² for numbers).")],
    by: Annotated[
        By, typer.Option(help="The score: accuracy, or balanced accuracy if one class is rare.")
    ] = By.ACCURACY,
    target: TargetOption = None,
    schema: SchemaOption = None,
    id_column: IdOption = None,
    sample: SampleOption = None,
    gammas: Annotated[str, typer.Option("--gammas", metavar="N,N,…", help="Weights to try.")] = WEIGHTS,
    held_out: HeldOutOption = HELD_OUT_SHARE,
    learner: TuneLearnerOption = Learner.NETWORK,
    stretch: StretchOption = ENCODER.stretch,
    decoder_weight: DecoderOption = ENCODER.decoder_weight,
    class_weight: ClassWeightOption = ClassWeight.NONE,
    tolerance: ToleranceOption = None,
    whole_numbers: WholeOption = False,
    latent: LatentOption = ENCODER.latent_dim,
    hidden: HiddenOption = HIDDEN,
    epochs: EpochsOption = ENCODER.epochs,
    batch: BatchOption = ENCODER.batch_size,
    rounds: RoundsOption = BOOSTER.rounds,
    learning_rate: RateOption = BOOSTER.learning_rate,
    max_bins: BinsOption = BOOSTER.max_bins,
    min_people: LeastOption = BOOSTER.min_people,
    subsample: SubsampleOption = BOOSTER.subsample,
    interactions: PairsOption = PAIRS,
    depth: DepthOption = BOOSTER.depth,
    bags: BagsOption = BOOSTER.bags,
    rising: RisingOption = None,
    falling: FallingOption = None,
    share_formula: ShareOption = True,
    bundle: BundleOption = True,
    arithmetic: ArithmeticOption = Arithmetic.FLOAT64,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train models with increasing weight on certification, compare them with two baselines, and choose one.

    Stops when the score falls below --required. Chooses the most certified model with the required score; among equally
    certified models, the one with the best score; among equals, the more certified one. Figures within one standard
    error count as equal. A model that makes the same decision for everyone, or does worse than a model that ignores its
    input, is never chosen. OUT is a producer's folder, for `lcifr consume`, `lcifr audit` and `lcifr represent`.

    --learner both searches networks and trees, and chooses among all models by the same rule. Networks alone are
    certified on each person's ball, as in the paper; with trees, all are certified on the box. A booster decides by the
    sum of its scores.

    Figures are for validation people. The held-out people, the same as for `lcifr produce` with the same --seed and
    --sample, are not used. Training needs everyone in memory: at most 2,000,000 people.

    Exit codes: 0 a model was chosen, 2 wrong usage, 3 no useful model reaches the required score.

    Ctrl-C keeps every finished model; the same command resumes.
    """
    refuse_other_family(context, learner)
    request = TuneRequest(
        table=table,
        phi=phi,
        out=out,
        required=required,
        by=by.value,
        target=target,
        schema=schema,
        id_column=id_column,
        sample=sample,
        gammas=_weights(gammas),
        held_out=held_out,
        learner=learner.value,
        stretch=stretch,
        decoder_weight=decoder_weight,
        class_weight=class_weight.setting,
        tolerance=tolerance,
        whole_numbers=whole_numbers,
        latent=latent,
        hidden=widths_of(hidden),
        epochs=epochs,
        batch=batch,
        rounds=rounds,
        learning_rate=learning_rate,
        max_bins=max_bins,
        min_people=min_people,
        subsample=subsample,
        interactions=pairs_of(interactions),
        depth=depth,
        bags=bags,
        monotone=directions_of(rising, falling),
        share_formula=share_formula,
        bundle=bundle,
        arithmetic=arithmetic.value,
        workers=workers,
        chunk=chunk,
        seed=seed,
        force=force,
    )
    result = run_tune(request, argv=words_of(context), verbose=watched())
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    raise typer.Exit(0 if result.chosen else NONE_CHOSEN)


def _weights(text: str) -> tuple[float, ...]:
    try:
        found = [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or not all(0 <= one < 1e9 for one in found):
        raise LcifrError(
            f"--gammas {text!r} is not a list of weights", fix="write numbers of at least 0, such as 0.1,1,10"
        )
    return tuple(sorted(set(found)))


def _show(result: TuneResult, out: Path) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("percent of validation people", "score", "balanced", "certified", "mean radius"):
        table.add_column(heading, justify="left" if heading.startswith("percent") else "right")
    points = (*result.baselines, *result.points)
    for point in points:
        figures = (
            (point.score, point.score_error),
            (point.balanced, point.balanced_error),
            (point.certified, point.certified_error),
        )
        shares = [f"{100 * share:.1f} ±{100 * error:.1f}" for share, error in figures]
        name = point.title + (" ← chosen" if point.name == result.chosen else "")
        table.add_row(name, *shares, f"{point.radius:.4f}")
    console().print(table)
    say(f"±: one standard error. Certified: on each person's {result.plain.on} around z, by bounds alone.")
    for text in dict.fromkeys(one.message for point in points for one in point.degeneracies):
        whose = ", ".join(point.title for point in points if text in [one.message for one in point.degeneracies])
        say(f"warning: {whose}: {text}")
    say(f"{result.why[:1].upper()}{result.why[1:]}.")
    about = [point for point in result.points if result.chosen in (None, point.name)]
    for text in dict.fromkeys(one.advice for point in about for one in point.degeneracies if one.advice):
        to_stderr(f"Advice: {text}")
    if result.produced is None:
        return
    say(f"\n{out}/{result.files['plot']}   the plot")
    show_produced(result.produced, out)
