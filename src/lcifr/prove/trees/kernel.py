"""The kernel for trees: everybody in a piece of the population, searched one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lcifr.prove.networks.kernel.heap import MADE
from lcifr.prove.networks.kernel.jit import compiled, digest, kept
from lcifr.prove.networks.kernel.shape import Cells
from lcifr.prove.trees.bound import bound_cell
from lcifr.prove.trees.cutting import begin_rows
from lcifr.prove.trees.lists import LEAVES, make_lists, sort_lists
from lcifr.prove.trees.parts import bin_of, lower_end, upper_end
from lcifr.prove.trees.search import BEST, DONE, NO_ROOM, SPENT, UPPER, begin_tree, search
from lcifr.prove.trees.shape import BinPart, Ensemble, Floats, Found, NumberRows, SearchMemory, TreeQuestion
from lcifr.prove.trees.steps import has_bit

UNIT = 2.3e-16
"""Twice the roundoff of float64, and a little."""


@compiled
def look_at(ensemble: Ensemble, cells: Cells, i: int, memory: SearchMemory) -> None:
    """The cell of person ``i`` in bins and bits."""
    whole, numbers = memory.whole, cells.lower.shape[1]
    for a in range(numbers):
        whole.lower[a], whole.upper[a] = cells.lower[i, a], cells.upper[i, a]
        whole.lo[a] = bin_of(ensemble, a, cells.lower[i, a])
        whole.hi[a] = bin_of(ensemble, a, cells.upper[i, a])
        memory.own[a] = 0.5 * cells.lower[i, a] + 0.5 * cells.upper[i, a]
    for c in range(len(cells.start) - 1):
        whole.hi[numbers + c] = cells.start[c + 1] - cells.start[c] - 1
        for w in range(whole.mask.shape[1]):
            whole.mask[c, w] = 0
        for v in range(cells.start[c + 1] - cells.start[c]):
            if cells.allowed[i, cells.start[c] + v]:
                whole.mask[c, v >> 6] |= 1 << (v & 63)


@compiled
def answer_all(
    ensemble: Ensemble,
    cells: Cells,
    rows: NumberRows,
    asked: TreeQuestion,
    found: Found,
    memory: SearchMemory,
    begin: int,
    end: int,
) -> int:
    """Fill in what is found about people begin … end−1 on this cell; the first person for whom there is no room."""
    for i in range(begin, end):
        if not cells.present[i]:
            continue
        look_at(ensemble, cells, i, memory)
        row = i if len(asked.direction) > 1 else 0
        mark = memory.record.size[0]
        for k in range(asked.direction.shape[1]):
            if not _answer(ensemble, cells, rows, asked, found, memory, i, row, k):
                memory.record.size[0] = mark
                return i
        for k in range(asked.direction.shape[1]):
            found.upper[i, k] = max(found.upper[i, k], found.proved[i, k])
    return end


@compiled
def _answer(
    ensemble: Ensemble,
    cells: Cells,
    rows: NumberRows,
    asked: TreeQuestion,
    found: Found,
    memory: SearchMemory,
    i: int,
    row: int,
    k: int,
) -> bool:
    """One direction of one person; False where there is no room."""
    direction, room, target = asked.direction[row, k], memory.room, asked.target[i, k]
    if not make_lists(ensemble, direction, memory):
        return False
    # Each term passes through a dot product, a product with the scale, and the sums of trees and attributes.
    memory.error[0] = (2 * ensemble.trees[0] + 2 * len(direction) + 32) * UNIT * room[0] + 1e-300
    updates = 4 * memory.lists.size[LEAVES] + len(memory.gains.first)
    memory.error[1] = memory.error[0] + updates * 4.0 * UNIT * room[0]
    room[BEST], memory.hit[0], memory.spent[0] = found.best[i, k], 0, 1
    room[UPPER], end = bound_cell(ensemble, memory) + memory.error[0], DONE
    begin_tree(memory.open, room[UPPER])
    if not room[UPPER] < target:
        memory.spent[0] = 0
        sort_lists(memory.lists)
        begin_rows(memory)
        end = search(ensemble, rows, asked, i, target, memory)
    if memory.hit[0]:
        found.best[i, k] = room[BEST]
        write_point(ensemble, cells, i, memory.best, memory, found.witness[i, k], len(rows.matrix) > 0)
    if end == NO_ROOM:
        return False
    if not record_tree(memory, i, k):
        return False
    found.proved[i, k] = room[UPPER]
    found.nodes[i, k] += memory.spent[0]
    found.exhausted[i, k] |= end == SPENT
    found.branched[i, k] |= memory.spent[0] > 1
    return True


@compiled
def record_tree(memory: SearchMemory, i: int, k: int) -> bool:
    """Keep the split tree of an answer; False where there is no room."""
    record, tree = memory.record, memory.open
    if not record.wanted[0]:
        return True
    count, first = tree.size[MADE], record.size[0]
    if first + count > len(record.child):
        record.size[2] = 1
        return False
    for n in range(count):
        record.attribute[first + n], record.place[first + n] = tree.attribute[n], tree.place[n]
        record.level[first + n] = tree.level[n]
        record.child[first + n] = tree.child[n]
    record.root[i - record.size[1], k] = first
    record.size[0] = first + count
    return True


@compiled
def write_point(
    ensemble: Ensemble, cells: Cells, i: int, part: BinPart, memory: SearchMemory, witness: Floats, exact: bool
) -> None:
    """A point of a part as a whole individual: near the middle of the cell, and away from cuts."""
    numbers = cells.lower.shape[1]
    for f in range(len(witness)):
        witness[f] = 0.0
    for a in range(numbers):
        low = lower_end(ensemble, part, a, part.lower[a])
        high = upper_end(ensemble, part, a, part.upper[a])
        value = low if exact else memory.own[a]
        if not exact and ensemble.whole[a]:
            value = high if memory.own[a] > high else low
        elif not exact:
            inset = 0.25 * (high - low)
            value = min(max(memory.own[a], low + inset), high - inset)
            value = min(max(value, low), high)
        witness[cells.column[a]] = value
    for c in range(len(cells.start) - 1):
        for v in range(cells.start[c + 1] - cells.start[c]):
            if has_bit(part.mask, c, v):
                witness[cells.column[numbers + cells.start[c] + v]] = 1.0
                break


def make_kernel() -> Callable[[Ensemble, Cells, NumberRows, TreeQuestion, Found, SearchMemory, int, int], int]:
    """:func:`answer_all`, kept on disk under a name that changes with any source of this folder."""
    sources = digest(Path(__file__).parent)

    def kernel(
        ensemble: Ensemble,
        cells: Cells,
        rows: NumberRows,
        asked: TreeQuestion,
        found: Found,
        memory: SearchMemory,
        begin: int,
        end: int,
    ) -> int:
        assert len(sources) > 0
        return answer_all(ensemble, cells, rows, asked, found, memory, begin, end)

    # Part of the file's name: numba reads what another version has kept before it sees that it is another's.
    kernel.__qualname__ = f"kernel_{sources[:16]}"
    return kept(kernel)
