"""``lcifr audit``: the auditor's work. The whole model on real people: a proof for each, or somebody who refutes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli.options import (
    AcceptAccuracyOption,
    AcceptDraftOption,
    AddressOption,
    AnyArithmeticOption,
    ChunkOption,
    DescribeOption,
    DeviceOption,
    ExecutorOption,
    ForceOption,
    IdOption,
    LabelsOption,
    MissingOption,
    ModelOption,
    ModelSchemaOption,
    ModelTargetOption,
    ModelToleranceOption,
    OutOption,
    ReferenceOption,
    SameOption,
    SampleOption,
    WorkersOption,
    needed_folder,
    needed_formula,
    new_app,
    one_table,
    refuse_without_model,
)
from lcifr.cli.output import JsonOption, command, exit_code, print_json, say, to_stderr, words_of
from lcifr.workflows.executors import Device, Executor
from lcifr.workflows.options import groups_of, labels_of
from lcifr.workflows.people import PROVED

if TYPE_CHECKING:
    from lcifr.models.arithmetic import Arithmetic
    from lcifr.workflows.results import AuditResult, CheckedProofs

app = new_app()
EXAMPLE = (
    "Example: lcifr audit producer consumer --out audit\n\n"
    "A model of your own: lcifr audit people.csv --model model.onnx --phi people.phi --out audit"
)


@app.command(epilog=EXAMPLE)
def audit(
    context: typer.Context,
    producer: Annotated[
        Path, typer.Argument(metavar="TABLE|PRODUCER", help="With --model: the people. Else: the producer's folder.")
    ],
    out: OutOption,
    consumer: Annotated[
        Path | None, typer.Argument(metavar="CONSUMER", help="The folder that `lcifr consume` wrote.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="The people: .csv or .parquet. (Default: the held-out people.)"),
    ] = None,
    model: ModelOption = None,
    describe: DescribeOption = None,
    missing: MissingOption = None,
    schema: ModelSchemaOption = None,
    target: ModelTargetOption = None,
    reference: ReferenceOption = None,
    tolerance: ModelToleranceOption = None,
    same: SameOption = None,
    accept_draft: AcceptDraftOption = False,
    accept_accuracy: AcceptAccuracyOption = False,
    id_column: IdOption = None,
    sample: SampleOption = None,
    population: Annotated[
        bool,
        typer.Option(
            "--population",
            help="Declare that TABLE is a random sample of the population and was not used for training.",
        ),
    ] = False,
    phi: Annotated[
        str | None,
        typer.Option(
            "--phi",
            metavar="FILE|NAME",
            help="Who counts as similar: a .phi file or a ready-made formula. (Default: the producer's.)",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Report subgroups of this column. (Default: the categories that φ leaves free.)",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.9999, help="Confidence of the statement about the population.")
    ] = 0.95,
    baselines: Annotated[
        bool | None,
        typer.Option(
            "--baselines/--no-baselines",
            help="Also audit a plain and an unaware model. (Default: if labels are known, up to 100,000 people.)",
        ),
    ] = None,
    bundle: Annotated[
        bool | None,
        typer.Option("--bundle/--no-bundle", help="Write and check everyone's proofs, or none."),
    ] = None,
    proofs: Annotated[
        int,
        typer.Option(
            "--proofs",
            min=1,
            help="Write and check the proofs of this many people, drawn at random.",
        ),
    ] = PROVED,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed for --proofs and --sample.")] = 0,
    arithmetic: AnyArithmeticOption = None,
    workers: WorkersOption = None,
    executor: ExecutorOption = Executor.LOCAL,
    address: AddressOption = None,
    device: DeviceOption = Device.CPU,
    labels: LabelsOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
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
    options: dict[str, Any] = {
        "out": out,
        "id_column": id_column,
        "sample": sample,
        "population": population,
        "by": tuple(by) if by else None,
        "confidence": confidence,
        "baselines": baselines,
        "bundle": bundle,
        "proofs": proofs,
        "seed": seed,
        "workers": workers,
        "executor": executor.value,
        "address": address,
        "device": device.value,
        "chunk": chunk,
        "labels": labels_of(labels),
        "force": force,
    }
    about: dict[str, Any] = {"describe": describe, "missing": missing, "schema": schema, "target": target}
    about |= {"reference": reference, "tolerance": tolerance}
    about |= {"accept_draft": accept_draft, "accept_accuracy": accept_accuracy}
    if model is None:
        refuse_without_model(**about, same=same)
        result = _audit_folders(context, producer, consumer, table, phi, arithmetic, options)
    else:
        about |= {"model": model, "table": one_table("audit", producer, consumer, table), "phi": needed_formula(phi)}
        about |= {"groups": groups_of(same), "arithmetic": None if arithmetic is None else arithmetic.value}
        result = _audit_model(context, about | options)
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    raise typer.Exit(exit_code(result.is_refuted, result.statement.undecided, result.statement.not_examined))


def _audit_folders(
    context: typer.Context,
    producer: Path,
    consumer: Path | None,
    table: Path | None,
    phi: str | None,
    arithmetic: Arithmetic | None,
    options: dict[str, Any],
) -> AuditResult:
    from lcifr.workflows.auditing import AuditRequest, audit

    consumer = needed_folder(consumer, producer, "audit", "PRODUCER CONSUMER")
    computed = None if arithmetic is None else arithmetic.value
    request = AuditRequest(producer, consumer, table=table, phi=phi, arithmetic=computed, **options)
    return audit(request, argv=words_of(context))


def _audit_model(context: typer.Context, asked: dict[str, Any]) -> AuditResult:
    from lcifr.workflows.auditing import ModelAuditRequest, audit_model

    return audit_model(ModelAuditRequest(**asked), argv=words_of(context))


def _show(result: AuditResult, out: Path) -> None:
    from lcifr.cli.statements import (
        baseline_table,
        counterexample_table,
        show_labels,
        show_origin,
        show_scales,
        statement_lines,
    )
    from lcifr.display.text import arithmetic_words, percent
    from lcifr.workflows.folders import shown

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
    from lcifr.certification.bundle import ProofSample

    refused = len(checked.rejected)
    said = "all confirmed" if not refused else f"{refused} NOT confirmed: {', '.join(list(checked.rejected)[:5])}"
    say(f"exact checker: {checked.certified:,} proofs, {checked.counterexamples:,} counterexamples; {said}")
    if checked.people < checked.of:
        about = ProofSample(checked.people, checked.of, checked.seed)
        say(f"checked: {about}; use --bundle to check everyone")
