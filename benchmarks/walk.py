"""The walk of one piece of work through the source: which files it executes, and between which rooms it goes.

    python -m benchmarks.walk function   # lcifr.audit(encoder, model, X): verdicts about people in memory
    python -m benchmarks.walk audit      # lcifr audit: the same from folders, with proofs, their check and results
    python -m benchmarks.walk baselines  # the same with the two models that are learned to stand beside it
    python -m benchmarks.walk produce    # lcifr produce: a table through the producer's work; consume, the consumer's
    python -m benchmarks.walk model      # lcifr audit --model: a scikit-learn pipeline on a table
    python -m benchmarks.walk xgboost    # the same with a file of XGBoost
    python -m benchmarks.walk sweep      # lcifr sweep --model: everyone who could exist, with a bundle

Prints the files by room with their lines, and the borders between rooms that are crossed. What merely is imported does
not count, nor what compiled code does. docs/design/architecture.md shows the output, and the tests keep it there.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import lcifr

HOME = Path(lcifr.__file__).parent
AUDIT = "audit producer consumer --workers 1"
MODEL = "--phi people.phi --schema people.toml --reference train.csv"
COMMANDS = {
    "produce": "produce german --phi german/cat_noise --out producer --epochs 2 --seed 0",
    "consume": "consume producer/handover producer/labels.csv --out consumer",
    "audit": f"{AUDIT} --no-baselines --out audit",
    "baselines": f"{AUDIT} --baselines --out audit",
    "model": f"audit people.csv --model model.skops {MODEL} --workers 1 --no-baselines --out audit",
    "xgboost": f"audit people.csv --model model.json {MODEL} --workers 1 --no-baselines --out audit",
    "sweep": f"sweep people.csv --model model.skops {MODEL} --cells 100 --people 20 --bundle --out swept",
}
OF_MODELS = ("model", "xgboost", "sweep")
READ = {"duration": (0, 80), "age": (18, 80), "installment_rate": (1, 4)}
"""Numbers that these models read, and the ends of what they can be."""
PHI = "same(housing) and free(sex) and numeric within 0.1 sd"


class Walk:
    """A profiler that keeps the files of lcifr that are entered, and the borders between rooms that are crossed."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.borders: dict[tuple[str, str], str] = {}
        self._known: set[tuple[int, int | None]] = set()  # by id: equal code of two files is equal to Python

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or (here := _file(frame)) is None:
            return
        caller = frame.f_back
        while caller is not None and _file(caller) is None:
            caller = caller.f_back
        pair = (id(frame.f_code), None if caller is None else id(caller.f_code))
        if pair in self._known or _is_import(frame):
            return
        self._known.add(pair)
        self.files.setdefault(here, frame.f_code.co_name)
        if caller is not None:
            border = (_room(str(_file(caller))), _room(here))
            if border[0] != border[1]:
                self.borders.setdefault(border, f"{here}:{frame.f_code.co_name}")

    def rooms(self) -> dict[str, list[str]]:
        """The files by room, in the order in which they are entered."""
        found: dict[str, list[str]] = {}
        for file in self.files:
            found.setdefault(_room(file), []).append(file.split("/", 1)[-1])
        return found

    def lines(self, room: str | None = None) -> int:
        """Lines of the files that are entered, of one room or of all."""
        mine = (file for file in self.files if room in (None, _room(file)))
        return sum(len((HOME / file).read_text(encoding="utf-8").splitlines()) for file in mine)


def _file(frame: FrameType) -> str | None:
    return _below_home(frame.f_code.co_filename)


@cache
def _below_home(path: str) -> str | None:
    return path[len(str(HOME)) + 1 :] if path.startswith(f"{HOME}/") else None


def _room(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def _is_import(frame: FrameType | None) -> bool:
    """Whether a module is being executed here: its body, a class body, or what either of them calls."""
    while frame is not None:
        if _file(frame) is not None and frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def run(name: str) -> Walk:
    """What is named, on German Credit, after the commands whose folders it needs."""
    if name not in ("function", *COMMANDS):
        raise SystemExit(f"one of function, {', '.join(COMMANDS)}, not {name!r}")
    with tempfile.TemporaryDirectory() as folder:
        if name in OF_MODELS:
            _write_models(Path(folder))
            with chdir(folder):
                return _walk(_command(name))
        for needed in ("produce", "consume"):
            if needed == name:
                break
            words = [sys.executable, "-m", "lcifr", *COMMANDS[needed].split()]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)  # elsewhere: it would fill caches here
        with chdir(folder):
            return _walk(_audit() if name == "function" else _command(name))


Work = Callable[[], Any]


def _command(name: str) -> Work:
    from lcifr.cli import build

    return partial(build(), COMMANDS[name].split(), standalone_mode=False)


def _write_models(folder: Path) -> None:
    """Tables, φ, a schema with the ends of every number, a pipeline of scikit-learn and a model of XGBoost."""
    import skops.io
    import xgboost
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    data = lcifr.datasets.load("german")
    texts = ["housing", "sex"]
    for name, split in (("train", data.train), ("people", data.test)):
        table = split.X[[*READ, *texts]].assign(good_credit=split.y)
        table.to_csv(folder / f"{name}.csv", index=False)
    X, y = data.train.X, data.train.y
    inside = make_column_transformer((StandardScaler(), [*READ]), (OneHotEncoder(), texts))
    skops.io.dump(make_pipeline(inside, LogisticRegression()).fit(X[[*READ, *texts]], y), folder / "model.skops")
    xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(X[[*READ]], y).save_model(folder / "model.json")
    numbers = [lcifr.Numeric(name, lower=low, upper=high, integer=True) for name, (low, high) in READ.items()]
    categories = [data.schema[name] for name in texts]
    lcifr.Schema((*numbers, *categories), target="good_credit").save(folder / "people.toml")
    (folder / "people.phi").write_text(PHI, encoding="utf-8")


def _audit() -> Work:
    """A call of ``lcifr.audit`` on the people whom the producer held out; all that it is given is in memory."""
    import pandas as pd

    from lcifr.certification.handover import freeze
    from lcifr.workflows.results import read_consumer, read_saved_encoder, read_saved_head

    producer, consumer = Path("producer"), Path("consumer")
    saved = read_saved_encoder(producer)
    head = read_saved_head(consumer, read_consumer(consumer).task)
    X = pd.read_parquet(producer / "people" / "held-out.parquet")[list(saved.similarity.schema.names)]
    return partial(lcifr.audit, freeze(saved), head.model, X)


def _walk(work: Work) -> Walk:
    walk = Walk()
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        sys.setprofile(walk)
        try:
            work()
        finally:
            sys.setprofile(None)
    return walk


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "audit"
    walk = run(name)
    print(f"{name}: {len(walk.files)} files of {walk.lines():,} lines, {len(walk.borders)} borders between rooms\n")
    for room, files in walk.rooms().items():
        print(f"{room} ({len(files)} files, {walk.lines(room):,} lines): {', '.join(files)}")
    print()
    for (start, end), place in walk.borders.items():
        print(f"{start} -> {end}: {place}")


if __name__ == "__main__":
    main()
