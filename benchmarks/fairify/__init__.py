"""Fairify's benchmark (ICSE 2023): 25 networks, is anybody treated differently for one protected column?

``python -m benchmarks fairify`` asks about every partition of the German and Bank rows and a drawn sample of the Adult
rows, over whole numbers, strict crossings, as Fairify asks. ``--row GC-4/sex`` names rows, ``--draw 50`` limits the
partitions of each. Printed are SAT, UNSAT and open beside what was published, and CPU seconds a partition. Every SAT
pair is computed again in rational numbers; "in float32" counts those whose two outputs lie further from 0 than float32
can round there. ``--check 50`` asks something else of each row: up to 50 random UNSAT partitions get a bundle, and the
exact checker confirms it (at most ten CPU minutes a row).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.fairify.checked import confirm
from benchmarks.fairify.networks import Row, rows
from benchmarks.fairify.pairs import ConfirmedPairs, confirm_pairs

from lcifr.prove import Budget

LADDER = (100, 1_000, 10_000)
"""Nodes of the search for each order and cell of a partition: whoever is open goes on to the next."""
AT_ONCE = 50
MANY = 600
"""Partitions that are all asked about; of rows with more, a sample."""
DRAWN = 200


@dataclass(frozen=True)
class Outcome:
    """What is known of the partitions of a row, and the CPU seconds of all of them together."""

    asked: int
    sat: ConfirmedPairs
    unsat: int
    seconds: float

    @property
    def open(self) -> int:
        """Those that nothing is known of."""
        return self.asked - self.sat.exactly - self.unsat


def draw(row: Row, limit: int | None, seed: int) -> np.ndarray:
    """Which partitions are asked about."""
    count = len(row.partitions)
    most = limit if limit is not None else count if count <= MANY else DRAWN
    if most >= count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def ask(row: Row, chosen: np.ndarray) -> Outcome:
    """Every pair that is found has been confirmed: similar, and two outputs on two sides of 0 beyond all rounding."""
    begun = time.process_time()
    sat, unsat, left = ConfirmedPairs(), 0, chosen
    for nodes in LADDER:
        still = []
        for start in range(0, len(left), AT_ONCE):
            some = left[start : start + AT_ONCE]
            answers = row.question.ask(row.partitions.take(some), Budget(nodes=nodes))
            sat, unsat = sat + confirm_pairs(row, answers.pairs), unsat + int(answers.proved.sum())
            still.append(some[~answers.proved & ~answers.pairs.found])
        left = np.concatenate(still) if still else left[:0]
    return Outcome(len(chosen), sat, unsat, time.process_time() - begun)


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks fairify", description=__doc__)
    parser.add_argument("--row", action="append", help="MODEL/COLUMN, such as GC-4/sex; may be repeated")
    parser.add_argument("--draw", type=int, help="at most so many partitions of a row")
    parser.add_argument("--seed", type=int, default=20261116, help="of what is drawn")
    parser.add_argument("--check", type=int, metavar="COUNT", help="have so many UNSAT partitions of a row checked")
    parser.add_argument("--seconds", type=float, default=600.0, help="CPU, after which --check begins no further one")
    asked = parser.parse_args(list(options))
    chosen = [row for row in rows() if asked.row is None or f"{row.model}/{row.protected}" in asked.row]
    if asked.check is not None:
        for row in chosen:
            found = confirm(row, asked.check, asked.seed, seconds=asked.seconds)
            print(f"{row.model}/{row.protected}: {found}", flush=True)
        return
    print(f"seed {asked.seed}; published: within 30 minutes a row, SAT / UNSAT / unknown")
    print(
        "| network | column | partitions | asked | SAT | in float32 | UNSAT | open | decided | CPU s each | published |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in chosen:
        print(_line(row, ask(row, draw(row, asked.draw, asked.seed))), flush=True)


def _line(row: Row, found: Outcome) -> str:
    known, decided = row.published, 1 - found.open / found.asked
    return (
        f"| {row.model} | {row.protected} | {len(row.partitions)} | {found.asked} | {found.sat.exactly} | "
        f"{found.sat.in_float32} | {found.unsat} | {found.open} | {decided:.1%} | {found.seconds / found.asked:.2f} | "
        f"{known['sat']} / {known['unsat']} / {known['unknown']} of {known['tried']} tried |"
    )
