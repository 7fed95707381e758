"""Crime, the widest first layer of the paper's data (100 numbers, a 46-valued state): nodes and what one costs."""

from __future__ import annotations

import numpy as np
from benchmarks.engine.checkouts import HERE, Job, ask
from benchmarks.engine.options import Options
from benchmarks.engine.recipe import Setting, prepare
from benchmarks.engine.settings import SEED, draw
from benchmarks.engine.tables import milliseconds, print_table

SETTINGS = tuple(
    Setting("crime", "crime/cat_noise", hidden, 20, fairness, 10, 40)
    for hidden in ((20,), (20, 20))
    for fairness in (0.0, 1.0)
)
OLD = 20
"""People of an older checkout, for one hidden layer only: older engines take minutes a person for two."""
NODES = {1: 20_000, 2: 1_000}
"""Allowed for each direction, by hidden layers."""
HEAD = ("exact ε, ms of one core a person", "engine", "people", "median radius", "time", "exact", "nodes", "µs a node")


def run(options: Options) -> None:
    """One row for each setting and checkout."""
    rows = []
    for setting in SETTINGS:
        case = prepare(setting, SEED)
        everybody = draw(case, options.people(setting.people))
        sides = [("now", HERE, everybody)]
        if options.old is not None and len(setting.hidden) == 1:
            sides.append(("older", options.old, everybody[: options.people(OLD)]))
        for name, checkout, people in sides:
            wanted = {"tolerance": 1e-6, "nodes": NODES[len(setting.hidden)]}
            job = Job("radius", setting.dataset, setting.similarity, people, case.encoder, options=wanted)
            found = ask(job, checkout)
            nodes = np.array(found["nodes"])
            rows.append(
                [
                    setting.title,
                    name,
                    str(len(people)),
                    f"{np.median(found['radius']):.3g}",
                    milliseconds(found["seconds"]),
                    f"{100 * np.mean(found['exact']):.0f} %",
                    f"{nodes.mean():.0f}, at most {nodes.max()}",
                    f"{1e6 * found['seconds'] * len(people) / max(1, nodes.sum()):.1f}",
                ]
            )
    print_table(HEAD, rows)
