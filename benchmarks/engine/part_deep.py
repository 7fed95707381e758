"""Five hidden layers of 50 on Adult: the share that is decided and its time, beside HiGHS."""

from __future__ import annotations

from benchmarks.engine.checkouts import ask
from benchmarks.engine.options import Options
from benchmarks.engine.part_classifier import DATASET, HEAD, SIMILARITY, figures, job, solver_figures
from benchmarks.engine.recipe import classifier
from benchmarks.engine.settings import SEED, draw
from benchmarks.engine.tables import print_table

HIDDEN = (50,) * 5
PEOPLE, PAPER, LIMIT = 200, 3, 30.0


def run(options: Options) -> None:
    """As :mod:`benchmarks.engine.part_classifier`, with fewer people."""
    case = classifier(DATASET, SIMILARITY, HIDDEN, SEED, passes=60)
    everybody = draw(case, options.people(PEOPLE))
    rows = [figures("now", ask(job("each", case, everybody)))]
    if options.old is not None:
        rows.append(figures("older", ask(job("each", case, everybody), options.old)))
    print_table(HEAD, [*rows, solver_figures(case, everybody[:PAPER], LIMIT)])
