"""``lcifr audit``: a proof for each person that everyone similar gets the same decision, or a counterexample."""

from __future__ import annotations

from pathlib import Path

import typer

from lcifr.certification.bundle import ProofSample
from lcifr.cli.options import Call, need_second, new_app, request_command, table_of_model
from lcifr.cli.output import command, exit_code, say, to_stderr
from lcifr.cli.statements import (
    baseline_table,
    counterexample_table,
    show_labels,
    show_origin,
    show_scales,
    statement_lines,
)
from lcifr.display.text import arithmetic_words, percent
from lcifr.workflows.auditing import AuditRequest
from lcifr.workflows.auditing import audit as run_audit
from lcifr.workflows.folders import shown
from lcifr.workflows.results import AuditResult, CheckedProofs

app = new_app()
EXAMPLE = (
    "Example: lcifr audit producer consumer --out audit\n\n"
    "A model of your own: lcifr audit people.csv --model model.onnx --phi people.phi --out audit"
)


@request_command(
    app, AuditRequest, epilog=EXAMPLE, arrange=table_of_model("audit", "producer", "table", "consumer", "table")
)
def audit(request: AuditRequest, call: Call) -> None:
    """Prove for each person that everyone similar gets the same decision, or show a counterexample.

    Audits a model of your own (--model) on a table with its columns, or a model trained by lcifr, given the producer's
    and the consumer's folder. `lcifr report OUT` then writes a page.

    TABLE may be larger than memory: it is read in chunks. Only --bundle and --baselines need everyone in memory, so
    they are limited to 100,000 people; the report is limited to 2,000,000. For more, use --sample. OUT/bundle contains
    the proofs of 1000 people drawn at random (--proofs), or of everyone if there are fewer.

    Exit codes: 0 everyone is certified, 1 there is a counterexample (or the checker rejects a proof), 2 wrong usage,
    3 someone is undecided, or a row was not examined because a value is missing.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    need_second("audit", request.producer, request.consumer, "PRODUCER CONSUMER")
    result = run_audit(request, argv=call.argv)
    call.print(result, _show, request.out)
    raise typer.Exit(exit_code(result.is_refuted, result.statement.undecided, result.statement.not_examined))


def _show(result: AuditResult, out: Path) -> None:
    said, on = result.statement, result.modularity
    labels, tolerance = result.model.labels, result.model.tolerance
    say("\n".join(statement_lines(said, held_out=result.held_out, tolerance=tolerance, labels=labels)))
    show_labels(labels)
    show_origin(result.model.origin, result.left_out)
    say(f"arithmetic {arithmetic_words(result.model.arithmetic)}")
    show_scales(result.model.scales)
    if result.drawn_from:
        say(f"sample: {said.rows:,} people drawn at random from the {result.drawn_from:,} in the table")
    for reason, count in result.reasons.items():
        say(f"undecided because: {reason} ({count})")
    if on.ball is not None:
        ball, box, whole = (percent(share) for share in (on.ball, on.box, on.end_to_end))
        say(f"certified from the hand-over alone: {ball} on the ball, {box} on the box; end to end: {whole}")
    if said.baselines:
        baseline_table(said, result.baseline_learner)
    if result.counterexamples:
        counterexample_table(result)
    if result.checked:
        _show_checked(result.checked)
    for text in dict.fromkeys(result.advice):
        to_stderr(f"Advice: {text}")
    if shown(out) != str(out):  # an object store, which `report` and `check` do not read
        to_stderr(f"\nWritten to {shown(out)}.")
        return
    to_stderr(f"\nWritten to {out}.\nNext: {command('report', out)}")
    if result.checked:
        to_stderr(f"      {command('check', out / 'bundle')}")


def _show_checked(checked: CheckedProofs) -> None:
    refused = len(checked.rejected)
    said = "all confirmed" if not refused else f"{refused} NOT confirmed: {', '.join(list(checked.rejected)[:5])}"
    say(f"exact checker: {checked.certified:,} proofs, {checked.counterexamples:,} counterexamples; {said}")
    if checked.people < checked.of:
        about = ProofSample(checked.people, checked.of, checked.seed)
        say(f"checked: {about}; use --bundle to check everyone")
