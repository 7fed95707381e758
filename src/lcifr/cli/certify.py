"""``lcifr certify``: decisions about new people with a verdict each; and a gate for pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from lcifr.certification.population import Statement
from lcifr.cli.options import Call, need_second, new_app, request_command, table_of_model
from lcifr.cli.output import exit_code, say, to_stderr
from lcifr.cli.statements import show_labels, show_origin, show_scales, statement_lines
from lcifr.display.text import arithmetic_words, at_least, percent
from lcifr.workflows.certifying import CertifyRequest
from lcifr.workflows.certifying import certify as run_certify
from lcifr.workflows.folders import shown
from lcifr.workflows.options import option
from lcifr.workflows.results import CertifyResult, LookUpSummary

app = new_app()
EXAMPLE = (
    "Example: lcifr certify consumer new.csv --producer producer --out certificates --fail-under 0.5\n\n"
    "With a model of your own: "
    "lcifr certify new.csv --model model.onnx --phi people.phi --reference people.csv --out certificates --strict\n\n"
    "With the cells that `lcifr sweep` proved: lcifr certify new.csv --sweep sweep --out certificates"
)


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Which results make the command fail."""

    strict: bool = option(False, "Exit 1 if there is a counterexample, 3 if someone is undecided.", before="arithmetic")
    fail_under: float | None = option(
        None,
        "Exit as with --strict if less than this share is certified; else exit 0.",
        least=0.0,
        most=1.0,
        before="arithmetic",
    )


def _arrange(given: dict[str, Any]) -> dict[str, Any]:
    """With ``--model``, or ``--sweep`` alone, the only argument is the table of people."""
    alone = given["people"] is None and given["producer"] is None
    if given["model"] is None and given["sweep"] is not None and alone:
        return given | {"consumer": None, "people": given["consumer"]}
    return table_of_model("certify", "consumer", "people", "people", "producer")(given)


@request_command(app, CertifyRequest, GateOptions, epilog=EXAMPLE, arrange=_arrange)
def certify(request: CertifyRequest, gate: GateOptions, call: Call) -> None:
    """Decide about new people with saved models, and certify the decisions.

    A consumer passes the hand-over of new people (from `lcifr represent`); verdicts then rest on its radius. With both
    folders, pass a table; verdicts are then proved end to end. The same holds for a model of your own (--model). Tables
    and hand-overs may be larger than memory.

    With --sweep, anyone who falls into a strictly proved cell is certified without a search; the others are searched.
    Model, φ, schema and arithmetic must match the sweep; if you pass only --sweep, they are taken from it.

    Exit codes: 0 done. With --strict or --fail-under: 0 if (enough) people are certified, else 1 if there is a
    counterexample, or 3 if someone is undecided. Rows with missing values are not examined: they get no decision and
    count as not certified, and the exit code is then 1 if there is a counterexample, else 3. 2 wrong usage.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    need_second("certify", request.consumer, request.people, "CONSUMER PEOPLE")
    result = run_certify(request, argv=call.argv)
    call.print(result, _show, request.out)
    said, bar = result.statement, gate.fail_under
    enough = said.share >= bar if bar is not None else not gate.strict
    if bar is not None:
        to_stderr(_gate(said, bar, enough=enough))
    if gate.strict or not enough or said.not_examined:
        raise typer.Exit(exit_code(said.violated, said.undecided, said.not_examined))


def _gate(said: Statement, bar: float, *, enough: bool) -> str:
    """How ``--fail-under`` ends: the share, the bar, and which of the two is larger."""
    code = exit_code(said.violated, said.undecided, said.not_examined)
    # as in the headline, but rounded down where that would be rounded up to the bar that it fails
    rounded_up = not enough and round(100 * said.share, 1) >= 100 * bar
    shown = f"{at_least(said.share) if rounded_up else percent(said.share)} of the people are certified"
    if enough and not said.not_examined:
        return f"--fail-under {bar:g}: passed, {shown}"
    if enough:  # counterexamples alone would pass
        found = ", and there are counterexamples" if said.violated else ""
        return f"--fail-under {bar:g}: {shown}, but exit {code}: {said.not_examined:,} rows were not examined{found}"
    why = "there are counterexamples" if said.violated else "people are undecided"
    if not said.violated and said.not_examined:
        why = "rows were not examined"
    return f"--fail-under {bar:g}: failed, only {shown}; exit {code}, {why}"


def _show(result: CertifyResult, out: Path) -> None:
    claimed = result.radius is not None
    about: dict[str, Any] = {"tolerance": result.tolerance, "sees_z_alone": claimed, "labels": result.labels}
    say("\n".join(statement_lines(result.statement, held_out=False, **about)))
    show_labels(result.labels)
    show_origin(result.origin, result.statement.not_examined)
    say(f"arithmetic {arithmetic_words(result.arithmetic, result.encoder_arithmetic)}")
    show_scales(result.scales)
    if result.looked_up is not None:
        _show_looked_up(result.looked_up, result.statement.people)
    if claimed:
        say("radius: claimed by the producer, and not checked")
    how = "from the hand-over" if claimed else "end to end"
    say(f"\n{shown(out)}/{result.certificates}   everyone's decision and verdict, proved {how}")


def _show_looked_up(found: LookUpSummary, people: int) -> None:
    say(f"looked up in {found.folder}: {found.people:,} of {people:,} people; the others were searched")
    if found.checked:
        say(f"sweep: checked by the exact checker for {found.checked:,} of them")
    if found.claimed:
        say(f"sweep: claimed for {found.claimed:,} of them; these cells were not checked")
