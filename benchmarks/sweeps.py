"""Sweeps of four models: shares of everybody who can exist, and what closed forms save for additive ones.

    python -m benchmarks.sweeps                                     4,000 cells of each
    python -m benchmarks.sweeps --model compas_trees --cells 500    or so many, of one

Ranges of numbers are those of the dataset. Of the additive model, cells around people are asked about twice: in closed
form and by the search.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from lcifr import Encoding, FairEncoder, RobustClassifier, Schema, Similarity, audit, datasets, sweep
from lcifr.certification.demands import CERTIFICATE_METHOD, outputs_at
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.additive import AdditiveQuestion
from lcifr.certification.sweep.alike import limits_alike, reached_people
from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.certification.verdicts import Verdict
from lcifr.data import Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.phi.similarity import ready
from lcifr.prove import Budget, maximize
from lcifr.regions.universe import UniverseCells

AROUND = 256
DRAWN = 200


def main(options: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweeps")
    parser.add_argument("--cells", type=int, default=4_000, help="that are looked at in each sweep")
    parser.add_argument("--model", choices=[make.__name__ for make in MODELS], help="of one only")
    asked = parser.parse_args(list(options))
    warnings.simplefilter("ignore")
    for make, name in MODELS.items():
        if asked.model in (None, make.__name__):
            _report(name, make(), asked.cells)
    if asked.model is None:
        closed_form()
    return 0


@dataclass(frozen=True)
class SweepArguments:
    """What is swept: the arguments of :func:`lcifr.sweep`."""

    words: tuple[Any, ...]
    named: dict[str, Any]
    people: Any


def ranged(name: str) -> tuple[Schema, Any]:
    """The schema of a dataset with the ranges of its numbers, and all its people."""
    data = datasets.load(name)
    table = pd.concat([part.X for part in (data.train, data.validation, data.test)], ignore_index=True)
    attributes = [
        replace(one, lower=float(table[one.name].min()), upper=float(table[one.name].max()))
        if one.name in data.schema.names_numeric
        else one
        for one in data.schema
    ]
    return replace(data.schema, attributes=tuple(attributes)), table


def german_network() -> SweepArguments:
    """As `lcifr demo` learns it."""
    schema, table = ranged("german")
    train = datasets.load("german").train
    encoder = FairEncoder("german/cat_noise", schema=schema, epochs=60, batch_size=64, random_state=0)
    encoder.fit(train.X, train.y)
    head = RobustClassifier(against="nothing").fit(encoder.transform(train.X), train.y)
    return SweepArguments((encoder, head, table), {}, table)


def foreign(name: str, formula: str, estimator: Any) -> SweepArguments:
    """A model of another library behind one-hot columns."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    schema, table = ranged(name)
    train = datasets.load(name).train
    columns = make_column_transformer(
        (OneHotEncoder(categories=[list(one.values) for one in schema.categorical]), list(schema.names_categorical)),
        (StandardScaler(), list(schema.names_numeric)),
    )
    model = make_pipeline(columns, estimator).fit(train.X, np.asarray(train.y))
    similarity = Similarity(ready(formula), schema, Encoding.fit(train.X, schema))
    return SweepArguments((model, table), {"similarity": similarity}, table)


def compas_network() -> SweepArguments:
    from sklearn.neural_network import MLPClassifier

    return foreign("compas", "compas/cat", MLPClassifier((20, 20), random_state=0, max_iter=100))


def german_stumps() -> SweepArguments:
    from xgboost import XGBClassifier

    return foreign("german", "german/cat_noise", XGBClassifier(n_estimators=200, max_depth=1, random_state=0))


def compas_trees() -> SweepArguments:
    from xgboost import XGBClassifier

    return foreign("compas", "compas/cat", XGBClassifier(n_estimators=100, max_depth=3, random_state=0))


MODELS = {
    german_network: "German credit, FairEncoder and linear head, cat_noise",
    compas_network: "Compas, scikit-learn MLP 20 + 20, cat",
    german_stumps: "German credit, additive: 200 stumps of XGBoost, cat_noise",
    compas_trees: "Compas, XGBoost, 100 trees of depth 3, cat",
}


def _report(name: str, subject: SweepArguments, cells: int) -> None:
    begun = time.process_time()
    found = sweep(*subject.words, **subject.named, cells=cells)
    print(f"\n{name}: {cells:,} cells looked at, {time.process_time() - begun:.0f} CPU s")
    print("\n".join(f"  {line}" for line in str(found).splitlines()))
    standing = found.locate(subject.people)
    counts = ", ".join(f"{int((standing == one).sum()):,} {one}" for one in CellStatus if (standing == one).any())
    print(f"  people of the table: {counts}")
    print(f"  of {DRAWN} people drawn from everybody, an audit certifies {certified(subject, found):.0%}", flush=True)


def certified(subject: SweepArguments, found: Sweep) -> float:
    """The share of people drawn from everybody who can exist whom an audit certifies: more can hardly be proved."""
    schema = found.index.cells.schema
    lower, upper = np.array([[one.lower, one.upper] for one in schema.numeric], dtype=np.float64).T[:, None]
    allowed = tuple(np.ones((1, len(one.values)), np.bool_) for one in schema.categorical)
    people = UniverseCells(schema, lower, upper, allowed, True).draw(DRAWN, np.random.default_rng(1))
    verdicts = audit(*subject.words[:-1], people.to_pandas(), **subject.named).verdict
    return float((verdicts == Verdict.CERTIFIED).mean())


def closed_form() -> None:
    """Cells around people, asked about in closed form and by the search: whether everybody there is decided alike."""
    subject = german_stumps()
    read = Subject.of_library(subject.words[0], subject.people, subject.named["similarity"])
    swept = replace(read, arithmetic=Arithmetic.FLOAT32)
    cells = around(Individuals.read(subject.people, swept.encoding.schema).take(slice(AROUND)))
    region = swept.pairs.region(cells)
    assert swept.terms is not None
    question = AdditiveQuestion(swept, swept.terms)
    reach = reached_people(swept.pairs, region, cells, swept.encoding)
    own = outputs_at(swept.deployed, swept.encoding.encode(cells.middles()))
    limits = limits_alike(swept, reach, own)

    def search() -> Any:
        options = {"target": limits.limit, "method": CERTIFICATE_METHOD, "budget": Budget(nodes=200)}
        answer = maximize(swept.deployed.merged, limits.directions, reach, **options)
        return (answer.upper < limits.limit).all(1)

    print(f"\nadditive model, {len(cells)} cells around people")
    search()  # what is compiled is off the clock
    first = None
    for name, ask in {"closed form": lambda: question.proved(region), "search": search}.items():
        begun = time.process_time()
        proved = ask()
        cpu = time.process_time() - begun
        first = cpu if first is None else first
        print(
            f"  {name:12s} {1e3 * cpu / len(cells):8.3f} CPU ms a cell, {int(proved.sum())} proved, {cpu / first:.1f}×"
        )


def around(people: Individuals) -> UniverseCells:
    """A cell for each person: the same categories, numbers up to a tenth of their range away."""
    schema = people.schema
    ends = np.array([[one.lower, one.upper] for one in schema.numeric], dtype=np.float64).T
    away = np.floor((ends[1] - ends[0]) / 10)
    lower, upper = np.maximum(people.numbers - away, ends[0]), np.minimum(people.numbers + away, ends[1])
    allowed = tuple(
        np.eye(len(one.values), dtype=np.bool_)[people.codes[:, j]] for j, one in enumerate(schema.categorical)
    )
    return UniverseCells(schema, lower, upper, allowed, True)


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
