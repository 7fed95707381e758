"""The kernel: everybody in a piece of the population, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from lcifr.prove.networks.kernel.jit import compiled, digest, kept
from lcifr.prove.networks.kernel.person import CHOICES, NUMERICS, look_at, plain_bounds
from lcifr.prove.networks.kernel.program import OWNER
from lcifr.prove.networks.kernel.shape import Ask, Cells, Desk, Found, Net, Person
from lcifr.prove.networks.kernel.tree import search
from lcifr.prove.networks.kernel.workspace import Room


@compiled
def answer_all(net: Net, cells: Cells, ask: Ask, found: Found, room: Room, begin: int, end: int) -> int:
    """Fill in what is found about people begin … end−1 on this cell; the first person for whom there is no room."""
    who, lp, tree, desk, directions = room.who, room.lp, room.tree, room.desk, ask.value.shape[2]
    for i in range(begin, end):
        if not cells.present[i]:
            continue
        row = i if len(ask.value) > 1 else 0
        look_at(net, cells, i, who)
        lp.size[OWNER] = -1
        for k in range(directions):
            desk.spent[k] = 0
        plain_bounds(net, ask, who, row, desk.plain, desk.most, desk.upper)
        for answer in range(found.best.shape[1]):
            first, last = (0, directions) if ask.together else (answer, answer + 1)
            desk.hit[0] = 0
            done = search(net, ask, found, who, i, row, answer, first, last, tree, lp, desk)
            if desk.hit[0]:
                _write(cells, found, who, i, answer, desk)
            if not done:
                return i
        for k in range(directions):
            found.upper[i, k] = max(found.upper[i, k], desk.upper[k])
            found.nodes[i, k] += desk.spent[k]
    return end


@compiled
def _write(cells: Cells, found: Found, who: Person, i: int, answer: int, desk: Desk) -> None:
    """The best point found in this cell as a whole individual."""
    witness, numerics = found.witness[i, answer], cells.lower.shape[1]
    for f in range(len(witness)):
        witness[f] = 0.0
    for f in range(numerics):
        witness[cells.column[f]] = cells.lower[i, f]
    for p in range(who.size[NUMERICS]):
        witness[cells.column[who.source[p]]] = desk.best[p]
    for c in range(len(cells.start) - 1):
        if not who.pattern[numerics + c]:
            for v in range(cells.start[c], cells.start[c + 1]):
                witness[cells.column[numerics + v]] = cells.allowed[i, v]
    for c in range(who.size[CHOICES]):
        for p in range(who.begin[c], who.begin[c + 1]):
            witness[cells.column[who.source[p]]] = desk.best[p]


def make_kernel() -> Callable[[Net, Cells, Ask, Found, Room, int, int], int]:
    """:func:`answer_all`, kept on disk under a name that changes with any source of this folder."""
    sources = digest()

    @kept
    def kernel(net: Net, cells: Cells, ask: Ask, found: Found, room: Room, begin: int, end: int) -> int:
        return answer_all(net, cells, ask, found, room, begin, end) if sources else end

    return kernel
