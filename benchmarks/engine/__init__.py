"""The compiled engine beside the paper's programs in HiGHS, and beside an older checkout: one run, ratios by CPU time.

python -m benchmarks engine                                  everything: the tables of docs/PERFORMANCE.md
python -m benchmarks engine --part radii --scale 0.1         one part, few people
python -m benchmarks engine --part proofs --old ../before    and the engine of another checkout
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence


def main(words: Sequence[str] = ()) -> None:
    """Print the tables of the parts that are asked for."""
    from benchmarks.engine.options import read_options

    options = read_options(words)
    for part in options.parts:
        print(f"### {part}", flush=True)
        importlib.import_module(f"benchmarks.engine.part_{part}").run(options)
