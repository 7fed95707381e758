"""What a proof costs: exact radii with proofs in memory against radii without, for one and two hidden layers."""

from __future__ import annotations

from benchmarks.engine.checkouts import HERE, Job, ask
from benchmarks.engine.options import Options
from benchmarks.engine.recipe import prepare
from benchmarks.engine.settings import ONE_LAYER, SEED, TWO_LAYERS, draw
from benchmarks.engine.tables import milliseconds, print_table, times

PEOPLE, OLD = 200, 10
HEAD = ("exact ε, ms of one core a person", "engine", "people", "without proofs", "with proofs", "with / without")


def run(options: Options) -> None:
    """One row for each setting and checkout."""
    rows = []
    for setting in (*ONE_LAYER, *TWO_LAYERS):
        case = prepare(setting, SEED)
        everybody = draw(case, options.people(PEOPLE))
        sides = [("now", HERE, everybody)]
        if options.old is not None:
            sides.append(("older", options.old, everybody[: min(len(everybody), OLD)]))
        for name, checkout, people in sides:
            spent = []
            for proof in (False, True):
                wanted = {"tolerance": 1e-6, "proof": proof, "rounds": 3 if name == "now" else 1}
                job = Job("radius", setting.dataset, setting.similarity, people, case.encoder, options=wanted)
                spent.append(ask(job, checkout)["seconds"])
            rows.append([setting.title, name, str(len(people)), *map(milliseconds, spent), times(spent[1] / spent[0])])
    print_table(HEAD, rows)
