"""Two checkouts on the same people: verdicts, radii and bounds to the last bit, and the time of the engine.

    python -m benchmarks.compare ../before .                             every kind of model
    python -m benchmarks.compare ../before . --kind one-layer --kind sweep
    python -m benchmarks.compare ../before . --rounds 40                 narrower intervals

OLD is the commit before, or a fixed older one: a kind of model that it does not know is skipped, with its reason. Each
checkout runs in a process of its own with only its own source in sight, on German Credit (and radii on Adult where its
files are there). Networks have weights drawn by seed, because the rounding of learning would hide what proving does.

Both processes are asked in turn, so that whatever else the machine does meets both alike. The time is CPU seconds of a
question, as old / new: the median of these pairs, and an interval that holds the true median with 90 % confidence.
Exit code 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

PHI = "same(categorical except sex) and numeric within {} sd"
NEAR, FAR = 0.3, 1.0
"""Standard deviations: the engine's call is a good part of the time of the near ones, the search nearly all of the
far ones."""

Answers = dict[str, list[str]]
"""By name, what is to be the same in both checkouts, as text; numbers as hexadecimal."""
Question = Callable[[], Answers]


# The kinds: each prepares its model and people, and returns the question that is timed. They use only names that lcifr
# exports, so that older checkouts can be asked, too.


def _radius(dataset: str, widths: tuple[int, ...], distance: float, people: int, **options: Any) -> Question:
    import lcifr

    table, encoding, similarity = _scene(dataset, distance)
    X = table.test.X.iloc[:people]
    region, center = similarity.region(X), encoding.encode(X)
    network = _network(center.shape[1], widths)

    def ask() -> Answers:
        found = lcifr.radius(network, center, region, **options)
        return {"radii": _numbers(found.radius), "nodes": [str(one) for one in found.nodes]}

    return ask


def _learned() -> Question:
    """An encoder of few epochs and a robust head: hand-over, verdicts on ball and box and from end to end."""
    import lcifr

    data, *_ = _scene("german", NEAR)
    train, X = (data.train.X, data.train.y), data.test.X.iloc[:100]
    encoder = lcifr.FairEncoder(PHI.format(NEAR), schema=data.schema, epochs=3, random_state=0).fit(*train)
    known = encoder.represent(train[0])
    model = lcifr.RobustClassifier().fit(known.latent, train[1], radius=known.radius)
    # Versions before deployed arithmetic know exact arithmetic only: that is what both sides are asked for.
    exact = {"arithmetic": "exact"} if "arithmetic" in inspect.signature(lcifr.audit).parameters else {}

    def ask() -> Answers:
        handed = encoder.represent(X, **exact)
        found = {f"on {on}": lcifr.certify(handed, model, on=on, **exact) for on in ("ball", "box")}
        found["end to end"] = lcifr.audit(encoder, model, X, **exact)
        verdicts = {name: [str(one) for one in audit.frame()["verdict"]] for name, audit in found.items()}
        return {"radii": _numbers(handed.radius), **verdicts}

    return ask


def _encoded_trees() -> Question:
    """Trees behind an encoder, from end to end."""
    from xgboost import XGBClassifier

    import lcifr

    data, *_ = _scene("german", NEAR)
    encoder = lcifr.FairEncoder(PHI.format(NEAR), schema=data.schema, epochs=3, random_state=0)
    encoder.fit(data.train.X, data.train.y)
    model = XGBClassifier(n_estimators=10, max_depth=2, random_state=0)
    model.fit(encoder.transform(data.train.X), _labels(data))
    X = data.test.X.iloc[:20]
    return lambda: _verdicts(lcifr.audit(encoder, model, X, modular=False))


def _booster(**options: Any) -> Question:
    """A booster that is learned, and then audited: the kernels that learn are part of the time."""
    import lcifr

    data, *_ = _scene("german", NEAR)
    train, X = (data.train.X, data.train.y), data.test.X

    def ask() -> Answers:
        booster = lcifr.FairBooster(PHI.format(NEAR), schema=data.schema, rounds=30, random_state=0, **options)
        booster.fit(*train)
        found = lcifr.audit(booster, X, similarity=booster.similarity_)
        return {"scores": _numbers(booster.scores(X).ravel()), **_verdicts(found)}

    return ask


def _score_handover() -> Question:
    """A booster's scores are handed over, and its own network decides on them."""
    import lcifr

    data, *_ = _scene("german", NEAR)
    booster = lcifr.FairBooster(PHI.format(NEAR), schema=data.schema, rounds=30, random_state=0)
    booster.fit(data.train.X, data.train.y)
    X = data.test.X

    def ask() -> Answers:
        handed = booster.represent(X)
        found = lcifr.certify(handed, booster.head_, on="box")
        return {"radii": _numbers(handed.radius), **_verdicts(found)}

    return ask


def _library(make: Callable[[], Any], *, people: int = 200, tolerance: float | None = None) -> Question:
    """A model of another library on the raw columns."""
    import lcifr

    data, _, similarity = _scene("german", NEAR)
    target = _labels(data) if tolerance is None else data.train.X["credit_amount"].to_numpy(float)
    model, X = _columns(data, make(), similarity).fit(data.train.X, target), data.test.X.iloc[:people]
    options = {} if tolerance is None else {"tolerance": tolerance}
    return lambda: _verdicts(lcifr.audit(model, X, similarity=similarity, **options))


def _file(name: str, write: Callable[[Any, Path], Any], make: Callable[[], Any]) -> Question:
    """A model's file, read and audited."""
    import lcifr

    data, _, similarity = _scene("german", NEAR)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / name
    write(_columns(data, make(), similarity).fit(data.train.X, _labels(data)), path)
    X = data.test.X

    def ask() -> Answers:
        assert folder.name  # kept as long as the question is
        return _verdicts(lcifr.audit(str(path), X, similarity=similarity))

    return ask


def _sweep(make: Callable[[], Any]) -> Question:
    """A sweep over the universe of a few attributes."""
    import lcifr

    data, *_ = _scene("german", NEAR)
    names = ["duration", "credit_amount", "age", "housing"]
    schema = _ranged(data, names)
    table = data.train.X[names]
    similarity = lcifr.Similarity("same(categorical) and numeric within 0.1 sd", schema, table)
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns = make_column_transformer((OneHotEncoder(), ["housing"]), (StandardScaler(), names[:3]))
    model = make_pipeline(columns, make()).fit(table, _labels(data))

    def ask() -> Answers:
        found = lcifr.sweep(model, table, similarity=similarity, cells=400)
        lists = {name: getattr(found, name) for name in ("proved", "violating", "open")}
        return {name: sorted(str(cell.share) for cell in cells) for name, cells in lists.items()}

    return ask


def _kinds() -> dict[str, Callable[[], Question]]:
    def classifier(name: str, **options: Any) -> Callable[[], Any]:
        return partial(_estimator, name, **options)

    linear = classifier("sklearn.linear_model.LogisticRegression", max_iter=1000)
    boosted = classifier("xgboost.XGBClassifier", n_estimators=40, max_depth=3, random_state=0)
    stumps = classifier("xgboost.XGBClassifier", n_estimators=100, max_depth=1, random_state=0)
    light = classifier("lightgbm.LGBMClassifier", n_estimators=40, num_leaves=8, random_state=0, verbose=-1)
    forest = classifier("sklearn.ensemble.RandomForestClassifier", n_estimators=10, max_depth=4, random_state=0)
    tree = classifier("sklearn.tree.DecisionTreeClassifier", max_depth=6, random_state=0)
    network = classifier("sklearn.neural_network.MLPClassifier", hidden_layer_sizes=(20,), random_state=0)
    deep = classifier("sklearn.neural_network.MLPClassifier", hidden_layer_sizes=(10, 10), random_state=0)
    return {
        "one-layer": lambda: _radius("german", (20, 20), NEAR, 40),
        "one-layer-far": lambda: _radius("german", (20, 20), FAR, 40),
        "one-layer-many": lambda: _radius("german", (20, 20), NEAR, 200),
        "one-layer-adult": lambda: _radius("adult", (20, 20), NEAR, 100),
        "one-layer-proofs": lambda: _radius("german", (20, 20), NEAR, 100, proof=True),
        "two-layers": lambda: _radius("german", (20, 10, 20), NEAR, 10),
        "three-layers": lambda: _radius("german", (10, 10, 10, 10), NEAR, 10),
        "learned": _learned,
        "booster": _booster,
        "booster-pairs": lambda: _booster(interactions=2),
        "score-handover": _score_handover,
        "encoded-trees": _encoded_trees,
        "logistic": lambda: _library(linear),
        "logistic-pca": lambda: _library(lambda: _after_pca(linear())),
        "network": lambda: _library(network, people=50),
        "deep-network": lambda: _library(deep, people=20),
        "tree": lambda: _library(tree),
        "forest": lambda: _library(forest, people=50),
        "xgboost": lambda: _library(boosted),
        "xgboost-stumps": lambda: _library(stumps),
        "lightgbm": lambda: _library(light),
        "ridge": lambda: _library(classifier("sklearn.linear_model.Ridge"), tolerance=1000.0),
        "regression-trees": lambda: _library(
            classifier("sklearn.ensemble.GradientBoostingRegressor", n_estimators=20, random_state=0), tolerance=1000.0
        ),
        "skops": lambda: _file("model.skops", _write_skops, linear),
        "sweep": lambda: _sweep(linear),
        "sweep-network": lambda: _sweep(classifier("sklearn.neural_network.MLPClassifier", random_state=0)),
        "sweep-trees": lambda: _sweep(boosted),
        "sweep-stumps": lambda: _sweep(stumps),
    }


# What the kinds share.


@cache
def _scene(name: str, distance: float) -> tuple[Any, Any, Any]:
    import lcifr
    import lcifr.datasets

    data = lcifr.datasets.load(name)
    encoding = lcifr.Encoding.fit(data.train.X, data.schema)
    return data, encoding, lcifr.Similarity(PHI.format(distance), data.schema, encoding)


def _network(inputs: int, widths: tuple[int, ...]) -> Any:
    import numpy as np

    import lcifr

    draw, layers = np.random.default_rng(0), []
    for width in widths:
        layers.append((draw.normal(size=(width, inputs)) / inputs**0.5, draw.normal(size=width) / 4))
        inputs = width
    return lcifr.Network.from_arrays(layers)


def _estimator(name: str, **options: Any) -> Any:
    import importlib

    module, _, kind = name.rpartition(".")
    return getattr(importlib.import_module(module), kind)(**options)


def _after_pca(model: Any) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    return make_pipeline(PCA(10), model)


def _columns(data: Any, model: Any, similarity: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    texts = [list(one.values) for one in data.schema.categorical]
    columns = make_column_transformer(
        (OneHotEncoder(categories=texts), list(data.schema.names_categorical)),
        (StandardScaler(), list(data.schema.names_numeric)),
        sparse_threshold=0,
    )
    return make_pipeline(columns, model)


def _ranged(data: Any, names: list[str]) -> Any:
    from dataclasses import replace

    numeric, attributes = data.schema.names_numeric, []
    for one in data.schema:
        if one.name in names:
            column = data.train.X[one.name]
            ends = {"lower": float(column.min()), "upper": float(column.max())} if one.name in numeric else {}
            attributes.append(replace(one, **ends))
    return replace(data.schema, attributes=tuple(attributes))


def _labels(data: Any) -> Any:
    import numpy as np

    return np.asarray(data.train.y)


def _write_skops(model: Any, path: Path) -> None:
    import skops.io

    skops.io.dump(model, path)


def _numbers(values: Any) -> list[str]:
    return [float(one).hex() for one in values]


def _verdicts(found: Any) -> Answers:
    return {"verdicts": [str(one) for one in found.frame()["verdict"]]}


# One checkout: a process that prepares a kind and then answers its question as often as it is asked.


def _serve() -> None:
    out, sys.stdout = sys.stdout, sys.stderr  # nothing but replies goes to the caller
    warnings.simplefilter("ignore")
    question: Question | None = None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        reply: dict[str, Any]
        if word == "prepare":
            try:
                question = _kinds()[rest]()
                reply = {"answers": question()}  # machine code is made here
            except Exception as problem:
                reply = {"problem": f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"}
        else:
            assert question is not None
            start = time.process_time()
            for _ in range(int(rest)):
                question()
            reply = {"seconds": (time.process_time() - start) / int(rest)}
        print(json.dumps(reply), file=out, flush=True)


class _Checkout:
    """The process of one checkout."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
        pipe = subprocess.PIPE
        self.folder = folder
        self._process = subprocess.Popen(command, env=environment, cwd=folder, stdin=pipe, stdout=pipe, text=True)

    def ask(self, words: str) -> dict[str, Any]:
        """The reply to one line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.folder}: its process ended at {words!r}")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def seconds(self, times: int) -> float:
        """CPU seconds of the question, on average over so many times."""
        return float(self.ask(f"time {times}")["seconds"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(old: _Checkout, new: _Checkout, kind: str, rounds: int, sample: float) -> bool:
    """Print one line about a kind; whether all answers are the same."""
    before, after = old.ask(f"prepare {kind}"), new.ask(f"prepare {kind}")
    if problem := before.get("problem") or after.get("problem"):
        failed = "problem" not in before
        print(f"{kind}: {'NEW FAILS' if failed else 'skipped'}, {problem}", flush=True)
        return not failed
    words, differ = [], 0
    for name, values in before["answers"].items():
        others = after["answers"].get(name, [])
        changed = sum(a != b for a, b in zip(values, others, strict=False)) + abs(len(values) - len(others))
        words.append(f"{changed} of {len(values)} {name} changed" if changed else f"{len(values)} {name} alike")
        differ += changed
    times = max(1, round(sample / max(old.seconds(1), 1e-4)))
    pairs = []
    for turn in range(rounds):
        first, second = (old, new) if turn % 2 else (new, old)
        spent = {checkout: checkout.seconds(times) for checkout in (first, second)}
        pairs.append((spent[old], spent[new]))
    ratio, low, high = median_with_interval([a / b for a, b in pairs])
    each = [1e3 * statistics.median(side) for side in zip(*pairs, strict=True)]
    figures = f"{each[0]:.2f} → {each[1]:.2f} ms, old / new {ratio:.2f} (90 %: {low:.2f} to {high:.2f})"
    print(f"{kind}: {', '.join(words)}; {figures}", flush=True)
    return differ == 0


def median_with_interval(values: list[float], draws: int = 2000) -> tuple[float, float, float]:
    """The median, and where 90 % of the medians of samples drawn from the values with replacement lie."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), medians[draws // 20], medians[-draws // 20 - 1]


def main() -> int:
    if sys.argv[1:] == ["--serve"]:
        _serve()
        return 0
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("old", type=Path, help="a checkout: the commit before, or a fixed older one")
    parser.add_argument("new", type=Path, help="another")
    parser.add_argument("--kind", action="append", choices=list(_kinds()), help="one only; may be given several times")
    parser.add_argument("--rounds", type=int, default=15, help="pairs of times")
    parser.add_argument("--sample", type=float, default=0.2, metavar="S", help="seconds that each time takes, or more")
    options = parser.parse_args()
    old, new = (_Checkout(folder.resolve()) for folder in (options.old, options.new))
    alike = [compare(old, new, kind, options.rounds, options.sample) for kind in options.kind or _kinds()]
    old.close()
    new.close()
    return 0 if all(alike) else 1


if __name__ == "__main__":
    raise SystemExit(main())
