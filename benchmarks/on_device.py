"""File to verdict with bounds on a GPU: people a second of ``lcifr certify`` with ``--device cpu`` and ``cuda``.

lcifr's own networks on German's columns, from Parquet with text ids to verdicts, no proofs on file: 20 + 20 neurons,
and 256 + 64, where bounds are most of the work. Rates are by the clock and without the start: the difference of two
runs. Verdicts of both devices are compared column by column, all but margins, which are bounds.

``--place FOLDER`` keeps models and tables, or finds them there: a machine without the data of German runs it so.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks._watching import watch
from benchmarks.file_to_verdict import write

PEOPLE = 2_000_000
FEW = 10  # times fewer in the run that tells the start
NETWORKS = {"20+20": "--hidden 20 --latent 20", "256+64": "--hidden 256 --latent 64"}


def prepare(place: Path) -> None:
    """The models, and some people of whom the tables are made."""
    from lcifr.datasets import load

    for name, sizes in NETWORKS.items():
        produced = f"produce german --phi german/cat_noise {sizes} --epochs 5 --no-bundle --out {name}/producer"
        watch(produced, place)
        watch(
            f"consume {name}/producer/handover {name}/producer/labels.csv --epochs 5 --out {name}/consumer",
            place,
        )
    load("german").test.X.to_parquet(place / "people.parquet", index=False)


def tables(place: Path, people: int) -> None:
    """Many people and few, drawn again and again."""
    import pandas as pd

    some = pd.read_parquet(place / "people.parquet")
    write(some, place / "few.parquet", people // FEW)
    write(some, place / "many.parquet", people)


def certify(place: Path, name: str, table: str, device: str, workers: int) -> float:
    """Seconds by the clock; the verdicts are in the folder of the device."""
    out = place / f"out-{device}"
    shutil.rmtree(out, ignore_errors=True)
    words = f"certify {name}/consumer {table} --producer {name}/producer --id who --workers {workers} --out {out.name}"
    return watch(f"{words} --device {device}", place).wall


def alike(place: Path, devices: list[str]) -> bool:
    """Whether all devices gave the same verdicts, but for margins."""
    from pyarrow import parquet

    found = [
        parquet.read_table(place / f"out-{device}/audited/audit.parquet").drop_columns(["margin"]) for device in devices
    ]
    return all(table == found[0] for table in found)


def main(options: list[str] | None = None) -> None:
    """Print the rates and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks on_device")
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--workers", type=int, nargs="*", default=[1])
    parser.add_argument("--place", type=Path)
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS))
    asked = parser.parse_args(options or [])
    with tempfile.TemporaryDirectory() as folder:
        place = asked.place or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        if not (place / "people.parquet").exists():
            prepare(place)
        measure(place, asked.people, asked.workers, asked.networks)


def measure(place: Path, people: int, workers: list[int], networks: list[str]) -> None:
    """One line for each network and number of workers."""
    import torch

    tables(place, people)
    found = torch.cuda.get_device_name() if torch.cuda.is_available() else "none here"
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    print(f"{people:,} people from Parquet to verdicts; GPU: {found}")
    for name in networks:
        certify(place, name, "few.parquet", devices[-1], 1)  # compiles what is not compiled on this machine yet
        for count in workers:
            rates = {}
            for device in devices:
                few = certify(place, name, "few.parquet", device, count)
                many = certify(place, name, "many.parquet", device, count)
                rates[device] = (people - people // FEW) / (many - few)
                print(f"  {name:7} {count} worker(s) {device:5} {rates[device]:10,.0f} people/s, start {few:.1f} s")
            if len(devices) > 1:
                same = "the same verdicts" if alike(place, devices) else "VERDICTS DIFFER"
                print(f"  {name:7} {count} worker(s): {rates['cuda'] / rates['cpu']:.2f}×, {same}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
