"""What does one show? Cautions: without these the figures mislead, so they stand right under them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lcifr.certificates import Audit, Certificates, Statement
from lcifr.drawing.text import count, percent
from lcifr.report.content import About, Caution, ModelRow
from lcifr.similarity import Similarity

TITLES = {
    "proxy": "A proxy remains",
    "not-symmetric": "φ holds one way only",
    "free-attribute": "φ leaves an attribute free without saying so",
    "false-on-oneself": "φ is false on oneself",
    "only-oneself": "Some are similar to nobody but themselves",
    "empty-region": "Some are similar to nobody",
    "distance-below-one": "Whole numbers cannot move that little",
}


def find_cautions(
    found: Audit | Certificates,
    statement: Statement,
    models: tuple[ModelRow, ...],
    similarity: Similarity | None,
    about: About,
) -> tuple[Caution, ...]:
    """Everything a reader must know before believing a figure, the gravest first."""
    return (
        *_about_the_proofs(found, about),
        *_about_the_people(statement, about),
        *_about_the_model(statement, models),
        *(about.findings if about.findings is not None else _about_the_formula(found, similarity)),
    )


def _about_the_proofs(found: Audit | Certificates, about: About) -> Iterator[Caution]:
    checked = about.checked
    if checked is not None and checked.rejected:
        text = f"The exact checker refused what is claimed about {count(checked.rejected)} people. Do not rely on it."
        yield Caution("rejected", "The checker refused claims", text)
    if checked is not None and checked.trusted:
        text = f"For {count(checked.trusted)} people the answer of a solver was taken on trust: no proof was checked."
        yield Caution("trusted", "Some answers rest on a solver’s word", text)
    if checked is None:
        text = "The proofs behind these verdicts have not been re-checked by the exact checker; see “Check it again”."
        yield Caution("unchecked", "Not checked independently", text)
    if isinstance(found, Certificates) and (claimed := int((found.radius_status == "claimed").sum())):
        text = (
            f"The verdicts of {count(claimed)} of {count(len(found))} people rest on a radius that the producer of the "
            "data claims and nobody has checked. They are as good as that claim."
        )
        yield Caution("claimed", "Radii are the producer’s claim", text)


def _about_the_people(statement: Statement, about: About) -> Iterator[Caution]:
    if statement.lower is None:
        text = (
            "These people were not held out from training, or not drawn from the population the model is used on. The "
            "certificates hold for each of them; they allow no statement about anybody else."
        )
        yield Caution("in-sample", "In-sample people", text)
    if about.partial:
        yield Caution("partial", "Partial data", about.partial)


def _about_the_model(statement: Statement, models: tuple[ModelRow, ...]) -> Iterator[Caution]:
    own, others = models[0], models[1:]
    for warning in statement.warnings:
        text = warning[:1].upper() + warning[1:] + "."
        yield Caution("degenerate", "The share may mean less than it seems", text)
    for row in others:
        if row.name.startswith("unaware") and _beaten(own, row):
            text = (
                f"The unaware baseline, which never sees what φ leaves free, has accuracy {percent(row.accuracy)} and "
                f"{percent(row.certified)} certified; this model has {percent(own.accuracy)} and "
                f"{percent(own.certified)}. Use the baseline."
            )
            yield Caution("worse-than-unaware", "The unaware baseline does better", text)
        elif row.name.startswith("unaware") and None not in (own.accuracy, row.accuracy) and own.accuracy < row.accuracy:  # type: ignore[operator]
            text = (
                f"The unaware baseline, which never sees what φ leaves free, is right more often: "
                f"{percent(row.accuracy)} against {percent(own.accuracy)}."
            )
            yield Caution("less-accurate", "Being certified costs accuracy here", text)
    if not others:
        text = "No baseline was given, so a reader cannot tell what the certified share is worth."
        yield Caution("no-baseline", "Nothing to compare with", text)
    if own.accuracy is None:
        text = "Without true labels nothing is said about how often the decisions are right."
        yield Caution("no-labels", "Accuracy unknown", text)


def _beaten(own: ModelRow, other: ModelRow) -> bool:
    """Whether the other is at least as good in both, and better in one."""
    mine, theirs = (own.accuracy, own.certified), (other.accuracy, other.certified)
    if None in mine or None in theirs:
        return False
    return mine != theirs and all(b >= a for a, b in zip(mine, theirs, strict=True))  # type: ignore[operator]


def _about_the_formula(found: Audit | Certificates, similarity: Similarity | None) -> Iterator[Caution]:
    if similarity is None:
        yield Caution("withheld", "φ is withheld", "The producer does not show φ: only its hash says what was proved.")
        return
    if not isinstance(found, Audit):
        return
    from lcifr.similarity.lint import lint

    most = 20_000  # people are enough to see what is odd about a formula
    rows = np.unique(np.linspace(0, len(found) - 1, min(most, len(found))).astype(int))
    for finding in lint(similarity, found.people.take(rows)):
        if finding.code not in ("empty-region", "only-oneself"):  # said above, with this audit's own counts
            yield as_caution(finding.code, finding.message)


def as_caution(code: str, message: str) -> Caution:
    """A finding about a formula as a caution."""
    return Caution(code, TITLES.get(code, code.replace("-", " ").capitalize()), message[:1].upper() + message[1:] + ".")
