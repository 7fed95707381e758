"""Careful words about certified shares, the same from every command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lcifr.certification.population.statement import fit_words
from lcifr.drawing.text import at_least, exactly, fixed, moved_words, percent, quantity, tolerance_words, visible

if TYPE_CHECKING:
    from lcifr.learn.score import Degeneracy


def people_words(count: int) -> str:
    """``1 person``, ``2 people``."""
    return f"{count:,} {'person' if count == 1 else 'people'}"


def statement_lines(result: dict[str, Any]) -> list[str]:
    """The certified share, what it says of the population, and what it must be read with."""
    whom = "held-out people" if result["held_out"] else "people"
    count = f"{result['certified']} of {result['people']} {whom}"
    share = f"certified with respect to φ: {count} ({percent(result['share'])})"
    warnings = list(result["warnings"])
    lines = [share]
    if result["constant"] is not None:  # first, or the share is what a reader takes away
        lines = [f"warning: {warnings.pop(0)}", f"({share})"]
    if result["lower"] is not None:
        lines.append(
            f"of the population they were drawn from: at least {at_least(result['lower'])}, "
            f"with {100 * result['confidence']:g} % confidence"
        )
    else:
        lines.append("no statement about a population: only people whom nobody trained on allow one")
    # Who sees z alone can find no counterexample: a point of a ball is nobody.
    violated = f"counterexamples {result['violated']}, " if "provenance" not in result else ""
    lines.append(f"{violated}undecided {result['undecided']}, vacuous {result['vacuous']}")
    if result["accuracy"] is not None:
        lines.append(
            f"accuracy {percent(result['accuracy'])}, balanced {percent(result['balanced_accuracy'])}, "
            f"majority rate {percent(result['majority_rate'])}"
        )
    if result["mean_error"] is not None:
        lines.append(fit_words(result))
    if (tolerance := result.get("tolerance")) is not None:
        lines.append(f"tolerance {exactly(tolerance)}: {tolerance_words(tolerance)}")
    return lines + [f"warning: {text}" for text in warnings]


def learned_warnings(found: Iterable[Degeneracy], said: Mapping[str, Any]) -> list[str]:
    """What is trivial about a model on the people it learned from, unless the statement says it of these people."""
    below = said["accuracy"] is not None and said["accuracy"] < said["majority_rate"]
    known = {name for name, holds in (("constant", said["constant"] is not None), ("below majority", below)) if holds}
    return [_of_learning(one) for one in found if one.name not in known]


def _of_learning(one: Degeneracy) -> str:
    there = one.name in ("constant", "below majority")
    return f"on the people it learned from: {one.message}" if there else one.message


def baseline_table(result: dict[str, Any]) -> None:
    """The model beside both baselines."""
    from rich.table import Table

    from lcifr.cli._output import console

    people = max(result["people"], 1)
    fit = ("accuracy", "balanced_accuracy") if result["mean_error"] is None else ("r2", "mean_error")
    own = {key: result[key] for key in fit}
    own |= {
        "certified": result["share"],
        "violated": result["violated"] / people,
        "undecided": result["undecided"] / people,
    }
    table = Table(box=None, header_style="bold", pad_edge=False)
    names = {"accuracy": "accuracy", "balanced_accuracy": "balanced", "r2": "R²", "mean_error": "mean error"}
    first = "percent" if result["mean_error"] is None else "shares in percent"
    for heading in (first, *(names.get(key, key) for key in own)):
        table.add_column(heading, justify="left" if heading == first else "right")
    for name, figures in {"this model": own, **result["baselines"]}.items():
        table.add_row(name, *(_figure(key, figures[key]) for key in own))
    out = console()
    out.print()
    out.print(table)


def _figure(name: str, value: float | None) -> str:
    """A share in percent; R² and the mean error as they are."""
    if value is None:
        return "–"
    return fixed(value) if name == "r2" else quantity(value) if name == "mean_error" else f"{100 * value:.1f}"


def counterexample_table(result: dict[str, Any]) -> None:
    """The counterexample that differs in the fewest attributes, in the table's own units."""
    from rich.table import Table
    from rich.text import Text

    from lcifr.cli._output import console

    shown = min(result["counterexamples"], key=lambda one: len(one["differs"]))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("counterexample", f"person {shown['id']}", "a similar person"):
        table.add_column(Text(visible(heading)))
    own, other, tolerance = shown["prediction"], shown["other_prediction"], result["tolerance"]
    decided = (own, other) if tolerance is None else (quantity(own, tolerance), quantity(other, tolerance))
    decisions = (result["target"], *decided)
    for row in (*((name, *pair) for name, pair in shown["differs"].items()), decisions):
        table.add_row(*(Text(visible(str(value))) for value in row))
    out = console()
    out.print()
    out.print(table)
    moved = "" if tolerance is None else f" The prediction {moved_words(abs(other - own), tolerance)}."
    out.print(f"All else is equal, and φ holds for the two.{moved} {result['violated']} such people in all.\n")
