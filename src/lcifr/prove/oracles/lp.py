"""The paper's relaxed linear program: the triangle of Ehlers for every unstable ReLU, categories in the simplex.

The solver is not trusted. Its duals are taken as multipliers of backward passes, and what those prove is computed in
exact arithmetic: every bound comes with a proof, and a solver that is wrong makes it loose, never false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from lcifr.check.functions import Network as IntegerNetwork
from lcifr.check.functions import read_network
from lcifr.models.network import Network
from lcifr.prove.oracles.enumerate import ExactCell
from lcifr.prove.oracles.formulation import Formulation, LayerInterval, formulate
from lcifr.prove.oracles.solvers import Capability, Limits, Outcome, Session, Solver, SolverEngine, SolverStatus
from lcifr.prove.proof import CellProof, Entry, Leaf, Multipliers, NeuronBound, ProvedBound, ReluLine, entries
from lcifr.prove.question import Answer, FloatArray, Question
from lcifr.regions.cell import Cell

NEGLIGIBLE = 1e-9
"""A multiplier below this share of its coefficient is the solver's rounding; leaving it out costs as little."""
TINY = 1e-100
"""A coefficient below this is as good as 0: its line does not matter, and dividing by it would overflow."""
LARGEST_DUAL = 1e100
"""Larger duals (or NaN) come from a solver that has lost its way; the interval of the output bounds without them."""


@final
class Lp(SolverEngine):
    """The relaxation with tight intervals: two small programs per unstable neuron that is not in the first layer."""

    name = "lp"
    functions = Network
    needs = frozenset({Capability.DUALS})
    any_device = False

    def answer(self, question: Question) -> Answer:
        people, k = question.directions.shape[:2]
        layers = read_network(question.network.rows())
        upper = np.full((people, k), -np.inf)
        witness = np.full((people, k, question.region.features), np.nan)
        proofs: list[list[list[CellProof]]] = [[[] for _ in range(k)] for _ in range(people)]
        for person in range(people):
            for index, cell in enumerate(question.region.cells):
                if cell.present[person]:
                    relaxed = RelaxedCell(question, layers, cell, person, self.solver)
                    found = relaxed.answer(question.directions[person])
                    proof = relaxed.proof(index, question.directions[person], found)
                    for direction, answer in enumerate(found):
                        proofs[person][direction].append(proof)
                        if answer.upper > upper[person, direction]:
                            upper[person, direction], witness[person, direction] = answer.upper, answer.point
        witness[~question.region.contains(witness)] = np.nan
        return Answer.claimed(question, upper, witness, methods=(self.name,), proof=proofs)


@dataclass(frozen=True)
class Bounded:
    """The proved bound of one direction, the multipliers that prove it (none: intervals do), the relaxed optimum."""

    upper: float
    by: Multipliers
    point: FloatArray


class RelaxedCell:
    """One person's cell: tightens the hidden intervals layer by layer, then bounds directions."""

    def __init__(self, question: Question, layers: IntegerNetwork, cell: Cell, person: int, solver: Solver) -> None:
        self.network, self.cell, self.person = question.network, cell, person
        self.solver, self.limits = solver, Limits(seconds=question.resources.seconds)
        self.exact = ExactCell(layers, cell, person)
        self.emptiness: Multipliers | None = None
        self.intervals: list[LayerInterval] = []
        for depth in range(self.network.depth):
            if not self.empty:
                self.tighten(depth)

    @property
    def empty(self) -> bool:
        """Whether it is proved that the cell has no point."""
        return self.emptiness is not None or self.exact.empty

    def tighten(self, depth: int) -> None:
        """Prove the interval of every unstable neuron of a layer; the first is in closed form unless rows cut it."""
        interval = self.exact.interval(depth)
        if depth or self.cell.rows is not None:
            model, session = self.session(depth)
            proved = []
            for neuron in np.flatnonzero(interval.unstable):
                for side, sign in (("upper", 1.0), ("lower", -1.0)):
                    weights = sign * self.network.layers[depth].weight[neuron]
                    by = self.multipliers(model, session.maximize(model.cost(depth, weights)), depth, weights)
                    if by is not None:
                        proved.append(NeuronBound(depth, int(neuron), side, by))  # type: ignore[arg-type]
            if not self.empty:
                self.exact.prove(proved)
                interval = self.exact.interval(depth)
        self.intervals.append(interval)

    def session(self, hidden: int) -> tuple[Formulation, Session]:
        """The relaxation of the first ``hidden`` hidden layers in the solver."""
        model = formulate(self.network, self.cell, self.person, self.intervals, whole=False, hidden=hidden)
        return model, self.solver.load(model.model, self.limits)

    def answer(self, directions: FloatArray) -> list[Bounded]:
        """A proved bound for every direction, (k, outputs); −inf if the cell is empty."""
        nowhere = np.full(self.network.inputs, np.nan)
        if not self.empty:
            model, session = self.session(self.network.depth)
        found = []
        for direction in directions:
            best = Bounded(-np.inf, Multipliers(), nowhere)
            if not self.empty:
                weights = direction @ self.network.layers[-1].weight
                outcome = session.maximize(model.cost(self.network.depth, weights))
                by = self.multipliers(model, outcome, self.network.depth, weights)
                best = self.bounded(direction, by, nowhere if outcome.point is None else outcome.point)
            found.append(best)
        if self.empty:  # it may have come out at the last direction only
            return [Bounded(-np.inf, Multipliers(), nowhere)] * len(directions)
        return found

    def bounded(self, direction: FloatArray, by: Multipliers | None, point: FloatArray) -> Bounded:
        """The better of the pass and the interval of the output; whole categories in the point."""
        point = point[: self.network.inputs].copy()
        for choice in self.cell.choices:
            score = np.where(choice.allowed[self.person], point[choice.columns], -np.inf)
            point[choice.columns] = np.arange(len(choice.columns)) == score.argmax()
        either = [Multipliers(), *([] if by is None else [by])]
        bounds = [self.exact.bound(self.network.depth, direction, each) for each in either]
        best = int(np.argmin(bounds))
        return Bounded(bounds[best], either[best], point)

    def multipliers(self, model: Formulation, outcome: Outcome, layer: int, weights: FloatArray) -> Multipliers | None:
        """What the solver's duals say about the maximum of weights · (inputs of ``layer``), as a backward pass."""
        if outcome.duals is None or not (np.abs(outcome.duals) < LARGEST_DUAL).all():
            return None
        if outcome.status is SolverStatus.OPTIMAL:
            return self.from_duals(model, outcome.duals, layer, weights)
        for sign in (1.0, -1.0):  # solvers do not agree on the sign of a ray
            by = self.from_duals(model, sign * outcome.duals, layer, np.zeros_like(weights))
            if self.exact.shows_emptiness(by):
                self.emptiness = by
        return None

    def from_duals(self, model: Formulation, duals: FloatArray, layer: int, weights: FloatArray) -> Multipliers:
        """The duals as multipliers of a backward pass from weights · (inputs of ``layer``)."""
        count = 0 if self.cell.rows is None else len(self.cell.rows.G)
        return multipliers_from_duals(self.network, self.intervals[:layer], count, model, duals, weights)

    def proof(self, index: int, directions: FloatArray, found: list[Bounded]) -> CellProof:
        """Everything proved about this cell."""
        ends = self.exact.neurons
        if self.empty:
            leaf = Leaf(self.emptiness or Multipliers(), empty=True, ends=ends)
            return CellProof(index, (ProvedBound((), -1.0, (leaf,)),))
        claims = [
            ProvedBound(entries(direction), one.upper, (Leaf(one.by, ends=ends),))
            for direction, one in zip(directions, found, strict=True)
        ]
        return CellProof(index, tuple(claims))


def multipliers_from_duals(
    network: Network,
    intervals: Sequence[LayerInterval],
    rows: int,
    model: Formulation,
    duals: FloatArray,
    weights: FloatArray,
) -> Multipliers:
    """A backward pass whose coefficients of y are the duals of y = W a + b, as nearly as its lines allow.

    With v the coefficient of a and c the dual, the line's slope s takes the share v·s and β the rest, c − v·s. Above
    ReLU the line is the triangle's; below it s = c/v as far as that lies in [0, 1].
    """
    lines = []
    v = weights
    for depth in reversed(range(len(intervals))):
        interval, start = intervals[depth], model.equations[depth]
        c = duals[start : start + len(interval.lower)]
        width = np.where(interval.unstable, interval.upper - interval.lower, 1.0)
        share = np.clip(c / np.where(np.abs(v) < TINY, np.inf, v), 0.0, 1.0)
        slope = np.where(v > 0, interval.upper / width, share)
        slope = np.where(interval.unstable, slope, interval.lower >= 0)
        rest = c - v * slope
        rest = np.where(np.abs(rest) > NEGLIGIBLE * (1.0 + np.abs(v)), rest, 0.0)
        needed = np.flatnonzero(((slope != 0) & (v != 0)) | (rest != 0))
        lines += [ReluLine(depth, int(j), float(slope[j]), float(slope[j]), float(rest[j])) for j in needed]
        v = (v * slope + rest) @ network.layers[depth].weight
    rates = duals[model.cell_rows : model.cell_rows + rows]
    return Multipliers(tuple(lines), tuple(Entry(i, float(r)) for i, r in enumerate(rates) if r > 0))
