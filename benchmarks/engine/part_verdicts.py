"""Verdicts of ``audit`` through an encoder of two hidden layers and a head of two more, beside HiGHS.

What is counted, in CPU seconds of one thread:

- HiGHS: one mixed-integer program a person, inside the solver only. Given to it and not counted are the table read and
  encoded, the region of every person, the merged network, the proved intervals of all neurons that make its big-M rows
  tight (they are ours), and building the program.
- ``audit``: everything from the table on, in one call for everybody: reading, encoding, regions, the bounds on what
  float64 rounds, the search, and counterexamples decoded, re-checked and made simple.
- The search alone: the one question that ``audit`` asks about the whole model. Given to it are the regions and the
  merged network, as to HiGHS; the intervals of neurons it computes itself.

The bar is for ``audit``.
"""

from __future__ import annotations

import numpy as np
from benchmarks.engine.checkouts import Job, ask
from benchmarks.engine.options import Options
from benchmarks.engine.paper import paper_verdicts
from benchmarks.engine.recipe import Setting, prepare
from benchmarks.engine.settings import SEED, TWO_LAYERS, draw
from benchmarks.engine.tables import milliseconds, print_table, times

from lcifr.models.network import compose

PAPER, NODES, CROWD = 8, 100, 15_000
"""People of HiGHS, of the count of nodes, and of the audit; the first of the same ones."""
BAR = 2_000.0
HEAD = (
    "audit, ms of one core a person",
    "HiGHS",
    "older",
    "now",
    "HiGHS / now",
    "search alone",
    "HiGHS / search",
    "older / now",
    "nodes",
    "certified, refuted, open",
)


def run(options: Options) -> None:
    """One row for each setting; then whether HiGHS decides alike."""
    rows, notes = [], []
    for setting in TWO_LAYERS:
        row, note = measure(setting, options)
        rows.append(row)
        notes.append(note)
    print_table(HEAD, rows)
    print("\n".join(notes), flush=True)


def measure(setting: Setting, options: Options) -> tuple[list[str], str]:
    """The row of one setting, and what is to be said about its answers."""
    case = prepare(setting, SEED)
    whole = compose(case.encoder, case.head)
    everybody = draw(case, options.people(CROWD))
    few, some = everybody[:PAPER], everybody[: options.people(NODES)]
    job = Job("audit", setting.dataset, setting.similarity, everybody, case.encoder, case.head, {"rounds": 3})
    ours = ask(job)
    older = None
    if options.old is not None:
        older = ask(job, options.old)
    search = ask(Job("search", setting.dataset, setting.similarity, everybody, head=whole, options={"rounds": 3}))
    each = ask(Job("each", setting.dataset, setting.similarity, some, head=whole))
    paper = paper_verdicts(whole, case.x[few], case.narrow.take(few))
    solver = float(paper.seconds.mean())
    said = [ours["verdict"].count(word) for word in ("CERTIFIED", "COUNTEREXAMPLE", "UNDECIDED")]
    row = [
        f"{setting.title}, head 20+20, {len(everybody)} people",
        milliseconds(solver),
        "" if older is None else milliseconds(older["seconds"]),
        milliseconds(ours["seconds"]),
        times(solver / ours["seconds"], BAR),
        milliseconds(search["seconds"]),
        times(solver / search["seconds"]),
        "" if older is None else times(older["seconds"] / ours["seconds"]),
        f"{np.mean(each['nodes']):.1f}, at most {max(each['nodes'])}",
        ", ".join(map(str, said)),
    ]
    sure = np.array([word == "CERTIFIED" for word in ours["verdict"][: len(few)]])
    open_still = np.array([word == "UNDECIDED" for word in ours["verdict"][: len(few)]])
    agree = (sure == paper.certified) | open_still | ~paper.solved
    return row, f"{setting.title}: HiGHS agrees on {agree.sum()} of {len(few)}"
