"""Fairify's networks as questions about pairs: raw whole numbers in, and two people equal but for one column."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr import Encoding, Network, Schema, Similarity
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.pair_question import PairQuestion
from lcifr.data import Attribute, Categorical, Individuals, Numeric
from lcifr.data.program import Program
from lcifr.models.model import Model
from lcifr.models.rule import Rule
from lcifr.regions.universe import UniverseCells


def folder() -> Path:
    """Where the networks lie: in the data folder, or beside the checkout."""
    for place in (os.environ.get("LCIFR_DATA", ""), str(Path(__file__).parents[3] / "shared" / "benchmarks")):
        found = Path(place) / "fairify"
        if (found / "models.npz").exists():
            return found
    raise SystemExit("fairify/models.npz is neither in LCIFR_DATA nor in ../shared/benchmarks: nothing to measure")


@cache
def description() -> dict[str, Any]:
    """Domains and published results."""
    content: dict[str, Any] = json.loads((folder() / "benchmark.json").read_text(encoding="utf-8"))
    return content


@dataclass(frozen=True)
class Row:
    """One network and one protected column."""

    model: str
    protected: str

    @property
    def published(self) -> dict[str, Any]:
        """What the paper reports."""
        rows = description()["published"]
        return next(row for row in rows if (row["model"], row["protected"]) == (self.model, self.protected))

    @cached_property
    def domain(self) -> dict[str, Any]:
        """Columns, ranges and block of the network's table."""
        domain: dict[str, Any] = next(d for d in description()["domains"].values() if self.model in d["models"])
        return domain

    @cached_property
    def schema(self) -> Schema:
        """Whole numbers; the protected column is a category, because its two values must differ."""
        return Schema(tuple(map(self._attribute, self.domain["columns"], self.domain["ranges"])))

    def _attribute(self, name: str, ends: list[int]) -> Attribute:
        if name == self.protected:
            return Categorical(name, tuple(map(str, range(ends[0], ends[1] + 1))))
        return Numeric(name, lower=ends[0], upper=ends[1], integer=True)

    @cached_property
    def question(self) -> PairQuestion:
        """Is there a pair, equal but for the protected column, with outputs on two sides of 0?"""
        count = len(self.schema.numeric)
        raw = Encoding(self.schema, np.zeros(count), np.ones(count), programs=(Program(()),) * count)
        text = f"same(all except {self.protected}) and {self.protected} != {self.protected}'"
        phi = Similarity(text, self.schema, raw)
        identity = Network.from_arrays([(np.eye(len(raw.features)), np.zeros(len(raw.features)))])
        model = Model(self.network, Rule.of(1))
        return PairQuestion(Subject(FrozenEncoder(identity, phi), model))

    @cached_property
    def stored(self) -> Network:
        """As it was published, on the raw columns."""
        with np.load(folder() / "models.npz") as arrays:
            count = sum(key.startswith(f"{self.model}/") and key.endswith("weight") for key in arrays)
            layers = [
                tuple(arrays[f"{self.model}/{i}/{part}"].astype(np.float64) for part in ("weight", "bias"))
                for i in range(count)
            ]
        return Network.from_arrays(layers)

    @cached_property
    def network(self) -> Network:
        """The stored one, with a column for each value of the protected attribute: weight · value, without rounding."""
        first, *rest = self.stored.layers
        columns = []
        for place, (name, ends) in enumerate(zip(self.domain["columns"], self.domain["ranges"], strict=True)):
            values = np.arange(ends[0], ends[1] + 1.0) if name == self.protected else np.ones(1)
            columns.append(first.weight[:, [place]] * values)
        layers = [(np.concatenate(columns, axis=1), first.bias), *((layer.weight, layer.bias) for layer in rest)]
        return Network.from_arrays(layers)

    def raw(self, people: Individuals) -> NDArray[np.float64]:
        """(people, columns) as the stored network takes them."""
        numbers = iter(people.numbers.T)
        low = self.domain["ranges"][self.domain["columns"].index(self.protected)][0]
        columns = [people.codes[:, 0] + low if name == self.protected else next(numbers) for name in self.schema.names]
        return np.stack(columns, axis=1).astype(np.float64)

    @cached_property
    def partitions(self) -> UniverseCells:
        """All of them: columns with more values than the block in blocks, in the order of the columns."""
        block, cuts = self.domain["block"], []
        for name, (low, high) in zip(self.domain["columns"], self.domain["ranges"], strict=True):
            if name == self.protected:
                continue
            whole = high - low <= block
            starts = [low] if whole else list(range(low, high + 1, block))
            cuts.append([(start, high if whole else min(start + block - 1, high)) for start in starts])
        ends = np.array(list(product(*cuts)), dtype=np.float64)
        values = len(self.schema.categorical[0].values)
        return UniverseCells(self.schema, ends[:, :, 0], ends[:, :, 1], (np.ones((len(ends), values), np.bool_),), True)


def rows() -> list[Row]:
    """All published ones."""
    return [Row(row["model"], row["protected"]) for row in description()["published"]]
