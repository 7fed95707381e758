"""How is a result said? Careful words about certified shares, the same from every command."""

from __future__ import annotations

from typing import Any

from lcifr.drawing.text import at_least, percent, visible


def people_words(count: int) -> str:
    """``1 person``, ``2 people``."""
    return f"{count:,} {'person' if count == 1 else 'people'}"


def statement_lines(result: dict[str, Any]) -> list[str]:
    """The certified share, what it says of the population, and what it must be read with."""
    whom = "held-out people" if result["held_out"] else "people"
    count = f"{result['certified']} of {result['people']} {whom}"
    lines = [f"certified with respect to φ: {count} ({percent(result['share'])})"]
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
    return lines + [f"warning: {text}" for text in result["warnings"]]


def baseline_table(result: dict[str, Any]) -> None:
    """The model beside both baselines."""
    from rich.table import Table

    from lcifr.cli._output import console

    people = max(result["people"], 1)
    own = {key: result[key] for key in ("accuracy", "balanced_accuracy")}
    own |= {
        "certified": result["share"],
        "violated": result["violated"] / people,
        "undecided": result["undecided"] / people,
    }
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("percent", "accuracy", "balanced", "certified", "violated", "undecided"):
        table.add_column(heading, justify="left" if heading == "percent" else "right")
    for name, figures in {"this model": own, **result["baselines"]}.items():
        shares = [figures[key] for key in own]
        table.add_row(name, *("–" if share is None else f"{100 * share:.1f}" for share in shares))
    out = console()
    out.print()
    out.print(table)


def counterexample_table(result: dict[str, Any]) -> None:
    """The counterexample that differs in the fewest attributes, in the table's own units."""
    from rich.table import Table
    from rich.text import Text

    from lcifr.cli._output import console

    shown = min(result["counterexamples"], key=lambda one: len(one["differs"]))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("counterexample", f"person {shown['id']}", "a similar person"):
        table.add_column(Text(visible(heading)))
    decisions = (result["target"], shown["prediction"], shown["other_prediction"])
    for row in (*((name, *pair) for name, pair in shown["differs"].items()), decisions):
        table.add_row(*(Text(visible(str(value))) for value in row))
    out = console()
    out.print()
    out.print(table)
    out.print(f"All else is equal, and φ holds for the two. {result['violated']} such people in all.\n")
