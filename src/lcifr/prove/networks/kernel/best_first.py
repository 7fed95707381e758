"""Best-first search over the open nodes of one answer: what the kernels for one and for many hidden layers share."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lcifr.prove.networks.kernel.arrays import (
    LEFT,
    MADE,
    OPEN,
    SPARE,
    AnyScratch,
    AnyTree,
    Floats,
    Integers,
    KernelAnswer,
    MovingCell,
    Objectives,
    Record,
)
from lcifr.prove.networks.kernel.cell import COLUMNS
from lcifr.prove.networks.kernel.jit import inlined
from lcifr.prove.networks.kernel.record import plant

# The open nodes of a tree: a heap by bound, in arrays that grow.


class Ordered(Protocol):
    """What a tree has for its open nodes in order."""

    @property
    def size(self) -> Integers:
        """Nodes in the heap, names ever used; of other searches more (:class:`Tree`)."""

    @property
    def heap(self) -> Integers:
        """Names of open nodes."""

    @property
    def key(self) -> Floats:
        """What nodes are ordered by."""


@inlined
def empty(tree: AnyTree) -> None:
    """Forget all nodes."""
    tree.size[OPEN] = tree.size[MADE] = tree.size[SPARE] = 0


@inlined
def full(tree: AnyTree) -> bool:
    """Whether there is no room for another node, or this call has worked on as many as it may."""
    room = tree.size[SPARE] > 0 or tree.size[MADE] < len(tree.heap)
    return bool(not room or (tree.size[LEFT] <= 0 < tree.size[OPEN]))


@inlined
def make(tree: AnyTree) -> int:
    """The name of a new node."""
    if tree.size[SPARE] > 0:
        tree.size[SPARE] -= 1
        return int(tree.spare[tree.size[SPARE]])
    tree.size[MADE] += 1
    return int(tree.size[MADE] - 1)


@inlined
def forget(tree: AnyTree, node: int) -> None:
    """The node is done; its name may be used again."""
    tree.spare[tree.size[SPARE]] = node
    tree.size[SPARE] += 1


@inlined
def push(tree: Ordered, node: int) -> None:
    """Put a node (its key is set) into the heap."""
    place = tree.size[OPEN]
    tree.size[OPEN] += 1
    while place > 0:
        above = (place - 1) // 2
        if tree.key[tree.heap[above]] >= tree.key[node]:
            break
        tree.heap[place] = tree.heap[above]
        place = above
    tree.heap[place] = node


@inlined
def pop(tree: Ordered) -> int:
    """Take the node with the largest key."""
    top = tree.heap[0]
    tree.size[OPEN] -= 1
    count = tree.size[OPEN]
    last, place = tree.heap[count], 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count and tree.key[tree.heap[below + 1]] > tree.key[tree.heap[below]]:
            below += 1
        if tree.key[tree.heap[below]] <= tree.key[last]:
            break
        tree.heap[place] = tree.heap[below]
        place = below
    tree.heap[place] = last
    return int(top)


# Best-first search over the open nodes of one answer: what the kernels for one and for many hidden layers share.

JUMPS = 4
"""A piecewise linear function on a box settles on a vertex after a few jumps, or cycles; the best point is kept."""
STALE = 200
"""Pivots after which a dictionary is built afresh, so that rounding does not pile up."""


@inlined
def with_offset(bound: float, offset: float) -> float:
    """bound + offset, a little more than rounding could take away, here and where the caller adds them again."""
    total = bound + offset
    return total + 5e-16 * abs(total)


@inlined
def enough(objectives: Objectives, found: KernelAnswer, i: int, answer: int) -> float:
    """A branch at or below this cannot change the answer."""
    limit = best = float(found.best[i, answer])
    if best > -np.inf:
        limit = best + 0.5 * objectives.tolerance * (1.0 + abs(best))  # half: rounding of best itself takes the rest
    return max(limit, float(np.nextafter(objectives.target[i, answer], -np.inf)))


@inlined
def most_promising(
    objectives: Objectives, found: KernelAnswer, i: int, answer: int, begin: int, end: int, scratch: AnyScratch
) -> int:
    """The direction with the largest bound; −1 where no bound can change the answer."""
    top, most = -1, enough(objectives, found, i, answer)
    for k in range(begin, end):
        key = with_offset(scratch.upper[k], objectives.offset[i, k])
        if key > most:
            top, most = k, key
    return top


@inlined
def keep_point(
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    k: int,
    answer: int,
    value: float,
    rounding_error: float,
    scratch: AnyScratch,
) -> bool:
    """Keep the scratch point, which has this value. Whether the target is surely passed."""
    found.best[i, answer] = value + objectives.offset[i, k]
    for p in range(cell.size[COLUMNS]):
        scratch.best[p] = scratch.point[p]
    scratch.hit[0] = 1
    return bool(found.best[i, answer] - 2.0 * rounding_error > objectives.target[i, answer] > -np.inf)


@inlined
def make_root(
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    k: int,
    key: float,
    tree: AnyTree,
    scratch: AnyScratch,
    record: Record,
) -> int:
    """The root of direction ``k`` of person ``i``, open."""
    node = make(tree)
    tree.key[node], tree.bound[node], tree.direction[node] = key, scratch.upper[k], k
    for p in range(cell.size[COLUMNS]):
        tree.allow[node, p] = cell.allow[p]
    tree.record[node] = plant(record, i, k)
    push(tree, node)
    found.branched[i, k] = 1
    return node


@inlined
def make_twin(cell: MovingCell, node: int, tree: AnyTree) -> int:
    """A copy of a node as far as both kernels know it; neither is in the heap."""
    second = make(tree)
    tree.key[second], tree.bound[second] = tree.key[node], tree.bound[node]
    tree.direction[second] = tree.direction[node]
    for p in range(cell.size[COLUMNS]):
        tree.allow[second, p] = tree.allow[node, p]
    return second


@inlined
def part_choice(cell: MovingCell, node: int, second: int, choice: int, tree: AnyTree, scratch: AnyScratch) -> None:
    """The scratch half of a choice to the first node, the others to the second."""
    for p in range(cell.begin[choice], cell.begin[choice + 1]):
        tree.allow[second, p] &= 1 - scratch.half[p]
        tree.allow[node, p] = scratch.half[p]


@inlined
def next_node(
    objectives: Objectives, found: KernelAnswer, i: int, answer: int, tree: AnyTree, scratch: AnyScratch
) -> int:
    """The open node to work on, which is counted; −1 where none can change the answer, or time is over."""
    while tree.size[OPEN] > 0:
        node = pop(tree)
        k = tree.direction[node]
        if tree.key[node] <= enough(objectives, found, i, answer) or objectives.stop[0]:
            close(tree, node, scratch)
            found.exhausted[i, k] |= objectives.stop[0]
            return -1
        if scratch.spent[k] < objectives.nodes:
            scratch.spent[k] += 1
            tree.size[LEFT] -= 1
            return node
        found.exhausted[i, k] = 1
        close(tree, node, scratch)
        forget(tree, node)
    return -1


@inlined
def close(tree: AnyTree, node: int, scratch: AnyScratch) -> None:
    """The node's bound is one of a leaf."""
    k = tree.direction[node]
    scratch.output[k] = max(scratch.output[k], tree.bound[node])


@inlined
def finish(
    objectives: Objectives, found: KernelAnswer, i: int, begin: int, end: int, tree: AnyTree, scratch: AnyScratch
) -> None:
    """Bounds of the directions from all leaves, among them what is still open."""
    for place in range(tree.size[OPEN]):
        close(tree, tree.heap[place], scratch)
        if objectives.stop[0]:
            found.exhausted[i, tree.direction[tree.heap[place]]] = 1
    for k in range(begin, end):
        if scratch.output[k] > -np.inf or scratch.spent[k] > 0:  # without any leaf, the cell is empty
            scratch.upper[k] = min(scratch.upper[k], scratch.output[k])
