"""``lcifr check``: the exact checker on an audit bundle, and the bundle compared with the reader's own files."""

from __future__ import annotations

import typer

from lcifr.check.report import hush
from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import say
from lcifr.workflows.checking import CheckRequest, CheckResult
from lcifr.workflows.checking import check as run_check

app = new_app()
EXAMPLE = (
    "Example: lcifr check producer/bundle --json > checked.json\n\n"
    "Compare it with your own files: lcifr check audit/bundle --people people.csv --id person "
    "--model model.onnx --phi rule.phi --schema people.toml --train train.csv"
)


@request_command(app, CheckRequest, epilog=EXAMPLE)
def check(request: CheckRequest, call: Call) -> None:
    """Recompute every proof in a bundle in exact arithmetic, independently of the rest of lcifr.

    Pass your own files to find out whether the bundle is about them: each is the same, DIFFERS, or was not given. "The
    same" never relies on a hash in the bundle: people, φ, schema, standard deviations and model are derived again from
    your files.

    With nothing but Python installed, run: python -m lcifr.check BUNDLE --people TABLE

    Exit codes: 0 every claim is confirmed (and all your files match), 1 a claim is not confirmed, 2 the bundle cannot
    be read or exceeds a limit. With --strict or your own files: 4 every claim is confirmed, but someone has no claim,
    or a radius has no proof. With your own files: 5 one of them differs, 6 none differs, but something was not given or
    not compared.
    """
    result = run_check(request)
    try:
        call.print(result, _show)
    except BrokenPipeError:
        hush()
    raise typer.Exit(result.exit_code or (result.report.strict_exit_code if request.strict else 0))


def _show(result: CheckResult) -> None:
    drawn, lines = result.drawn, result.lines()
    if drawn is not None and not drawn.is_everyone:
        lines.append(f"the bundle covers only {drawn}; nothing is confirmed for the others")
    say("\n".join(lines))
