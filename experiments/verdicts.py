"""How a fitted encoder and a consumer's head do on a split: accuracy, certified shares three ways, violations, time.

Verdicts on the **ball** are exact as in the paper: ε is refined until it is known on which side of the head's own
margin it lies, which gives the verdict of the exact ε at a fraction of the work. On the **box** that the same proof
leaves, and **end to end** for h ∘ f, more people may be certified. **Violated** counts concrete similar people with
another decision, checked by φ itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.audit import audit
from lcifr.certification.consumer import certify
from lcifr.certification.handover import Representation, freeze, provenance_of
from lcifr.datasets import Split
from lcifr.estimators import FairEncoder, RobustClassifier
from lcifr.models.arithmetic import Arithmetic
from lcifr.prove import Budget, Radius

NODES = 2000
"""Branch-and-bound nodes for a person and question; who is still open then counts as not certified."""


@dataclass(frozen=True)
class Judged:
    """Figures in per cent and CPU seconds for a person; who is certified on the ball (people,), by which radius."""

    figures: dict[str, float]
    certified: NDArray[np.bool_]
    radius: Radius
    margin: NDArray[np.float64]


def share(mask: Any) -> float:
    """In per cent, rounded to what a file should hold."""
    return round(100.0 * float(np.mean(mask)), 3)


def accuracies(decided: NDArray[Any], y: Any) -> dict[str, float]:
    """Accuracy and balanced accuracy in per cent."""
    truth = np.asarray(y)
    each = [np.mean(decided[truth == label] == label) for label in np.unique(truth)]
    return {"accuracy": share(decided == truth), "balanced": share(each)}


def quick(encoder: FairEncoder, head: RobustClassifier, split: Split) -> dict[str, float]:
    """By plain bounds alone, for figures that are shown beside others and choose nothing."""
    near = encoder.reach(split.X)
    certified = share(head.certified(near.latent, near.radius))
    return {**accuracies(head.predict(near.latent), split.y), "certified": certified}


def margins(head: RobustClassifier, latent: NDArray[np.float64]) -> NDArray[np.float64]:
    """(people,) the largest ball around z on which a linear head decides the same."""
    size = float(np.abs(head.network_.layers[0].weight).sum())
    return np.asarray(np.abs(head.decision_function(latent)) / max(size, np.finfo(np.float64).tiny))


def on_ball(
    encoder: FairEncoder, head: RobustClassifier, X: Any
) -> tuple[Radius, NDArray[np.float64], NDArray[np.bool_]]:
    """The radius of everyone, as exact as a verdict needs it; the head's margin; who is certified."""
    margin = margins(head, encoder.transform(X))
    found = encoder.radius(X, target=margin, budget=Budget(nodes=NODES))
    return found, margin, head.certified(found.latent, found.radius)


def seen(encoder: FairEncoder, head: RobustClassifier, split: Split) -> dict[str, float]:
    """What choices are made by: accuracies, and the certified share by exact verdicts on the ball."""
    found, _, certified = on_ball(encoder, head, split.X)
    return {**accuracies(head.predict(found.latent), split.y), "certified": share(certified)}


def exactly(encoder: FairEncoder, head: RobustClassifier, split: Split) -> Judged:
    """Everything the tables show, for a linear head."""
    on_ball(encoder, head, split.X[:2])  # what is compiled at its first use is not on the clock
    start = time.process_time()
    found, margin, certified = on_ball(encoder, head, split.X)
    modular = time.process_time() - start
    box = certify(as_representation(encoder, found), head, on="box", largest_radius=False, arithmetic="exact").certified
    start = time.process_time()
    whole = audit(encoder, head, split.X, modular=False, budget=Budget(nodes=NODES), arithmetic="exact")
    end_to_end = time.process_time() - start
    open_share = share((found.radius >= margin) & (found.attained <= margin))
    figures = {
        **accuracies(head.predict(found.latent), split.y),
        "certified": share(certified),
        "box": share(certified | box),
        "end_to_end": share(whole.certified),
        "violated": share(whole.violated),
        "ball_open": open_share,
        "seconds": round(modular / len(split), 7),
        "seconds_end_to_end": round(end_to_end / len(split), 7),
    }
    return Judged(figures, certified, found, margin)


def as_representation(encoder: FairEncoder, found: Radius, radius: NDArray[np.float64] | None = None) -> Representation:
    """The hand-over of these people, with the proved box; with ``radius`` instead of the proved one if it is larger."""
    people = len(found.radius)
    lower, upper = found.lower, found.upper
    if radius is not None:
        lower, upper = found.latent - radius[:, None], found.latent + radius[:, None]
    covering = np.nextafter(np.maximum(upper - found.latent, found.latent - lower).max(1), np.inf)
    return Representation(
        ids=tuple(range(people)),
        latent=found.latent,
        radius=covering,
        lower=lower,
        upper=upper,
        exact=found.exact,
        vacuous=np.zeros(people, np.bool_),
        provenance=provenance_of(freeze(encoder), True, 1e-6, Arithmetic.EXACT),
    )
