"""Audit bundles: radii, verdicts and the proofs of both on disk, for German's test people and ten thousand of Adult."""

from __future__ import annotations

import numpy as np
from benchmarks.check import parts
from benchmarks.engine.checkouts import HERE, Job, ask
from benchmarks.engine.options import Options
from benchmarks.engine.tables import print_table

THREADS = 2
PEOPLE = {"german": 200, "adult": 10_000}
OLD = 100
"""People of an older checkout, the first of the same ones."""
HEAD = ("bundle, 2 threads", "engine", "people", "search", "proofs and writing", "seconds", "of all cores", "MB")


def run(options: Options) -> None:
    """Encoders of one and two hidden layers with four latents, linear heads; seconds on the clock."""
    rows = []
    for dataset, usual in PEOPLE.items():
        for hidden in ((20,), (20, 20)):
            encoder, model, _ = parts(dataset, hidden)
            people = options.people(usual)
            sides = [("now", HERE, people)]
            if options.old is not None:
                sides.append(("older", options.old, min(people, OLD)))
            for name, checkout, count in sides:
                job = Job(
                    "bundle",
                    dataset,
                    f"{dataset}/cat_noise",
                    np.arange(count),
                    encoder.network,
                    model,
                    {"threads": THREADS},
                )
                found = ask(job, checkout, THREADS)
                title = f"{dataset}, {'+'.join(map(str, hidden))} hidden"
                times = (found["searched"], found["whole"] - found["searched"], found["whole"], found["cores"])
                rows.append([title, name, f"{count:,}", *(f"{one:.2f}" for one in times), f"{found['megabytes']:.1f}"])
    print_table(HEAD, rows)
