"""What a node's bound rests on, recorded: coefficients of free neurons, rates of rows, lines of the ends."""

from __future__ import annotations

from lcifr.prove.networks.kernel.deep.program import EARLY, LAST, LINES
from lcifr.prove.networks.kernel.deep.shape import Bench
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.shape import Floats, Integers, Record


@compiled
def record_end(record: Record, number: int, kind: int, source: Integers, bench: Bench) -> None:
    """The node rests on its own multipliers from here on; ``kind`` says whether it is known to be empty, and how."""
    if not record.wanted[0]:
        return
    record.kind[number], record.by[number] = kind, number
    for u in range(bench.size[EARLY] + bench.size[LAST]):
        record.slope[number, u] = bench.used[u]
    for r in range(bench.size[LINES]):
        record.rate[number, r] = bench.rate[r]
    for place in range(record.source.shape[1]):
        record.source[number, place] = source[place]


@compiled
def record_above(record: Record, number: int, lo: Floats, hi: Floats, bench: Bench) -> None:
    """The lines above neurons that the ends of deeper layers are proved with here; on and off count as 1 and 0."""
    if record.wanted[0]:
        for u in range(bench.size[EARLY]):
            n = bench.free[u]
            record.above[number, u] = 1.0 if not lo[n] < 0.0 else 0.0 if hi[n] <= 0.0 else bench.slope[n]
