"""``lcifr produce``: the producer's work. Learn an encoder, prove everybody's radius, hand over, write the proofs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._folder import Run, run_folder
from lcifr.cli._formula import describe_formula, read_formula
from lcifr.cli._handing import hand_over, prove_radii, refuse_bundle
from lcifr.cli._options import (
    BatchOption,
    BundleOption,
    ChunkOption,
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
    WorkersOption,
    finite,
    widths_of,
)
from lcifr.cli._output import JsonOption, print_json, say, to_stderr
from lcifr.cli._people import HELD_OUT, TRAIN, Crowd, is_file, read_crowd, write_table
from lcifr.cli._recipe import Recipe
from lcifr.cli._whom import whom_of

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
    stretch: StretchOption = 1.0,
    whole_numbers: WholeOption = False,
    latent: LatentOption = 20,
    hidden: HiddenOption = "20",
    epochs: EpochsOption = 50,
    batch: BatchOption = 64,
    share_formula: Annotated[
        bool,
        typer.Option("--share-formula/--withhold-formula", help="Whether the hand-over shows φ and scales."),
    ] = True,
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
    crowd = read_crowd(table, phi, schema, target, id_column, held_out, seed, sample)
    if bundle:
        refuse_bundle(len(crowd.held_out))
    inputs = {"table": Path(table)} if is_file(table) else {}
    inputs |= {name: Path(file) for name, file in (("phi", phi), ("schema", schema)) if file and Path(file).is_file()}
    recipe = Recipe(stretch, whole_numbers, latent, widths_of(hidden), epochs, batch, seed)
    with run_folder(context, out, force=force, inputs=inputs) as run:
        encoder, warned = _encoder(run, crowd, phi, recipe, gamma)
        _hand_over(run.work, crowd, encoder, share_formula, workers, chunk)
        if bundle:
            _prove(run.work, crowd, encoder)
        result = _result(run.work, crowd, encoder, warned, bundle)
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out, crowd)


def _encoder(run: Run, crowd: Crowd, phi: str, recipe: Recipe, gamma: float) -> tuple[FairEncoder, list[str]]:
    """Learned now, or by the run that was stopped later."""
    from lcifr.cli._learning import load_encoder, one_thread, timed, watched

    for name, side in crowd.sides().items():
        write_table(run.work / "people" / f"{name}.parquet", side.X)
    saved = run.work / "encoder.safetensors"
    if run.resumed and saved.is_file():
        encoder = load_encoder(run.work)
        return encoder, [f"FairEncoder: {one}" for one in encoder.degeneracies_]
    encoder = recipe.encoder(crowd, phi, gamma=gamma, verbose=watched())
    run.lost = "Learning is not kept, it starts anew."
    with one_thread() as warned, timed(f"Learning from {len(crowd.train)} people"):
        encoder.fit(crowd.train.X, crowd.train.y)
    (run.work / "similar.phi").write_text(read_formula(phi)[0], encoding="utf-8")
    crowd.schema.save(run.work / "schema.toml")
    _write_labels(run.work / "labels.csv", crowd)
    encoder.save(saved)  # last: it says that learning is done
    run.lost = "What was learned is kept."
    return encoder, warned


def _write_labels(path: Path, crowd: Crowd) -> None:
    import pandas as pd

    target = str(crowd.schema.target)
    name = "id" if target != "id" else "person"
    sides = crowd.sides().values()
    labels = {name: [one for side in sides for one in side.ids], target: [one for side in sides for one in side.y]}
    pd.DataFrame(labels).to_csv(path, index=False)


def _hand_over(
    work: Path, crowd: Crowd, encoder: FairEncoder, share_formula: bool, workers: int | None, chunk: int | None
) -> None:
    (work / "handover").mkdir(exist_ok=True)
    for name, side in crowd.sides().items():
        title = f"Proving the radius of {len(side)} people ({name})"
        folder = work / "handover" / name
        whom = whom_of(side, crowd.schema)
        hand_over(folder, encoder, whom, title=title, share_formula=share_formula, workers=workers, chunk=chunk)


def _prove(work: Path, crowd: Crowd, encoder: FairEncoder) -> None:
    prove_radii(work / "bundle", encoder, whom_of(crowd.held_out, crowd.schema), work / "handover" / HELD_OUT)


def _result(work: Path, crowd: Crowd, encoder: FairEncoder, warned: list[str], bundle: bool) -> dict[str, Any]:
    from lcifr.certificates.handed import radius_summary

    similarity, last = encoder.similarity_, encoder.history_[-1]
    return {
        "format": "lcifr-produced-1",
        "command": "produce",
        "target": crowd.schema.target,
        "data": crowd.data,
        "task": "classification" if encoder.target_ and len(encoder.target_.classes) else "regression",
        "sides": {name: len(side) for name, side in crowd.sides().items()},
        "held_out": list(crowd.held_out.ids),
        "phi": describe_formula(similarity),
        "encoder": encoder.network_.hash,
        "epochs": last.number + 1,
        "radius": radius_summary(work / "handover" / HELD_OUT),
        "warnings": warned,
        "files": {
            "encoder": "encoder.safetensors",
            "handover": "handover",
            "bundle": "bundle" if bundle else None,
            "labels": "labels.csv",
        },
    }


def _show(result: dict[str, Any], out: Path, crowd: Crowd) -> None:
    from lcifr.cli._words import example_tolerance

    people, radius = result["sides"], result["radius"]
    say(f"{result['phi']['english']}\n")
    say(f"learned from {people[TRAIN]} people in {result['epochs']} epochs")
    say(f"{people[HELD_OUT]} people were held out; {out}/handover/{HELD_OUT}/ids.json names them")
    say(
        f"radius of the held-out people, proved: median {radius['median']:.4g}, largest {radius['largest']:.4g}; "
        f"exact for {radius['exact']} of {people[HELD_OUT]}"
    )
    if radius["vacuous"]:
        say(f"warning: nobody at all is similar to {radius['vacuous']} of them; such certificates say nothing")
    say(f"\n{out}/handover     for the consumer: z and radius, no attributes (z may still reveal some)")
    if result["files"]["bundle"]:
        say(f"{out}/bundle       for an auditor: people, weights, proofs")
    say(f"{out}/labels.csv   {result['target']} by id, if the consumer has no labels of their own")
    number = result["task"] == "regression"
    tolerance = f" {example_tolerance(crowd.train.y)}" if number else ""
    to_stderr(f"\nNext: lcifr consume {out}/handover {out}/labels.csv{tolerance} --out consumer")
    if number:
        to_stderr(
            "      (predictions less than the tolerance apart count as the same decision; how far is yours to say)"
        )
