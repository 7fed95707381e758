"""Best-first search over the open nodes of one answer: what the kernels for one and for many hidden layers share."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lcifr.prove.networks.kernel.arrays import Flags, Floats, Integers, KernelAnswer, MovingCell, Objectives, Record
from lcifr.prove.networks.kernel.cell import COLUMNS
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.record import plant

# The open nodes of a tree: a heap by bound, in arrays that grow.

OPEN, MADE, SPARE, LEFT = 0, 1, 2, 3


class Ordered(Protocol):
    """What a tree has for its open nodes in order."""

    @property
    def size(self) -> Integers:
        """Nodes in the heap, names ever used; of a :class:`Heap` also names free again, nodes a call may still take."""

    @property
    def heap(self) -> Integers:
        """Names of open nodes."""

    @property
    def key(self) -> Floats:
        """What nodes are ordered by."""


class Heap(Ordered, Protocol):
    """The same where names are used again."""

    @property
    def spare(self) -> Integers:
        """Names that are free again."""


@compiled
def empty(tree: Heap) -> None:
    """Forget all nodes."""
    tree.size[OPEN] = tree.size[MADE] = tree.size[SPARE] = 0


@compiled
def full(tree: Heap) -> bool:
    """Whether there is no room for another node, or this call has worked on as many as it may."""
    room = tree.size[SPARE] > 0 or tree.size[MADE] < len(tree.heap)
    return bool(not room or (tree.size[LEFT] <= 0 < tree.size[OPEN]))


@compiled
def make(tree: Heap) -> int:
    """The name of a new node."""
    if tree.size[SPARE] > 0:
        tree.size[SPARE] -= 1
        return int(tree.spare[tree.size[SPARE]])
    tree.size[MADE] += 1
    return int(tree.size[MADE] - 1)


@compiled
def forget(tree: Heap, node: int) -> None:
    """The node is done; its name may be used again."""
    tree.spare[tree.size[SPARE]] = node
    tree.size[SPARE] += 1


@compiled
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


@compiled
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


class OpenTree(Heap, Protocol):
    """A heap of nodes, and what every node has."""

    @property
    def bound(self) -> Floats:
        """Proved, without the offset."""

    @property
    def direction(self) -> Integers:
        """Which direction the node is about."""

    @property
    def allow(self) -> Flags:
        """(·, q) categories."""

    @property
    def record(self) -> Integers:
        """Its number in the proof."""


class Desk(Protocol):
    """What the search writes about the directions of one person, and the points it finds."""

    @property
    def upper(self) -> Floats:
        """(directions,) proved in this cell."""

    @property
    def output(self) -> Floats:
        """(directions,) proved so far by the leaves of each tree."""

    @property
    def spent(self) -> Integers:
        """(directions,) nodes."""

    @property
    def point(self) -> Floats:
        """(q,) a point."""

    @property
    def best(self) -> Floats:
        """(q,) the best point found in this cell."""

    @property
    def hit(self) -> Flags:
        """(1,) whether there is one."""

    @property
    def half(self) -> Flags:
        """(q,) some categories of a choice."""


@compiled
def with_offset(bound: float, offset: float) -> float:
    """bound + offset, a little more than rounding could take away, here and where the caller adds them again."""
    total = bound + offset
    return total + 5e-16 * abs(total)


@compiled
def enough(objectives: Objectives, found: KernelAnswer, i: int, answer: int) -> float:
    """A branch at or below this cannot change the answer."""
    limit = best = float(found.best[i, answer])
    if best > -np.inf:
        limit = best + 0.5 * objectives.tolerance * (1.0 + abs(best))  # half: rounding of best itself takes the rest
    return max(limit, float(np.nextafter(objectives.target[i, answer], -np.inf)))


@compiled
def most_promising(
    objectives: Objectives, found: KernelAnswer, i: int, answer: int, begin: int, end: int, desk: Desk
) -> int:
    """The direction with the largest bound; −1 where no bound can change the answer."""
    top, most = -1, enough(objectives, found, i, answer)
    for k in range(begin, end):
        key = with_offset(desk.upper[k], objectives.offset[i, k])
        if key > most:
            top, most = k, key
    return top


@compiled
def keep_point(
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    k: int,
    answer: int,
    value: float,
    rounding_error: float,
    desk: Desk,
) -> bool:
    """Keep the desk's point, which has this value. Whether the target is surely passed."""
    found.best[i, answer] = value + objectives.offset[i, k]
    for p in range(cell.size[COLUMNS]):
        desk.best[p] = desk.point[p]
    desk.hit[0] = 1
    return bool(found.best[i, answer] - 2.0 * rounding_error > objectives.target[i, answer] > -np.inf)


@compiled
def make_root(
    found: KernelAnswer, cell: MovingCell, i: int, k: int, key: float, tree: OpenTree, desk: Desk, record: Record
) -> int:
    """The root of direction ``k`` of person ``i``, open."""
    node = make(tree)
    tree.key[node], tree.bound[node], tree.direction[node] = key, desk.upper[k], k
    for p in range(cell.size[COLUMNS]):
        tree.allow[node, p] = cell.allow[p]
    tree.record[node] = plant(record, i, k)
    push(tree, node)
    found.branched[i, k] = 1
    return node


@compiled
def make_twin(cell: MovingCell, node: int, tree: OpenTree) -> int:
    """A copy of a node as far as both kernels know it; neither is in the heap."""
    second = make(tree)
    tree.key[second], tree.bound[second] = tree.key[node], tree.bound[node]
    tree.direction[second] = tree.direction[node]
    for p in range(cell.size[COLUMNS]):
        tree.allow[second, p] = tree.allow[node, p]
    return second


@compiled
def part_choice(cell: MovingCell, node: int, second: int, choice: int, tree: OpenTree, desk: Desk) -> None:
    """The desk's half of a choice to the first node, the others to the second."""
    for p in range(cell.begin[choice], cell.begin[choice + 1]):
        tree.allow[second, p] &= 1 - desk.half[p]
        tree.allow[node, p] = desk.half[p]


@compiled
def next_node(objectives: Objectives, found: KernelAnswer, i: int, answer: int, tree: OpenTree, desk: Desk) -> int:
    """The open node to work on, which is counted; −1 where none can change the answer, or time is over."""
    while tree.size[OPEN] > 0:
        node = pop(tree)
        k = tree.direction[node]
        if tree.key[node] <= enough(objectives, found, i, answer) or objectives.stop[0]:
            close(tree, node, desk)
            found.exhausted[i, k] |= objectives.stop[0]
            return -1
        if desk.spent[k] < objectives.nodes:
            desk.spent[k] += 1
            tree.size[LEFT] -= 1
            return node
        found.exhausted[i, k] = 1
        close(tree, node, desk)
        forget(tree, node)
    return -1


@compiled
def close(tree: OpenTree, node: int, desk: Desk) -> None:
    """The node's bound is one of a leaf."""
    k = tree.direction[node]
    desk.output[k] = max(desk.output[k], tree.bound[node])


@compiled
def finish(
    objectives: Objectives, found: KernelAnswer, i: int, begin: int, end: int, tree: OpenTree, desk: Desk
) -> None:
    """Bounds of the directions from all leaves, among them what is still open."""
    for place in range(tree.size[OPEN]):
        close(tree, tree.heap[place], desk)
        if objectives.stop[0]:
            found.exhausted[i, tree.direction[tree.heap[place]]] = 1
    for k in range(begin, end):
        if desk.output[k] > -np.inf or desk.spent[k] > 0:  # without any leaf, the cell is empty
            desk.upper[k] = min(desk.upper[k], desk.output[k])
