"""From file to verdict: people a CPU second of a whole command, reading, gate, encoding, regions, proofs and writing.

Three models on German's columns, from a Parquet file with text ids, no proofs on file, one process: a logistic pipeline
of scikit-learn (its own ``predict`` is asked about everybody), boosted stumps of XGBoost (likewise), and lcifr's own
network with 20 + 20 neurons. Seconds are of the processor, and counted twice: of the whole command, and without what a
command takes before it sees anybody (imports, loading of models): the difference of two runs.

The long run is ``--people 10000000 --workers 2 --models logistic --marks 1000000 5000000 10000000``: it says what all
processes hold together at these points.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path

from benchmarks._watching import watch

from lcifr.runs.streaming.large import QUICK

PHI = "same(categorical except sex) and numeric within 0.05 sd\n"
PEOPLE, FEW = 420_000, 120_000
BEFORE = {"logistic": 11_400, "additive": 13_000, "network": 17_900}
"""People a CPU second of the same whole commands on 200,000 people, one process, quiet machine, 2026-11-16, before
reading, the calls of libraries, and writing were made quicker."""
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
    for words in PRODUCED:
        watch(words, place)
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


def main(options: list[str] | None = None) -> dict[str, float]:
    """Print the rates, and return them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks file_to_verdict")
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--marks", type=int, nargs="*", default=[], help="people at which the peak so far is said")
    parser.add_argument("--models", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    asked = parser.parse_args(options or [])
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        prepare(place, asked.people)
        print(f"{asked.people:,} people of German's columns, {asked.workers} worker(s), CPU seconds of all processes")
        for name in asked.models:
            command = f"{COMMANDS[name]} --id who --workers {asked.workers} --force --out out"
            start = watch(command.format(table="few.parquet"), place).cpu
            done = watch(command.format(table="many.parquet"), place, asked.marks, QUICK)
            whole, wall = done.cpu, done.wall
            rates[name] = (asked.people - FEW) / (whole - start)
            size = sum(file.stat().st_size for file in (place / "out").rglob("*") if file.is_file())
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(
                f"  {name:9} {rates[name]:8,.0f} people a CPU second (whole command {asked.people / whole:,.0f}; "
                f"before {BEFORE[name]:,}; bar {BARS[name]:,}), {asked.people / wall:,.0f} a second on the clock, "
                f"{size / asked.people:.0f} bytes written a person, peak {peak:.0f} MB so far",
                flush=True,
            )
            for mark, memory in done.peaks.items():
                print(f"    until {mark:,} people were proved: {memory:,.0f} MB in all processes", flush=True)
    return rates


if __name__ == "__main__":
    main(sys.argv[1:])
