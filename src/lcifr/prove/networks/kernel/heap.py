"""The open nodes of a tree: a heap by bound, in arrays that grow."""

from __future__ import annotations

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.shape import Tree

OPEN, MADE, SPARE = 0, 1, 2


@compiled
def empty(tree: Tree) -> None:
    """Forget all nodes."""
    tree.size[OPEN] = tree.size[MADE] = tree.size[SPARE] = 0


@compiled
def full(tree: Tree) -> bool:
    """Whether there is no room for another node."""
    return bool(tree.size[SPARE] == 0 and tree.size[MADE] == len(tree.heap))


@compiled
def make(tree: Tree) -> int:
    """The name of a new node."""
    if tree.size[SPARE] > 0:
        tree.size[SPARE] -= 1
        return int(tree.spare[tree.size[SPARE]])
    tree.size[MADE] += 1
    return int(tree.size[MADE] - 1)


@compiled
def forget(tree: Tree, node: int) -> None:
    """The node is done; its name may be used again."""
    tree.spare[tree.size[SPARE]] = node
    tree.size[SPARE] += 1


@compiled
def push(tree: Tree, node: int) -> None:
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
def pop(tree: Tree) -> int:
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
