"""scikit-learn's MLPClassifier with two layers of 50 on Adult, end to end: how long a person takes, who is decided."""

from __future__ import annotations

import numpy as np
from benchmarks.engine.checkouts import Job, ask
from benchmarks.engine.options import Options
from benchmarks.engine.paper import paper_verdicts
from benchmarks.engine.recipe import Case, classifier
from benchmarks.engine.settings import SEED, draw
from benchmarks.engine.tables import milliseconds, print_table

DATASET, SIMILARITY, HIDDEN = "adult", "adult/cat_noise", (50, 50)
PEOPLE, PAPER = 600, 4
HEAD = ("ms of one core a person", "people", "median", "mean", "99 %", "at most", "decided", "certified", "nodes")


def run(options: Options) -> None:
    """Both engines person by person, the whole audit in one call, and HiGHS on a few."""
    case = classifier(DATASET, SIMILARITY, HIDDEN, SEED)
    everybody = draw(case, options.people(PEOPLE))
    few = everybody[:PAPER]
    now = ask(job("each", case, everybody))
    rows = [figures("now", now)]
    if options.old is not None:
        rows.append(figures("older", ask(job("each", case, everybody), options.old)))
    print_table(HEAD, [*rows, solver_figures(case, few)])
    audit = ask(job("audit", case, everybody))
    said = {word: audit["verdict"].count(word) for word in ("CERTIFIED", "COUNTEREXAMPLE", "UNDECIDED")}
    print(
        f"audit of all {len(everybody)} in one call: {milliseconds(audit['seconds'])} ms a person, {said}", flush=True
    )


def job(task: str, case: Case, people: np.ndarray) -> Job:
    """About the classifier alone: people go to it as they are encoded."""
    return Job(task, DATASET, SIMILARITY, people, head=case.head)


def figures(name: str, found: dict[str, list[float]]) -> list[str]:
    """One row from what :func:`benchmarks.engine.worker.measure_each` found."""
    each, nodes = np.array(found["each"]), np.array(found["nodes"])
    decided = np.array(found["certified"]) | np.array(found["refuted"])
    return [
        name,
        str(len(each)),
        *(milliseconds(float(one)) for one in (np.median(each), each.mean(), np.quantile(each, 0.99), each.max())),
        f"{100 * decided.mean():.1f} %",
        f"{100 * np.mean(found['certified']):.1f} %",
        f"{nodes.mean():.1f}, at most {nodes.max()}",
    ]


def solver_figures(case: Case, few: np.ndarray, limit: float = 60.0) -> list[str]:
    """The same row of HiGHS; a program that is given up counts with its limit."""
    found = paper_verdicts(case.head, case.x[few], case.narrow.take(few), limit=limit)
    each = found.seconds
    return [
        f"HiGHS, given up after {limit:.0f} s",
        str(len(few)),
        *(milliseconds(float(one)) for one in (np.median(each), each.mean(), np.quantile(each, 0.99), each.max())),
        f"{100 * found.solved.mean():.0f} %",
        f"{100 * found.certified.mean():.0f} %",
        "",
    ]
