"""Larger things: heads with hidden layers on a proved ball, and encoders of 200 + 200 neurons, relaxed and complete."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from experiments.verdicts import accuracies, as_representation, margins, share
from lcifr.certification.consumer import certify
from lcifr.datasets import Split
from lcifr.estimators import FairEncoder, RobustClassifier
from lcifr.learn.target import LatentReach
from lcifr.prove import Budget, Radius

NODES = 200


def on_ball(encoder: FairEncoder, head: RobustClassifier, split: Split, near: LatentReach) -> dict[str, float]:
    """Accuracy, and the certified share on the ball of the radius by plain bounds: any head, by the engine."""
    start = time.process_time()
    ball = as_representation(encoder, _as_radius(near), near.radius)
    certified = certify(ball, head, largest_radius=False, budget=Budget(nodes=NODES), arithmetic="exact").certified
    seconds = round((time.process_time() - start) / len(split), 7)
    return {**accuracies(head.predict(near.latent), split.y), "certified": share(certified), "seconds": seconds}


def _as_radius(near: LatentReach) -> Radius:
    people, ends = len(near.radius), near.radius[:, None]
    no = np.zeros(people, np.bool_)
    return Radius(
        near.latent,
        near.radius,
        near.latent - ends,
        near.latent + ends,
        np.zeros(people),
        np.zeros((people, 1)),
        no,
        no.astype(np.int64),
    )


def both_ways(encoder: FairEncoder, head: RobustClassifier, split: Split, people: int) -> dict[str, Any]:
    """The first ``people`` of a split on the ball: by one linear relaxation, and by the complete cascade."""
    X, y = split.X[:people], split.y[:people]
    start = time.process_time()
    near = encoder.reach(X)
    relaxed = head.certified(near.latent, near.radius)
    quick = time.process_time() - start
    margin = margins(head, near.latent)
    encoder.radius(X[:2], target=margin[:2])
    start = time.process_time()
    found = encoder.radius(X, target=margin, budget=Budget(nodes=NODES))
    complete = head.certified(near.latent, found.radius)
    slow = time.process_time() - start
    return {
        **accuracies(head.predict(near.latent), y),
        "relaxed": {"certified": share(relaxed), "seconds": round(quick / people, 6)},
        "complete": {"certified": share(complete), "seconds": round(slow / people, 6)},
        "refuted": share(found.attained > margin),
        "judged": people,
    }
