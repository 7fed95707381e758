"""``lcifr represent``: a hand-over of new people, by the producer's saved encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.options import (
    AddressOption,
    ArithmeticOption,
    BundleOption,
    ChunkOption,
    DeviceOption,
    ExecutorOption,
    ForceOption,
    IdOption,
    OutOption,
    ProducerArgument,
    ShareOption,
    WorkersOption,
    new_app,
)
from lcifr.cli.output import JsonOption, command, print_json, say, to_stderr, words_of
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.executors import Device, Executor
from lcifr.workflows.representing import RepresentRequest
from lcifr.workflows.representing import represent as run_represent

app = new_app()
EXAMPLE = "Example: lcifr represent producer new.csv --out new"


@app.command(epilog=EXAMPLE)
def represent(
    context: typer.Context,
    producer: ProducerArgument,
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The new people: a .csv or .parquet file.")],
    out: OutOption,
    id_column: IdOption = None,
    share_formula: ShareOption = True,
    bundle: BundleOption = False,
    arithmetic: ArithmeticOption = Arithmetic.FLOAT64,
    workers: WorkersOption = None,
    executor: ExecutorOption = Executor.LOCAL,
    address: AddressOption = None,
    device: DeviceOption = Device.CPU,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a hand-over for new people, z and proved radius, with an encoder trained earlier.

    OUT/handover is for the consumer (`lcifr certify CONSUMER OUT/handover`). TABLE may be larger than memory: it is
    read in chunks. Only --bundle needs everyone in memory, so it is limited to 100,000 people.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    request = RepresentRequest(
        producer=producer,
        table=table,
        out=out,
        id_column=id_column,
        share_formula=share_formula,
        bundle=bundle,
        arithmetic=arithmetic.value,
        workers=workers,
        executor=executor.value,
        address=address,
        device=device.value,
        chunk=chunk,
        force=force,
    )
    result = run_represent(request, argv=words_of(context))
    if as_json:
        print_json(result.to_dict())
        return
    radius = result.radius
    say(f"{result.people:,} people; proved radius: median {radius.median:.4g}, largest {radius.largest:.4g}")
    from lcifr.workflows.folders import shown

    say(f"{shown(out)}/handover   for the consumer: z and radius, no attributes (z may still reveal some)")
    to_stderr(f"\nNext, for the consumer: {command('certify', 'consumer', out / 'handover', '--out', 'certificates')}")
