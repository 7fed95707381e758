"""One person at a time, as decisions are made: the decision and its certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from lcifr.certification.audit import audit, limits_end_to_end
from lcifr.certification.counterexample import CounterexampleChecker, in_universe
from lcifr.certification.demands import CERTIFICATE_METHOD, FloatArray, Limits, is_strict
from lcifr.certification.handover import freeze
from lcifr.certification.subject import Subject
from lcifr.certification.verdicts import Audit, Reason, Verdict
from lcifr.data import Categorical, Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_model
from lcifr.models.network import merge
from lcifr.prove import Budget, maximize
from lcifr.prove.networks.linear_bounds import backward, hidden_lines, tensors, view_cell
from lcifr.regions.region import Region

LARGEST = 2.0**53
"""Larger numbers are looked at by the gate: whole numbers beyond are not exact any more."""


@dataclass(frozen=True)
class Decided:
    """One decision. ``margin`` is proved: how far everybody similar stays from another decision, in output units."""

    prediction: Any
    verdict: Verdict
    reason: Reason
    margin: float
    vacuous: bool


class OnlineCertifier:
    """Decides and certifies people one by one, from end to end.

    Plain bounds settle most people in one pass; the others get branch-and-bound within ``budget`` nodes.

    Parameters
    ----------
    encoder, model, groups, tolerance : as for :func:`audit`.
    """

    def __init__(
        self,
        encoder: Any,
        model: Any,
        *,
        groups: Sequence[Sequence[Any]] | None = None,
        tolerance: float | None = None,
        budget: Budget | int | None = None,
    ) -> None:
        encoder = self.encoder = freeze(encoder)
        self.budget = budget
        self.model = read_model(model, groups, tolerance)
        self.network = merge(encoder.network, *self.model.factors)
        self.layers = tensors(self.network)
        schema = encoder.encoding.schema
        self.codes = [(a.name, {text: code for code, text in enumerate(a.values)}) for a in schema.categorical]
        self.types = [
            pa.field(a.name, pa.string() if isinstance(a, Categorical) else pa.float64())
            for a in encoder.encoding.schema
        ]

    def decide(self, person: Mapping[str, Any]) -> Decided:
        """The decision about one person, given by attribute, and whether everybody similar would get it too."""
        people = self._read(person)
        region = self.encoder.similarity.region(people, whole_numbers=True)
        checker = CounterexampleChecker(Subject(self.encoder, self.model, Arithmetic.FLOAT64), people)
        limits = limits_end_to_end(checker, region)
        strict = bool(is_strict(self.model.rule, checker.own)[0])
        upper, best = self._plain_bounds(limits, region), np.full_like(limits.limit, -np.inf)
        if strict and not (upper < limits.limit).all():
            answer = maximize(
                self.network,
                limits.directions,
                region,
                target=limits.limit,
                tolerance=limits.precision,
                method=CERTIFICATE_METHOD,
                budget=self.budget,
            )
            upper, best = np.minimum(upper, answer.upper), answer.best
        sure = strict and bool((upper < limits.limit).all())
        reached = bool((best > limits.limit).any())
        reason = Reason.TIE if not strict else Reason.REACHED if reached else Reason.BUDGET
        return Decided(
            prediction=self.model.decide(checker.own.values)[0],
            verdict=Verdict.CERTIFIED if sure else Verdict.UNDECIDED,
            reason=Reason.NONE if sure else reason,
            margin=float((limits.limit - upper).min()),
            vacuous=not bool(region.nonempty[0]),
        )

    def _plain_bounds(self, limits: Limits, region: Region) -> FloatArray:
        """(1, k) what one backward pass proves, without the engine's bookkeeping for many people."""
        upper = torch.full(limits.limit.shape, -torch.inf, dtype=torch.float64)
        directions = torch.as_tensor(np.array(limits.directions))  # of numbers they are one for all, and read-only
        with torch.no_grad():
            for cell in region.cells:
                batch = view_cell(self.layers, cell).batch
                upper = torch.maximum(upper, backward(batch, directions, hidden_lines(batch)).upper)
        return np.where(np.isnan(found := upper.numpy()), np.inf, found)

    def explain(self, person: Mapping[str, Any]) -> Audit:
        """The whole audit of one person: with a counterexample, where there is one."""
        return audit(self.encoder, self.model, self._read(person), budget=self.budget)

    def _read(self, person: Mapping[str, Any]) -> Individuals:
        """A clean person at a glance; anybody else through the gate, which trims, or says what is wrong."""
        return self._at_a_glance(person) or self._through_the_gate(person)

    def _at_a_glance(self, person: Mapping[str, Any]) -> Individuals | None:
        schema = self.encoder.encoding.schema
        codes = [known.get(person.get(name, None)) for name, known in self.codes]
        numbers = [person.get(a.name) for a in schema.numeric]
        plain = all(type(value) in (int, float) and abs(value) < LARGEST for value in numbers)  # type: ignore[arg-type]
        if None in codes or not plain or len(person) != len(schema):
            return None
        people = Individuals(schema, np.array([numbers], dtype=np.float64), np.array([codes], dtype=np.int32))
        return people if in_universe(people)[0] else None

    def _through_the_gate(self, person: Mapping[str, Any]) -> Individuals:
        known = [field for field in self.types if field.name in person]
        arrays = [_column(person[field.name], field.type) for field in known]
        extra = {name: pa.array([value]) for name, value in person.items() if name not in self.encoder.encoding.schema}
        return Individuals.read(
            pa.table({field.name: array for field, array in zip(known, arrays, strict=True)} | extra),
            self.encoder.encoding.schema,
        )


def _column(value: Any, kind: pa.DataType) -> pa.Array:
    try:
        return pa.array([value], kind)
    except (pa.ArrowException, TypeError, ValueError):  # the gate says what is wrong with it
        return pa.array([value])
