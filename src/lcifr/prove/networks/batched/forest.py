"""Batched branch-and-bound: the trees of many people and directions grown at once.

A node is a cell with some ReLU phases, category sets and numeric intervals decided. A branch ends when its bound can no
longer change the answer it belongs to. For one hidden layer the relaxed program of a node is solved exactly, so that
only neurons with a positive coefficient (where ReLU is convex and the chord has a gap) and categories need a decision.
"""

from __future__ import annotations

import time
from dataclasses import replace

import torch
from torch import Tensor

from lcifr.prove.networks.batched.bounding import sharpen, spot_empty, usable
from lcifr.prove.networks.batched.incumbent import Incumbent
from lcifr.prove.networks.batched.leaf import with_duals
from lcifr.prove.networks.batched.nodes import Grown, Nodes, Problems, Recorder, take_lines, take_tightened
from lcifr.prove.networks.batched.split import Branching, decide, decide_by_gap
from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch, CellView
from lcifr.prove.networks.linear_bounds.linear import Lines, backward, hidden_lines
from lcifr.prove.networks.linear_bounds.multipliers import Tightened, emptiness
from lcifr.prove.networks.linear_bounds.search import CellPoints, climb, repair, satisfies_rows, vertex
from lcifr.prove.networks.linear_bounds.tangent import Touch, touch, turn_lines
from lcifr.regions.region import Cell

BATCH = 65_536
"""Nodes × hidden neurons × moving columns in one batch, in units of 16 numbers: fits the cache of a core."""


class Forest:
    """Branch-and-bound over one view; ``grow`` is called once."""

    def __init__(self, view: CellView, cell: Cell, problems: Problems, incumbent: Incumbent, recorder: Recorder | None):
        self.view, self.cell, self.problems, self.incumbent = view, cell, problems, incumbent
        self.recorder = recorder
        count = len(problems.item)
        self.upper = torch.full_like(problems.offset, -torch.inf)
        self.spent = torch.zeros(count, dtype=torch.int64, device=self.upper.device)
        self.exhausted = torch.zeros(count, dtype=torch.bool, device=self.upper.device)
        self.names = count
        # corners of the box are mostly outside of rows, and the program of one hidden layer ends in the best point
        self.jumps = 1 if view.batch.rows is None or view.batch.depth > 1 else 0

    def grow(self, deadline: float | None = None) -> Grown:
        """Work until every branch is closed or the budget is spent."""
        waiting = [Nodes.roots(self.problems, self.view.batch.take(self.problems.item))]
        while waiting:
            nodes = Nodes.join(waiting)
            late = deadline is not None and time.monotonic() > deadline
            nodes, later = self._pick(nodes, late)
            waiting = [part for part in (later,) if len(part)]
            if len(nodes):
                children = self._work(nodes)
                waiting += [children] if len(children) else []
        return Grown(self.upper, self.spent, self.exhausted)

    def _pick(self, nodes: Nodes, late: bool) -> tuple[Nodes, Nodes]:
        """The most promising nodes for the next batch and those that wait; what cannot matter is closed."""
        answer = self.problems.answer[nodes.problem]
        closed = (nodes.bound <= self._enough(nodes)) | self.incumbent.settled(answer)
        over = (self.spent[nodes.problem] >= self.problems.nodes) | late
        stop = closed | over
        self._close(nodes, stop)
        self.exhausted[nodes.problem[over & ~closed]] = True
        index = (~stop).nonzero()[:, 0]
        if len(index) == 0:
            return nodes.take(index), nodes.take(index)
        batch = self.view.batch
        size = batch.weight.shape[0] * (batch.weight.shape[1] + sum(part.shape[1] for part in batch.groups)) + 64
        most = max(32, BATCH * 16 // size)
        easy = index[~nodes.hard[index]]
        rest = index[nodes.hard[index]] if len(easy) else index[:0]
        index = easy if len(easy) else index
        index = index[nodes.bound[index].argsort(descending=True)]
        return nodes.take(index[:most]), nodes.take(torch.cat([index[most:], rest]))

    def _close(self, nodes: Nodes, mask: Tensor) -> None:
        """These nodes end with the bound they have from their parent or themselves."""
        index = mask.nonzero()[:, 0]
        self.upper.scatter_reduce_(0, nodes.problem[index], nodes.bound[index], "amax")

    def _scene(self, nodes: Nodes) -> CellBatch:
        batch = self.view.batch.take(self.problems.item[nodes.problem])
        return batch.with_box(nodes.lower, nodes.upper, nodes.allowed)

    def _work(self, nodes: Nodes) -> Nodes:
        """Bound a batch, offer the points it points at, close what can be closed and split the rest."""
        self.spent.index_add_(0, nodes.problem, torch.ones_like(nodes.problem))
        if self.view.batch.depth == 1 and self.view.batch.rows is None:
            return self._work_by_touch(nodes)
        nodes = self._without_empty(nodes)
        batch, direction = self._scene(nodes), self.problems.direction[nodes.problem]
        lines = hidden_lines(batch, list(nodes.phases))
        reach = backward(batch, direction[:, None, :], lines)
        bound = usable(reach.upper[:, 0], lines)
        if batch.rows is None:  # else the program's point is offered below
            corner = vertex(batch, reach.coefficient[:, 0], tuple(g[:, 0] for g in reach.groups))
            self._offer(nodes, batch, direction, corner)
        open_ = self._finish(nodes, bound, None, lines)
        if len(open_) == 0:
            return nodes.take(open_)
        nodes, batch, direction = nodes.take(open_), batch.take(open_), direction[open_]
        lines = [take_lines(line, open_) for line in lines]
        enough = self._enough(nodes)
        better, bound = sharpen(batch, direction, lines, list(nodes.phases), bound[open_], enough)
        better, bound = with_duals(batch, direction, lines, better, bound, enough)
        bound = spot_empty(batch, direction, lines, bound)
        if better.point is not None:
            self._offer(nodes, batch, direction, better.point)
        open_ = self._finish(nodes, bound, better, lines)
        return self._split(nodes, batch, direction, better, lines, bound, open_)

    def _enough(self, nodes: Nodes) -> Tensor:
        """(N,) bounds are kept without the offset, which would round them; so it is taken from the limit instead."""
        problems = self.problems
        return self.incumbent.enough(problems.answer[nodes.problem]) - problems.offset[nodes.problem]

    def _work_by_touch(self, nodes: Nodes) -> Nodes:
        """One hidden layer, no rows: tangents first, the program only where lower lines give away more than chords."""
        batch, direction = self._scene(nodes), self.problems.direction[nodes.problem]
        line = hidden_lines(batch, list(nodes.phases))[0]
        line = turn_lines(batch, direction, line, lambda points, value: self._offer_value(nodes, points, value))
        best = touch(batch, direction, line)
        open_ = self._finish_touch(nodes, best)
        if len(open_) == 0:
            return nodes.take(open_)
        nodes, batch, direction, best = nodes.take(open_), batch.take(open_), direction[open_], best.take(open_)
        nodes = replace(nodes, bound=usable(best.reach.upper[:, 0], [best.line]))
        if bool(nodes.hard.any()):  # then all of them are
            return self._work_by_program(nodes, batch, direction, best)
        solve = (best.below > best.above.sum(1)) | (self.problems.nodes == 1)  # a single node gets all there is
        cheap, dear = (~solve).nonzero()[:, 0], solve.nonzero()[:, 0]
        decision = decide_by_gap(
            batch.take(cheap), best.above[cheap], tuple(part[cheap, 0] for part in best.reach.groups)
        )
        children = self._children(nodes.take(cheap), decision, best.take(cheap).as_tightened(), [])
        if len(dear) == 0:
            return children
        waiting = nodes.take(dear)
        self.spent.index_add_(0, waiting.problem, -torch.ones_like(waiting.problem))  # counted when worked on again
        return Nodes.join([children, replace(waiting, hard=torch.ones_like(waiting.hard))])

    def _work_by_program(self, nodes: Nodes, batch: CellBatch, direction: Tensor, best: Touch) -> Nodes:
        """Solve the relaxed program of each node; phases are decided without their halfspaces (see tangent)."""
        lines = [best.line]
        phases = [torch.zeros_like(nodes.phases[0])]
        better, bound = sharpen(batch, direction, lines, phases, nodes.bound, self._enough(nodes))
        if better.point is not None:
            self._offer(nodes, batch, direction, better.point)
        open_ = self._finish(nodes, bound, better, lines)
        return self._split(nodes, batch, direction, better, lines, bound, open_)

    def _offer_value(self, nodes: Nodes, points: CellPoints, value: Tensor) -> None:
        answer, item = self.problems.answer[nodes.problem], self.problems.item[nodes.problem]
        value = value + self.problems.offset[nodes.problem]
        self.incumbent.offer(answer, value, self.view, self.cell, item, points)

    def _finish_touch(self, nodes: Nodes, best: Touch) -> Tensor:
        bound = usable(best.reach.upper[:, 0], [best.line])
        return self._finish(nodes, bound, None if self.recorder is None else best.as_tightened(), [best.line])

    def _without_empty(self, nodes: Nodes) -> Nodes:
        """Nodes that linear rows leave no point of end here; only those are tried where no point is at hand."""
        batch = self._scene(nodes)
        if batch.rows is None:
            return nodes
        hot = tuple(allowed.to(torch.int8).argmax(1) for allowed in batch.allowed)
        lost = (~satisfies_rows(batch, repair(batch, CellPoints(batch.center, hot)))).nonzero()[:, 0]
        if len(lost) == 0:
            return nodes
        empty, rows = emptiness(batch.take(lost))
        if self.recorder is not None:
            for row in empty.nonzero()[:, 0].tolist():
                self.recorder.void(int(nodes.name[lost[row]]), row, rows)
        keep = torch.ones(len(nodes), dtype=torch.bool, device=empty.device)
        keep[lost[empty]] = False
        return nodes.take(keep.nonzero()[:, 0])

    def _offer(self, nodes: Nodes, batch: CellBatch, direction: Tensor, points: CellPoints) -> None:
        points, value = climb(batch, direction, points, jumps=self.jumps)
        self._offer_value(nodes, points, value)

    def _finish(self, nodes: Nodes, bound: Tensor, tightened: Tightened | None, lines: list[Lines]) -> Tensor:
        """Close nodes whose bound is low enough, and say which (indices) are still open."""
        closed = bound <= self._enough(nodes)
        self._close(replace(nodes, bound=bound), closed)
        if self.recorder is not None:
            for row in closed.nonzero()[:, 0].tolist():
                self.recorder.leaf(int(nodes.name[row]), row, float(bound[row]), tightened, lines)
        return (~closed).nonzero()[:, 0]

    def _split(
        self,
        nodes: Nodes,
        batch: CellBatch,
        direction: Tensor,
        better: Tightened,
        lines: list[Lines],
        bound: Tensor,
        open_: Tensor,
    ) -> Nodes:
        if len(open_) == 0:
            return nodes.take(open_)
        better = take_tightened(better, open_)
        nodes = replace(nodes.take(open_), bound=bound[open_])
        decision = decide(batch.take(open_), direction[open_], better, nodes)
        return self._children(nodes, decision, better, [take_lines(line, open_) for line in lines])

    def _children(self, nodes: Nodes, decision: Branching, better: Tightened, lines: list[Lines]) -> Nodes:
        """Two children for every node; where nothing is left to decide (only rounding does that) the node ends."""
        stuck = decision.stuck
        self._close(nodes, stuck)
        keep = (~stuck).nonzero()[:, 0]
        count = len(keep)
        fresh = self.names + torch.arange(2 * count, device=stuck.device)
        self.names += 2 * count
        if self.recorder is not None:
            for row in stuck.nonzero()[:, 0].tolist():
                self.recorder.leaf(int(nodes.name[row]), row, float(nodes.bound[row]), better, lines)
            for order, row in enumerate(keep.tolist()):
                self.recorder.split(
                    int(nodes.name[row]), decision, row, int(fresh[order]), int(fresh[count + order]), better, lines
                )
        first, second = decision.apply(nodes)
        children = Nodes.join([first.take(keep), second.take(keep)])
        return replace(children, name=fresh, hard=torch.zeros_like(children.hard))
