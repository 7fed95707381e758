"""Results in careful words: certified shares, counterexamples, baselines, and what producers hand over."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.certification.population import constant_words, fit_words, why_no_bound
from lcifr.cli.output import command, console, say, to_stderr
from lcifr.display.text import (
    at_least,
    exactly,
    fixed,
    labels_words,
    moved_words,
    not_examined_words,
    percent,
    quantity,
    tolerance_words,
    vacuous_words,
    visible,
)
from lcifr.workflows.baselines import figures_of
from lcifr.workflows.people import HELD_OUT, TRAIN

if TYPE_CHECKING:
    from lcifr.certification.population import ScaleSource, Statement
    from lcifr.workflows.drafting import InitRequest, InitResult
    from lcifr.workflows.results import AuditResult, ModelOrigin, ProducerSummary


def statement_lines(
    said: Statement,
    *,
    held_out: bool,
    tolerance: float | None = None,
    sees_z_alone: bool = False,
    trained_on: bool = False,
    labels: Mapping[str, str] | None = None,
) -> list[str]:
    """The certified share, what it says of the population, and what it must be read with.

    Parameters
    ----------
    tolerance : how far two predictions of numbers may be apart.
    sees_z_alone : whoever sees only z cannot find a counterexample, because a point of a ball is not a person.
    trained_on : whether the model learned from people among these.
    labels : what decisions are called.
    """
    count = f"{said.certified:,} of {said.people + said.not_examined:,} {'held-out people' if held_out else 'people'}"
    share = f"certified with respect to φ: {count} ({percent(said.share)}){not_examined_words(said.not_examined)}"
    warnings = list(said.warnings)
    lines = [share]
    if said.constant is not None:  # first, or the share is what a reader takes away
        first = warnings.pop(0)
        if labels:
            first = constant_words(said.people, labels.get(said.constant, said.constant))
        lines = [f"warning: {first}", f"({share})"]
    if said.lower is not None:
        lines.append(f"in the population: at least {at_least(said.lower)}, with {100 * said.confidence:g} % confidence")
    else:
        lines.append(f"no statement about a population: {why_no_bound(said.not_examined, trained_on=trained_on)}")
    violated = "" if sees_z_alone else f"counterexamples {said.violated:,}, "
    gone = f", not examined {said.not_examined:,}" if said.not_examined else ""
    lines.append(f"{violated}undecided {said.undecided:,}{gone}{vacuous_words(said.vacuous)}")
    if said.accuracy is not None:
        lines.append(
            f"accuracy {percent(said.accuracy)}, balanced {percent(said.balanced_accuracy)}, "
            f"majority rate {percent(said.majority_rate)}"
        )
    if said.mean_error is not None:
        lines.append(fit_words(said))
    if tolerance is not None:
        lines.append(f"tolerance {exactly(tolerance)}: {tolerance_words(tolerance)}")
    return lines + [f"warning: {text}" for text in warnings]


def show_labels(labels: Mapping[str, str]) -> None:
    """What ``--labels`` calls the model's decisions, once, so that other lines can use the names."""

    if labels:
        say(f"decisions: {labels_words(labels)}")


def people_words(count: int) -> str:
    """``1 person``, ``2 people``."""
    return f"{count:,} {'person' if count == 1 else 'people'}"


def show_origin(origin: ModelOrigin | None, left_out: int, *, counterexamples: bool = True) -> None:
    """The model of another library: its file, how it decides, who confirmed that; and who was left out.

    ``counterexamples`` : whether there can be any; on z alone there are none.
    """

    if left_out:
        say(
            f"not examined because of missing values: {left_out:,} rows; nothing is known about these people, and "
            "every share counts them as not certified"
        )
    if origin is not None:
        say(f"model {origin.file} ({origin.library}, sha256 {origin.sha256[:12]}…): {origin.rule}")
        for text in origin.assumptions:
            say(f"assumed: {text}")
        say(f"decisions{' and counterexamples' if counterexamples else ''} confirmed by {origin.confirmed_by}")


LISTED = 12
"""Standard deviations and ranks that are listed; result.json has all."""


def scale_words(one: ScaleSource) -> str:
    """``sd of debt: 15.6, from 4,873 of 5,000 rows of reference.csv``"""
    rows = f"all {one.of:,}" if one.rows == one.of else f"{one.rows:,} of {one.of:,}"
    what = f"rank of {one.attribute} by {one.by}:" if one.sd is None else f"sd of {one.attribute}: {one.sd:.4g},"
    return f"{what} from {rows} rows of {one.source}"


def show_scales(scales: Sequence[ScaleSource]) -> None:
    """The standard deviations and ranks of φ with the rows that they come from, those from the fewest rows first."""

    for one in sorted(scales, key=lambda scale: scale.rows)[:LISTED]:
        say(scale_words(one))
    if len(scales) > LISTED:
        say(f"… and {len(scales) - LISTED} more, in result.json")


def baseline_table(said: Statement, learner: str) -> None:
    """The model beside both baselines; ``learner`` : what kind of model these are."""
    from rich.table import Table

    own = figures_of(said)
    table = Table(box=None, header_style="bold", pad_edge=False)
    names = {"accuracy": "accuracy", "balanced_accuracy": "balanced", "r2": "R²", "mean_error": "mean error"}
    first = "percent" if said.mean_error is None else "shares in percent"
    for heading in (first, *(names.get(key, key) for key in own)):
        table.add_column(heading, justify="left" if heading == first else "right")
    for name, figures in {"this model": own, **said.baselines}.items():
        table.add_row(name, *(_figure(key, figures[key]) for key in own))
    out = console()
    out.print()
    out.print(table)
    if said.not_examined:
        out.print(f"of the {said.people:,} people who were examined, for every model alike")
    if learner:
        out.print(f"plain and unaware: {learner}; unaware never sees what φ leaves free")


def _figure(name: str, value: float | None) -> str:
    """A share in percent; R² and the mean error as they are."""
    if value is None:
        return "–"
    return fixed(value) if name == "r2" else quantity(value) if name == "mean_error" else f"{100 * value:.1f}"


def counterexample_table(result: AuditResult) -> None:
    """The counterexample that differs in the fewest attributes, in the table's own units."""
    from rich.table import Table
    from rich.text import Text

    shown = min(result.counterexamples, key=lambda one: len(one.differs))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("counterexample", f"person {shown.id}", "a similar person"):
        table.add_column(Text(visible(heading)))
    own, other, tolerance = shown.prediction, shown.other_prediction, result.model.tolerance
    named = result.model.shown(own), result.model.shown(other)
    decided = named if tolerance is None else (quantity(own, tolerance), quantity(other, tolerance))
    decisions = (result.model.target, *decided)
    for row in (*((name, *pair) for name, pair in shown.differs.items()), decisions):
        table.add_row(*(Text(visible(str(value))) for value in row))
    out = console()
    out.print()
    out.print(table)
    moved = "" if tolerance is None else f" The prediction {moved_words(abs(other - own), tolerance)}."
    out.print(f"Everything else is equal, and φ calls the two similar.{moved}\n")


def show_produced(made: ProducerSummary, out: Path, *, own: bool = False) -> None:
    """The encoder, the radii of the held-out people, the files, and what comes next; own : it decides itself."""
    people, radius = made.sizes, made.radius
    say(f"trained on {people[TRAIN]} people in {made.epochs} {'rounds' if made.scores else 'epochs'}")
    if made.scores:
        say(f"z has one score for each of: {', '.join(made.scores)}")
        say(f"not used, because φ leaves them free or they do not help: {', '.join(made.unread) or 'none'}")
    elif made.unread:
        say(f"the encoder ignores what φ leaves free: {', '.join(made.unread)}")
    say(f"{people[HELD_OUT]} people were held out; {out}/handover/{HELD_OUT}/ids.json lists them")
    say(
        f"proved radius of the held-out people: median {radius.median:.4g}, largest {radius.largest:.4g}; "
        f"exact for {radius.exact} of {people[HELD_OUT]}"
    )
    if radius.vacuous:
        say(f"warning: no one is similar to {radius.vacuous} of them; certificates for them say nothing")
    say(f"\n{out}/handover     for the consumer: z and radius, no attributes (z may still reveal some)")
    if made.files["bundle"]:
        say(f"{out}/bundle       for an auditor: people, weights, proofs")
    say(f"{out}/labels.csv   {made.target} by id, if the consumer has no labels")
    if own:
        itself = command("audit", out, out, "--out", "audit")
        say(f"{out}/model.safetensors   decides by the sum of the scores; to audit it: {itself}")
    _show_next(made, out)


def _show_next(made: ProducerSummary, out: Path) -> None:
    """The consumer's command, to paste; numbers need a tolerance."""
    from lcifr.workflows.producing import LABELS, suggest_tolerance

    number = made.task == "regression"
    tolerance = suggest_tolerance(out, made).split() if number else []
    to_stderr(f"\nNext: {command('consume', out / 'handover', out / LABELS, *tolerance, '--out', 'consumer')}")
    if number:
        to_stderr(
            "      (predictions closer than the tolerance count as the same decision; choose it to suit your case)"
        )


def show_next_of_model(request: InitRequest, result: InitResult) -> None:
    """The commands to go on with after a proposal for a model that already decides, to paste."""
    phi, people, schema = request.phi_file, request.table, request.schema_file
    described = [] if result.description_file is None else ["--describe", result.description_file]
    named = ["--id", request.id_column] if request.id_column else []
    missing = ["--missing", f"{request.missing:g}"] if request.missing is not None and not described else []
    asked = ["audit", people, "--model", request.model, *described, *missing, *named]
    to_stderr(f"\nNext, read and correct {shlex.quote(str(phi))}. To see what it means for these people:")
    to_stderr(f"  {command('phi', 'check', phi, '--data', people, '--schema', schema)}")
    to_stderr("To check that lcifr computes the model as its library does:")
    to_stderr(
        f"  {command('doctor', '--model', request.model, *described, *missing, '--data', people, '--schema', schema)}"
    )
    to_stderr(f"Then run the audit:\n  {command(*asked, '--phi', phi, '--out', 'audit')}")
