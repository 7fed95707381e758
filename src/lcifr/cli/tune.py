"""``lcifr tune``: what every weight of the promise costs and gives; the paper's advice as a command."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
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
    ToleranceOption,
    WholeOption,
    WorkersOption,
    widths_of,
)
from lcifr.cli._output import JsonOption, console, print_json, say, to_stderr
from lcifr.cli._produced import (
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
from lcifr.runs.learning import classes_of, head_of
from lcifr.runs.people.tables import HELD_OUT, TrainTest, is_file, read_train_test
from lcifr.runs.recipe import LearningSettings

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder, Frontier
    from lcifr.estimators.base_head import Head

PLOT, MODEL = "frontier.svg", "model.safetensors"
FIGURES = ("score", "balanced", "certified")
NONE_CHOSEN = 3  # as where somebody is undecided: the work was done, and there is nothing to go on with
EXAMPLE = "Example: lcifr tune people.csv --phi people.phi --target repaid --required 0.5 --gammas 1,10 --out frontier"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(tune)


class By(StrEnum):
    """The score by which models are chosen."""

    ACCURACY = "accuracy"
    BALANCED = "balanced"


def tune(
    context: typer.Context,
    table: TableArgument,
    phi: PhiOption,
    out: OutOption,
    required: Annotated[float, typer.Option(max=1.0, help="The least score (R² for numbers) that will do.")],
    by: Annotated[
        By, typer.Option(help="Which score: accuracy, or balanced accuracy, where one class is rare.")
    ] = By.ACCURACY,
    target: TargetOption = None,
    schema: SchemaOption = None,
    id_column: IdOption = None,
    sample: SampleOption = None,
    gammas: Annotated[str, typer.Option(metavar="N,N,…", help="Weights to try, rising.")] = "0.1,0.3,1,3,10,30",
    held_out: HeldOutOption = 0.2,
    stretch: StretchOption = 1.0,
    decoder_weight: DecoderOption = 0.0,
    class_weight: ClassWeightOption = ClassWeight.NONE,
    tolerance: ToleranceOption = None,
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
    """Learn with rising weights until the score falls below what is required, beside both baselines, and choose one.

    Chosen is the most certified model with the required score; of those as certified, the one with the best score. A
    figure within one standard error of another is as good; of equals the more certified wins. A model that decides the
    same for everybody, or worse than without looking, is never chosen. OUT is then a producer's folder, as `lcifr
    produce` writes it, for `lcifr consume`, `lcifr audit` and `lcifr represent`.

    Figures are of validation people; those who are held out, the same as by `lcifr produce` with the same --seed and
    --sample, are not looked at. Learning holds everybody in memory: at most 2,000,000 people.

    Exit codes: 0 a model was chosen, 3 none is useful and reaches the required score, 2 wrong use.

    Ctrl-C keeps every model that is finished; the same command goes on.
    """
    people = read_train_test(table, phi, schema, target, id_column, held_out, seed, sample)
    if bundle:
        refuse_bundle(len(people.held_out))
    head = head_of(people.train.y, "auto", tolerance, class_weight.setting, random_state=seed)
    if head._task == "regression" and by is By.BALANCED:
        raise LcifrError("--by balanced is for classes, and the labels are numbers", fix="leave it out: R² counts")
    weights = _weights(gammas)
    recipe = LearningSettings(
        stretch, decoder_weight, class_weight.setting, whole_numbers, latent, widths_of(hidden), epochs, batch, seed
    )
    encoder = recipe.encoder(people, phi, tolerance=float(tolerance or 0))
    inputs = {"table": Path(table)} if is_file(table) else {}
    inputs |= {name: Path(file) for name, file in (("phi", phi), ("schema", schema)) if file and Path(file).is_file()}
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        run.lost = "The model that was being learned starts anew."
        frontier, learned_from = _search(run, people, encoder, head, required, by, weights, seed)
        frontier.plot(run.work / "frontier.svg")
        result = _result(frontier, recipe)
        if frontier.encoder is not None:
            run.lost = "What was learned is kept."
            write_people(run.work, people)
            write_encoder(run.steps, people, phi, frontier.encoder)
            write_handover(run.steps, people, frontier.encoder, share_formula, workers, chunk)
            if bundle:
                write_proofs(run.steps, people, frontier.encoder)
            result |= _produced(run.work, people, frontier, learned_from, bundle)
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out, people)
    raise typer.Exit(0 if result["chosen"] else NONE_CHOSEN)


def _weights(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or not all(0 <= one < 1e9 for one in found):
        raise LcifrError(f"--gammas {text!r} is no list of weights", fix="numbers from 0 on, such as 0.1,1,10")
    return sorted(set(found))


def _search(
    run: Run,
    people: TrainTest,
    encoder: FairEncoder,
    head: Head,
    required: float,
    by: By,
    weights: list[float],
    seed: int,
) -> tuple[Frontier, int]:
    """What was found, and from how many people everything was learned."""
    from lcifr.cli._progress import watched
    from lcifr.estimators import tune as search
    from lcifr.estimators.input_validation import split_rows
    from lcifr.runs.learning import one_thread

    labels = None if head._task == "regression" else people.train.y
    rows, others = split_rows(len(people.train), 0.2, labels, seed)  # as fit itself does: the same models
    training, checking = people.train.take(rows), people.train.take(others)
    to_stderr(f"Learning up to {len(weights) + 2} models from {len(training)} people …")
    with one_thread(say=False):
        found = search(
            encoder.set_params(verbose=watched()),
            training.X,
            training.y,
            validation=(checking.X, checking.y),
            required=required,
            gammas=weights,
            by=by.value,
            head=head,
            folder=run.work / "search",
        )
    return found, len(training)


def _result(frontier: Frontier, recipe: LearningSettings) -> dict[str, Any]:
    def plain(point: Any) -> dict[str, Any]:
        said = {"degeneracies": [one.message for one in point.degeneracies]}
        return {**asdict(point), **said, "advice": [one.advice for one in point.degeneracies if one.advice]}

    return {
        "format": "lcifr-frontier-1",
        "command": "tune",
        "required": frontier.required,
        "by": frontier.by,
        "chosen": None if frontier.chosen is None else frontier.chosen.name,
        "gamma": None if frontier.chosen is None else frontier.chosen.gamma,
        "why": frontier.why,
        "stretch": recipe.stretch,
        "decoder_weight": recipe.decoder_weight,
        "class_weight": recipe.class_weight,
        "whole_numbers": recipe.whole_numbers,
        "plain": plain(frontier.plain),
        "unaware": plain(frontier.unaware),
        "points": [plain(point) for point in frontier.points],
        "files": {"plot": PLOT},
    }


def _produced(work: Path, people: TrainTest, frontier: Frontier, learned_from: int, bundle: bool) -> dict[str, Any]:
    """The chosen models as a producer's and a consumer's folder would have them."""
    from lcifr.artifacts.handover import Representation

    encoder, head = frontier.encoder, frontier.head
    assert encoder is not None
    assert head is not None
    head.save(work / MODEL)
    warned = [f"FairEncoder: {one}" for one in encoder.degeneracies_]
    made = describe_produced(work, people, encoder, warned, bundle=bundle)
    made["files"] = {"plot": PLOT, "model": MODEL, **made["files"]}
    return made | {
        "classes": classes_of(head),
        "tolerance": getattr(head, "tolerance", None),
        "trained_on": learned_from,
        "provenance": asdict(Representation.read(work / "handover" / HELD_OUT).provenance),
        "model": head.network_.hash,
    }


def _show(result: dict[str, Any], out: Path, people: TrainTest) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("percent, on validation people", "score", "balanced", "certified", "mean radius"):
        table.add_column(heading, justify="left" if heading.startswith("percent") else "right")
    points = (result["plain"], result["unaware"], *result["points"])
    for point in points:
        shares = [f"{100 * point[key]:.1f} ±{100 * point[f'{key}_error']:.1f}" for key in FIGURES]
        name = _named(point) + (" ← chosen" if point["name"] == result["chosen"] else "")
        table.add_row(name, *shares, f"{point['radius']:.4f}")
    console().print(table)
    say("±: one standard error")
    for text in dict.fromkeys(text for point in points for text in point["degeneracies"]):
        whose = ", ".join(_named(point) for point in points if text in point["degeneracies"])
        say(f"warning: {whose}: {text}")
    say(f"{result['why'][:1].upper()}{result['why'][1:]}.")
    about = [point for point in result["points"] if result["chosen"] in (None, point["name"])]
    for text in dict.fromkeys(text for point in about for text in point["advice"]):
        to_stderr(f"Advice: {text}")
    if result["chosen"] is None:
        return
    say(f"\n{out}/{PLOT}   the picture")
    show_produced(result, out)
    show_next(result, out, people)


def _named(point: dict[str, Any]) -> str:
    return str(point["name"]).replace("gamma-", "gamma ")
