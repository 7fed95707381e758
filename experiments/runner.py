"""Runs what is missing: several processes of one thread each, longest cells first, safe to stop at any point."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass

from experiments.cells import Cell
from experiments.store import Store


@dataclass(frozen=True)
class Summary:
    """How a run ended: cells that were there, were made, failed (with the reason), and are still to be made."""

    before: int
    made: int
    failed: dict[str, str]
    left: tuple[str, ...]


def run(
    cells: list[Cell], store: Store, *, jobs: int = 1, minutes: float | None = None, device: str | None = None
) -> Summary:
    """Make what is missing.

    Parameters
    ----------
    device : where encoders are learned; proofs are made on the CPU all the same.
    minutes : no cell is started that would probably end later than this; what is left is for the next run.
    """
    start = time.monotonic()
    missing = [cell for cell in cells if store.read(cell) is None]
    before, failed = len(cells) - len(missing), dict[str, str]()
    waiting = sorted(missing, key=lambda cell: -cell.cost)
    running: dict[Future[str], Cell] = {}
    made = 0
    pool = _pool(jobs, device)
    try:
        while True:
            open_names = {cell.name for cell in waiting} | {cell.name for cell in running.values()}
            spent = time.monotonic() - start
            for cell in list(waiting):
                late = minutes is not None and spent + cell.cost > 60 * minutes
                if len(running) >= jobs or late or open_names & set(cell.needs):
                    continue
                waiting.remove(cell)
                if set(cell.needs) & set(failed):
                    failed[cell.name] = "what it needs failed"
                    continue
                running[pool.submit(_make, cell, str(store.folder))] = cell
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell = running.pop(future)
                problem = future.result()
                made += not problem
                if problem:
                    failed[cell.name] = problem
                _show(cell, problem, before + made, len(cells), time.monotonic() - start)
    except KeyboardInterrupt:
        _say("stopped; what is finished is kept, run again to go on")
        _end(pool)
        raise SystemExit(130) from None
    pool.shutdown()
    return Summary(before, made, failed, tuple(cell.name for cell in waiting))


def _pool(jobs: int, device: str | None) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_settle, initargs=(device,))


def _end(pool: ProcessPoolExecutor) -> None:
    children = multiprocessing.active_children()
    pool.shutdown(wait=False, cancel_futures=True)
    for child in children:
        child.terminate()


def _settle(device: str | None) -> None:
    """One thread a process: more would only fight over the cores. Ctrl-C is for the parent to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    from experiments import networks

    torch.set_num_threads(1)
    networks.device = device


def _make(cell: Cell, folder: str) -> str:
    """Compute a cell and write it; the reason where that failed, else nothing."""
    from experiments.measure import measure

    store = Store(folder)
    try:
        store.write(cell, measure(cell, store))
    except Exception:  # one broken cell must not end the others: it is reported, and missing
        return traceback.format_exc(limit=-4)
    return ""


def _show(cell: Cell, problem: str, done: int, total: int, seconds: float) -> None:
    word = "FAILED" if problem else "done"
    _say(f"[{done:4d}/{total}] {seconds / 60:6.1f} min  {word}  {cell.name}")
    if problem:
        _say(problem)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
