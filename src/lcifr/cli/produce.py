"""``lcifr produce``: the producer's work. Learn z, prove everybody's radius, hand over, write the proofs."""

from __future__ import annotations

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
    ProduceLearner,
    ProduceLearnerOption,
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
    WholeOption,
    WorkersOption,
    directions_of,
    finite,
    list_text,
    new_app,
    pairs_of,
    refuse_other_family,
    widths_of,
)
from lcifr.cli.output import JsonOption, is_asked, print_json, say, show_produced, watched, words_of
from lcifr.errors import LcifrError
from lcifr.learn.parameters import BOOSTER, ENCODER, HELD_OUT_SHARE
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.producing import ProduceRequest
from lcifr.workflows.producing import produce as run_produce

if TYPE_CHECKING:
    from lcifr.workflows.results import ProduceResult

HIDDEN = list_text(ENCODER.hidden)
app = new_app()
EXAMPLE = "Example: lcifr produce people.csv --phi people.phi --target repaid --out producer"


@app.command(epilog=EXAMPLE)
def produce(
    context: typer.Context,
    table: TableArgument,
    phi: PhiOption,
    out: OutOption,
    target: TargetOption = None,
    schema: SchemaOption = None,
    id_column: IdOption = None,
    sample: SampleOption = None,
    held_out: HeldOutOption = HELD_OUT_SHARE,
    learner: ProduceLearnerOption = ProduceLearner.NETWORK,
    gamma: Annotated[
        float,
        typer.Option(
            min=0.0, callback=finite, help="Weight of certification against accuracy; `lcifr tune` finds one."
        ),
    ] = ENCODER.gamma,
    unaware: Annotated[
        bool,
        typer.Option(
            "--unaware",
            help="Train for the label alone, without the attributes that φ leaves free; ignores φ otherwise.",
        ),
    ] = False,
    stretch: StretchOption = ENCODER.stretch,
    decoder_weight: DecoderOption = ENCODER.decoder_weight,
    class_weight: ClassWeightOption = ClassWeight.NONE,
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
    """Train an encoder or booster on a table and φ, prove everyone's radius, and write the hand-over.

    --learner network trains an encoder. --learner trees boosts step functions of attributes; z is then one score per
    attribute.

    Some people are held out and not used for training. OUT/handover is for the consumer and contains no attribute of
    anyone; everything else in OUT is private. OUT/bundle contains the proofs about the held-out people, for an auditor.

    Training needs everyone in memory: at most 2,000,000 people. For a larger TABLE, train on a --sample, then hand over
    everyone with `lcifr represent`, which reads in chunks. A bundle holds at most 100,000 people.

    Ctrl-C during training loses the training. After that, proofs are kept, and the same command resumes.
    """
    refuse_other_family(context, learner)
    if unaware:
        _refuse_weights(context)
    request = ProduceRequest(
        table=table,
        phi=phi,
        out=out,
        target=target,
        schema=schema,
        id_column=id_column,
        sample=sample,
        held_out=held_out,
        learner=learner.value,
        gamma=gamma,
        unaware=unaware,
        stretch=stretch,
        decoder_weight=decoder_weight,
        class_weight=class_weight.setting,
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
    result = run_produce(request, argv=words_of(context), verbose=watched())
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)


def _refuse_weights(context: typer.Context) -> None:
    """Options that mean nothing without a weight for the promise."""
    for name in ("gamma", "stretch"):
        if is_asked(context, name):
            raise LcifrError(
                f"--unaware trains for the label alone, so --{name} has no effect with it",
                fix=f"leave out --{name}, or --unaware",
            )


def _show(result: ProduceResult, out: Path) -> None:
    say(f"{result.produced.phi.english}\n")
    if result.unaware:
        say("the unaware model: trained for the label alone, without the attributes that φ leaves free")
    show_produced(result.produced, out, own=result.model is not None)
