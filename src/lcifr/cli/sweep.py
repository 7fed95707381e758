"""``lcifr sweep``: the regulator's question. Everybody who can exist, not only the people of a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli.options import (
    AcceptAccuracyOption,
    AcceptDraftOption,
    AnyArithmeticOption,
    DescribeOption,
    ForceOption,
    LabelsOption,
    MissingOption,
    ModelOption,
    ModelSchemaOption,
    ModelToleranceOption,
    OutOption,
    ReferenceOption,
    SameOption,
    needed_folder,
    needed_formula,
    new_app,
    one_table,
    refuse_without_model,
)
from lcifr.cli.output import JsonOption, command, exit_code, print_json, say, to_stderr, words_of
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.options import groups_of, labels_of
from lcifr.workflows.sweep_people import MOST

if TYPE_CHECKING:
    from lcifr.workflows.sweeping import SweepResult

app = new_app()
EXAMPLE = (
    "Example: lcifr sweep people.csv --model model.onnx --phi people.phi --schema people.toml --out sweep\n\n"
    "A model trained by lcifr: lcifr sweep producer consumer --out sweep"
)
SHOWN = 3
"""Pairs that are printed, those whose outputs are furthest apart; all are in the folder."""


class Universe(StrEnum):
    """Who can exist."""

    WHOLE = "whole"
    REALS = "reals"


@app.command(epilog=EXAMPLE)
def sweep(
    context: typer.Context,
    producer: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE|PRODUCER", help="With --model: a table with its columns. Else: the producer's folder."
        ),
    ],
    out: OutOption,
    consumer: Annotated[
        Path | None, typer.Argument(metavar="CONSUMER", help="The folder that `lcifr consume` wrote.")
    ] = None,
    model: ModelOption = None,
    describe: DescribeOption = None,
    missing: MissingOption = None,
    schema: ModelSchemaOption = None,
    reference: ReferenceOption = None,
    tolerance: ModelToleranceOption = None,
    same: SameOption = None,
    accept_draft: AcceptDraftOption = False,
    accept_accuracy: AcceptAccuracyOption = False,
    phi: Annotated[
        str | None,
        typer.Option(
            "--phi",
            metavar="FILE|NAME",
            help="Who counts as similar: a .phi file or a ready-made formula. (Default: the producer's.)",
        ),
    ] = None,
    universe: Annotated[
        Universe, typer.Option(help="whole: integer attributes take whole numbers. reals: they take any number.")
    ] = Universe.WHOLE,
    cells: Annotated[int, typer.Option(min=1, help="Stop after examining this many cells.")] = 10_000,
    seconds: Annotated[
        float | None, typer.Option(min=1, help="Stop after this many seconds. (Default: no limit.)")
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Search nodes per cell before it is split.")] = 200,
    people: Annotated[
        int,
        typer.Option(
            min=0,
            help="After the cells, ask one by one about at most this many people of the table whom no cell decides.",
        ),
    ] = MOST,
    bundle: Annotated[
        bool,
        typer.Option("--bundle", help="Also write the proofs to OUT/bundle and check them."),
    ] = False,
    arithmetic: AnyArithmeticOption = None,
    labels: LabelsOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Prove or refute that similar people get the same decision, for everyone who could exist.

    The schema says who can exist: every number needs a range there (lower, upper). The sweep divides this universe into
    cells that are proved, violating (everyone there has a counterexample), or open. OUT/cells.parquet lists them with
    their shares; OUT/pairs.csv lists every pair found, in the table's own units. People of the table whom no cell
    decides are then asked about one by one, as in an audit; OUT/people.parquet says how each person was decided.

    Exit codes: 0 everything is proved, 1 a similar pair gets different decisions, 2 wrong usage, 3 something is open.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    options: dict[str, Any] = {"out": out, "universe": universe.value, "cells": cells, "seconds": seconds}
    options |= {"nodes": nodes, "people": people, "bundle": bundle, "force": force, "labels": labels_of(labels)}
    about: dict[str, Any] = {
        "describe": describe,
        "missing": missing,
        "schema": schema,
        "reference": reference,
        "tolerance": tolerance,
        "accept_draft": accept_draft,
        "accept_accuracy": accept_accuracy,
    }
    if model is None:
        refuse_without_model(**about, same=same)
        options |= {"phi": phi, "arithmetic": (arithmetic or Arithmetic.FLOAT64).value}
        result = _sweep_folders(context, producer, consumer, options)
    else:
        from lcifr.workflows.sweeping import ModelSweepRequest, sweep_model

        about |= {"model": model, "table": one_table("sweep", producer, consumer), "phi": needed_formula(phi)}
        about |= {"groups": groups_of(same), "arithmetic": None if arithmetic is None else arithmetic.value}
        result = sweep_model(ModelSweepRequest(**about, **options), argv=words_of(context))
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    raise typer.Exit(exit_code(result.sweep.refuted, result.undecided))


def _sweep_folders(
    context: typer.Context, producer: Path, consumer: Path | None, options: dict[str, Any]
) -> SweepResult:
    from lcifr.workflows.sweeping import SweepRequest, sweep

    consumer = needed_folder(consumer, producer, "sweep", "PRODUCER CONSUMER")
    request = SweepRequest(producer=producer, consumer=consumer, **options)
    return sweep(request, argv=words_of(context))


def _show(result: SweepResult, out: Path) -> None:
    from lcifr.cli.statements import show_labels, show_scales

    say(str(result.sweep))
    if result.checked is not None:
        say(f"{result.checked}; to check again: {command('check', out / 'bundle')}")
    show_labels(result.model.labels)
    say("\n".join(result.people_lines))
    show_scales(result.model.scales)
    for number, pair in enumerate(result.worst[:SHOWN], 1):
        differs = ", ".join(f"{name} {own} → {other}" for name, (own, other) in pair.differs.items())
        alike = ", ".join(f"{name} {value}" for name, value in pair.alike.items())
        own, other = result.model.shown(pair.decision), result.model.shown(pair.other_decision)
        decided = f"{result.model.target} {own} → {other}"
        say(f"pair {number}: {differs}; decision: {decided}{f'; both {alike}' if alike else ''}")
    if len(result.sweep.pairs) > SHOWN:
        say(f"all {len(result.sweep.pairs):,} pairs: {out / 'pairs.csv'}")
    to_stderr(f"\nWritten to {out}.\nNext: {command('report', out)}")
