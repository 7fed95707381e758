"""Two checkouts on the same people: verdicts, radii and bounds to the last bit, and the time of the engine.

    python -m benchmarks.compare ../before .

Each side runs in a process of its own with only its own source in sight, on German Credit and, where its files are
there, Adult: networks with weights drawn by seed (no learning, whose rounding would hide what proving does), radii,
verdicts on ball and box and from end to end, and a trained encoder of few epochs. Prints what differs; exit code 1 if
anything does. The time is CPU seconds of proving, as old / new.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PEOPLE = {"german": 100, "adult": 100}
DEEP = 20
"""People of the networks with two hidden layers, who take a hundred times as long."""
PHI = "same(categorical except sex) and numeric within 0.3 sd"
REPEATS = 5


def measure() -> dict[str, Any]:
    """What this checkout says; uses nothing but names exported from ``lcifr``."""
    import time

    import lcifr
    import lcifr.datasets

    found: dict[str, Any] = {}
    for name, people in PEOPLE.items():
        try:
            data = lcifr.datasets.load(name)
        except lcifr.LcifrError as error:
            found[name] = {"skipped": str(error).splitlines()[0]}
            continue
        X = data.test.X.iloc[:people]
        encoding = lcifr.Encoding.fit(data.train.X, data.schema)
        similarity = lcifr.Similarity(PHI, data.schema, encoding)
        region = similarity.region(X)
        center = encoding.encode(X)
        for depth, widths in ((1, (20, 20)), (2, (20, 10, 20))):
            network = _network(center.shape[1], widths)
            spent = []
            count = people if depth == 1 else DEEP
            for _ in range(REPEATS):
                start = time.process_time()
                proved = lcifr.radius(network, center[:count], region.take(slice(count)))
                spent.append(time.process_time() - start)
                if depth > 1:
                    break
            found[f"{name}-{depth}"] = {
                "radius": [float(one).hex() for one in proved.radius],
                "seconds": min(spent),
            }
        found[f"{name}-learned"] = _learned(data, X)
    return found


def _network(inputs: int, widths: tuple[int, ...]) -> Any:
    import numpy as np

    import lcifr

    draw, layers = np.random.default_rng(0), []
    for width in widths:
        layers.append((draw.normal(size=(width, inputs)) / inputs**0.5, draw.normal(size=width) / 4))
        inputs = width
    return lcifr.Network.from_arrays(layers)


def _learned(data: Any, X: Any) -> dict[str, Any]:
    import inspect
    import time
    import warnings

    import lcifr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = data.train.X.iloc[:2000], data.train.y.iloc[:2000]
        encoder = lcifr.FairEncoder(PHI, schema=data.schema, epochs=3, random_state=0).fit(*some)
        known = encoder.represent(some[0])
        model = lcifr.RobustClassifier().fit(known.latent, some[1], radius=known.radius)
    # Versions before deployed arithmetic know exact arithmetic only: that is what both sides are asked for.
    exact = {"arithmetic": "exact"} if "arithmetic" in inspect.signature(lcifr.audit).parameters else {}
    start = time.process_time()
    handed = encoder.represent(X, **exact)
    found = {f"on {on}": lcifr.certify(handed, model, on=on, **exact) for on in ("ball", "box")}
    found["end to end"] = lcifr.audit(encoder, model, X, **exact)
    verdicts = {key: one.frame()["verdict"].tolist() for key, one in found.items()}
    spent = time.process_time() - start
    return {
        "radius": [float(one).hex() for one in handed.radius],
        "verdicts": {key: [str(one) for one in value] for key, value in verdicts.items()},
        "seconds": spent,
    }


def _ask(checkout: Path) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--measure"],
        env=environment,
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
        return 0
    old, new = (_ask(Path(folder).resolve()) for folder in sys.argv[1:3])
    differ = 0
    for name, before in old.items():
        after = new[name]
        if "skipped" in before:
            print(f"{name}: skipped, {before['skipped']}")
            continue
        moved = sum(a != b for a, b in zip(before["radius"], after["radius"], strict=True))
        changed = {
            key: sum(a != b for a, b in zip(value, after["verdicts"][key], strict=True))
            for key, value in before.get("verdicts", {}).items()
        }
        differ += moved + sum(changed.values())
        ratio = before["seconds"] / after["seconds"]
        words = "".join(f", verdicts {key}: {count} changed" for key, count in changed.items())
        print(f"{name}: {moved} of {len(before['radius'])} radii moved{words}; time old / new {ratio:.2f}")
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
