"""How verdicts were found, of networks and of trees; what the report speaks about, by hash and version."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.report.content import LibraryFacts, Report
from lcifr.report.document import Block, Table

NETWORK = (
    "Linear bounds of the network on that region, refined by branching, prove that no point of it is decided "
    "otherwise; every bound is rounded against us."
)
TREES = (
    "The leaves that each tree can still reach in that region bound the sum; the region is split at thresholds and "
    "sets of categories until no part of it can be decided otherwise. Thresholds are those at which the deployed "
    "comparison changes, and every bound is rounded against us."
)


SCORES = (
    "The scores that the trees can give in that region lie in a box for each of its cells; linear bounds of the model "
    "on that box, refined by branching, prove that none of them is decided otherwise; every bound is rounded against "
    "us."
)


def method_section(report: Report) -> Iterator[Block]:
    """What was done, and with what."""
    yield (
        "For every person, φ becomes a region of all similar people, rounded outward. "
        f"{TREES if report.origin.trees else SCORES if report.origin.encoder_trees else NETWORK} "
        "Where that fails, similar people are searched for; one counts as a counterexample only if φ "
        "holds for the pair, evaluated exactly, and two plain forward passes decide differently beyond rounding. "
        "Between the outermost whole numbers that φ admits a proof covers fractions too. Ties are never certified."
    )
    if (library := report.origin.library) is not None:
        yield _compared(library)
    rows = tuple(report.hashes.items())
    yield Table("What this report speaks about (sha256)", ("Of", "Hash"), rows, (False, False))
    yield Table("Versions", ("Package", "Version"), tuple(report.versions.items()), (False, False))
    if report.settings:
        yield Table("Settings", ("Setting", "Value"), tuple(report.settings.items()), (False, False))


def _compared(model: LibraryFacts) -> str:
    """How the model as it was read was held against its library."""
    scales = f"Standard deviations and ranks in φ are those of {model.reference}."
    if not model.runtime:
        return f"The model was read from its file, step by step as its library computes it. {scales}"
    return (
        f"The model was read from its file, step by step as its library computes it. {model.runtime} was asked about "
        "everybody and decides the same wherever rounding leaves no doubt; and no counterexample counts here that "
        f"{model.runtime} does not decide differently, too. {scales}"
    )
