"""Cautions: without these the figures mislead, so they stand right under them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lcifr.certification.population import Statement, constant_words
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.display.text import count, fixed, percent
from lcifr.phi import Similarity
from lcifr.phi.lint import UNTOUCHED, Finding, Severity, is_untouched, lint
from lcifr.report.content import About, Caution, ComparedModel

TITLES = {
    "untouched-proposal": "φ is an unconfirmed draft",
    "proxy": "A proxy remains",
    "not-symmetric": "φ is not symmetric",
    "free-attribute": "φ leaves an attribute free without saying so",
    "false-on-oneself": "φ does not call people similar to themselves",
    "unbounded": "φ leaves a number without bounds",
    "never-true": "A part of φ can never hold",
    "contained-branch": "A part of φ changes nothing",
}
COUNTED = ("empty-region", "only-oneself")
LINTED = 20_000
"""People are enough to see what is odd about a formula."""


def find_cautions(
    found: Audit | Certificates,
    statement: Statement,
    models: tuple[ComparedModel, ...],
    findings: tuple[Finding, ...],
    about: About,
    withheld: bool,
) -> tuple[Caution, ...]:
    """Everything a reader must know before believing a figure, the gravest first."""
    return (
        *_about_a_constant_model(statement, about),
        *_about_the_proofs(found, about),
        *_about_the_people(statement, about),
        *_about_the_model(statement, models),
        *_about_the_formula(findings, withheld),
    )


def _about_a_constant_model(statement: Statement, about: About) -> Iterator[Caution]:
    if statement.constant is not None:
        words = constant_words(statement.people, about.decisions.get(statement.constant, statement.constant))
        yield Caution(
            "constant", "The model makes the same decision for everyone", _sentence(words[:1].upper() + words[1:])
        )


def _about_the_proofs(found: Audit | Certificates, about: About) -> Iterator[Caution]:
    checked = about.checked
    if checked is not None and checked.rejected:
        text = f"The exact checker rejected claims about {count(len(checked.rejected))} people. Do not rely on them."
        yield Caution("rejected", "The checker rejected claims", text)
    if checked is None:
        text = "The exact checker has not been run on the proofs behind these verdicts; see “Check it yourself”."
        yield Caution("unchecked", "Not checked independently", text)
    elif checked.people < len(found):
        text = (
            f"The exact checker checked the proofs of {count(checked.people)} people, drawn at random from the "
            f"{count(len(found))}. The other verdicts rest on the program that made them."
        )
        yield Caution("partly-checked", "Checked for a sample", text)
    if isinstance(found, Certificates) and (claimed := int((found.radius_status == "claimed").sum())):
        text = (
            f"The verdicts of {count(claimed)} of {count(len(found))} people rest on a radius that the producer claims "
            "and nobody has checked."
        )
        yield Caution("claimed", "Radii are the producer’s claim", text)
    if isinstance(found, Certificates):
        text = (
            "Representations alone do not allow a search for counterexamples, so undecided people may have one. An "
            "audit, which sees the people, searches for them."
        )
        yield Caution("not-searched", "No search for counterexamples", text)


def _about_the_people(statement: Statement, about: About) -> Iterator[Caution]:
    if gone := statement.not_examined:
        text = (
            f"{count(gone)} of the {count(statement.rows)} rows of the table have missing values. Nothing is known "
            "about these people: shares of verdicts count them as not certified, and all other figures leave them out."
        )
        yield Caution("not-examined", "People not examined", text)
    if statement.lower is None and about.trained_on:
        text = (
            "People among these were used for training. The certificates hold for each of them, but say nothing about "
            "anyone else."
        )
        yield Caution("in-sample", "In-sample people", text)
    elif statement.lower is None and not statement.not_examined:
        text = (
            "It was not declared that these people were held out from training and drawn from the population that the "
            "model is used on (lcifr audit --population). The certificates hold for each of them, but say nothing "
            "about anyone else."
        )
        yield Caution("in-sample", "Possibly in-sample people", text)
    if about.library is not None and not about.library.runtime:
        text = (
            "The model’s library was not installed where it was audited. Decisions and counterexamples are those of an "
            "exact forward pass of the model as it was read, and were not compared with the running system."
        )
        yield Caution("no-runtime", "Not compared with its library", text)
    if about.partial:
        yield Caution("partial", "Partial data", about.partial)


def _about_the_model(statement: Statement, models: tuple[ComparedModel, ...]) -> Iterator[Caution]:
    own, others = models[0], models[1:]
    said = None if statement.constant is None else constant_words(statement.people, statement.constant)
    better = tuple(f"the {row.name} model is as accurate" for row in others if _is_unaware(row) and _beaten(own, row))
    for warning in dict.fromkeys(statement.warnings):
        if warning == said or warning.startswith(better):  # said first of all, or with its figures below
            continue
        yield Caution(
            "degenerate",
            "The certified share may mean less than it seems",
            _sentence(warning[:1].upper() + warning[1:]),
        )
    of_whom = " of the people who were examined" if statement.not_examined else ""
    for row in others:
        if _is_unaware(row) and _beaten(own, row):
            text = (
                f"The unaware baseline, which never sees what φ leaves free, has {_score(row)} and "
                f"{percent(row['certified'])} certified; this model has {_score(own)} and "
                f"{percent(own['certified'])}{of_whom}. Use the baseline."
            )
            yield Caution("worse-than-unaware", "The unaware baseline does better", text)
        elif _is_unaware(row) and _less(own.score, row.score):
            ahead = "is right more often" if own["mean_error"] is None else "predicts better"
            text = (
                f"The unaware baseline, which never sees what φ leaves free, {ahead}: "
                f"{_score(row)} against {_score(own).split(' ', 1)[1]}."
            )
            yield Caution("less-accurate", "Certification costs accuracy here", text)
    if not others:
        text = "No baseline was given, so it is hard to judge the certified share."
        yield Caution("no-baseline", "Nothing to compare with", text)
    if own.score is None:
        text = "Without true labels, it is unknown how often the decisions are right."
        yield Caution("no-labels", "Accuracy unknown", text)


def _score(model: ComparedModel) -> str:
    return f"accuracy {percent(model.score)}" if model["mean_error"] is None else f"R² {fixed(model.score)}"


def _is_unaware(row: ComparedModel) -> bool:
    return row.name.startswith("unaware")


def _less(mine: float | None, theirs: float | None) -> bool:
    return mine is not None and theirs is not None and mine < theirs


def _beaten(own: ComparedModel, other: ComparedModel) -> bool:
    """Whether the other is at least as good in all, and better in one."""
    pairs = [(own.score, other.score), (own["certified"], other["certified"])]
    if own["balanced_accuracy"] is not None:
        pairs.append((own["balanced_accuracy"], other["balanced_accuracy"]))
    known = all(figure is not None for pair in pairs for figure in pair)
    return known and any(_less(*pair) for pair in pairs) and not any(_less(*reversed(pair)) for pair in pairs)


def _about_the_formula(findings: tuple[Finding, ...], withheld: bool) -> Iterator[Caution]:
    if withheld:
        yield Caution(
            "withheld", "φ is withheld", "The producer does not reveal φ: only its hash identifies what was proved."
        )
    yield from (
        Caution(one.code, TITLES.get(one.code, one.code.replace("-", " ").capitalize()), _sentence(one.message))
        for one in findings
        if one.severity is not Severity.NOTE
    )


def find_notes(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """What is true of φ, perhaps meant, and good to know."""
    return tuple(_sentence(one.message) for one in findings if one.severity is Severity.NOTE)


def find_findings(
    found: Audit | Certificates, similarity: Similarity | None, about: About, text: str | None = None
) -> tuple[Finding, ...]:
    """What lint says of φ: as the caller knows it, with the training people, or with the people audited.

    ``text`` : φ as it is written, where that is all that is known of it.
    """
    if similarity is None or not isinstance(found, Audit):
        known = about.findings or ()
        guessed = text is not None and is_untouched(text) and UNTOUCHED.code not in {one.code for one in known}
        return (UNTOUCHED, *known) if guessed else known
    said = about.findings
    if said is None:
        people = similarity.encoding.training
        if people is None:
            people = found.people.take(np.unique(np.linspace(0, len(found) - 1, min(LINTED, len(found))).astype(int)))
        said = lint(similarity, people)
    # What lint says of empty regions is said with this audit's own counts already.
    return tuple(one for one in said if one.code not in COUNTED)


def _sentence(text: str) -> str:
    """With its full stop, and as it is, since it may begin with a name; only of φ itself it says "it"."""
    begun = f"It{text[2:]}" if text.startswith("it ") else text
    return begun if begun.endswith(".") else f"{begun}."
