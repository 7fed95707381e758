"""``lcifr tune``: what every weight of the promise costs and gives; the paper's advice as a command."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._options import (
    BatchOption,
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
    StretchOption,
    TableArgument,
    TargetOption,
    WholeOption,
    widths_of,
)
from lcifr.cli._output import JsonOption, console, print_json, say, to_stderr
from lcifr.errors import LcifrError
from lcifr.runs.folder import Run, run_folder
from lcifr.runs.recipe import Recipe
from lcifr.runs.tables import Crowd, is_file, read_crowd

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder, Frontier

EXAMPLE = "Example: lcifr tune people.csv --phi people.phi --target repaid --required 0.5 --gammas 1,10 --out frontier"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(tune)


def tune(
    context: typer.Context,
    table: TableArgument,
    phi: PhiOption,
    out: OutOption,
    required: Annotated[float, typer.Option(max=1.0, help="The least accuracy (R² for numbers) that will do.")],
    target: TargetOption = None,
    schema: SchemaOption = None,
    id_column: IdOption = None,
    sample: SampleOption = None,
    gammas: Annotated[str, typer.Option(metavar="N,N,…", help="Weights to try, rising.")] = "0.1,0.3,1,3,10,30",
    held_out: HeldOutOption = 0.2,
    stretch: StretchOption = 1.0,
    whole_numbers: WholeOption = False,
    latent: LatentOption = 20,
    hidden: HiddenOption = "20",
    epochs: EpochsOption = 50,
    batch: BatchOption = 64,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn with rising weights until the accuracy falls below what is required, beside both baselines.

    Figures are of validation people; those whom `lcifr produce` would hold out with the same --seed and --sample are
    not looked at. Learning holds everybody in memory: at most 2,000,000 people.

    Ctrl-C keeps every model that is finished; the same command goes on.
    """
    crowd = read_crowd(table, phi, schema, target, id_column, held_out, seed, sample)
    weights = _weights(gammas)
    recipe = Recipe(stretch, whole_numbers, latent, widths_of(hidden), epochs, batch, seed)
    encoder = recipe.encoder(crowd, phi)
    inputs = {"table": Path(table)} if is_file(table) else {}
    inputs |= {name: Path(file) for name, file in (("phi", phi), ("schema", schema)) if file and Path(file).is_file()}
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        run.lost = "The model that was being learned starts anew."
        frontier = _search(run, crowd, encoder, required, weights, seed)
        result = _result(frontier, recipe)
        _keep(run.work, frontier)
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out, recipe)


def _weights(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or not all(0 <= one < 1e9 for one in found):
        raise LcifrError(f"--gammas {text!r} is no list of weights", fix="numbers from 0 on, such as 0.1,1,10")
    return sorted(set(found))


def _search(run: Run, crowd: Crowd, encoder: FairEncoder, required: float, weights: list[float], seed: int) -> Frontier:
    from lcifr.cli._progress import watched
    from lcifr.estimators import RobustClassifier, RobustRegressor
    from lcifr.estimators import tune as search
    from lcifr.estimators.input_validation import split_rows
    from lcifr.models.target import Kind, Target
    from lcifr.runs.learning import one_thread

    number = Target.of(crowd.train.y).kind is Kind.NUMBER
    rows, others = split_rows(len(crowd.train), 0.2, None if number else crowd.train.y, seed)
    training, checking = crowd.train.take(rows), crowd.train.take(others)
    head = RobustRegressor(random_state=seed) if number else RobustClassifier(random_state=seed)
    to_stderr(f"Learning up to {len(weights) + 2} models from {len(training)} people …")
    with one_thread(say=False):
        return search(
            encoder.set_params(verbose=watched()),
            training.X,
            training.y,
            validation=(checking.X, checking.y),
            required=required,
            gammas=weights,
            head=head,
            folder=run.work / "search",
        )


def _result(frontier: Frontier, recipe: Recipe) -> dict[str, Any]:
    def plain(point: Any) -> dict[str, Any]:
        return {**asdict(point), "degeneracies": [one.message for one in point.degeneracies]}

    return {
        "format": "lcifr-frontier-1",
        "command": "tune",
        "required": frontier.required,
        "chosen": None if frontier.chosen is None else frontier.chosen.name,
        "gamma": None if frontier.chosen is None else frontier.chosen.gamma,
        "stretch": recipe.stretch,
        "whole_numbers": recipe.whole_numbers,
        "plain": plain(frontier.plain),
        "unaware": plain(frontier.unaware),
        "points": [plain(point) for point in frontier.points],
        "files": {"plot": "frontier.svg"},
    }


def _keep(work: Path, frontier: Frontier) -> None:
    frontier.plot(work / "frontier.svg")
    if frontier.encoder is not None and frontier.head is not None:
        frontier.encoder.save(work / "encoder.safetensors")
        frontier.head.save(work / "model.safetensors")


def _show(result: dict[str, Any], out: Path, recipe: Recipe) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("percent, on validation people", "score", "balanced", "certified", "mean radius"):
        table.add_column(heading, justify="left" if heading.startswith("percent") else "right")
    for point in (result["plain"], result["unaware"], *result["points"]):
        shares = [f"{100 * point[key]:.1f}" for key in ("score", "balanced", "certified")]
        name = point["name"].replace("gamma-", "gamma ")
        table.add_row(
            name + (" ← chosen" if point["name"] == result["chosen"] else ""), *shares, f"{point['radius']:.4f}"
        )
    console().print(table)
    for point in (result["plain"], result["unaware"], *result["points"]):
        for text in point["degeneracies"]:
            say(f"warning: {point['name'].replace('gamma-', 'gamma ')}: {text}")
    if result["chosen"] is None:
        say(f"No weight reaches the required score of {result['required']:g}.")
    else:
        say(f"{out}/frontier.svg   the picture")
        to_stderr(f"\nNext: lcifr produce … --gamma {result['gamma']:g}{recipe.words} --out producer")
