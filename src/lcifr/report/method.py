"""How verdicts were found, of networks and of trees; what the report speaks about, by hash and version."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.report.content import LibraryFacts, Report
from lcifr.report.document import Block, Table

NETWORK = (
    "Linear bounds of the network on that region, refined by branching, prove that no point in it gets a different "
    "decision. Every bound is rounded to the safe side."
)
TREES = (
    "The leaves that each tree can reach in that region bound the sum. The region is split at thresholds and sets of "
    "categories until no part of it can get a different decision. Thresholds are those at which the deployed "
    "comparison changes, and every bound is rounded to the safe side."
)


SCORES = (
    "The scores that the trees can give in that region lie in a box for each of its cells. Linear bounds of the model "
    "on that box, refined by branching, prove that none of them gets a different decision. Every bound is rounded "
    "to the safe side."
)


NAMES = {"look_up": "look-up of columns"}
"""Of hashes, where those of the results are not plain English."""


def method_section(report: Report) -> Iterator[Block]:
    """What was done, and with what."""
    yield (
        "For every person, φ defines a region of all similar people, rounded outward. "
        f"{TREES if report.origin.trees else SCORES if report.origin.encoder_trees else NETWORK} "
        "If that fails, lcifr searches for similar people with a different decision. One counts as a counterexample "
        "only if φ holds for the pair, evaluated exactly, and two plain forward passes decide differently beyond "
        "rounding. Between the outermost whole numbers that φ allows, a proof also covers fractions. Ties are never "
        "certified."
    )
    if (library := report.origin.library) is not None:
        yield _compared(library)
    rows = tuple((NAMES.get(name, name), sha256) for name, sha256 in report.hashes.items())
    yield Table("What this report is about (SHA-256)", ("Item", "Hash"), rows, (False, False))
    yield Table("Versions", ("Package", "Version"), tuple(report.versions.items()), (False, False))
    if report.settings:
        yield Table("Settings", ("Setting", "Value"), tuple(report.settings.items()), (False, False))


def _compared(model: LibraryFacts) -> str:
    """How the model as it was read was held against its library."""
    scales = f"Standard deviations and ranks in φ come from {model.reference}."
    if not model.runtime:
        return f"The model was read from its file, step by step as its library computes it. {scales}"
    return (
        f"The model was read from its file, step by step as its library computes it. {model.runtime} makes the "
        "same decision for everyone wherever rounding leaves no doubt, and a counterexample counts only if "
        f"{model.runtime} also gives the two people different decisions. {scales}"
    )
