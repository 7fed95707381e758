"""Commands on large tables: the peak memory of represent, audit and certify at two sizes, each in a process of its own.

The claim: as of the library's large runs, memory does not grow with the table, from reading it to the last figure.
German's test people are drawn again and again, each with an id and a label of their own. In the smaller run too, what
is filled once is full. Then their speed: :mod:`benchmarks.file_to_verdict`, which can be run alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import file_to_verdict
from benchmarks._memory import run_alone
from benchmarks.stream import GROUP, ID

SIZES = (240_000, 640_000)
PART = "2048"
MADE = ("produce german --phi german/noise --latent 4 --hidden 8 --epochs 1 --no-bundle --out producer",)
MADE += ("consume producer/handover producer/labels.csv --epochs 5 --out consumer",)
TABLE = f"people.parquet --id {ID} --workers 1 --chunk {PART} --out out"
RUNS = {
    "represent": f"represent producer {TABLE}",
    "audit": f"audit producer consumer --no-baselines --no-bundle {TABLE}",
    "certify": f"certify consumer --producer producer {TABLE}",
    "certify hand-over": "certify consumer handed/handover --out out",
}
PROGRAM = """
import sys
from benchmarks._memory import peak
from lcifr.cli import build
try:
    build()(sys.argv[1:], standalone_mode=False)
except SystemExit:
    pass
print(peak())
"""


def run(words: str, place: Path) -> float:
    """MB at the peak of one command."""
    return int(run_alone("-c", PROGRAM, *words.split(), cwd=place)[-1]) / 1024


def measure(people: int, runs: dict[str, str]) -> dict[str, float]:
    """The peaks of these commands on so many people."""
    from lcifr.datasets import load

    with tempfile.TemporaryDirectory() as folder:
        place, data = Path(folder), load("german")
        for words in MADE:
            run(words, place)
        table = data.test.X.assign(label=data.test.y).sample(people, replace=True, random_state=0)
        table[ID] = [f"person {i:09d}" for i in range(people)]
        table.to_parquet(place / "people.parquet", index=False, row_group_size=GROUP)
        if "certify hand-over" in runs:
            run(RUNS["represent"].replace("--out out", "--out handed"), place)
        found = {}
        for name, words in runs.items():
            found[name] = run(words + " --force", place)
        return found


def main(sizes: tuple[int, int] = SIZES, names: tuple[str, ...] = tuple(RUNS)) -> dict[str, float]:
    """Print the peaks at both sizes, and return what each person more adds, in bytes."""
    few, many = (measure(people, {name: RUNS[name] for name in names}) for people in sizes)
    growth = {name: (many[name] - few[name]) * 1024**2 / (sizes[1] - sizes[0]) for name in names}
    for name in names:
        print(f"  {name:18} {few[name]:6.0f} MB of {sizes[0]:,} people, {many[name]:6.0f} MB of {sizes[1]:,}", end="")
        print(f": {growth[name]:.0f} bytes per person more")
    if names == tuple(RUNS):
        file_to_verdict.main()
    return growth


if __name__ == "__main__":
    main()
