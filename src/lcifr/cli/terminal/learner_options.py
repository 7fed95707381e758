"""Which family learns, network or trees, and the options that are about one of them alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from lcifr.cli.terminal.output import is_asked
from lcifr.errors import LcifrError
from lcifr.learn.parameters import AUTO, BOOSTER, MOST_DEPTH, Learner


class ProduceLearner(StrEnum):
    """What a producer learns: one of the two."""

    NETWORK = Learner.NETWORK.value
    TREES = Learner.TREES.value


LEARNER_HELP = "network: an encoder; z mixes attributes. trees: boosted step functions; z is one score per attribute."
ProduceLearnerOption = Annotated[ProduceLearner, typer.Option("--learner", help=LEARNER_HELP)]
TuneLearnerOption = Annotated[
    Learner, typer.Option("--learner", help=f"{LEARNER_HELP} both: search both, and choose one model.")
]
TREES = "Trees only"
RoundsOption = Annotated[
    int, typer.Option("--rounds", min=1, rich_help_panel=TREES, help="Boosting rounds, at most; training stops early.")
]
RateOption = Annotated[
    float,
    typer.Option("--learning-rate", min=1e-6, max=1.0, rich_help_panel=TREES, help="Shrinks each boosting step."),
]
BinsOption = Annotated[
    int, typer.Option("--max-bins", min=2, rich_help_panel=TREES, help="Bins per numeric attribute, at most.")
]
LeastOption = Annotated[
    int, typer.Option("--min-people", min=1, rich_help_panel=TREES, help="People on either side of a split, at least.")
]
SubsampleOption = Annotated[
    float,
    typer.Option("--subsample", min=0.01, max=1.0, rich_help_panel=TREES, help="Share of people used in each round."),
]
PairsOption = Annotated[
    str,
    typer.Option(
        "--interactions",
        metavar="N|auto",
        rich_help_panel=TREES,
        help="Pairs of attributes with a score of their own, at most; auto: as many as help validation people.",
    ),
]
PAIRS = str(BOOSTER.interactions)
DepthOption = Annotated[
    int,
    typer.Option(
        "--depth",
        min=1,
        max=MOST_DEPTH,
        rich_help_panel=TREES,
        help="Above 1: add trees with up to this many cuts on the way to a leaf, each with its own score.",
    ),
]
BagsOption = Annotated[
    int,
    typer.Option(
        "--bags",
        min=1,
        rich_help_panel=TREES,
        help="Models to average, each trained without a different share of the people; for small tables.",
    ),
]
RisingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rising",
        metavar="COLUMN",
        rich_help_panel=TREES,
        help="The score must not fall as this number rises. Repeatable.",
    ),
]
FallingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--falling",
        metavar="COLUMN",
        rich_help_panel=TREES,
        help="The score must not rise as this number rises. Repeatable.",
    ),
]

OF_FAMILY = {
    Learner.NETWORK: ("decoder_weight", "latent", "hidden", "epochs", "batch"),
    Learner.TREES: (
        "rounds",
        "learning_rate",
        "max_bins",
        "min_people",
        "subsample",
        "interactions",
        "depth",
        "bags",
        "rising",
        "falling",
    ),
}


def refuse_other_family(context: typer.Context, learner: str) -> None:
    """Options that were given, and mean nothing for what learns."""
    for family, names in OF_FAMILY.items():
        if learner in (family, Learner.BOTH):
            continue
        for name in names:
            if is_asked(context, name):
                option = f"--{name.replace('_', '-')}"
                raise LcifrError(
                    f"{option} works only with --learner {family}, not with --learner {learner}",
                    fix=f"leave out {option}, or use --learner {family}",
                )


def pairs_of(text: str) -> int | str:
    """``"10"`` as 10; ``"auto"`` stays."""
    if text == AUTO:
        return text
    if not text.isdecimal():
        raise LcifrError(f"--interactions {text!r} is no number of pairs", fix="0, a whole number above it, or auto")
    return int(text)


def directions_of(rising: list[str] | None, falling: list[str] | None) -> tuple[tuple[str, int], ...]:
    """Monotone attributes as requests have them: 1 for rising, -1 for falling."""
    if both := set(rising or ()) & set(falling or ()):
        raise LcifrError(f"--rising and --falling both name {min(both)}", fix="leave one of them out")
    return tuple((name, 1) for name in rising or ()) + tuple((name, -1) for name in falling or ())
