"""The plain and the unaware model, trained and audited like the one in question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.certification.population import Statement
    from lcifr.data import Individuals
    from lcifr.estimators.base_head import Head
    from lcifr.runs.parties import Parties
    from lcifr.runs.tables import Side

Baselines = dict[str, dict[str, "float | None"]]


def judge_baselines(parties: Parties, training: Side, people: Individuals, y: Any) -> Baselines:
    """For each baseline its figures on the same people: both trained for the label alone, with a plain head.

    A model of numbers is also compared with whoever always says the mean of the training labels.
    """
    from lcifr.certification.auditor import audit
    from lcifr.certification.encoder import freeze
    from lcifr.certification.population import state
    from lcifr.estimators import RobustClassifier, RobustRegressor, plain, unaware
    from lcifr.runs.events import StepKind, step

    found, number = Baselines(), parties.task == "regression"
    with step("Training and auditing the baselines", StepKind.COUNT) as progress:
        progress(0, 2)
        for place, (name, make) in enumerate((("plain", plain), ("unaware", unaware))):
            encoder = make(parties.fitted).set_params(random_state=parties.fitted.random_state or 0, verbose=False)
            encoder.fit(training.X, training.y)
            head: Head = RobustRegressor(against="nothing") if number else RobustClassifier(against="nothing")
            head.fit(encoder.transform(training.X), training.y)
            frozen = freeze(encoder)
            if parties.encoder.similarity.hash != parties.fitted.similarity_.hash:
                frozen = replace(frozen, similarity=parties.encoder.similarity)
            said = state(audit(frozen, head, people, modular=False, tolerance=parties.tolerance), y, held_out=False)
            found[name] = figures_of(said)
            progress(place + 1, 2)
    if said.mean_error_of_mean is not None:
        known = {"r2": said.r2_of_mean, "mean_error": said.mean_error_of_mean}
        found["always the mean"] = {**known, "certified": 1.0, "violated": 0.0, "undecided": 0.0}
    return found


def figures_of(said: Statement) -> dict[str, Any]:
    """The figures by which models are compared, of people whose labels are known."""
    fit = ("accuracy", "balanced_accuracy") if said.mean_error is None else ("r2", "mean_error")
    return {
        **{name: getattr(said, name) for name in fit},
        "certified": said.share,
        "violated": said.violated / said.people,
        "undecided": said.undecided / said.people,
    }
