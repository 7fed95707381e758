"""Sections of the page with charts, tables and people, in words."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.display.text import count, percent
from lcifr.report.charts import frontier, margins, radii
from lcifr.report.content import Report, Tuning
from lcifr.report.document import Block, PeopleBlock
from lcifr.report.numbers import FIT, error_words, margin_sentence, number_models
from lcifr.report.tables import (
    confusion_table,
    decision_table,
    group_table,
    model_table,
)

MARGIN = (
    "The margin is proved: every similar person stays at least this far from a different decision, in units of the "
    "model’s output. Where it is negative, nothing is proved."
)


PROBABILITY = (
    "The model’s output is a log-odds. Beside each margin, the person-by-person section gives the probability that "
    "follows from it: for no similar person does the model give this decision a smaller probability."
)


def compared_section(report: Report) -> Iterator[Block]:
    yield (
        "A certified share means little on its own. The plain model was trained for its label only; the unaware model "
        "never sees what φ leaves free. A model that cannot beat the unaware model should be replaced by it."
    )
    if report.baseline_learner:
        yield f"The plain and the unaware model are each {report.baseline_learner}."
    if report.proved.not_examined:
        yield f"These figures are of the {count(report.proved.people)} people who were examined, for every model alike."
    if report.explorer.tolerance is not None:
        yield number_models(report.models)
        yield FIT
        yield from () if len(report.models) > 1 else ("No baseline was given.",)
        return
    yield model_table(report.models)
    if report.majority_rate is not None:
        yield f"Always choosing the more frequent class would be right for {percent(report.majority_rate)}."
    if len(report.models) == 1:
        yield "No baseline was given."


def decisions_section(report: Report) -> Iterator[Block]:
    assert report.decisions is not None
    yield (
        "A certificate compares similar people. It does not say that groups get the same decisions: they may differ in "
        "what φ holds equal." + (" Only people who were examined are counted." if report.proved.not_examined else "")
    )
    yield decision_table(report.decisions)
    if report.decisions.labels:
        yield "True labels against decisions: how many are right, and which errors occur."
        yield confusion_table(report.decisions)


def distances_section(report: Report) -> Iterator[Block]:
    yield MARGIN if report.explorer.tolerance is None else margin_sentence(report.explorer.tolerance)
    if report.explorer.probabilities:
        yield PROBABILITY
    if report.margins is not None:
        yield margins(report.margins)
    if report.radii is not None:
        yield (
            "The radius is how far from a person’s own representation anyone similar can land: the largest change in "
            "any coordinate of z."
        )
        yield radii(report.radii)


def frontier_section(report: Report) -> Iterator[Block]:
    assert report.tuning is not None
    required = f"a {_score(report.tuning)} of {percent(report.tuning.required)}"
    yield (
        "Every weight that was tried, on validation people. Certified shares here come from quick bounds on the ball, "
        f"so they are lower than in an audit. The requirement was {required}."
    )
    yield frontier(report.tuning)


def _score(tuning: Tuning) -> str:
    return "balanced accuracy" if tuning.by == "balanced" else "score"


def groups_section(report: Report) -> Iterator[Block]:
    bound = any(row.at_least is not None for row in report.groups)
    yield (
        "The same verdicts by subgroup. Small groups vary by chance"
        + ("; every bound holds for its own row, not for all rows together." if bound else ".")
        + (" Shares are of the people of each group who were examined." if report.proved.not_examined else "")
    )
    if report.explorer.tolerance is None:
        yield group_table(report.groups, "Accuracy", lambda row: percent(row.accuracy))
    else:
        yield group_table(report.groups, "Mean error", error_words)


def explorer_section(report: Report) -> Iterator[Block]:
    explorer = report.explorer
    if explorer.left_off:
        shown, known = len(explorer.people), len(explorer.people) + explorer.left_off
        yield (
            f"{count(shown)} of {count(report.proved.people)} people, counterexamples first. The figures above cover "
            f"everyone. lcifr report --people all lists {count(known)} people here; the HTML page also has them."
        )
    elif explorer.complete:
        yield f"All {count(len(explorer.people))} people."
    else:
        yield (
            f"{count(len(explorer.people))} of {count(report.proved.people)} people: a random sample and "
            f"{count(explorer.counterexamples)} of {count(report.proved.violated)} counterexamples. The figures above "
            "cover everyone."
        )
    if explorer.attributes and not explorer.regions and report.proved.people > report.proved.vacuous:
        yield "The values that a similar person may have are not shown: this report lacks the data to evaluate φ."
    if 0 < (drawn := sum(bool(one.profiles) for one in explorer.people)) < explorer.counterexamples:
        yield f"To save space, the model’s output is drawn around only {count(drawn)} of these counterexamples."
    yield PeopleBlock(explorer, report.proved.violated)
