"""``python -m experiments run | list | unpack | render``: the paper's tables from the command line."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from experiments import plan
from experiments.cells import Cell
from experiments.runner import run
from experiments.store import Store, read_merged

HOME = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    cells = plan.matching(plan.all_cells(quick=options.quick), options.only)
    store = Store(options.results or HOME / "runs" / ("paper-quick" if options.quick else "paper"))
    if options.command == "render":
        from experiments.render import render

        if options.merged is None and not store.done(cells):
            print(f"{store.folder} holds no cell: nothing is rendered; make some with `run`", file=sys.stderr)
            return 2
        render(plan.all_cells(quick=options.quick), store, options.page, merged=options.merged)
        return 0
    if options.command == "list":
        for cell in cells:
            print(f"{'done' if store.read(cell) else '    '}  {cell.cost:6.0f} s  {cell.name}")
        return 0
    if options.command == "unpack":
        return _unpack(cells, store, options.merged or HOME / "docs" / "results" / "cells.json")
    summary = run(cells, store, jobs=options.jobs, minutes=options.limit_minutes, device=options.device)
    print(
        f"{summary.before + summary.made} of {len(cells)} cells are there, {summary.made} of them new", file=sys.stderr
    )
    for name in summary.failed:
        print(f"FAILED {name}", file=sys.stderr)
    if summary.left:
        print(
            f"{len(summary.left)} remain: {', '.join(summary.left[:8])}{' …' if summary.left[8:] else ''}",
            file=sys.stderr,
        )
    return 1 if summary.failed else 3 if summary.left else 0


def _unpack(cells: list[Cell], store: Store, merged: Path) -> int:
    """Cells of a merged file count as done, where their settings are those of the plan: ``run`` makes the others."""
    known = read_merged(merged)
    kept = [cell for cell in cells if known.get(cell.name, {}).get("settings") == cell.settings]
    for cell in kept:
        store.write(cell, known[cell.name])
    print(f"{len(kept)} of {len(cells)} cells are taken from {merged}", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("command", choices=("run", "list", "unpack", "render"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes, one thread each")
    parser.add_argument("--results", type=Path, help="folder of the cells (default: runs/paper)")
    parser.add_argument("--only", help="a shell pattern of cell names, such as 'german-*/*'")
    parser.add_argument("--limit-minutes", type=float, help="start nothing that would end later than this")
    parser.add_argument("--device", help="where encoders are learned, such as cuda (default: the CPU)")
    parser.add_argument("--quick", action="store_true", help="a slice that takes minutes")
    parser.add_argument("--page", type=Path, default=HOME / "docs" / "results.md", help="where render writes")
    parser.add_argument("--merged", type=Path, help="render or unpack this file of all cells")
    return parser


if __name__ == "__main__":
    sys.exit(main())
