"""Lists cut to a part: a child's from its parent's, by the one attribute that was split."""

from __future__ import annotations

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.lists import ALL, LISTS, fits
from lcifr.prove.trees.shape import CutLists, Ensemble, SearchMemory


@compiled
def begin_rows(memory: SearchMemory) -> None:
    """Row 0 holds the lists of the whole cell, those that can gain most first; the other rows hold nothing."""
    lists, cut = memory.lists, memory.cut
    for row in range(len(cut.owner)):
        cut.owner[row] = -1
    cut.owner[0], cut.row[0], cut.turn[0] = 0, 0, 1
    cut.fixed[0], cut.size[0], used = memory.room[1], lists.size[LISTS], 0
    for number in range(lists.size[LISTS]):
        which = lists.order[number]
        for place in range(lists.start[which], lists.start[which + 1]):
            cut.place[0, used] = place
            used += 1
        cut.start[0, number + 1] = used


@compiled
def cut_to_part(ensemble: Ensemble, memory: SearchMemory, node: int) -> int:
    """The row with what ``memory.part``, that of a node, leaves of the lists."""
    if node == 0:
        return 0
    lists, cut, tree, part = memory.lists, memory.cut, memory.open, memory.part
    above = tree.parent[node]
    source, about = cut.row[above], tree.attribute[above]
    if cut.owner[source] != above:  # written over since
        source, about = 0, ALL
    row = cut.turn[0] if cut.turn[0] != source else _after(cut, source)
    number, used, fixed = 0, 0, cut.fixed[source]
    for of in range(cut.size[source]):
        begin = used
        for at in range(cut.start[source, of], cut.start[source, of + 1]):
            place = cut.place[source, at]
            if fits(ensemble, lists.leaf[place], part, about):
                cut.place[row, used] = place
                used += 1
        if used == begin + 1:
            fixed += lists.weight[cut.place[row, begin]]
            used = begin
        else:
            number += 1
            cut.start[row, number] = used
    cut.size[row], cut.fixed[row], cut.owner[row] = number, fixed, -1
    return int(row)


@compiled
def keep_row(cut: CutLists, row: int, node: int) -> None:
    """Keep a row for the children of its node."""
    cut.row[node] = row
    if row > 0:
        cut.owner[row], cut.turn[0] = node, _after(cut, row)


@compiled
def _after(cut: CutLists, row: int) -> int:
    return int(row + 1 if row + 1 < len(cut.owner) else 1)
