"""Results to stdout, for people or as JSON; progress and notes to stderr; careful words about certified shares."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.certification.population import constant_words, fit_words, why_no_bound
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
from lcifr.workflows.events import (
    VARIABLE,
    Advanced,
    Ended,
    Event,
    EventLog,
    Note,
    Resumed,
    Started,
    StepKind,
    Warned,
    listening,
)
from lcifr.workflows.people import HELD_OUT, TRAIN

if TYPE_CHECKING:
    from rich.console import Console

    from lcifr.certification.population import ScaleSource, Statement
    from lcifr.workflows.results import AuditResult, ModelOrigin, ProducerSummary


# Stdout kept for results: what native libraries print there goes to stderr instead.

STDOUT, STDERR = 1, 2


def keep_stdout_for_results() -> None:
    """Let only Python write to stdout.

    A solver that prints a line of its own, past Python, would otherwise stand among the results, and in the middle of
    the JSON that ``--json`` promises.
    """
    stream = sys.stdout
    with suppress(OSError, ValueError, AttributeError):  # closed, or no file at all: then there is nothing to keep
        if stream.fileno() != STDOUT:
            return
        stream.flush()
        kept = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
        sys.stdout = os.fdopen(kept, "w", 1 if stream.isatty() else -1, encoding=stream.encoding, errors=stream.errors)


# Results to stdout, for people or as JSON for machines; progress bars, notes and everything else to stderr.

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def console() -> Console:
    """Stdout, for people. Text is printed as it is: square brackets are no markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False)


def stderr() -> Console:
    """For progress bars: they are no results."""
    from rich.console import Console

    return Console(stderr=True)


def print_json(value: Any) -> None:
    """Stdout, for machines: one JSON value."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say(text: str) -> None:
    """Stdout, for people, a line: control characters in names and categories are spelled out, not obeyed."""
    typer.echo(visible(text))


def to_stderr(message: str) -> None:
    """What is not a result: errors, warnings, progress."""
    typer.echo(visible(message), err=True)


def command(*words: object) -> str:
    """A command to paste into a shell, whatever the names in it are."""
    return shlex.join(["lcifr", *(str(word) for word in words)])


NOT_REPEATED = ("out", "force", "as_json")  # say where and how results are shown, not what they are


def words_of(context: typer.Context) -> tuple[str, ...]:
    """The words after ``lcifr`` that say the same again, defaults included."""
    positional, words = [], [str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name in NOT_REPEATED or value is None or value == ():
            continue
        values = list(value) if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            positional += [str(one) for one in values]
        elif isinstance(value, bool):
            words += [parameter.opts[0]] if value else parameter.secondary_opts[:1]
        else:
            words += [f"{max(parameter.opts, key=len)}={one}" for one in values]
    return (*words, "--", *positional)


def is_asked(context: typer.Context, name: str) -> bool:
    """Whether an option was given, and is not its default: `lcifr repeat` gives all of them."""
    source = context.get_parameter_source(name)
    known = next(parameter for parameter in context.command.params if parameter.name == name)
    given = source is not None and source.name == "COMMANDLINE"
    return given and context.params.get(name) != known.get_default(context)


def exit_code(violated: int, undecided: int, not_examined: int = 0) -> int:
    """0 all certified, 1 a counterexample, 3 some undecided, or not examined."""
    return 1 if violated else 3 if undecided or not_examined else 0


PATIENCE = 2.0  # seconds before the bar of something countable appears
WORTH_SAYING = 1.0  # seconds from which on it is said how long a step took


def watched() -> bool:
    """Whether progress bars have somebody to look at them."""
    return sys.stderr.isatty()


class Terminal:
    """A listener that shows events to a person, or as plain lines in a log."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Note | Warned):
            to_stderr(f"{'Note' if isinstance(event, Note) else 'Warning'}: {event.text}")
        elif isinstance(event, Resumed):
            to_stderr(f"Resuming {event.folder}.")
        elif isinstance(event, Started):
            self._steps.append(STEPS[event.kind](event))
        elif isinstance(event, Advanced):
            self._find(event.step).advance(event)
        elif isinstance(event, Ended):
            step = self._find(event.step)
            self._steps.remove(step)
            step.end(event.seconds)

    def _find(self, name: str) -> _Step:
        return next(step for step in reversed(self._steps) if step.name == name)


class _Step:
    """What is shown of one step: nothing, unless a subclass knows better."""

    def __init__(self, event: Started) -> None:
        self.name, self.total, self.begun = event.step, event.total, time.monotonic()
        self.bar: Any = None

    def advance(self, event: Advanced) -> None:
        pass

    def end(self, seconds: float) -> None:
        if self.bar is not None:
            self.bar.stop()


class _WaitStep(_Step):
    """A spinner, or one line where nobody watches."""

    def __init__(self, event: Started) -> None:
        super().__init__(event)
        if not watched():
            to_stderr(f"{self.name} …")
            return
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        self.bar = _bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self.bar.add_task(self.name, total=None)


class _LongStep(_Step):
    """A line before work with bars of its own, and how long it took after it."""

    def __init__(self, event: Started) -> None:
        super().__init__(event)
        to_stderr(f"{self.name} …")

    def end(self, seconds: float) -> None:
        if seconds >= WORTH_SAYING:
            to_stderr(f"  {seconds:.0f} s")


class _CountStep(_Step):
    """A bar, drawn only once it has taken two seconds; a line where stderr is no terminal."""

    def advance(self, event: Advanced) -> None:
        total = event.total or 0
        if self.bar is None:
            if event.done >= total or time.monotonic() - self.begun < PATIENCE:
                return
            if not watched():
                to_stderr(f"{self.name}: {total:,} in total …")
            self.bar = _bar(shown=watched())
            self.task = self.bar.add_task(self.name, total=total)
        self.bar.update(self.task, completed=event.done)


class _PeopleStep(_Step):
    """People per second and the time left. Who was found done says nothing about the pace."""

    def __init__(self, event: Started) -> None:
        super().__init__(event)
        if not watched():
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        rate = TextColumn("{task.fields[rate]}")
        self.bar = _bar(TextColumn("people"), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn(), kept=True)
        self.task, self.resumed = self.bar.add_task("", total=self.total, rate="–"), 0

    def advance(self, event: Advanced) -> None:
        if self.bar is None:
            return
        if event.resumed > self.resumed:
            self.resumed = event.resumed
            self.bar.reset(self.task, completed=event.done)
            return
        pace = (event.done - event.resumed) / max(time.monotonic() - self.begun, 1e-9)
        each = f" ({pace / event.workers:,.0f} for each of {event.workers} workers)" if event.workers > 1 else ""
        self.bar.update(self.task, completed=event.done, rate=f"{pace:,.0f} per second{each}")


STEPS: dict[StepKind, type[_Step]] = {
    StepKind.WAIT: _WaitStep,
    StepKind.LONG: _LongStep,
    StepKind.COUNT: _CountStep,
    StepKind.PEOPLE: _PeopleStep,
}


def _bar(*columns: Any, shown: bool = True, kept: bool = False) -> Any:
    from rich.progress import Progress

    bar = Progress(*columns, console=stderr(), transient=not kept, disable=not shown)
    bar.start()
    return bar


@contextmanager
def on_terminal() -> Iterator[None]:
    """Show the events of what runs inside; also keep them in the file that LCIFR_EVENTS names, for another process."""
    terminal, kept = Terminal(), os.environ.get(VARIABLE)
    log = None if not kept else EventLog(Path(kept))

    def both(event: Event) -> None:
        terminal(event)
        if log is not None:
            log(event)

    with listening(both):
        yield


# Careful words about certified shares, the same from every command.


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


# What ``produce`` and ``tune`` print of a producer's folder, and the consumer's command to go on with.


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
