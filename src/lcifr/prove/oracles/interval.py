"""Interval arithmetic alone: the loosest sound bound, and the yardstick of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from lcifr.models.network import Network
from lcifr.prove.networks import NetworkEngine
from lcifr.prove.networks.linear_bounds import interval_bounds
from lcifr.prove.proof import interval_leaves
from lcifr.prove.question import Answer, Engine, Question


@final
class IntervalArithmetic(Engine):
    """Layer by layer, each neuron by itself."""

    name = "interval"
    functions = Network

    def answer(self, question: Question) -> Answer:
        upper = interval_bounds(question)
        blank = NetworkEngine().answer(replace(question, branch=False))  # for its witnesses
        proof = interval_leaves(question.directions, question.region, upper) if question.proof else None
        return replace(blank, upper=upper, methods=(self.name,), proof=proof)
