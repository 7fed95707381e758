"""``lcifr init``: draft a schema and a commented formula for a table, for a person to correct."""

from __future__ import annotations

import shlex

from lcifr.cli.options import Call, new_app, refuse_without_model, request_command
from lcifr.cli.output import say, to_stderr
from lcifr.cli.statements import show_next_of_model
from lcifr.workflows.drafting import InitRequest, InitResult
from lcifr.workflows.drafting import init as run_init

app = new_app()
EXAMPLE = "Example: lcifr init people.csv --target repaid"


@request_command(app, InitRequest, epilog=EXAMPLE)
def init(request: InitRequest, call: Call) -> None:
    """Draft a schema (.toml) and a similarity formula (.phi) for a table, for you to correct.

    Columns that cannot be attributes (dates, ids, free text, constants) are left out, each with advice. With --model,
    lcifr uses what the model knows about its columns. If the model knows nothing about them, it also drafts a
    description: which column feeds which input, and what the outputs mean.
    """
    if request.model is None:
        refuse_without_model(request)
    call.print(run_init(request), _show, request)


def _show(result: InitResult, request: InitRequest) -> None:
    schema = result.schema
    kinds = f"{len(schema.numeric)} numeric and {len(schema.categorical)} categorical attributes"
    say(f"{result.people:,} people, {kinds}" + (f', target "{schema.target}"' if schema.target else ""))
    for name, advice in result.left_out.items():
        say(f'left out: "{name}": {advice}')
    for text in result.to_know:
        say(f"note: {text}")
    say(f"\n{result.schema_file}   the schema: what the columns mean")
    say(f"{result.phi_file}    the formula: who counts as similar. This is a draft; please correct it")
    if result.description_file is not None:
        say(f"{result.description_file}   which column feeds which input. This is a draft; please correct it")
    if request.model is None:
        _show_next(request)
    else:
        show_next_of_model(request, result)


def _show_next(request: InitRequest) -> None:
    """The commands to go on with, to paste."""
    words = [shlex.quote(str(path)) for path in (request.table, request.schema_file, request.phi_file)]
    people, schema, phi = words
    named = f" --id {shlex.quote(request.id_column)}" if request.id_column else ""
    if request.target is None:  # nothing could be learned with these files
        out = f" --out {shlex.quote(str(request.out))}" if request.out else ""
        to_stderr("\nNow name the column to predict:")
        to_stderr(f"  lcifr init {people} --target COLUMN{named}{out} --force")
        return
    to_stderr(f"\nNext, read and correct {phi}. To see what it means for these people:")
    to_stderr(f"  lcifr phi check {phi} --data {people} --schema {schema}")
    target = shlex.quote(request.target)
    to_stderr(f"Then:\n  lcifr produce {people} --phi {phi} --target {target}{named} --out producer")
