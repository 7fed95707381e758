"""From file to verdict: people a CPU second of a whole command, reading, gate, encoding, regions, proofs and writing.

Three models on German's columns, from a Parquet file with text ids, no proofs on file, one process: a logistic pipeline
of scikit-learn (its own ``predict`` is asked about everybody), boosted stumps of XGBoost (likewise), and lcifr's own
network with 20 + 20 neurons. Seconds are CPU seconds of all processes, counted twice: of the whole command, and without
what a command takes before it sees anybody (imports, loading of models), by the difference of two runs.

Machines differ by a factor of two and more. ``--old CHECKOUT`` runs the same commands with another checkout of lcifr in
between, such as ``git worktree add /tmp/old 51c5d45^``, the last commit before file to verdict was made faster, and
prints the ratio.

``--stages`` prints microseconds a person of each stage as well, from runs of their own.

The long run is ``--people 10000000 --workers 2 --models logistic --marks 1000000 5000000 10000000``: it shows how much
memory all processes hold together at these points.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks._stages import FILE
from benchmarks._watching import STAGES, Watched, watch

from lcifr.workflows.parts import QUICK

PHI = "same(categorical except sex) and numeric within 0.05 sd\n"
PEOPLE, FEW = 420_000, 120_000
BARS = {"logistic": 60_000, "additive": 60_000, "network": 40_000}
ABOUT = "--phi similar.phi --schema german.toml --reference reference.parquet --no-baselines --no-bundle"
COMMANDS = {
    "logistic": f"audit {{table}} --model logistic.skops {ABOUT}",
    "additive": f"audit {{table}} --model stumps.json {ABOUT}",
    "network": "certify consumer {table} --producer producer",
}
PRODUCED = (
    "produce german --phi german/cat_noise --hidden 20 --latent 20 --epochs 20 --no-bundle --out producer",
    "consume producer/handover producer/labels.csv --epochs 20 --out consumer",
)


def prepare(place: Path, people: int) -> None:
    """The models and the tables."""
    import numpy as np
    import skops.io
    import xgboost
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from lcifr.datasets import load

    data = load("german")
    schema, train = data.schema, data.train
    columns = [
        ("numbers", StandardScaler(), list(schema.names_numeric)),
        ("texts", OneHotEncoder(handle_unknown="ignore"), list(schema.names_categorical)),
    ]
    logistic = make_pipeline(ColumnTransformer(columns), LogisticRegression(max_iter=1000)).fit(train.X, train.y)
    skops.io.dump(logistic, place / "logistic.skops")
    categories = dict.fromkeys(schema.names_categorical, "category")
    stumps = xgboost.XGBClassifier(n_estimators=100, max_depth=1, enable_categorical=True, tree_method="hist")
    stumps.fit(train.X.astype(categories), np.asarray(train.y)).save_model(place / "stumps.json")
    schema.save(place / "german.toml")
    (place / "similar.phi").write_text(PHI, encoding="utf-8")
    train.X.assign(**{str(schema.target): train.y}).to_parquet(place / "reference.parquet", index=False)
    test = data.test.X.assign(**{str(schema.target): data.test.y})
    write(test, place / "few.parquet", FEW)
    write(test, place / "many.parquet", people)


def write(people: object, path: Path, count: int) -> None:
    """People drawn again and again, each with an id, a million at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    for start in range(0, count, 1_000_000):
        some = people.sample(min(1_000_000, count - start), replace=True, random_state=start)  # type: ignore[attr-defined]
        some["who"] = [f"person {number:09d}" for number in range(start, start + len(some))]
        table = pa.Table.from_pandas(some, preserve_index=False)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=65_536)
    assert writer is not None
    writer.close()


@dataclass
class Side:
    """A checkout whose sources the commands import, None for this one; and the folder ``place`` that they run in."""

    place: Path
    checkout: Path | None = None

    def prepare(self, files: Path, names: list[str]) -> None:
        """Link the shared files, train the network, and warm up: what is compiled once is not counted."""
        self.place.mkdir(exist_ok=True)
        for file in files.iterdir() if self.place != files else ():
            if file.is_file():
                (self.place / file.name).symlink_to(file)
        for words in PRODUCED if "network" in names else ():
            watch(words, self.place, checkout=self.checkout)
        for name in names:
            self.run(name, "few.parquet", 1)

    def run(self, name: str, table: str, workers: int, marks: list[int] | None = None) -> Watched:
        """One command."""
        command = f"{COMMANDS[name]} --id who --workers {workers} --force --out out"
        return watch(command.format(table=table), self.place, marks or (), QUICK, checkout=self.checkout)

    def stages(self, name: str, table: str) -> dict[str, float]:
        """CPU seconds by stage of a command with one process."""
        command = f"{COMMANDS[name]} --id who --workers 1 --force --out out"
        watch(command.format(table=table), self.place, program=STAGES)
        return dict(json.loads((self.place / FILE).read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Rate:
    """People a CPU second without the start, and of the whole command."""

    done: Watched
    people: int
    few: float  # CPU seconds for a few people

    @property
    def without_start(self) -> float:
        return (self.people - FEW) / (self.done.cpu - self.few)

    @property
    def start(self) -> float:
        """CPU seconds before anybody is seen."""
        return self.few - FEW / self.without_start

    @property
    def whole(self) -> float:
        return self.people / self.done.cpu


def main(options: list[str] | None = None) -> dict[str, float]:
    """Print the rates, and return them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks file_to_verdict")
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--marks", type=int, nargs="*", default=[], help="people at which the peak so far is printed")
    parser.add_argument("--models", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--stages", action="store_true", help="microseconds a person of each stage as well")
    parser.add_argument("--old", type=Path, help="another checkout of lcifr to compare with")
    asked = parser.parse_args(options or [])
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        prepare(place, asked.people)
        sides = [Side(place), *([] if asked.old is None else [Side(place / "old", asked.old.resolve())])]
        for side in reversed(sides):
            side.prepare(place, asked.models)
        print(f"{asked.people:,} people of German's columns, {asked.workers} worker(s), CPU seconds of all processes")
        for name in asked.models:
            few = [side.run(name, "few.parquet", asked.workers).cpu for side in sides]
            done = [side.run(name, "many.parquet", asked.workers, asked.marks) for side in sides]
            found = [Rate(many, asked.people, seconds) for many, seconds in zip(done, few, strict=True)]
            rates[name] = found[0].without_start
            _print(name, found, place)
            if asked.stages:
                few, many = (sides[0].stages(name, table) for table in ("few.parquet", "many.parquet"))
                for stage, seconds in many.items():
                    print(f"    {stage:38} {(seconds - few[stage]) / (asked.people - FEW) * 1e6:5.1f} µs a person")
    return rates


def _print(name: str, found: list[Rate], place: Path) -> None:
    now = found[0]
    size = sum(file.stat().st_size for file in (place / "out").rglob("*") if file.is_file())
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"  {name:9} {now.without_start:8,.0f} people a CPU second (bar {BARS[name]:,}), whole command "
        f"{now.whole:,.0f}, start {now.start:.1f} of {now.done.cpu:.1f} s; {now.people / now.done.wall:,.0f} a second "
        f"on the clock, {size / now.people:.0f} bytes written a person, peak {peak:.0f} MB so far",
        flush=True,
    )
    for old in found[1:]:
        print(
            f"            {old.without_start:8,.0f} with the other checkout, whole command {old.whole:,.0f}: "
            f"{now.without_start / old.without_start:.2f} times as fast, {now.whole / old.whole:.2f} as a whole",
            flush=True,
        )
    for mark, memory in now.done.peaks.items():
        print(f"    until {mark:,} people were proved: {memory:,.0f} MB in all processes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
