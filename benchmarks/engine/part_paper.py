"""One hidden layer against the paper's way: two mixed-integer programs per output and person, the same weights.

Both sides run in this process, one after the other, on the same weights; the paper's side on the first of the same
people where all of them would take hours, and says so. It counts only the seconds inside HiGHS; the cascade's side
counts everything. Its fixed cost per call is spread over more people in a population: that ratio is printed apart.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from benchmarks.engine import crown
from benchmarks.engine.options import Options
from benchmarks.engine.paper import PaperRadius, paper_radius
from benchmarks.engine.recipe import Case, Setting, prepare
from threadpoolctl import threadpool_limits

from lcifr.errors import DatasetError
from lcifr.prove import Radius, radius
from lcifr.prove.oracles.milp import intervals_of

SEED = 0
CROWD = 15_000
SECONDS = 10.0
"""After this long one of the paper's programs is given up where only some are solved; its time counts as the limit."""


@dataclass(frozen=True)
class Match:
    """A setting, its tolerance, how many people the paper's side gets, how many programs each (None: all), the bars."""

    setting: Setting
    tolerance: float
    paper: int
    programs: int | None
    exact_bar: float
    verdict_bar: float = 20_000.0


MATCHES = [
    Match(Setting("compas", "compas/cat_noise", (20,), 20, 0.0, 20, 200), 1e-6, 6, None, 1_000),
    Match(Setting("compas", "compas/cat_noise", (20,), 20, 1.0, 20, 200), 1e-6, 6, None, 1_000),
    Match(Setting("adult", "adult/cat_noise", (20,), 20, 0.0, 3, 200), 1e-6, 6, None, 1_000),
    Match(Setting("adult", "adult/cat_noise", (20,), 20, 1.0, 3, 200), 1e-6, 6, None, 1_000),
    Match(Setting("crime", "crime/cat_noise", (20,), 20, 0.0, 10, 20), 1e-6, 3, 4, 300),
    Match(Setting("adult", "adult/noise", (200,), 200, 0.0, 3, 5), 1e-4, 1, 6, 300),
]


@dataclass(frozen=True)
class Cost:
    """Seconds per person: on the clock, and of all cores together. On a busy machine only the latter compare well."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Timed(Cost):
    """And the result."""

    found: Radius


def timed(case: Case, index: np.ndarray, tolerance: float, with_target: bool, rounds: int = 1) -> Timed:
    """The cascade on some of the people: exact radii, or only on which side of its target each lies; best round."""
    region, x = case.region.take(index), case.x[index]
    target = case.targets[index] if with_target else None
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        found = radius(case.encoder, x, region, target=target, tolerance=tolerance)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Timed(min(walls) / len(index), min(cpus) / len(index), found)


def sample(case: Case, people: int, stratified: bool) -> np.ndarray:
    """People in random order; or evenly spread over the number of unstable neurons, in random order."""
    order = np.random.default_rng(SEED).permutation(len(case.x))
    if not stratified:
        return np.asarray(order[:people])
    (cell,) = case.region.cells
    unstable = sum(((part.lower < 0) & (part.upper > 0)).sum(1) for part in intervals_of(case.encoder, cell))
    ranked = order[np.argsort(np.asarray(unstable)[order], kind="stable")]
    chosen = ranked[np.linspace(0, len(ranked) - 1, people).astype(int)]
    return np.random.default_rng(SEED).permutation(chosen)


def by_paper(case: Case, index: np.ndarray, match: Match, exact: Radius) -> PaperRadius:
    """All programs of these people; or evenly spread ones, always with that of the largest distance in our answer."""
    outputs = case.encoder.outputs
    if match.programs is None:
        return paper_radius(case.encoder, case.x[index], case.region.take(index))
    spread = np.linspace(0, 2 * outputs - 1, match.programs).astype(int)
    ends = np.concatenate([exact.upper - exact.latent, exact.latent - exact.lower], 1)[: len(index)]
    wanted = np.concatenate([ends.argmax(1)[:, None], np.broadcast_to(spread[1:], (len(index), len(spread) - 1))], 1)
    found = paper_radius(case.encoder, case.x[index], case.region.take(index), programs=wanted, limit=SECONDS)
    return PaperRadius(found.radius, found.seconds * 2 * outputs / match.programs, found.solved)


def compare(match: Match) -> None:
    """Print one block of the table."""
    setting, case = match.setting, prepare(match.setting, SEED)
    small = match.programs is None
    some = sample(case, setting.people, setting.dataset == "crime")
    timed(case, some[:2], match.tolerance, False)  # load everything once
    exact = timed(case, some, match.tolerance, False, 3 if small else 1)
    verdict = timed(case, some, match.tolerance, True, 10)
    wall, cpu = time.perf_counter(), time.process_time()
    paper = by_paper(case, some[: match.paper], match, exact.found)
    share = (time.process_time() - cpu) / (time.perf_counter() - wall)  # of the clock's time that it could compute
    seconds = Cost(float(paper.seconds.mean()), float(paper.seconds.mean()) * share)
    print(
        f"  the paper's programs   {1e3 * seconds.wall:10.1f} ms/person ({1e3 * seconds.cpu:.1f} of all cores): "
        f"{_said(match, paper, case.encoder.outputs)}"
    )
    _line("exact ε", exact, len(some), seconds, match.exact_bar)
    _line("verdicts", verdict, len(some), seconds, match.verdict_bar)
    if setting.latent <= 20:
        crowd = np.resize(np.random.default_rng(SEED).permutation(len(case.x)), CROWD)
        _line("verdicts", timed(case, crowd, match.tolerance, True, 3), len(crowd), seconds, match.verdict_bar)
    if small:
        crowd = np.random.default_rng(SEED).permutation(len(case.x))[:1000]
        _line("exact ε", timed(case, crowd, match.tolerance, False, 3), len(crowd), seconds, match.exact_bar)
        if crown.missing() is None:
            print(f"  auto_LiRPA's CROWN   {1e3 * crown.seconds(case, crowd):10.4f} ms/person")
    first = slice(0, match.paper)
    target, ours = case.targets[some][first], verdict.found.radius[first]
    agree = ((ours < target) == (paper.radius < target))[paper.solved]
    apart = np.abs(exact.found.radius[first] - paper.radius)[paper.solved]
    print(f"  exact for {100 * exact.found.exact.mean():.1f} % of our people")
    print(f"  verdicts agree on {agree.sum()} of {len(agree)}, largest difference of ε {apart.max(initial=0.0):.2g}")


def _said(match: Match, paper: PaperRadius, outputs: int) -> str:
    if match.programs is None:
        return f"all {2 * outputs} for {len(paper.radius)} of the same people"
    return (
        f"{match.programs} of {2 * outputs} for {len(paper.radius)} of the same people, scaled up; "
        f"all solved within {SECONDS:g} s for {paper.solved.sum()} of them (else the time counts as the limit)"
    )


def _line(what: str, ours: Timed, people: int, paper: Cost, bar: float) -> None:
    ratio, busy = paper.cpu / ours.cpu, paper.wall / ours.wall
    print(
        f"  {what:8} {people:7,} people {1e3 * ours.wall:10.4f} ms/person ({1e3 * ours.cpu:.4f} of all cores), "
        f"{1 / ours.wall:10,.1f} people/s, {ratio:9,.0f}× by cores, {busy:9,.0f}× by the clock "
        f"(bar {bar:,.0f}: {'met' if min(ratio, busy) >= bar else 'NOT met'})",
        flush=True,
    )


def run(options: Options) -> None:
    """Print one block per setting."""
    torch.set_num_threads(1)
    print(f"people are sampled with seed {SEED}; one thread on either side")
    if (why := crown.missing()) is not None:
        print(f"auto_LiRPA cannot be used ({why}): its CROWN is not compared")
    with threadpool_limits(1):  # numpy's products as well: their threads wait for each other by spinning
        for match in MATCHES:
            match = replace(match, setting=replace(match.setting, people=options.people(match.setting.people)))
            print(f"\n{match.setting.title}, {match.setting.people} people, tolerance {match.tolerance:g}", flush=True)
            try:
                compare(match)
            except DatasetError as missing:
                print(f"  skipped: {missing}")
