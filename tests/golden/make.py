"""Makes the golden folders again: ``python -m tests.golden.make``; only commands are used, no inner module.

Every archive here is the folder of one command on a few people, one for each kind of model. Later versions must confirm
these bundles, and write the same keys. Made again only where a format gets a new number.

The folder ``9deef609`` holds bundles and hand-overs of the same commands as commit 9deef609 wrote them, and is never
made again: ``PYTHONPATH=../9deef609/src python -m tests.golden.make --proofs`` wrote them there. The whole folders are
younger, because results and settings got further keys afterwards: labels, rows that were not examined, what scales
come from, the name of the look-up layer.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HOME = Path(__file__).parent
OLDER = HOME / "9deef609"
PROOFS = ("bundle", "handover")
READ = ["age", "income", "debt", "job", "sex"]
PHI = "same(job) and age within 1 and numeric except age within 0.1 sd and free(sex)\n"
SCHEMA = """
[attributes.age]
kind = "numeric"
integer = true
lower = 18
upper = 80

[attributes.income]
kind = "numeric"
lower = 0
upper = 40000

[attributes.debt]
kind = "numeric"
lower = 0
upper = 20000

[attributes.job]
kind = "categorical"
values = ["clerk", "cook", "pilot"]

[attributes.sex]
kind = "categorical"
values = ["female", "male"]
"""
ASKED = "--phi people.phi --schema people.toml --reference train.csv"
LEARN = "--phi people.phi --schema people.toml --target repaid --seed 1 --held-out 0.1"
NETWORK = "--latent 3 --hidden 6 --batch 8 --epochs 3"
COMMANDS = {
    **{
        f"audit-{kind}": f"audit people.csv --model {kind}.skops {ASKED} --target repaid --no-baselines --workers 1"
        for kind in ("logistic", "network", "tree", "forest", "boosted")
    },
    "audit-number": f"audit people.csv --model number.skops {ASKED} --tolerance 800 --no-baselines --workers 1",
    "audit-float32": f"audit people.csv --model network.skops {ASKED} --arithmetic float32 --no-baselines --workers 1",
    "certify-logistic": f"certify people.csv --model logistic.skops {ASKED} --workers 1",
    "sweep-logistic": f"sweep people.csv --model logistic.skops {ASKED} --cells 40 --bundle",
    "sweep-tree": f"sweep people.csv --model tree.skops {ASKED} --cells 40 --bundle",
    "produce-network": f"produce train.csv {LEARN} {NETWORK}",
    "consume-network": "consume produce-network/handover produce-network/labels.csv",
    "audit-parties": "audit produce-network consume-network people.csv --no-baselines --workers 1",
    "produce-trees": f"produce train.csv {LEARN} --learner trees --rounds 5",
    "audit-trees": "audit produce-trees produce-trees people.csv --no-baselines --workers 1",
}
EXITS = (0, 1, 3)


def made_up(count: int, seed: int) -> pd.DataFrame:
    """People whose sex matters a little to who repays."""
    draw = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": draw.integers(18, 75, count),
            "income": draw.lognormal(8, 0.5, count).round(2),
            "debt": draw.gamma(2, 900, count).round(2),
            "job": draw.choice(["clerk", "cook", "pilot"], count),
            "sex": draw.choice(["female", "male"], count),
        }
    )
    worth = table["income"] / 1000 - table["debt"] / 600 + (table["sex"] == "male") + draw.normal(0, 1, count)
    return table.assign(repaid=np.where(worth > 0.8, "yes", "no"))


def models() -> dict[str, Any]:
    """Tiny pipelines of every kind, fitted on people who do not exist."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    train = made_up(200, 1)
    inside = [("numbers", StandardScaler(), ["age", "income", "debt"]), ("texts", OneHotEncoder(), ["job", "sex"])]
    kinds = {
        "logistic": LogisticRegression(max_iter=1000),
        "network": MLPClassifier((4,), max_iter=2000, random_state=0, solver="lbfgs", alpha=1.0),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "forest": RandomForestClassifier(3, max_depth=3, random_state=0),
        "boosted": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
    }
    found = {
        name: make_pipeline(ColumnTransformer(inside), one).fit(train[READ], train["repaid"])
        for name, one in kinds.items()
    }
    found["number"] = make_pipeline(ColumnTransformer(inside), LinearRegression()).fit(train[READ], train["income"])
    return found


def write_inputs(folder: Path) -> None:
    """Tables, φ, schema and model files."""
    import skops.io

    made_up(60, 1).to_csv(folder / "train.csv", index=False)
    made_up(5, 2).to_csv(folder / "people.csv", index=False)
    (folder / "people.phi").write_text(PHI, encoding="utf-8")
    (folder / "people.toml").write_text(SCHEMA, encoding="utf-8")
    for name, model in models().items():
        skops.io.dump(model, folder / f"{name}.skops")


def run(name: str, folder: Path) -> None:
    """One command; its results are in the folder of that name."""
    words = [sys.executable, "-m", "lcifr", *COMMANDS[name].split(), "--out", name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in EXITS:
        raise SystemExit(f"{name}: exit {done.returncode}\n{done.stderr[-2000:]}")


def pack(source: Path, target: Path, *parts: str) -> None:
    """A folder as .tar.gz, or these folders in it: without dates, owners or order of the file system."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(path for path in source.rglob("*") if path.is_file()):
            if parts and file.relative_to(source).parts[0] not in parts:
                continue
            entry = tarfile.TarInfo(file.relative_to(source).as_posix())
            entry.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(entry, content)
    target.write_bytes(gzip.compress(plain.getvalue(), 9, mtime=0))


def unpack(name: str, folder: Path, home: Path = HOME) -> Path:
    """What a command wrote when the golden folders were made."""
    with tarfile.open(home / f"{name}.tar.gz") as archive:
        archive.extractall(folder / name, filter="data")
    return folder / name


def main() -> None:
    proofs = "--proofs" in sys.argv
    wanted = [word for word in sys.argv[1:] if word != "--proofs"] or list(COMMANDS)
    home, parts = (OLDER, PROOFS) if proofs else (HOME, ())
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_inputs(folder)
        for name in COMMANDS if set(wanted) & {"audit-parties", "consume-network", "audit-trees"} else wanted:
            run(name, folder)
            if name in wanted and any((folder / name / part).exists() for part in parts or ("",)):
                pack(folder / name, home / f"{name}.tar.gz", *parts)
                print(name, f"{(home / f'{name}.tar.gz').stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
