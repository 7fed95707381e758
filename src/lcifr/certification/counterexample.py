"""Counterexamples: similar people, in the table's own units, with another decision.

Nothing is believed that is not re-checked: ``holds`` on the decoded pair, and two plain forward passes whose difference
is beyond rounding, here and on every machine that computes in the arithmetic of the verdict. Simple means: attributes
go back to the person's own value one by one while it still counts, and numbers lose digits while it still counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.producer import Encoder
from lcifr.certification.query import BoolArray, FloatArray, outputs_at, surely_differ
from lcifr.data import Individuals
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.deployed import Deployment, Stage
from lcifr.models.model import Model
from lcifr.models.table_model import TableModel
from lcifr.models.trees.deployed import TreesDeployment
from lcifr.models.trees.trees import Trees
from lcifr.regions.region import Region


@dataclass(frozen=True)
class LibraryDecisions:
    """The library's own word: ``own`` (people,) is what it decides about the people of the audit."""

    source: TableModel
    model: Model
    own: NDArray[Any]

    def differ(self, rows: NDArray[np.int64], others: Individuals) -> BoolArray:
        """(rows,) whether the library itself decides otherwise about ``others`` than about the people ``rows``."""
        return self.model.differ(self.own[rows], self.source.library_decides(others))


SAMPLED = 64
"""People drawn from a region whose witness cannot exist, before giving up."""
DIGITS = (1, 2, 3, 4, 6, 9, 12)


@dataclass(frozen=True)
class Counterexamples:
    """others : for every person of the audit, somebody similar; meaningful where ``found`` (people,) is true."""

    others: Individuals
    found: BoolArray


class Trial:
    """People, their outputs in an arithmetic, and whether proposed others are counterexamples to them there."""

    def __init__(
        self,
        encoder: Encoder,
        model: Model,
        people: Individuals,
        arithmetic: Arithmetic = Arithmetic.EXACT,
        handed: Arithmetic | None = None,
        library: LibraryDecisions | None = None,
    ) -> None:
        self.library = library
        self.encoder, self.model, self.people = encoder, model, people
        self.deployment = deploy_both(encoder, model, arithmetic, handed)
        self.own = outputs_at(self.deployment, encoder.encoding.encode(people))

    def is_counterexample(self, rows: np.ndarray, others: Individuals) -> BoolArray:
        """(rows,) whether ``others`` are real, similar to these people, and surely decided otherwise."""
        real = exists(others)
        similar = self.encoder.similarity.holds(self.people.take(rows), others)
        features, own = self.encoder.encoding.encode(others), self.own.take(rows)
        outputs = outputs_at(self.deployment, features, roughly=True)
        good: BoolArray = real & similar & surely_differ(self.model.rule, own, outputs)
        if not self.deployment.is_exact:
            close = np.flatnonzero(real & similar & ~good & surely_differ(self.model.rule, own, outputs.exactly()))
            outputs = replace(outputs.take(close), deployment_error=self.deployment.error_at(features[close]))
            good[close] = surely_differ(self.model.rule, own.take(close), outputs)
        if self.library is not None and good.any():
            good[good] = self.library.differ(rows[good], others.take(good))
        return good


def exists(people: Individuals) -> BoolArray:
    """(people,) whether the universe holds them: whole numbers where the schema says so, within declared ranges."""
    good = np.isfinite(people.numbers).all(1)
    for j, attribute in enumerate(people.schema.numeric):
        values = people.numbers[:, j]
        if attribute.integer:
            good &= values == np.rint(values)
        if attribute.lower is not None:
            good &= values >= attribute.lower
        if attribute.upper is not None:
            good &= values <= attribute.upper
    return np.asarray(good)


def find(trial: Trial, region: Region, rows: np.ndarray, witness: FloatArray) -> Counterexamples:
    """Decode witnesses (rows, k, features; NaN where none) of the people ``rows``, and draw more where that fails."""
    others = trial.people.take(slice(None))
    others = Individuals(others.schema, others.numbers.copy(), others.codes.copy())
    found = np.zeros(len(others), np.bool_)
    if len(rows) == 0:
        return Counterexamples(others, found)
    result = Counterexamples(others, found)
    offer(trial, region.take(rows), rows, witness, result)
    left = rows[~found[rows]]
    if len(left):
        part = region.take(left)
        offer(trial, part, left, part.sample(SAMPLED), result)
    return result


def offer(trial: Trial, region: Region, rows: np.ndarray, points: FloatArray, result: Counterexamples) -> None:
    """Take the first of k points that is a counterexample; ``result`` is filled in. A person may be there twice."""
    others, found = result.others, result.found
    blank: BoolArray = np.asarray(np.isnan(points).any(-1))
    safe = np.where(blank[..., None], trial.encoder.encoding.encode(trial.people.take(rows))[:, None], points)
    decoded = region.decode(safe)
    k = points.shape[1]
    counted: BoolArray = trial.is_counterexample(np.repeat(rows, k), decoded.individuals).reshape(-1, k)
    good: BoolArray = np.logical_and.reduce([counted, decoded.confirmed, ~blank])
    first = good.argmax(1)
    hit = np.flatnonzero(good.any(1))
    chosen = decoded.individuals.take(hit * k + first[hit])
    others.numbers[rows[hit]], others.codes[rows[hit]] = chosen.numbers, chosen.codes
    found[rows[hit]] = True


def simplify(trial: Trial, found: Counterexamples) -> Counterexamples:
    """Move attributes back one by one, then shorten what is left, as long as it still is a counterexample."""
    rows = np.flatnonzero(found.found)
    if len(rows) == 0:
        return found
    own, other = trial.people.take(rows), found.others.take(rows)
    numbers, codes = other.numbers.copy(), other.codes.copy()

    def settle(tried_numbers: FloatArray, tried_codes: np.ndarray) -> None:
        better = trial.is_counterexample(rows, Individuals(own.schema, tried_numbers, tried_codes))
        numbers[better], codes[better] = tried_numbers[better], tried_codes[better]

    for j in range(codes.shape[1]):
        back = codes.copy()
        back[:, j] = own.codes[:, j]
        settle(numbers, back)
    for j in range(numbers.shape[1]):
        tried = numbers.copy()
        tried[:, j] = own.numbers[:, j]
        settle(tried, codes)
    for j in range(numbers.shape[1]):
        moved = numbers[:, j] != own.numbers[:, j]
        for digits in reversed(DIGITS):  # the shortest that works is tried last and stays
            if moved.any():
                tried = numbers.copy()
                tried[moved, j] = [float(f"{value:.{digits}g}") for value in numbers[moved, j]]
                settle(tried, codes)
    result = Individuals(own.schema, found.others.numbers.copy(), found.others.codes.copy())
    result.numbers[rows], result.codes[rows] = numbers, codes
    return Counterexamples(result, found.found)


def deploy_both(
    encoder: Encoder, model: Model, arithmetic: Arithmetic, handed: Arithmetic | None
) -> Deployment | TreesDeployment:
    """The model on top of the encoder, whose own arithmetic is ``handed`` if it is another one.

    Raises
    ------
    LcifrError
        For trees on top of anything but encoded people: a tree reads columns, not mixtures of them.
    """
    if isinstance(model.function, Trees):
        if not encoder.network.is_identity:
            raise LcifrError(
                "trees stand behind an encoder that mixes columns, so nobody knows which attribute they split",
                fix="audit the trees on the raw columns, or certify them on a hand-over's box",
            )
        return TreesDeployment(model.function, arithmetic)
    first = Stage(encoder.network, arithmetic if handed is None else handed)
    return Deployment.on_people(encoder.encoding, first, *(Stage(factor, arithmetic) for factor in model.factors))
