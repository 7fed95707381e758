"""Regression models in a report: how good they are, and what their tolerance means."""

from __future__ import annotations

from collections.abc import Sequence

from lcifr.display.text import exactly, fixed, quantity
from lcifr.report.content import GroupRow, ModelRow
from lcifr.report.document import Table
from lcifr.report.tables import model_verdicts


def tolerance_sentence(tolerance: float) -> str:
    """What the promise leaves open, and who chose that."""
    return (
        f"The model predicts a number, and all numbers here are in the label’s own unit. The tolerance is "
        f"{exactly(tolerance)}: predictions closer than that count as the same decision. The user of the model chose "
        "it; a larger tolerance certifies more people and promises each of them less."
    )


def margin_sentence(tolerance: float) -> str:
    """What a margin of numbers is."""
    return (
        f"The margin is proved, in the label’s own unit: it is what is left of the tolerance of {exactly(tolerance)} "
        "after the farthest similar person. Where it is negative, nothing is proved."
    )


def error_words(row: ModelRow | GroupRow) -> str:
    """The mean error in the label's own unit; a dash where the labels are not known."""
    return "–" if row.mean_error is None else quantity(row.mean_error)


def number_models(models: Sequence[ModelRow]) -> Table:
    """The model audited and its baselines, by R² and mean absolute error."""
    rows = tuple(
        (
            model.name,
            fixed(model.r2),
            error_words(model),
            *model_verdicts(model),
        )
        for model in models
    )
    head = ("Model", "R²", "Mean error", "Certified", "Counterexample", "Undecided")
    return Table("Models on the same people", head, rows, (False, *[True] * 5), own=0)


FIT = (
    "R² is the share of the labels’ variance that a model explains: 1 is perfect, 0 is what always predicting the mean "
    "of these people would give. The mean error is how far predictions are from the true labels on average, in the "
    "label’s own unit. Always predicting the mean of the training labels is certified for everyone, and useless."
)
