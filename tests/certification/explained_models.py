"""Generated sums of trees over people with numbers and categories: additive, with pairs, or deeper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from lcifr.certification.audit import audit
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.verdicts import Audit
from lcifr.data import Encoding, Individuals
from lcifr.models.loaders.tree_ensembles import identity
from lcifr.models.model import Model
from lcifr.models.rule import Rule
from lcifr.models.trees import CategoryNode, NumberNode, TreeLeaf, TreeNode, Trees
from tests.certification import scenes

FORMULA = "same(job) and age within 6 and income within 5"


@dataclass(frozen=True)
class TreeScene:
    """A model of trees on encoded people, with φ."""

    encoder: FrozenEncoder
    model: Model
    people: Individuals

    @property
    def encoding(self) -> Encoding:
        return self.encoder.encoding

    @property
    def trees(self) -> Trees:
        assert isinstance(self.model.function, Trees)
        return self.model.function

    @property
    def x(self) -> np.ndarray:
        return self.encoding.encode(self.people)


def random_tree(rng: np.random.Generator, encoding: Encoding, names: list[str], depth: int, outputs: int) -> TreeNode:
    """A tree that reads these attributes only."""
    if depth == 0:
        return TreeLeaf(tuple(rng.normal(size=outputs).round(3).tolist()))
    children = [random_tree(rng, encoding, names, depth - 1, outputs) for _ in range(2)]
    name = names[int(rng.integers(len(names)))]
    where = encoding.columns(name)
    if where.stop - where.start == 1:
        return NumberNode(where.start, round(float(rng.normal()), 2), *children)
    columns = range(where.start, where.stop)
    chosen = rng.permutation(columns)[: rng.integers(1, len(columns))]
    return CategoryNode(columns, frozenset(chosen.tolist()), *children)


@cache
def scene(
    seed: int = 0, *, together: int = 1, outputs: int = 1, formula: str = FORMULA, count: int = 40, depth: int = 3
) -> TreeScene:
    """Trees of which each reads ``together`` attributes at most."""
    rng = np.random.default_rng(seed)
    similarity = scenes.similarity(formula)
    encoding = similarity.encoding
    names = list(encoding.schema.names)
    trees = [random_tree(rng, encoding, rng.permutation(names)[:together].tolist(), depth, outputs) for _ in range(12)]
    width = len(encoding.features)
    people = Individuals.read(scenes.people(count, seed), encoding.schema)
    middle = np.median(Trees.of(width, np.zeros(outputs), trees, 0.5)(encoding.encode(people)), axis=0)
    function = Trees.of(width, -middle, trees, 0.5)  # so that both decisions occur
    return TreeScene(FrozenEncoder(identity(width), similarity), Model(function, Rule.of(outputs)), people)


@cache
def audited(seed: int = 0, *, together: int = 1, outputs: int = 1) -> tuple[TreeScene, Audit]:
    """The scene and its audit; some of the people have a counterexample."""
    made = scene(seed, together=together, outputs=outputs)
    found = audit(made.encoder, made.model, made.people, [f"p{k}" for k in range(len(made.people))], modular=False)
    assert found.violated.any()
    assert found.certified.any()
    return made, found
