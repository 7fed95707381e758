"""Results to stdout, for people or as JSON for machines; progress bars, notes and everything else to stderr."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.display.text import (
    visible,
)
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

if TYPE_CHECKING:
    from rich.console import Console


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
