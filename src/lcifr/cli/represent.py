"""``lcifr represent``: a hand-over of new people, by the producer's saved encoder."""

from __future__ import annotations

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import command, say, to_stderr
from lcifr.workflows.folders import shown
from lcifr.workflows.representing import RepresentRequest
from lcifr.workflows.representing import represent as run_represent
from lcifr.workflows.results import RepresentResult

app = new_app()
EXAMPLE = "Example: lcifr represent producer new.csv --out new"


@request_command(app, RepresentRequest, epilog=EXAMPLE)
def represent(request: RepresentRequest, call: Call) -> None:
    """Write a hand-over for new people, z and proved radius, with an encoder trained earlier.

    OUT/handover is for the consumer (`lcifr certify CONSUMER OUT/handover`). TABLE may be larger than memory: it is
    read in chunks. Only --bundle needs everyone in memory, so it is limited to 100,000 people.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    call.print(run_represent(request, argv=call.argv), _show, request)


def _show(result: RepresentResult, request: RepresentRequest) -> None:
    radius, out = result.radius, request.out
    say(f"{result.people:,} people; proved radius: median {radius.median:.4g}, largest {radius.largest:.4g}")
    say(f"{shown(out)}/handover   for the consumer: z and radius, no attributes (z may still reveal some)")
    to_stderr(f"\nNext, for the consumer: {command('certify', 'consumer', out / 'handover', '--out', 'certificates')}")
