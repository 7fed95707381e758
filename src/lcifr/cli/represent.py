"""``lcifr represent``: a hand-over of new people, by the producer's saved encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._options import (
    BundleOption,
    ChunkOption,
    ForceOption,
    IdOption,
    OutOption,
    ProducerArgument,
    ShareOption,
    WorkersOption,
)
from lcifr.cli._output import JsonOption, command, print_json, say, to_stderr
from lcifr.runs.folder import read_producer, run_folder
from lcifr.runs.handing_over import hand_over, prove_radii, refuse_bundle
from lcifr.runs.people.source import scan_people

EXAMPLE = "Example: lcifr represent producer new.csv --out new"
HANDED = "handover"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(represent)


def represent(
    context: typer.Context,
    producer: ProducerArgument,
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The new people: a .csv or .parquet file.")],
    out: OutOption,
    id_column: IdOption = None,
    share_formula: ShareOption = True,
    bundle: BundleOption = False,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Hand over new people: their z and proved radius, by an encoder that was learned before.

    OUT/handover is for the consumer (`lcifr certify CONSUMER OUT/handover`). TABLE may be larger than memory: it is
    read some people at a time. Only --bundle holds all of them, so it is refused above 100,000 people.

    Ctrl-C, and whatever else stops it, keeps who is done; the same command goes on.
    """
    from lcifr.runs.learning import load_encoder

    read_producer(producer)
    encoder = load_encoder(producer)
    with run_folder(command_of(context), out, force=force, inputs={"producer": producer, "table": table}) as run:
        source = scan_people(table, encoder.schema_, id_column, run.work, labels=False)
        if bundle:
            refuse_bundle(source.count)
        title = f"Proving the radius of {source.count} people"
        options: dict[str, Any] = {"share_formula": share_formula, "workers": workers, "chunk": chunk}
        hand_over(run.steps, HANDED, encoder, source, title=title, **options)
        if bundle:
            prove_radii(run.steps, encoder, source, HANDED)
        result = _result(source.count, encoder.network_.hash, run.work / HANDED, bundle)
        run.finish(result)
    if as_json:
        print_json(result)
        return
    radius = result["radius"]
    say(f"{result['people']} people; radius, proved: median {radius['median']:.4g}, largest {radius['largest']:.4g}")
    say(f"{out}/handover   for the consumer: z and radius, no attributes (z may still reveal some)")
    to_stderr(f"\nNext, by the consumer: {command('certify', 'consumer', out / 'handover', '--out', 'certificates')}")


def _result(people: int, encoder: str, handed: Path, bundle: bool) -> dict[str, Any]:
    from lcifr.artifacts.handover_chunks import radius_summary

    return {
        "format": "lcifr-represented-1",
        "command": "represent",
        "people": people,
        "encoder": encoder,
        "radius": radius_summary(handed),
        "files": {"handover": "handover", "bundle": "bundle" if bundle else None},
    }
