"""The kernel for one hidden layer: a node and its program, branch-and-bound for one answer, a range of people."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lcifr.prove.networks.kernel.arrays import (
    AnyScratch,
    Cells,
    FirstLayer,
    Flags,
    Floats,
    KernelAnswer,
    MovingCell,
    Objectives,
    Record,
    Scratch,
    SimplexDictionary,
    Tree,
    Workspace,
)
from lcifr.prove.networks.kernel.best_first import (
    JUMPS,
    STALE,
    close,
    empty,
    enough,
    finish,
    forget,
    full,
    keep_point,
    make_root,
    make_twin,
    most_promising,
    next_node,
    part_choice,
    push,
    with_offset,
)
from lcifr.prove.networks.kernel.cell import (
    CHOICES,
    COLUMNS,
    NUMERICS,
    UNSTABLE,
    at_most,
    chord,
    intervals,
    look_at,
    plain_bounds,
    stable_part,
)
from lcifr.prove.networks.kernel.jit import digest, inlined, kept
from lcifr.prove.networks.kernel.record import (
    TURN,
    USED,
    begin_person,
    no_room,
    record_line,
    record_slopes,
    record_split,
)
from lcifr.prove.networks.kernel.simplex import OWNER, PIVOTS, build, read, solve

# One node: its costs, its proved bound, the points it points at, and where to split it.

STUCK, RELU, CHOICE = 0, 1, 2


WHOLE = 1e-6
"""A category whose share at the relaxed optimum is within this of 1 counts as whole."""


@inlined
def set_costs(
    layer: FirstLayer,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    tree: Tree,
    node: int,
    lp: SimplexDictionary,
    scratch: Scratch,
) -> None:
    """The cost of every column and neuron at this node.

    For c > 0, max over x of (rest + c·relu(y)) is the larger of the maxima of (rest + c·y) and (rest): a decided phase
    needs no halfspace y ≥ 0 or y ≤ 0.
    """
    k, phase, allow, weight, lows, highs = (
        tree.direction[node],
        tree.phase[node],
        tree.allow[node],
        1.0,
        cell.lo,
        cell.hi,
    )
    if tree.cut[node]:
        intervals(layer, cell, allow, scratch.lo, scratch.hi)
        lows, highs = scratch.lo, scratch.hi
    for u in range(cell.size[UNSTABLE]):
        j = cell.unstable[u]
        c, lo, hi = objectives.value[row, j, k], lows[j], highs[j]
        weight += abs(c) * (cell.hi[j] - cell.lo[j])
        left = right = scratch.intercept[u] = 0.0
        if lo >= 0.0 or (c > 0.0 and phase[u] > 0):
            left = right = c
        elif hi > 0.0 and c < 0.0:
            right = c
        elif hi > 0.0 and c > 0.0 and phase[u] == 0:
            s, t = chord(lo, hi)
            left = right = c * s
            scratch.intercept[u] = c * t
        lp.left[u], lp.right[u] = left, right
    for p in range(cell.size[NUMERICS]):
        lp.gain[p] = scratch.stable[p] * (cell.high[p] - cell.low[p])
        weight += abs(lp.gain[p])
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        weight += abs(scratch.stable[p])
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        lp.gain[p] = scratch.stable[p] if allow[p] else -4.0 * weight  # so much that it never pays


@inlined
def proved_bound(
    layer: FirstLayer, objectives: Objectives, cell: MovingCell, row: int, k: int, allow: Flags, scratch: Scratch
) -> float:
    """The bound with the lines in scratch, however their slopes were found; and its slopes (q,)."""
    q, constant = cell.size[COLUMNS], scratch.constant[0]
    for p in range(q):
        scratch.slopes[p] = scratch.stable[p]
    for u in range(cell.size[UNSTABLE]):
        s, j = scratch.slope[u], cell.unstable[u]
        constant += scratch.intercept[u]
        if s != 0.0:
            constant += s * cell.base[j]
            for p in range(q):
                scratch.slopes[p] += s * cell.weight[j, p]
    return at_most(layer, objectives, cell, row, k, allow, scratch.slopes, constant)


@inlined
def take_largest(score: Floats, cell: MovingCell, allow: Flags, scratch: AnyScratch) -> None:
    """Of every choice the allowed category with the largest score, for the scratch point."""
    for c in range(cell.size[CHOICES]):
        top = -1
        for p in range(cell.begin[c], cell.begin[c + 1]):
            scratch.point[p] = 0.0
            if allow[p] and (top < 0 or score[p] > score[top]):
                top = p
        scratch.point[top] = 1.0


@inlined
def point_of(lp: SimplexDictionary, cell: MovingCell, allow: Flags, scratch: AnyScratch) -> None:
    """The relaxed optimum rounded to a point of the cell."""
    for p in range(cell.size[NUMERICS]):
        x = cell.low[p] + lp.share[p] * (cell.high[p] - cell.low[p])
        x = cell.high[p] if lp.share[p] == 1.0 else x
        scratch.point[p] = min(cell.high[p], max(cell.low[p], x))
    take_largest(lp.share, cell, allow, scratch)


@inlined
def vertex_of(cell: MovingCell, allow: Flags, scratch: AnyScratch) -> None:
    """The point of the cell where a linear function with the scratch slopes is largest."""
    for p in range(cell.size[NUMERICS]):
        scratch.point[p] = cell.high[p] if scratch.slopes[p] > 0.0 else cell.low[p]
    take_largest(scratch.slopes, cell, allow, scratch)


@inlined
def value_at_point(objectives: Objectives, cell: MovingCell, row: int, k: int, scratch: Scratch) -> float:
    """Direction · network at the scratch point, in plain floating point; and the gradient there as slopes."""
    q, total = cell.size[COLUMNS], scratch.constant[0]
    for p in range(q):
        scratch.slopes[p] = scratch.stable[p]
        total += scratch.stable[p] * scratch.point[p]
    for u in range(cell.size[UNSTABLE]):
        j = cell.unstable[u]
        y = cell.base[j]
        for p in range(q):
            y += cell.weight[j, p] * scratch.point[p]
        if y > 0.0:
            c = objectives.value[row, j, k]
            total += c * y
            for p in range(q):
                scratch.slopes[p] += c * cell.weight[j, p]
    return float(total)


@inlined
def pick_choice(cell: MovingCell, allow: Flags, lp: SimplexDictionary) -> int:
    """The choice that is farthest from whole at the program's optimum; −1 where all are whole."""
    place, top = -1, WHOLE
    for c in range(cell.size[CHOICES]):
        most, count = 0.0, 0
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p]:
                most, count = max(most, lp.share[p]), count + 1
        if count > 1 and 1.0 - most > top:
            place, top = c, 1.0 - most
    return place


@inlined
def decide(
    objectives: Objectives, cell: MovingCell, row: int, tree: Tree, node: int, lp: SimplexDictionary, scratch: Scratch
) -> tuple[int, int]:
    """Whether to split a choice or a phase, and which: a choice that is not whole, else the chord with most gap."""
    k, place = tree.direction[node], pick_choice(cell, tree.allow[node], lp)
    if place >= 0:
        return CHOICE, place
    top = 0.0
    for u in range(cell.size[UNSTABLE]):
        if scratch.intercept[u] > 0.0:
            y, c = lp.input[u], objectives.value[row, cell.unstable[u], k]
            gap = scratch.slope[u] * y + scratch.intercept[u] - c * max(y, 0.0) + 1e-6 * scratch.intercept[u]
            if gap > top:
                place, top = u, gap
    return (RELU, place) if place >= 0 else (STUCK, 0)


@inlined
def better_half(cell: MovingCell, allow: Flags, choice: int, scratch: AnyScratch) -> None:
    """The better half of the choice's categories by their slope: siblings share what is large."""
    begin, end, count = cell.begin[choice], cell.begin[choice + 1], 0
    for p in range(begin, end):
        count += allow[p]
    for p in range(begin, end):
        rank = 0
        for other in range(begin, end):
            ahead = scratch.slopes[other] > scratch.slopes[p] or (
                scratch.slopes[other] == scratch.slopes[p] and other < p
            )
            if allow[other] and ahead:
                rank += 1
        scratch.half[p] = np.uint8(allow[p] and rank < count // 2)


# Branch-and-bound for one answer of a person through one hidden layer, over all its directions at once.


@inlined
def climb(
    layer: FirstLayer,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    k: int,
    answer: int,
    jumps: int,
    scratch: Scratch,
) -> bool:
    """Jump from the scratch point along the gradient, and keep what is better. Whether the target is surely passed."""
    last = -np.inf
    rounding_error = layer.unit * (objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k])
    for _ in range(jumps + 1):
        value = value_at_point(objectives, cell, row, k, scratch)
        if value + objectives.offset[i, k] > found.best[i, answer]:
            settled = keep_point(objectives, found, cell, i, k, answer, value, rounding_error, scratch)
            if settled:
                return True
        if not value > last:
            break
        last = value
        vertex_of(cell, cell.allow, scratch)
    return False


@inlined
def search(
    layer: FirstLayer,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    answer: int,
    first: int,
    last: int,
    tree: Tree,
    lp: SimplexDictionary,
    scratch: Scratch,
    record: Record,
) -> bool:
    """Raise the answer's best value and lower the bounds of directions first … last−1 until the two meet.

    False where the tree has no room left: the caller makes some and asks again.
    """
    top = most_promising(objectives, found, i, answer, first, last, scratch)
    if top < 0:
        return True
    scratch.hit[0] = 0
    _turn_to(objectives, cell, row, top, lp, scratch, False)
    settled = climb(layer, objectives, found, cell, i, row, top, answer, JUMPS, scratch)
    if settled or not objectives.branch:
        return True
    limit = enough(objectives, found, i, answer)
    _plant(objectives, found, cell, i, first, last, limit, tree, scratch, record)
    while not settled:
        if full(tree) or no_room(record):
            return False
        node = next_node(objectives, found, i, answer, tree, scratch)
        if node < 0:
            break
        settled = _work(layer, objectives, found, cell, i, row, answer, node, tree, lp, scratch, record)
    finish(objectives, found, i, first, last, tree, scratch)
    return True


@inlined
def _turn_to(
    objectives: Objectives, cell: MovingCell, row: int, k: int, lp: SimplexDictionary, scratch: Scratch, program: bool
) -> None:
    """Make direction ``k`` the one that scratch arrays and program are about, at the vertex of its plain bound."""
    for p in range(cell.size[COLUMNS]):
        scratch.slopes[p] = scratch.plain[p, k]
    vertex_of(cell, cell.allow, scratch)
    if program:
        build(lp, cell, scratch.slopes)
        lp.size[OWNER] = k
    scratch.constant[0] = stable_part(objectives, cell, row, k, scratch.stable)


@inlined
def _plant(
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    first: int,
    last: int,
    limit: float,
    tree: Tree,
    scratch: Scratch,
    record: Record,
) -> None:
    """One root for every direction that still matters."""
    empty(tree)
    for k in range(first, last):
        scratch.output[k] = -np.inf
        key = with_offset(scratch.upper[k], objectives.offset[i, k])
        if key > limit:
            node = make_root(found, cell, i, k, key, tree, scratch, record)
            tree.cut[node] = 0
            for u in range(cell.size[UNSTABLE]):
                tree.phase[node, u] = 0


@inlined
def _work(
    layer: FirstLayer,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    answer: int,
    node: int,
    tree: Tree,
    lp: SimplexDictionary,
    scratch: Scratch,
    record: Record,
) -> bool:
    """Bound a node, look at the point it points at, and close or split it. Whether the target is surely passed."""
    k, q = tree.direction[node], cell.size[COLUMNS]
    if lp.size[OWNER] != k or lp.size[PIVOTS] > STALE:
        _turn_to(objectives, cell, row, k, lp, scratch, True)
    set_costs(layer, objectives, cell, row, tree, node, lp, scratch)
    solve(lp, q, 0.1 * objectives.tolerance * (1.0 + abs(found.best[i, answer])), 50 + 4 * len(lp.basis))
    read(lp, cell, scratch.slope)
    bound = proved_bound(layer, objectives, cell, row, k, tree.allow[node], scratch)
    if bound < tree.bound[node]:
        tree.bound[node] = bound
        record_slopes(record, tree.record[node], scratch.slope, cell.size[UNSTABLE])
    tree.key[node] = with_offset(tree.bound[node], objectives.offset[i, k])
    kind, place = decide(objectives, cell, row, tree, node, lp, scratch)
    if kind == CHOICE:
        better_half(cell, tree.allow[node], place, scratch)
    point_of(lp, cell, tree.allow[node], scratch)
    settled = climb(layer, objectives, found, cell, i, row, k, answer, 1, scratch)
    if settled or kind == STUCK or tree.key[node] <= enough(objectives, found, i, answer):
        close(tree, node, scratch)
        forget(tree, node)
    else:
        _split(cell, node, kind, place, tree, scratch, record)
    return settled


@inlined
def _split(cell: MovingCell, node: int, kind: int, place: int, tree: Tree, scratch: Scratch, record: Record) -> None:
    """Two nodes in place of one: the phase off and on, or the better half of a choice and the others."""
    second = make_twin(cell, node, tree)
    tree.cut[second] = tree.cut[node]
    for u in range(cell.size[UNSTABLE]):
        tree.phase[second, u] = tree.phase[node, u]
    where = cell.unstable[place] if kind == RELU else place
    names = record_split(record, tree.record[node], kind, where, scratch.half, cell)
    tree.record[node], tree.record[second] = names
    if kind == RELU:
        tree.phase[node, place], tree.phase[second, place] = -1, 1
    else:
        tree.cut[node] = tree.cut[second] = 1
        part_choice(cell, node, second, place, tree, scratch)
    push(tree, node)
    push(tree, second)


# The kernel: answers a range of people, one at a time.


@inlined
def answer_all(
    layer: FirstLayer,
    cells: Cells,
    objectives: Objectives,
    found: KernelAnswer,
    workspace: Workspace,
    begin: int,
    end: int,
) -> int:
    """Fill in the answers of people begin … end−1 on this cell; returns the first person that found no room."""
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


@inlined
def _record_lines(cell: MovingCell, i: int, record: Record) -> None:
    """The lines of :func:`plain_bounds`."""
    for j in range(len(cell.on)):
        lo, hi = cell.lo[j], cell.hi[j]
        above = chord(lo, hi)[0] if lo < 0.0 < hi else 0.0
        record_line(record, i, j, lo, hi, above, 1.0 if hi > -lo else 0.0)


@inlined
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

    return kept(kernel, sources)
