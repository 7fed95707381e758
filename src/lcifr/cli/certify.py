"""``lcifr certify``: saved models on new people, for decisions as they are made; and a gate for pipelines."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._options import (
    ChunkOption,
    ConsumerArgument,
    FailUnderOption,
    ForceOption,
    IdOption,
    OnOption,
    OutOption,
    StrictOption,
    Where,
    WorkersOption,
    exit_code,
)
from lcifr.cli._output import JsonOption, print_json, say, to_stderr
from lcifr.errors import LcifrError
from lcifr.runs.folder import Run, read_consumer, run_folder
from lcifr.runs.people.limits import part_for

if TYPE_CHECKING:
    from lcifr.certification.population.tally import Tally

EXAMPLE = "Example: lcifr certify consumer new.csv --producer producer --out certificates --fail-under 0.5"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(certify)


def certify(
    context: typer.Context,
    consumer: ConsumerArgument,
    people: Annotated[
        Path, typer.Argument(metavar="PEOPLE", help="A .csv or .parquet table (needs --producer), or a hand-over.")
    ],
    out: OutOption,
    producer: Annotated[
        Path | None, typer.Option(metavar="PRODUCER", help="The folder that `lcifr produce` wrote; for a table.")
    ] = None,
    id_column: IdOption = None,
    on: OnOption = Where.BALL,
    strict: StrictOption = False,
    fail_under: FailUnderOption = None,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decide about new people with saved models, and prove for whom everybody similar gets the same decision.

    A consumer gives the hand-over of new people (`lcifr represent` makes one): verdicts rest on its radius. Whoever
    has both folders gives a table: verdicts are proved from end to end. Either may be larger than memory.

    Exit codes: 0 done. With --strict or --fail-under: 0 (enough) people are certified, else 1 if there is a
    counterexample, 3 if there is none but somebody is undecided. 2 wrong use.

    Ctrl-C, and whatever else stops it, keeps who is done; the same command goes on.
    """
    inputs = {"consumer": consumer, "people": people} | ({"producer": producer} if producer else {})
    if people.is_dir() == (producer is not None):
        known = "a hand-over needs no --producer" if people.is_dir() else "a table of people needs --producer"
        raise LcifrError(f"{people}: {known}", fix="see the example of `lcifr certify --help`")
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        if producer is None:
            result = _from_handover(run, consumer, people, on, workers, chunk)
        else:
            result = _from_table(run, producer, consumer, people, id_column, workers, chunk)
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out)
    enough = result["share"] >= fail_under if fail_under is not None else not strict
    if strict or not enough:
        raise typer.Exit(exit_code(result["violated"], result["undecided"]))


def _from_handover(
    run: Run, consumer: Path, folder: Path, on: Where, workers: int | None, chunk: int | None
) -> dict[str, Any]:
    from lcifr.artifacts.handover import Outline
    from lcifr.certification.population.tally import Tally
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.learning import decision_of, load_model, note_resumed
    from lcifr.runs.parties import refuse_mixed
    from lcifr.runs.streaming.certified import CERTIFIED, certify_folder, read_certified

    used = read_consumer(consumer)
    head = load_model(consumer / "model.safetensors", str(used.get("task")))
    refuse_mixed(consumer, "model", used.get("model"), head.network_.hash)
    handed = Outline.read(folder)
    if handed.provenance.weights != used["provenance"]["weights"]:
        raise LcifrError(
            f"{folder} comes from another encoder than the hand-over that {consumer} learned from",
            fix="have it made by the same producer: `lcifr represent`",
        )
    if handed.provenance.similarity != used["provenance"]["similarity"]:
        to_stderr("Note: this hand-over was proved for another φ than the one the model learned from")
    file, parts = run.work / CERTIFIED, run.work / "certified"
    if not run.steps.kept(CERTIFIED, parts.name):
        with step(f"Certifying {handed.people} people", StepKind.LONG):
            done = certify_folder(
                folder,
                head,
                parts,
                on=on.value,
                chunk=part_for(handed.people, chunk),
                workers=workers,
                **decision_of(head),
            )
        os.replace(parts / CERTIFIED, file)
        shutil.rmtree(parts)
        run.steps.keep(CERTIFIED)
        note_resumed(done)
    tally = Tally()
    for found in read_certified(file, head, on=on.value, **decision_of(head)):
        tally.add(found, None, {})
    return _result(tally, used, f"hand-over, {on.value}", CERTIFIED)


def _from_table(
    run: Run, producer: Path, consumer: Path, table: Path, id_column: str | None, workers: int | None, chunk: int | None
) -> dict[str, Any]:
    from lcifr.runs.gathering import audit_people, gather
    from lcifr.runs.parties import open_people, read_parties

    parties = read_parties(producer, consumer)
    source = open_people(parties, producer, table, id_column, run.work)
    audit_people(run.steps, parties, source, workers, chunk, modular=False)
    found = gather(run.work, parties, source, None)
    return _result(found.tally, parties.summary(), "end to end", "audited/audit.parquet")


def _result(tally: Tally, about: dict[str, Any], proved: str, file: str) -> dict[str, Any]:
    from lcifr.certification.population.statement import state_tally

    statement = asdict(state_tally(tally, held_out=False))
    del statement["subgroups"], statement["baselines"]
    kept = ("target", "task", "classes", "tolerance", "provenance", "hashes", "phi")
    return {
        "format": "lcifr-certified-1",
        "command": "certify",
        **{name: about[name] for name in kept if name in about},
        "proved": proved,
        "held_out": False,
        **statement,
        "warnings": list(statement["warnings"]),
        "radius": "claimed" if "hand-over" in proved else None,
        "files": {"certificates": file},
    }


def _show(result: dict[str, Any], out: Path) -> None:
    from lcifr.cli._words import statement_lines

    say("\n".join(statement_lines(result)))
    if result["radius"]:
        say("radius: claimed by the producer; what is claimed is worth what the producer's word is worth")
    say(f"\n{out}/{result['files']['certificates']}   decision and verdict of everybody, proved {_how(result)}")


def _how(result: dict[str, Any]) -> str:
    return "from end to end" if result["radius"] is None else "from the hand-over"
