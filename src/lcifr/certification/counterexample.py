"""Counterexamples: similar people, in the table's own units, with another decision.

Nothing is believed that is not re-checked: ``holds`` on the decoded pair, and two plain forward passes whose difference
is beyond rounding, here and on every machine that computes in the arithmetic of the verdict. Simple means: attributes
go back to the person's own value one by one while it still counts, and numbers lose digits while it still counts.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.deployment import AskedModel, Encoder, deploy_both
from lcifr.certification.library.decisions import EvaluatedPeople, LibraryDecisions
from lcifr.certification.query import (
    BoolArray,
    FloatArray,
    Outputs,
    RoughError,
    is_strict,
    outputs_at,
    surely_differ,
)
from lcifr.data import Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.models.trees.deployed import TreesOnLatents
from lcifr.regions.region import Region

AT_ONCE = 1_000
"""Pairs that are tried in one call, unless there are more people."""
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
        self.encoder, self.model, self.people, self.arithmetic = encoder, model, people, arithmetic
        self.deployment = deploy_both(encoder, model, arithmetic, handed)
        known = None if library is None else library.known_of(people)
        self.features = encoder.encoding.encode(people) if known is None else known.features
        self._rough = RoughError(self.deployment)
        self.own = self._own_outputs(known)

    @property
    def asked(self) -> AskedModel:
        """The whole model, where one question about it is enough: not trees behind an encoder."""
        assert not isinstance(self.deployment, TreesOnLatents)
        return self.deployment

    def _own_outputs(self, known: EvaluatedPeople | None) -> Outputs:
        """Of the people: with one error for all, and each with their own where that leaves their decision open.

        A number is compared with others to within its error, so there everybody has their own.
        """
        rough = self._rough.among(self.features)
        if known is None:
            found = outputs_at(self.deployment, self.features, rough)
        else:  # a forward pass does not depend on the arithmetic
            found = Outputs(known.values, known.rounding_error, np.tile(rough, (len(known.values), 1)))
        if not self.deployment.is_exact:
            number = self.model.rule.kind is Kind.NUMBER
            unsure = np.flatnonzero(~is_strict(self.model.rule, found) | number)
            found.deployment_error[unsure] = self.deployment.error_at(self.features[unsure])
        return found

    def without_library(self) -> Trial:
        """The same people and outputs; only the model as it was read is asked."""
        other = copy(self)
        other.library = None
        return other

    def is_counterexample(self, rows: np.ndarray, others: Individuals) -> BoolArray:
        """(rows,) whether ``others`` are real, similar to these people, and surely decided otherwise."""
        real = exists(others)
        similar = self.encoder.similarity.holds(self.people.take(rows), others)
        features, own = self.encoder.encoding.encode(others), self.own.take(rows)
        outputs = outputs_at(self.deployment, features, self._rough.among(features))
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


def offer(trial: Trial, region: Region, rows: np.ndarray, points: FloatArray, result: Counterexamples) -> None:
    """Take the first of k points that is a counterexample; ``result`` is filled in. A person may be there twice."""
    others, found = result.others, result.found
    blank: BoolArray = np.asarray(np.isnan(points).any(-1))
    safe = np.where(blank[..., None], trial.features[rows][:, None], points)
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
    """Move attributes back one by one, then shorten what is left, as long as it still is a counterexample.

    A library is asked about what comes out, and about every step only where it decides otherwise there: calls of it
    cost far more than ours, and it hardly ever differs.
    """
    if trial.library is None:
        return _simplified(trial, found)
    result = _simplified(trial.without_library(), found)
    rows = np.flatnonzero(found.found)
    refused = rows[~trial.is_counterexample(rows, result.others.take(rows))] if len(rows) else rows
    if len(refused):
        again = np.zeros(len(found.found), np.bool_)
        again[refused] = True
        slowly = _simplified(trial, Counterexamples(found.others, again)).others
        result.others.numbers[refused], result.others.codes[refused] = slowly.numbers[refused], slowly.codes[refused]
    return result


def _simplified(trial: Trial, found: Counterexamples) -> Counterexamples:
    rows = np.flatnonzero(found.found)
    if len(rows) == 0:
        return found
    own, others = trial.people.take(rows), found.others.take(rows)
    _move_back(trial, rows, others, own)
    moved = others.numbers != own.numbers
    turn = moved.cumsum(1)  # the number of a column among those of its person that are moved
    for one in range(1, int(turn[:, -1:].max(initial=0)) + 1):
        _shorten(trial, rows, others, *np.nonzero(moved & (turn == one)))
    result = Individuals(own.schema, found.others.numbers.copy(), found.others.codes.copy())
    result.numbers[rows], result.codes[rows] = others.numbers, others.codes
    return Counterexamples(result, found.found)


def _move_back(trial: Trial, rows: NDArray[np.intp], others: Individuals, own: Individuals) -> None:
    """Attributes of the others back to the person's own values, one after the other, where they still count.

    What one by one would do, in a few calls: of the attributes that are left, the first, the first two, … go back at
    once. All go back before the first that fails, which stays as it is; then the same with those behind it. Of many
    people one attribute at a time, because there a call costs less than what is tried in vain.
    """
    left = np.concatenate([others.codes != own.codes, others.numbers != own.numbers], axis=1)
    split = own.codes.shape[1]
    while len(people := np.flatnonzero(left.any(1))):
        turn = left.cumsum(1)  # the number of an attribute among those that are left
        count = np.minimum(turn[people, -1], max(1, AT_ONCE // len(people)))
        start = np.cumsum(count) - count
        who = np.repeat(people, count)
        upto = np.arange(len(who)) - np.repeat(start, count) + 1
        back = left[who] & (turn[who] <= upto[:, None])
        codes = np.where(back[:, :split], own.codes[who], others.codes[who])
        numbers = np.where(back[:, split:], own.numbers[who], others.numbers[who])
        good = trial.is_counterexample(rows[who], Individuals(own.schema, numbers, codes))
        first = np.minimum.reduceat(np.where(good, left.shape[1] + 1, upto), start)  # that fails
        moved = np.minimum(first - 1, count)
        back = left[people] & (turn[people] <= moved[:, None])
        others.codes[people] = np.where(back[:, :split], own.codes[people], others.codes[people])
        others.numbers[people] = np.where(back[:, split:], own.numbers[people], others.numbers[people])
        left[people] &= turn[people] > (moved + (first <= count))[:, None]


def _shorten(
    trial: Trial, rows: NDArray[np.intp], others: Individuals, moved: NDArray[np.intp], column: NDArray[np.intp]
) -> None:
    """A number of some of the others with the fewest digits with which they still count; all tried at once.

    Parameters
    ----------
    moved, column : whose number, and which; nobody is there twice.
    """
    values = [shorter_numbers(value) for value in others.numbers[moved, column].tolist()]
    count = [len(some) for some in values]
    if sum(count):
        again, place = np.repeat(moved, count), np.repeat(column, count)
        shorter = others.take(again)
        shorter.numbers[np.arange(len(again)), place] = list(chain.from_iterable(values))
        good = np.flatnonzero(trial.is_counterexample(rows[again], shorter))
        # of several, the last and shortest stays
        others.numbers[again[good], place[good]] = shorter.numbers[good, place[good]]


def shorter_numbers(value: float) -> list[float]:
    """The value rounded to fewer and fewer digits, where that changes it."""
    found: list[float] = []
    for digits in DIGITS:
        shorter = float(f"{value:.{digits}g}")
        if shorter == value:  # more digits change nothing either
            break
        found.append(shorter)
    return found[::-1]
