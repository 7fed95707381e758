"""Exact ε with one and two hidden layers: the compiled engine, an older checkout, and the paper's programs in HiGHS."""

from __future__ import annotations

import time

import numpy as np
from benchmarks.engine.checkouts import Job, ask
from benchmarks.engine.options import Options
from benchmarks.engine.paper import paper_radius
from benchmarks.engine.recipe import Case, Setting, prepare
from benchmarks.engine.settings import ONE_LAYER, SEED, TWO_LAYERS, draw
from benchmarks.engine.tables import milliseconds, print_table, times

TOLERANCE = 1e-6
PAPER = 3
"""People of HiGHS, the first of the same ones: one of their 40 programs takes a tenth of a second."""
BARS = {1: (1_000.0, 1.0), 2: (500.0, 20.0)}
"""By hidden layers: how many times as fast as HiGHS, and as the older checkout."""
HEAD = ("exact ε, ms of one core a person", "HiGHS", "older", "now", "HiGHS / now", "older / now", "nodes", "µs a node")


def run(options: Options) -> None:
    """One row for each setting; then whether all agree."""
    rows, notes = [], []
    for setting in (*TWO_LAYERS, *ONE_LAYER):
        row, note = measure(setting, options)
        rows.append(row)
        notes.append(note)
    print_table(HEAD, rows)
    print("\n".join(notes), flush=True)


def measure(setting: Setting, options: Options) -> tuple[list[str], str]:
    """The row of one setting, and what is to be said about its answers."""
    case = prepare(setting, SEED)
    everybody = draw(case, options.people(setting.people))
    few = everybody[:PAPER]
    ours = ask(_job(setting, case, everybody, rounds=3))
    older = None if options.old is None else ask(_job(setting, case, everybody), options.old)
    cpu = time.process_time()
    paper = paper_radius(case.encoder, case.x[few], case.region.take(few))
    solver = (time.process_time() - cpu) / len(few)
    exact_bar, old_bar = BARS[len(setting.hidden)]
    row = [
        f"{setting.title}, {len(everybody)} people",
        milliseconds(solver),
        "" if older is None else milliseconds(older["seconds"]),
        milliseconds(ours["seconds"]),
        times(solver / ours["seconds"], exact_bar),
        "" if older is None else times(older["seconds"] / ours["seconds"], old_bar),
        f"{np.mean(ours['nodes']):.0f}, at most {max(ours['nodes'])}",
        f"{1e6 * ours['seconds'] * len(everybody) / max(1, sum(ours['nodes'])):.1f}",
    ]
    apart = np.abs(np.array(ours["radius"])[: len(few)] - paper.radius).max()
    moved = 0.0 if older is None else np.abs(np.array(ours["radius"]) - np.array(older["radius"])).max()
    note = (
        f"{setting.title}: exact for {100 * np.mean(ours['exact']):.1f} %; ε differs from HiGHS by {apart:.1g} at most"
    )
    return row, note if older is None else f"{note}, from the older checkout by {moved:.1g}"


def _job(setting: Setting, case: Case, people: np.ndarray, rounds: int = 1) -> Job:
    options = {"tolerance": TOLERANCE, "rounds": rounds}
    return Job("radius", setting.dataset, setting.similarity, people, encoder=case.encoder, options=options)
