"""A person's lists: each tree as the leaves that their cell can reach, largest first; for one attribute one list."""

from __future__ import annotations

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.shape import Ensemble, Floats, Integers, Lists, SearchMemory, Words

LISTS, LEAVES, CONDITIONS = 0, 1, 2
SINGLE, SEVERAL = -1, -2
"""What a tree is about so far, where it is not one attribute: nothing at all, or more than one."""


@compiled
def make_lists(ensemble: Ensemble, direction: Floats, memory: SearchMemory) -> bool:
    """Fill in the lists of the cell ``memory.whole``; ``room[1]`` is the sum of trees with one leaf.

    False where there is no room for them.
    """
    lists, whole, room = memory.lists, memory.whole, memory.room
    lists.size[:] = 0
    room[0] = room[1] = 0.0
    for a in range(len(memory.merged)):
        memory.merged[a] = 0
    for tree in range(len(ensemble.root)):
        begin = lists.size[LEAVES]
        kind = _reach(ensemble, direction, ensemble.root[tree], memory)
        if kind == -3:
            return False
        count = lists.size[LEAVES] - begin
        largest = 0.0
        for leaf in range(begin, lists.size[LEAVES]):
            largest = max(largest, abs(lists.weight[leaf]))
        room[0] += largest
        if count == 1:
            room[1] += lists.weight[begin]
            lists.size[LEAVES], lists.size[CONDITIONS] = begin, lists.first[begin]
        elif kind >= 0:
            _merge(ensemble, kind, begin, memory)
            lists.size[LEAVES], lists.size[CONDITIONS] = begin, lists.first[begin]
        else:
            _close_list(lists, begin)
    for a in range(len(memory.merged)):
        if memory.merged[a] and not _list_of_attribute(ensemble, a, memory):
            return False
    _order(lists, memory.spread)
    return whole.lo[0] <= whole.hi[0] if len(whole.lo) else True


@compiled
def _reach(ensemble: Ensemble, direction: Floats, root: int, memory: SearchMemory) -> int:
    """Add the leaves of one tree; the attribute that it is about, SINGLE, SEVERAL, or −3 where there is no room."""
    lists, whole, stack, path = memory.lists, memory.whole, memory.stack, memory.path
    words, about = memory.path_bits.shape[1], SINGLE
    numbers = len(ensemble.cut_start) - 1
    stack[0], stack[1], waiting = root, 0, 1
    while waiting:
        waiting -= 1
        node, depth = stack[5 * waiting], stack[5 * waiting + 1]
        if depth:
            path[3 * depth - 3], path[3 * depth - 2], path[3 * depth - 1] = (
                stack[5 * waiting + 2],
                stack[5 * waiting + 3],
                stack[5 * waiting + 4],
            )
            for w in range(words):
                memory.path_bits[depth - 1, w] = memory.stack_bits[waiting, w]
        while True:
            if ensemble.kind[node] == 0:
                break
            a = ensemble.attribute[node]
            at = depth - 1
            while at >= 0 and path[3 * at] != a:
                at -= 1
            if a < numbers:
                cut = ensemble.cut[node]
                low, high = (whole.lo[a], whole.hi[a]) if at < 0 else (path[3 * at + 1], path[3 * at + 2])
                if high <= cut:
                    node += 1
                    continue
                if low > cut:
                    node = ensemble.second[node]
                    continue
                stack[5 * waiting + 3], stack[5 * waiting + 4] = cut + 1, high
                path[3 * depth + 1], path[3 * depth + 2] = low, cut
            else:
                inside, outside = False, False
                for w in range(words):
                    left = whole.mask[a - numbers, w] if at < 0 else memory.path_bits[at, w]
                    chosen = ensemble.sets[ensemble.chosen[node], w]
                    inside |= (left & chosen) != 0
                    outside |= (left & ~chosen) != 0
                if not outside:
                    node += 1
                    continue
                if not inside:
                    node = ensemble.second[node]
                    continue
                for w in range(words):
                    left = whole.mask[a - numbers, w] if at < 0 else memory.path_bits[at, w]
                    chosen = ensemble.sets[ensemble.chosen[node], w]
                    memory.stack_bits[waiting, w] = left & ~chosen
                    memory.path_bits[depth, w] = left & chosen
                stack[5 * waiting + 3], stack[5 * waiting + 4] = 0, 0
                path[3 * depth + 1], path[3 * depth + 2] = 0, 0
            if about == SINGLE:
                about = a
            elif about != a:
                about = SEVERAL
            stack[5 * waiting], stack[5 * waiting + 1], stack[5 * waiting + 2] = ensemble.second[node], depth + 1, a
            waiting += 1
            path[3 * depth] = a
            depth += 1
            node += 1
        weight = 0.0
        for o in range(len(direction)):
            weight += direction[o] * ensemble.value[node, o]
        if not _add_leaf(lists, weight, path, memory.path_bits, depth):
            return -3
    return about


@compiled
def _add_leaf(lists: Lists, weight: float, path: Integers, bits: Words, depth: int) -> bool:
    """A leaf with the last condition of each attribute on the way."""
    leaf, condition = lists.size[LEAVES], lists.size[CONDITIONS]
    if leaf + 2 >= len(lists.weight) or condition + depth + 1 >= len(lists.about):
        return False
    lists.weight[leaf], lists.first[leaf], lists.rank[leaf] = weight, condition, leaf
    for d in range(depth):
        last = True
        for later in range(d + 1, depth):
            last &= path[3 * later] != path[3 * d]
        if last:
            lists.about[condition], lists.low[condition] = path[3 * d], path[3 * d + 1]
            lists.high[condition] = path[3 * d + 2]
            for w in range(bits.shape[1]):
                lists.bits[condition, w] = bits[d, w]
            condition += 1
    lists.first[leaf + 1] = condition
    lists.size[LEAVES], lists.size[CONDITIONS] = leaf + 1, condition
    return True


@compiled
def _close_list(lists: Lists, begin: int) -> None:
    """Leaves from ``begin`` on are one list; largest first."""
    number, end = lists.size[LISTS], lists.size[LEAVES]
    step = 1
    while step < end - begin:
        step = 3 * step + 1
    while step >= 1:
        for at in range(begin + step, end):
            leaf, place = lists.rank[at], at
            while place - step >= begin and lists.weight[lists.rank[place - step]] < lists.weight[leaf]:
                lists.rank[place] = lists.rank[place - step]
                place -= step
            lists.rank[place] = leaf
        step //= 3
    lists.start[number], lists.start[number + 1] = begin, end
    lists.size[LISTS] = number + 1


@compiled
def _merge(ensemble: Ensemble, a: int, begin: int, memory: SearchMemory) -> None:
    """Add a tree that is about one attribute to what is known of that attribute: a sum for each bin or value."""
    lists, steps = memory.lists, memory.steps
    numbers, offset = len(ensemble.cut_start) - 1, memory.gains.offset[a]
    low, high = (memory.whole.lo[a], memory.whole.hi[a]) if a < numbers else (0, 64 * memory.path_bits.shape[1] - 1)
    if not memory.merged[a]:
        memory.merged[a] = 1
        for b in range(low, high + 1):
            steps[offset + b] = 0.0
    for leaf in range(begin, lists.size[LEAVES]):
        condition = lists.first[leaf]
        if a < numbers:
            for b in range(lists.low[condition], lists.high[condition] + 1):
                steps[offset + b] += lists.weight[leaf]
        else:
            for b in range(high + 1):
                if has_bit(lists.bits, condition, b):
                    steps[offset + b] += lists.weight[leaf]


@compiled
def has_bit(words: Words, row: int, b: int) -> bool:
    """Whether bit ``b`` of a row of words is set."""
    return bool((words[row, b >> 6] >> (b & 63)) & 1)


@compiled
def _list_of_attribute(ensemble: Ensemble, a: int, memory: SearchMemory) -> bool:
    """What was merged as one list: neighbouring bins of the same sum are one leaf."""
    lists, steps, whole, path, bits = memory.lists, memory.steps, memory.whole, memory.path, memory.path_bits
    begin, numbers, offset = lists.size[LEAVES], len(ensemble.cut_start) - 1, memory.gains.offset[a]
    path[0] = a
    if a < numbers:
        low = whole.lo[a]
        for b in range(whole.lo[a], whole.hi[a] + 1):
            if b == whole.hi[a] or steps[offset + b + 1] != steps[offset + b]:
                path[1], path[2] = low, b
                if not _add_leaf(lists, steps[offset + b], path, bits, 1):
                    return False
                low = b + 1
    else:
        path[1], path[2] = 0, 0
        for b in range(64 * bits.shape[1]):
            if has_bit(whole.mask, a - numbers, b):
                for w in range(bits.shape[1]):
                    bits[0, w] = 0
                bits[0, b >> 6] = 1 << (b & 63)
                if not _add_leaf(lists, steps[offset + b], path, bits, 1):
                    return False
    if lists.size[LEAVES] - begin == 1:
        memory.room[1] += lists.weight[begin]
        lists.size[LEAVES], lists.size[CONDITIONS] = begin, lists.first[begin]
        return True
    _close_list(lists, begin)
    return True


@compiled
def _order(lists: Lists, spread: Floats) -> None:
    """Lists by the difference between their largest and their least leaf, most first."""
    for number in range(lists.size[LISTS]):
        largest, least = lists.rank[lists.start[number]], lists.rank[lists.start[number + 1] - 1]
        spread[number] = lists.weight[largest] - lists.weight[least]
        place = number
        while place > 0 and spread[lists.order[place - 1]] < spread[number]:
            lists.order[place] = lists.order[place - 1]
            place -= 1
        lists.order[place] = number
