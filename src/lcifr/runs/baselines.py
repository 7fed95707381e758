"""The plain and the unaware model, trained and audited like the one in question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.certification.population import Statement
    from lcifr.data import Individuals
    from lcifr.runs.parties import Parties
    from lcifr.runs.tables import Side


def judge_baselines(parties: Parties, training: Side, people: Individuals, y: Any) -> dict[str, dict[str, float]]:
    """For each baseline its figures on the same people: both trained for the label alone, with a plain classifier."""
    from lcifr.certification.auditor import audit
    from lcifr.certification.encoder import freeze
    from lcifr.certification.population import state
    from lcifr.estimators import RobustClassifier, plain, unaware
    from lcifr.runs.events import StepKind, step

    found = {}
    with step("Training and auditing the baselines", StepKind.COUNT) as progress:
        progress(0, 2)
        for number, (name, make) in enumerate((("plain", plain), ("unaware", unaware))):
            encoder = make(parties.fitted).set_params(random_state=parties.fitted.random_state or 0, verbose=False)
            encoder.fit(training.X, training.y)
            head = RobustClassifier(against="nothing").fit(encoder.transform(training.X), training.y)
            frozen = freeze(encoder)
            if parties.encoder.similarity.hash != parties.fitted.similarity_.hash:
                frozen = replace(frozen, similarity=parties.encoder.similarity)
            said = state(audit(frozen, head, people, modular=False), y, held_out=False)
            found[name] = figures_of(said)
            progress(number + 1, 2)
    return found


def figures_of(said: Statement) -> dict[str, float]:
    """The shares by which models are compared, of people whose labels are known."""
    return {
        "accuracy": float(said.accuracy or 0.0),
        "balanced_accuracy": float(said.balanced_accuracy or 0.0),
        "certified": said.share,
        "violated": said.violated / said.people,
        "undecided": said.undecided / said.people,
    }
