"""Split trees written down while they grow, in arrays: what a proof is made of afterwards (:mod:`proofs`).

A node is recorded with its split and its children, and with whose multipliers its bound rests on: its own, those of the
nearest node above that did better, or −1 for the lines of the root. Nothing is written unless proofs are asked for.
"""

from __future__ import annotations

from lcifr.prove.networks.kernel.arrays import Flags, Floats, MovingCell, Record
from lcifr.prove.networks.kernel.jit import inlined

USED, FULL, BASE, TURN = 0, 1, 2, 3
LEAF, RELU, CHOICE, WHOLE, NUMERIC, NO_INTERVAL, NO_POINT = 0, 1, 2, 3, 4, 5, 6
"""What became of a node. NO_INTERVAL: a neuron's interval is empty. NO_POINT: rows leave no point (Farkas)."""
OFF, ON, FREE = 0, 1, 2
"""A neuron on a person's whole cell."""


@inlined
def record_node(record: Record, by: int) -> int:
    """The number of a new node, a leaf until it is split; 0 where nothing is wanted."""
    if not record.wanted[0]:
        return 0
    if record.size[USED] + 3 > len(record.kind):
        record.size[FULL] = 1
        return 0
    number = record.size[USED]
    record.size[USED] += 1
    record.kind[number], record.by[number] = LEAF, by
    return int(number)


@inlined
def no_room(record: Record) -> bool:
    """Whether the record is full, so that the person has to be asked about again."""
    return bool(record.size[FULL])


@inlined
def record_line(record: Record, i: int, n: int, lo: float, hi: float, above: float, below: float) -> None:
    """The lines of neuron ``n`` of person ``i`` on the whole cell."""
    if record.wanted[0]:
        person = i - record.size[BASE]
        state = OFF if hi <= 0.0 else (FREE if lo < 0.0 else ON)
        record.state[person, n] = state
        record.above_root[person, n] = above if state == FREE else float(state)
        record.below_root[person, n] = below if state == FREE else float(state)


@inlined
def begin_person(record: Record, i: int) -> int:
    """Forget what is recorded about person ``i`` so far; where their nodes begin."""
    if record.wanted[0]:
        for k in range(record.root.shape[1]):
            record.root[i - record.size[BASE], k] = -1
    record.size[FULL] = 0
    return int(record.size[USED])


@inlined
def plant(record: Record, i: int, k: int) -> int:
    """The root of direction ``k`` of person ``i``, which rests on the lines of the root."""
    number = record_node(record, -1)
    if record.wanted[0]:
        record.root[i - record.size[BASE], k] = number
    return number


@inlined
def record_slopes(record: Record, number: int, slope: Floats, count: int) -> None:
    """The coefficients of the inputs of free neurons that the node's bound rests on."""
    if record.wanted[0]:
        record.by[number] = number
        for u in range(count):
            record.slope[number, u] = slope[u]


@inlined
def record_split(record: Record, number: int, kind: int, place: int, half: Flags, cell: MovingCell) -> tuple[int, int]:
    """Two children, which rest on what their parent does until they do better.

    ``place`` is the neuron, or the choice of which ``half`` goes to the first child.
    """
    first = record_node(record, record.by[number])
    second = record_node(record, record.by[number])
    if record.wanted[0]:
        record.kind[number], record.place[number] = kind, place
        record.child[number, 0], record.child[number, 1] = first, second
        if kind == CHOICE:
            for column in range(record.half.shape[1]):
                record.half[number, column] = 0
            for p in range(cell.begin[place], cell.begin[place + 1]):
                record.half[number, cell.source[p]] = half[p]
    return first, second
