"""``lcifr consume``: the consumer's work. A model on z alone, and who is certified; no attribute of anybody needed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._options import (
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
    Where,
    finite,
    widths_of,
)
from lcifr.cli._output import JsonOption, command, print_json, say, to_stderr
from lcifr.errors import LcifrError
from lcifr.runs.folder import run_folder
from lcifr.runs.learning import classes_of
from lcifr.runs.people.labels import Labels, find_split_labels
from lcifr.runs.people.tables import HELD_OUT, TRAIN

if TYPE_CHECKING:
    from lcifr.artifacts.handover import Representation
    from lcifr.certification.verdicts import Certificates
    from lcifr.estimators.base_head import Head

EXAMPLE = "Example: lcifr consume producer/handover labels.csv --out consumer"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(consume)


def consume(
    context: typer.Context,
    handover: Annotated[Path, typer.Argument(metavar="HANDOVER", help="The folder that the producer handed over.")],
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A .csv or .parquet file with the labels, by id.")],
    out: OutOption,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column to predict. (Default: the only one beside the ids.)"),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help='The ids. (Default: "id" if there, else row numbers.)')
    ] = None,
    task: Annotated[Task, typer.Option(help="Classes or numbers; auto looks at the labels.")] = Task.AUTO,
    tolerance: ToleranceOption = None,
    hidden: HiddenOption = "",
    gamma: Annotated[
        float, typer.Option(min=0.0, callback=finite, help="Weight of certificates against accuracy.")
    ] = 1.0,
    class_weight: ClassWeightOption = ClassWeight.NONE,
    epochs: EpochsOption = 100,
    on: OnOption = Where.BALL,
    checked: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What `lcifr check BUNDLE --json` printed: these radii count as checked."),
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a model on the hand-over and labels, and prove for whom everybody similar gets the same decision.

    Learns from the training people, and certifies them and those whom the producer held out. Only for the latter is
    there a statement about the population. Each verdict rests on the producer's radius until it is checked (--checked).

    Learning holds the hand-over in memory: at most 2,000,000 people. `lcifr certify` takes any number of others.

    Ctrl-C loses the learning, which takes seconds.
    """
    splits = _read_handover(handover)
    if checked is not None:
        splits = _with_report(splits, checked)
    known = find_split_labels(labels, {name: split.ids for name, split in splits.items()}, target, id_column)
    inputs = {"handover": handover, "labels": labels} | ({"checked": checked} if checked else {})
    options = {"hidden": widths_of(hidden), "gamma": gamma, "epochs": epochs, "random_state": seed}
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        run.lost = "Learning is not kept, it starts anew."
        head = _learn(splits, known, task, tolerance, class_weight, options)
        head.save(run.work / "model.safetensors")
        found = _certify(splits, head, on)
        _write_certificates(run.work / "certificates.parquet", found)
        result = _result(splits, known, head, found)
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out, handover)


def _read_handover(folder: Path) -> dict[str, Representation]:
    """Training and held-out people, or a single hand-over of people who may all be trained on."""
    from lcifr.artifacts.handover import Representation

    parts = [name for name in (TRAIN, HELD_OUT) if (folder / name).is_dir()]
    _refuse_many(folder, *(folder / name for name in parts))
    if TRAIN in parts and not (folder / "manifest.json").exists():
        splits = {name: Representation.read(folder / name) for name in parts}
        if len({(split.provenance.weights, split.width) for split in splits.values()}) > 1:
            raise LcifrError(f"{folder}: its parts come from different encoders", fix="get the whole folder again")
        return splits
    if not (folder / "manifest.json").exists():
        raise LcifrError(
            f"{folder} is no hand-over" if folder.is_dir() else f"{folder}: there is no such folder",
            fix="give the folder `handover` that `lcifr produce` wrote",
        )
    return {TRAIN: Representation.read(folder)}


def _refuse_many(*folders: Path) -> None:
    from lcifr.artifacts.folder import MANIFEST, read_json
    from lcifr.runs.people.limits import LEARNED, refuse_more

    said = [read_json(folder / MANIFEST) for folder in folders if (folder / MANIFEST).is_file()]
    people = sum(one["people"] for one in said if isinstance(one, dict) and type(one.get("people")) is int)
    fix = "learn from the hand-over of fewer (`lcifr produce --sample`); `lcifr certify` decides about all the others"
    refuse_more(people, LEARNED, "learning", fix)


def _with_report(splits: dict[str, Representation], report: Path) -> dict[str, Representation]:
    """The split that the checker's report is about, marked; it is about one of them."""
    from lcifr.errors import ArtefactError

    found, problems = dict(splits), []
    for name, split in splits.items():
        try:
            found[name] = split.with_report(report)
        except ArtefactError as problem:
            problems.append(problem)
    if len(problems) == len(splits):
        raise problems[0]
    return found


def _learn(
    splits: dict[str, Representation],
    known: dict[str, Labels],
    task: Task,
    tolerance: float | None,
    weight: ClassWeight,
    options: Any,
) -> Head:
    import numpy as np

    from lcifr.runs.events import StepKind, step
    from lcifr.runs.learning import head_of, one_thread

    rows = np.flatnonzero(known[TRAIN].there)
    if len(rows) < 2:
        raise LcifrError(
            f"there are labels for {len(rows)} of the {len(splits[TRAIN])} training people",
            fix="are the ids of the labels those of the hand-over? --id names their column",
        )
    y = known[TRAIN].values
    head = head_of(y, str(task), tolerance, weight.setting, instead="; or --task classification", **options)
    part = splits[TRAIN].take(rows)
    with one_thread(), step(f"Learning from {len(rows)} people", StepKind.LONG):
        head.fit(part.latent, y, radius=part.radius)
    return head


def _certify(splits: dict[str, Representation], head: Head, on: Where) -> dict[str, Certificates]:
    from lcifr.certification.consumer import certify
    from lcifr.runs.events import step
    from lcifr.runs.learning import decision_of

    with step(f"Certifying {sum(map(len, splits.values()))} people"):
        return {name: certify(split, head, on=on.value, **decision_of(head)) for name, split in splits.items()}


def _write_certificates(path: Path, found: dict[str, Certificates]) -> None:
    import pandas as pd

    frames = []
    for name, certificates in found.items():
        frame = certificates.frame()
        frame.insert(1, "split", name)
        frames.append(frame.assign(id=frame["id"].astype("string")))
    pd.concat(frames).to_parquet(path, index=False)


def _result(
    splits: dict[str, Representation],
    known: dict[str, Labels],
    head: Head,
    found: dict[str, Certificates],
) -> dict[str, Any]:
    from lcifr.certification.population.statement import state
    from lcifr.runs.learning import learned_warnings

    shown = HELD_OUT if HELD_OUT in found else TRAIN
    labels = known[shown]
    y = labels.values if labels.there.all() else None
    said = state(found[shown], y, held_out=shown == HELD_OUT)
    statement = said.to_dict()
    del statement["subgroups"], statement["baselines"]
    checked = int((found[shown].radius_status == "checked").sum())
    return {
        "format": "lcifr-consumed-1",
        "command": "consume",
        "target": labels.name,
        "task": head._task,
        "classes": classes_of(head),
        "tolerance": getattr(head, "tolerance", None),
        "about": shown,
        "trained_on": int(known[TRAIN].there.sum()),
        "sides": {name: len(split) for name, split in splits.items()},
        "held_out": shown == HELD_OUT,
        **statement,
        "on": found[shown].on,
        "radius": {"claimed": len(found[shown]) - checked, "checked": checked},
        "provenance": asdict(splits[shown].provenance),
        "model": head.network_.hash,
        "warnings": [*statement["warnings"], *learned_warnings(head.degeneracies_, said)],
        "files": {"model": "model.safetensors", "certificates": "certificates.parquet"},
    }


def _show(result: dict[str, Any], out: Path, handover: Path) -> None:
    from lcifr.certification.population.statement import Statement
    from lcifr.cli._words import people_words, statement_lines

    said = Statement.from_dict(result)
    say("\n".join(statement_lines(said, held_out=result["held_out"], tolerance=result["tolerance"], sees_z_alone=True)))
    radius = result["radius"]
    if radius["claimed"]:
        say(
            f"radius: {radius['claimed']} claimed by the producer, {radius['checked']} checked. "
            "What is claimed is worth what the producer's word is worth."
        )
    else:
        say(f"radius: checked for all {radius['checked']}")
    learned = people_words(result["trained_on"])
    say(f"\n{out}/model.safetensors      learned from {learned}, on z alone")
    say(f"{out}/certificates.parquet   a verdict for everybody")
    producer = handover.parent if (handover.parent / "encoder.safetensors").is_file() else Path("producer")
    then = command("audit", producer, out, "--out", "audit")
    to_stderr(f"\nNext, by an auditor who has the producer's folder: {then}")
