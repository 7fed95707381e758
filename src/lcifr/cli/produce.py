"""``lcifr produce``: the producer's work. Learn an encoder, prove everybody's radius, hand over, write the proofs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._options import (
    BatchOption,
    BundleOption,
    ChunkOption,
    ClassWeight,
    ClassWeightOption,
    DecoderOption,
    EpochsOption,
    ForceOption,
    HeldOutOption,
    HiddenOption,
    IdOption,
    LatentOption,
    OutOption,
    PhiOption,
    SampleOption,
    SchemaOption,
    SeedOption,
    ShareOption,
    StretchOption,
    TableArgument,
    TargetOption,
    WholeOption,
    WorkersOption,
    finite,
    widths_of,
)
from lcifr.cli._output import JsonOption, print_json, say
from lcifr.cli._produced import (
    LEARNED,
    describe_produced,
    show_next,
    show_produced,
    write_encoder,
    write_handover,
    write_people,
    write_proofs,
)
from lcifr.errors import LcifrError
from lcifr.runs.folder import Run, run_folder
from lcifr.runs.handing_over import refuse_bundle
from lcifr.runs.people.tables import TrainTest, is_file, read_train_test
from lcifr.runs.recipe import LearningSettings

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder

EXAMPLE = "Example: lcifr produce people.csv --phi people.phi --target repaid --out producer"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(produce)


def produce(
    context: typer.Context,
    table: TableArgument,
    phi: PhiOption,
    out: OutOption,
    target: TargetOption = None,
    schema: SchemaOption = None,
    id_column: IdOption = None,
    sample: SampleOption = None,
    held_out: HeldOutOption = 0.2,
    gamma: Annotated[
        float,
        typer.Option(min=0.0, callback=finite, help="Weight of the promise against accuracy; `lcifr tune` finds one."),
    ] = 1.0,
    unaware: Annotated[
        bool,
        typer.Option(
            "--unaware",
            help="Learn for the label alone, without reading the attributes that φ leaves free; no --gamma.",
        ),
    ] = False,
    stretch: StretchOption = 1.0,
    decoder_weight: DecoderOption = 0.0,
    class_weight: ClassWeightOption = ClassWeight.NONE,
    whole_numbers: WholeOption = False,
    latent: LatentOption = 20,
    hidden: HiddenOption = "20",
    epochs: EpochsOption = 50,
    batch: BatchOption = 64,
    share_formula: ShareOption = True,
    bundle: BundleOption = True,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn an encoder from a table and φ, prove how far anybody similar can land, and hand over.

    A share of the people is held out: nobody trains on them. OUT/handover is for the consumer and holds no attribute
    of anybody; all else in OUT is yours. OUT/bundle holds the proofs about the held-out people, for an auditor.

    Learning holds everybody in memory: at most 2,000,000 people. Of a larger TABLE learn from a --sample, and hand over
    everybody with `lcifr represent`, which needs no memory for them. A bundle holds at most 100,000.

    Ctrl-C while it learns loses the learning; later, what is proved is kept, and the same command goes on.
    """
    if unaware:
        _refuse_weights(context)
    people = read_train_test(table, phi, schema, target, id_column, held_out, seed, sample)
    if bundle:
        refuse_bundle(len(people.held_out))
    inputs = {"table": Path(table)} if is_file(table) else {}
    inputs |= {name: Path(file) for name, file in (("phi", phi), ("schema", schema)) if file and Path(file).is_file()}
    recipe = LearningSettings(
        stretch, decoder_weight, class_weight.setting, whole_numbers, latent, widths_of(hidden), epochs, batch, seed
    )
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        encoder, warned = _encoder(run, people, phi, recipe, gamma, unaware)
        write_handover(run.steps, people, encoder, share_formula, workers, chunk)
        if bundle:
            write_proofs(run.steps, people, encoder)
        result = {
            "format": "lcifr-produced-1",
            "command": "produce",
            "unaware": unaware,
            **describe_produced(run.work, people, encoder, warned, bundle=bundle),
        }
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out, people)


def _encoder(
    run: Run, people: TrainTest, phi: str, recipe: LearningSettings, gamma: float, unaware: bool
) -> tuple[FairEncoder, list[str]]:
    """Learned now, or by the run that was stopped later."""
    from lcifr.cli._progress import watched
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.learning import load_encoder, one_thread

    write_people(run.work, people)
    if run.steps.kept(*LEARNED):
        encoder = load_encoder(run.work)
        return encoder, [f"FairEncoder: {one}" for one in encoder.degeneracies_]
    encoder = recipe.encoder(people, phi, gamma=gamma, verbose=watched())
    if unaware:
        encoder = _unaware(encoder, phi)
    run.lost = "Learning is not kept, it starts anew."
    with one_thread() as warned, step(f"Learning from {len(people.train)} people", StepKind.LONG):
        encoder.fit(people.train.X, people.train.y)
    write_encoder(run.steps, people, phi, encoder)
    run.lost = "What was learned is kept."
    return encoder, warned


def _unaware(encoder: FairEncoder, phi: str) -> FairEncoder:
    """The baseline by that name; refused where there is nothing it could be unaware of."""
    from lcifr.estimators import unaware
    from lcifr.language.constrained_attributes import free_attributes

    similarity = encoder.similarity
    if not free_attributes(similarity.formula, similarity.schema):
        raise LcifrError(
            f"--unaware: {phi} speaks of every attribute, so there is none that the encoder must not read",
            fix="leave out --unaware; or take out of φ what must not matter",
        )
    return unaware(encoder)


def _refuse_weights(context: typer.Context) -> None:
    """Options that mean nothing without a weight for the promise."""
    for name in ("gamma", "stretch"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise LcifrError(
                f"--unaware learns for the label alone, so --{name} means nothing beside it",
                fix=f"leave out --{name}, or --unaware",
            )


def _show(result: dict[str, Any], out: Path, people: TrainTest) -> None:
    say(f"{result['phi']['english']}\n")
    if result["unaware"]:
        say("the unaware model: learned for the label alone, without what φ leaves free")
    show_produced(result, out)
    show_next(result, out, people)
