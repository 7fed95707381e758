"""The open nodes of a tree: a heap by bound, in arrays that grow."""

from __future__ import annotations

from typing import Protocol

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.shape import Floats, Integers

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
