"""Tables of a report: verdicts, models, groups, decision rates and the confusion matrix. Shares of one whole add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lcifr.certification.population import ScaleSource
from lcifr.display.text import at_least, count, percent, percents, split_tenths
from lcifr.report.content import DecisionRow, Decisions, GroupRow, ModelRow, Proved
from lcifr.report.document import Table


def verdict_counts(proved: Proved) -> tuple[int, ...]:
    """Certified, counterexample, undecided; and not examined, where there are such rows."""
    counts = (proved.certified, proved.violated, proved.undecided)
    return (*counts, proved.not_examined) if proved.not_examined else counts


def verdict_shares(proved: Proved) -> tuple[str, ...]:
    """Shares of :func:`verdict_counts`, of all rows of the table: the same figures wherever they stand."""
    return tuple(percents(verdict_counts(proved)))


def verdict_table(proved: Proved) -> Table:
    """Every verdict, and why some are undecided."""
    certified, violated, undecided, *gone = verdict_shares(proved)
    tenths = split_tenths(verdict_counts(proved))[2]
    reasons = zip(proved.reasons.items(), percents(list(proved.reasons.values()), tenths), strict=True)
    rows = (
        ("Certified with respect to φ", count(proved.certified), certified),
        ("Counterexample found", count(proved.violated), violated),
        ("Undecided", count(proved.undecided), undecided),
        *((f"of these: {reason}", count(people), share) for (reason, people), share in reasons),
        *(("Not examined: a value is missing", count(proved.not_examined), share) for share in gone),
        ("Vacuous: certified because no one is similar", count(proved.vacuous), percent(proved.vacuous / proved.rows)),
        ("No one similar but the person", count(proved.alone), percent(proved.alone / proved.rows)),
    )
    return Table("Verdicts", ("Verdict", "People", "Share"), rows, (False, True, True))


def model_table(models: Sequence[ModelRow]) -> Table:
    """The model audited, and its baselines."""
    head = ("Model", "Accuracy", "Balanced accuracy", "Certified", "Counterexample", "Undecided")
    rows = tuple((m.name, percent(m.accuracy), percent(m.balanced_accuracy), *model_verdicts(m)) for m in models)
    return Table("Models on the same people", head, rows, (False, *[True] * 5), own=0)


def model_verdicts(model: ModelRow) -> Sequence[str]:
    """Certified, counterexample, undecided of one model, adding up where all three are known."""
    shares = [share for share in (model.certified, model.violated, model.undecided) if share is not None]
    if len(shares) == 3 and abs(sum(shares) - 1) < 1e-6:
        return percents(shares)
    return [percent(share) for share in (model.certified, model.violated, model.undecided)]


def group_table(groups: Sequence[GroupRow], fit: str, words: Callable[[GroupRow], str]) -> Table:
    """Verdicts by group; the last column says how well the model fits each group.

    Parameters
    ----------
    fit : the heading of that column. words : what stands in it.
    """
    head = ("Attribute", "Value", "People", "Certified", "At least", "Counterexample", fit)
    rows = tuple(
        (
            row.attribute,
            row.value,
            count(row.people),
            percent(row.certified),
            at_least(row.at_least),
            percent(row.violated),
            words(row),
        )
        for row in groups
    )
    return Table("Verdicts by group", head, rows, (False, False, *[True] * 5))


def decision_table(decisions: Decisions) -> Table:
    """How often each decision is taken: of everybody, and of every group."""
    everybody = DecisionRow("Everybody", "–", decisions.people)
    rows = tuple(
        (row.attribute, row.value, count(sum(row.people)), *percents(row.people))
        for row in (everybody, *decisions.groups)
    )
    head = ("Attribute", "Value", "People", *decisions.names)
    return Table("How often each decision is taken", head, rows, (False, False, *[True] * (len(head) - 2)))


def confusion_table(decisions: Decisions) -> Table:
    """True labels against decisions, in people."""
    rows = tuple((row.value, *map(count, row.people), count(sum(row.people))) for row in decisions.labels)
    totals = [sum(column) for column in zip(*(row.people for row in decisions.labels), strict=True)]
    head = ("True label", *(f"decided {name}" for name in decisions.names), "People")
    rows = (*rows, ("All", *map(count, totals), count(sum(totals))))
    return Table("True labels against decisions, in people", head, rows, (False, *[True] * (len(head) - 1)))


def scale_table(scales: Sequence[ScaleSource]) -> Table:
    """The standard deviations and ranks that φ speaks of, and how many rows of which table they come from."""
    head = ("Attribute", "Standard deviation", "Rows with a value", "Rows", "Table")
    rows = tuple(
        (
            one.attribute if one.by is None else f"rank of {one.attribute} by {one.by}",
            "–" if one.sd is None else f"{one.sd:.4g}",
            count(one.rows),
            count(one.of),
            one.source,
        )
        for one in scales
    )
    return Table("Where the standard deviations and ranks of φ come from", head, rows, (False, True, True, True, False))
