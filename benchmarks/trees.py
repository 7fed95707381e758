"""Tree ensembles under Cat+Noise: verdicts beside Veritas (dtai-veritas), large and additive ensembles, proofs.

Both sides in one run, on one core, in CPU seconds of the search alone: the same people, the same region (of one-hot
columns exactly one is 1, so Veritas is asked once for each combination of categories until one refutes), the same
model. Regions are made before; few people are asked about again and again, so that a call's own millisecond counts
little. ``python -m benchmarks trees`` needs the extra ``trees``; without dtai-veritas its column stays empty.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks._veritas import Veritas

from lcifr.certification.audit import audit_region
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.subject import Subject
from lcifr.check.bundle import check_bundle
from lcifr.data import Categorical, Encoding, Individuals
from lcifr.datasets import load
from lcifr.errors import DatasetError
from lcifr.models.columns import Block, Column, NumberColumn, TableColumn
from lcifr.models.loaders.tree_ensembles import TreeSource, build_trees, read_source
from lcifr.models.model import Model
from lcifr.models.network import identity
from lcifr.models.trees import Trees
from lcifr.phi.similarity import Similarity
from lcifr.prove import maximize
from lcifr.prove.question import Answer
from lcifr.regions.region import Region

MANY = 1000
"""People in one call of ours, the same ones repeated."""
FEW = 10
"""People whom Veritas is asked about where most of them take seconds."""


@dataclass(frozen=True)
class Scene:
    """A model of trees, people and their regions."""

    trees: Trees
    source: TreeSource
    similarity: Similarity
    people: Individuals
    region: Region
    estimator: Any

    @property
    def directions(self) -> np.ndarray:
        """(people, 1, outputs) towards the other decision; of two outputs the second is above the first."""
        values = self.trees(self.similarity.encoding.encode(self.people))
        turn = np.array([[1.0]]) if self.trees.outputs == 1 else np.array([[-1.0, 1.0]])
        signed = values @ turn[0] - sum(self.source.rule.band) / 2
        return np.where(signed > 0, -1.0, 1.0)[:, None, None] * turn


def make_scene(name: str, learner: Any, people: int, *, noisy: bool = False) -> Scene:
    """Train on encoded people; ``noisy``: on people moved within φ as well, which makes more of them certified."""
    data = load(name)
    encoding = Encoding.fit(data.train.X, data.schema)
    similarity = Similarity.ready(f"{name}/cat_noise", data.schema, encoding)
    matrix, labels = encoding.encode(data.train.X), np.asarray(data.train.y)
    if noisy:
        moved = similarity.region(Individuals.read(data.train.X, data.schema)).sample(6)
        matrix = np.concatenate([matrix, moved.reshape(-1, matrix.shape[1])])
        labels = np.concatenate([labels, np.repeat(labels, 6)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(matrix, labels)
    source = read_source(learner)
    trees, own = build_trees(source, matrix_of(encoding), encoding, name)
    chosen = Individuals.read(data.test.X.head(people), data.schema)
    over = similarity.over(own)
    return Scene(trees, source, over, chosen, over.region(chosen), learner)


def matrix_of(encoding: Encoding) -> Block:
    """Encoded people as the columns of a library's matrix."""
    programs = dict(zip(encoding.schema.names_numeric, encoding.programs, strict=True))
    columns: list[Column] = []
    for name in encoding.schema.names:
        attribute = encoding.schema[name]
        if isinstance(attribute, Categorical):
            rows = np.eye(len(attribute.values)).tolist()
            columns += [TableColumn(name, tuple(row)) for row in rows]
        else:
            columns.append(NumberColumn(name, programs[name]))
    return Block(tuple(columns))


def ask(scene: Scene, budget: int | None = None, *, proof: bool = False) -> tuple[Answer, float]:
    """Our answers, and CPU seconds; asked once before, so that compiling does not count."""
    limit = np.zeros((len(scene.people), 1))
    options: dict[str, Any] = {"method": "branch", "target": limit, "budget": budget, "proof": proof}
    maximize(scene.trees, scene.directions[:2], scene.region.take(slice(0, 2)), **(options | {"target": limit[:2]}))
    directions, start = scene.directions, time.process_time()
    answer = maximize(scene.trees, directions, scene.region, **options)
    return answer, time.process_time() - start


def compare(title: str, scene: Scene, budget: int | None = None) -> None:
    """Both sides, certified and refuted people apart."""
    answer, _ = ask(scene, budget)
    certified, refuted = (answer.upper < 0)[:, 0], (answer.best > 0)[:, 0]
    theirs = Veritas(scene) if find_spec("veritas") is not None else None
    print(f"{title}: {len(scene.people)} people, {int((~certified & ~refuted).sum())} open")
    above = scene.directions[:, 0, -1] < 0
    for word, who in (("certified", certified), ("refuted", refuted)):
        rows = np.flatnonzero(who)
        if not len(rows):
            continue
        again = rows if budget else np.tile(rows, -(-MANY // len(rows)))
        part = replace(scene, people=scene.people.take(again), region=scene.region.take(again))
        ours = min(ask(part, budget)[1] for _ in range(1 if budget else 3)) / len(again)
        line = f"  {word:9s} {len(rows):5d}  lcifr {1e3 * ours:8.4f} ms"
        if theirs is not None:
            asked = rows[:FEW] if budget else rows
            boxes = [list(theirs.boxes(int(row))) for row in asked]
            start = time.process_time()
            said = [theirs.decide(box, bool(above[row])) for box, row in zip(boxes, asked, strict=True)]
            other = (time.process_time() - start) / len(asked)
            agree, open_ = said.count(word), said.count("open")
            line += f"  Veritas {1e3 * other:9.3f} ms  ratio {other / ours:8.1f}"
            line += f"  of {len(asked)}: same verdict {agree}, open {open_}"
        print(line, flush=True)


def share_decided(title: str, scene: Scene) -> None:
    """A large ensemble, at the default budget."""
    answer, spent = ask(scene)
    certified, refuted = (answer.upper < 0)[:, 0], (answer.best > 0)[:, 0]
    decided = float((certified | refuted).mean())
    print(
        f"{title}: decided {decided:.1%} (certified {certified.mean():.1%}), "
        f"{1e3 * spent / len(scene.people):.2f} ms a person, {answer.nodes.mean():.1f} nodes",
        flush=True,
    )


def proofs(scene: Scene, people: int) -> None:
    """What proofs cost, and how long the exact checker takes a certified person."""
    plain, recorded = (min(ask(scene, proof=proof)[1] for _ in range(3)) for proof in (False, True))
    print(f"proofs: {recorded / plain:.2f} times the search without them")
    encoder = FrozenEncoder(identity(scene.trees.inputs), scene.similarity)
    some, model = scene.people.take(slice(0, people)), Model(scene.trees, scene.source.rule, scene.source.labels)
    ids, subject = tuple(range(people)), Subject(encoder, model)
    found = audit_region(subject, some, scene.similarity.region(some), ids, modular=False)
    with tempfile.TemporaryDirectory() as folder:
        times = _checked(Path(folder) / "bundle", encoder, some, found)
    sure = np.sort(times[found.certified])
    print(
        f"checker: {len(sure)} certified people, median {1e3 * np.median(sure):.1f} ms, "
        f"95th percentile {1e3 * np.quantile(sure, 0.95):.1f} ms"
    )


def _checked(folder: Path, encoder: FrozenEncoder, people: Individuals, found: Any) -> np.ndarray:
    write_bundle(folder, encoder, people, decisions=found)
    marks: list[float] = []
    report = check_bundle(folder, lambda done, of: marks.append(time.process_time()))
    assert not report.rejected, report.rejected
    return np.diff(marks, prepend=marks[0])


def main() -> None:
    """All of it, one after the other."""
    torch.set_num_threads(1)
    for run in (_boosted, _large, _additive):
        try:
            run()
        except (DatasetError, ImportError) as missing:
            print(str(missing).splitlines()[0])


def _xgboost(depth: int, rounds: int = 100) -> Any:
    import xgboost

    return xgboost.XGBClassifier(n_estimators=rounds, max_depth=depth, n_jobs=1, random_state=0)


def _boosted() -> None:
    for name, depth, people in (("adult", 6, 1000), ("compas", 4, 500), ("german", 6, 200), ("crime", 6, 100)):
        for noisy in (False, True):
            how = "trained on noise too" if noisy else "plain"
            scene = make_scene(name, _xgboost(depth), people, noisy=noisy)
            compare(f"XGBoost 100 × depth {depth}, {name}, {how}", scene, 5_000_000 if name == "crime" else None)
            if name == "adult" and not noisy:
                proofs(scene, 100)


def _large() -> None:
    import lightgbm
    from sklearn.ensemble import RandomForestClassifier

    boosted = lightgbm.LGBMClassifier(n_estimators=500, num_leaves=31, n_jobs=1, verbose=-1)
    share_decided("LightGBM 500 × 31 leaves, adult", make_scene("adult", boosted, 200))
    forest = RandomForestClassifier(200, max_depth=12, n_jobs=1, random_state=0)
    share_decided("random forest 200 × depth 12, adult", make_scene("adult", forest, 200))


def _additive() -> None:
    scene = make_scene("adult", _xgboost(1), 10_000)
    ask(scene)
    spent = min(ask(scene)[1] for _ in range(3))
    print(f"additive, XGBoost 100 × depth 1, adult: {len(scene.people) / spent:,.0f} people/s")
