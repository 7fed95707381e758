"""The kernel: everybody in a piece of the population, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from lcifr.prove.networks.kernel.jit import compiled, digest, kept
from lcifr.prove.networks.kernel.moving_cell import CHOICES, NUMERICS, chord, look_at, plain_bounds
from lcifr.prove.networks.kernel.program import OWNER
from lcifr.prove.networks.kernel.recording.record import TURN, USED, begin_person, record_line
from lcifr.prove.networks.kernel.shape import Cells, FirstLayer, Floats, KernelAnswer, MovingCell, Objectives, Record
from lcifr.prove.networks.kernel.tree import search
from lcifr.prove.networks.kernel.workspace import Workspace


@compiled
def answer_all(
    layer: FirstLayer,
    cells: Cells,
    objectives: Objectives,
    found: KernelAnswer,
    workspace: Workspace,
    begin: int,
    end: int,
) -> int:
    """Fill in what is found about people begin … end−1 on this cell; the first person for whom there is no room."""
    cell, lp, tree, scratch, record, directions = (
        workspace.cell,
        workspace.lp,
        workspace.tree,
        workspace.scratch,
        workspace.record,
        objectives.value.shape[2],
    )
    for i in range(begin, end):
        record.size[TURN] = i
        if not cells.present[i]:
            continue
        row = i if len(objectives.value) > 1 else 0
        look_at(layer, cells, i, cell)
        lp.size[OWNER] = -1
        mark = begin_person(record, i)
        if record.wanted[0]:
            _record_lines(cell, i, record)
        for k in range(directions):
            scratch.spent[k] = 0
        plain_bounds(layer, objectives, cell, row, scratch.plain, scratch.most, scratch.upper)
        for answer in range(found.best.shape[1]):
            first, last = (0, directions) if objectives.together else (answer, answer + 1)
            scratch.hit[0] = 0
            done = search(layer, objectives, found, cell, i, row, answer, first, last, tree, lp, scratch, record)
            if scratch.hit[0]:
                write_point(cells, found, cell, i, answer, scratch.best)
            if not done:
                record.size[USED] = mark
                return i
        for k in range(directions):
            found.upper[i, k] = max(found.upper[i, k], scratch.upper[k])
            found.nodes[i, k] += scratch.spent[k]
    record.size[TURN] = end
    return end


@compiled
def _record_lines(cell: MovingCell, i: int, record: Record) -> None:
    """The lines of :func:`plain_bounds`."""
    for j in range(len(cell.on)):
        lo, hi = cell.lo[j], cell.hi[j]
        above = chord(lo, hi)[0] if lo < 0.0 < hi else 0.0
        record_line(record, i, j, lo, hi, above, 1.0 if hi > -lo else 0.0)


@compiled
def write_point(cells: Cells, found: KernelAnswer, cell: MovingCell, i: int, answer: int, best: Floats) -> None:
    """The best point found in this cell as a whole individual."""
    witness, numerics = found.witness[i, answer], cells.lower.shape[1]
    for f in range(len(witness)):
        witness[f] = 0.0
    for f in range(numerics):
        witness[cells.column[f]] = cells.lower[i, f]
    for p in range(cell.size[NUMERICS]):
        witness[cells.column[cell.source[p]]] = best[p]
    for c in range(len(cells.start) - 1):
        if not cell.pattern[numerics + c]:
            for v in range(cells.start[c], cells.start[c + 1]):
                witness[cells.column[numerics + v]] = cells.allowed[i, v]
    for c in range(cell.size[CHOICES]):
        for p in range(cell.begin[c], cell.begin[c + 1]):
            witness[cells.column[cell.source[p]]] = best[p]


def make_kernel() -> Callable[[FirstLayer, Cells, Objectives, KernelAnswer, Workspace, int, int], int]:
    """:func:`answer_all`, kept on disk under a name that changes with any source of this folder."""
    sources = digest()

    @kept
    def kernel(
        layer: FirstLayer,
        cells: Cells,
        objectives: Objectives,
        found: KernelAnswer,
        workspace: Workspace,
        begin: int,
        end: int,
    ) -> int:
        return answer_all(layer, cells, objectives, found, workspace, begin, end) if sources else end

    return kernel
