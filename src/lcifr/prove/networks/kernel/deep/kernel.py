"""The kernel for any depth: everybody in a piece of the population, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from lcifr.prove.networks.kernel.deep.first_look import look_deeper, plain_bound
from lcifr.prove.networks.kernel.deep.magnitude import direction_errors, first_magnitudes
from lcifr.prove.networks.kernel.deep.program import BOXES, EARLY, LAST, LINES
from lcifr.prove.networks.kernel.deep.shape import Bench, DeepWorkspace, HiddenLayers, Rows, WholeColumns
from lcifr.prove.networks.kernel.deep.tree import search
from lcifr.prove.networks.kernel.jit import compiled, digest, kept
from lcifr.prove.networks.kernel.kernel import write_point
from lcifr.prove.networks.kernel.moving_cell import COLUMNS, look_at
from lcifr.prove.networks.kernel.program import OWNER
from lcifr.prove.networks.kernel.recording.record import TURN, USED, begin_person, record_line
from lcifr.prove.networks.kernel.shape import Cells, FirstLayer, KernelAnswer, MovingCell, Objectives


@compiled
def answer_all(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    wholes: WholeColumns,
    cells: Cells,
    objectives: Objectives,
    found: KernelAnswer,
    work: DeepWorkspace,
    begin: int,
    end: int,
) -> int:
    """Fill in what is found about people begin … end−1 on this cell; the first person for whom there is no room."""
    cell, bench, directions = work.cell, work.bench, objectives.value.shape[2]
    for i in range(begin, end):
        work.record.size[TURN] = i
        if not cells.present[i]:
            continue
        row = i if len(objectives.value) > 1 else 0
        look_at(first, cells, i, cell)
        first_magnitudes(first, layers, cells, i, cell, bench)
        _look_at_rows(rows, cells, cell, i, bench)
        work.lp.size[OWNER] = -1
        if not look_deeper(first, layers, rows, cells, objectives, found, i, row, work):
            for k in range(directions):
                found.upper[i, k] = max(found.upper[i, k], bench.upper[k])
            continue
        _note_free_neurons(layers, work)
        direction_errors(layers, row, bench.lo, bench.hi, bench)
        mark = begin_person(work.record, i)
        for n in range(layers.begin[len(layers.width)] if work.record.wanted[0] else 0):
            record_line(work.record, i, n, bench.lo[n], bench.hi[n], bench.slope[n], bench.below[n])
        for k in range(directions):
            bench.spent[k] = 0
            bench.upper[k] = plain_bound(first, layers, objectives, cell, row, k, bench.lo, bench.hi, bench)
        for answer in range(found.best.shape[1]):
            low, high = (0, directions) if objectives.together else (answer, answer + 1)
            bench.hit[0] = 0
            done = search(first, layers, rows, wholes, objectives, found, i, row, answer, low, high, work)
            if bench.hit[0]:
                write_point(cells, found, cell, i, answer, bench.best)
            if not done:
                work.record.size[USED] = mark
                return i
        for k in range(directions):
            found.upper[i, k] = max(found.upper[i, k], bench.upper[k])
            found.nodes[i, k] += bench.spent[k]
    work.record.size[TURN] = end
    return end


@compiled
def _note_free_neurons(layers: HiddenLayers, work: DeepWorkspace) -> None:
    """The intervals on the person's whole cell, and which neurons they leave free."""
    bench, nodes, depth = work.bench, work.nodes, len(layers.width)
    early = last = 0
    for layer in range(depth):
        for n in range(layers.begin[layer], layers.begin[layer + 1]):
            lo, hi = nodes.lo[0, n], nodes.hi[0, n]
            bench.lo[n], bench.hi[n], bench.place[n] = lo, hi, -1
            if lo < 0.0 < hi:
                bench.place[n] = early + last
                bench.free[early + last] = n
                if layer < depth - 1:
                    early += 1
                else:
                    last += 1
    bench.size[EARLY], bench.size[LAST], bench.size[BOXES] = early, last, 0


@compiled
def _look_at_rows(rows: Rows, cells: Cells, cell: MovingCell, i: int, bench: Bench) -> None:
    """The linear rows on what moves, and their value at what is fixed."""
    numerics = cells.lower.shape[1]
    bench.size[LINES] = len(rows.slope)
    for r in range(len(rows.slope)):
        weight, base = rows.weight[r], -rows.level[i, r]
        for f in range(numerics):
            if not cell.pattern[f]:
                base += weight[f] * cells.lower[i, f]
        for c in range(len(cells.start) - 1):
            if not cell.pattern[numerics + c]:
                for v in range(cells.start[c], cells.start[c + 1]):
                    if cells.allowed[i, v]:
                        base += weight[numerics + v]
        bench.row_base[r] = base
        for p in range(cell.size[COLUMNS]):
            bench.row[r, p] = weight[cell.source[p]]


def make_deep_kernel() -> Callable[
    [FirstLayer, HiddenLayers, Rows, WholeColumns, Cells, Objectives, KernelAnswer, DeepWorkspace, int, int], int
]:
    """:func:`answer_all`, kept on disk under a name that changes with any source of the kernels."""
    sources = digest()

    @kept
    def deep_kernel(
        first: FirstLayer,
        layers: HiddenLayers,
        rows: Rows,
        wholes: WholeColumns,
        cells: Cells,
        objectives: Objectives,
        found: KernelAnswer,
        work: DeepWorkspace,
        begin: int,
        end: int,
    ) -> int:
        return answer_all(first, layers, rows, wholes, cells, objectives, found, work, begin, end) if sources else end

    return deep_kernel
