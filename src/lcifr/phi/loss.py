"""DL2 loss of a formula: zero where it holds, growing with the violation.

DL2's translation (Fischer et al. 2019): t ≤ t′ becomes max(t − t′, 0); strict comparisons add a constant at ties;
conjunctions add, disjunctions multiply. Categories are relaxed to the simplex as in the paper's appendix. Every
comparison is divided by the standard deviations it is made of, so that years and dollars weigh alike.

People may be numpy arrays, to rank pairs of a table, or torch tensors, to train; torch is imported by the caller.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from lcifr.data import Categorical, Encoding
from lcifr.phi.core import AllOf, Category, Compare, Core, LinearForm, RankTable, SameCategory
from lcifr.phi.formula import Person

Batch = TypeVar("Batch", bound=Any)
"""A numpy array or a torch tensor."""

TIE = 1.0  # DL2's ξ: what a strict comparison costs on its boundary
CLOSE = 1e-9  # standard deviations: float noise of the encoding, which must not decide a tie


def logic_loss(core: Core, encoding: Encoding, x: Batch, other: Batch) -> Batch:
    """(people,) the loss of ``core``; see :meth:`Similarity.loss`."""
    loss: Batch = _Loss(encoding, x, other).of(core)
    return loss


def _library(values: Any) -> Any:
    """The module whose functions take ``values``."""
    if isinstance(values, np.ndarray):
        return np
    import torch

    return torch


class _Loss:
    def __init__(self, encoding: Encoding, x: Any, other: Any) -> None:
        self.encoding, self.library = encoding, _library(x)
        self.people = {Person.SELF: x, Person.OTHER: other}

    def of(self, core: Core) -> Any:
        if isinstance(core, Compare):
            return self._compare(core)
        if isinstance(core, Category):
            values = self._category(core.person, core.attribute)
            outside = [code for code in range(values.shape[1]) if code not in core.allowed]
            return values[:, outside].sum(axis=1)
        if isinstance(core, SameCategory):
            return self._same_category(core)
        losses = [self.of(part) for part in core.parts]
        if not losses:
            return self._constant(0.0 if isinstance(core, AllOf) else TIE)
        stacked = self.library.stack(losses)
        return stacked.sum(axis=0) if isinstance(core, AllOf) else disjunction(stacked)

    def _constant(self, value: float) -> Any:
        return self.library.zeros_like(self.people[Person.SELF][:, 0]) + value

    # -- categories ------------------------------------------------------------------------------------------------

    def _category(self, person: Person, attribute: str) -> Any:
        return self.people[person][:, self.encoding.columns(attribute)]

    def _same_category(self, core: SameCategory) -> Any:
        left, right = self._category(*core.left), self._category(*core.right)
        if core.left[1] != core.right[1]:
            left, right = self._common_names(core.left[1], core.right[1], left, right)
        overlap = self.library.minimum(left, right).sum(
            axis=1
        )  # 1 for the same category, 0 for two whole different ones
        if not core.equal:
            return overlap
        return self.library.clip(1.0 - overlap, 0.0, None)

    def _common_names(self, first: str, second: str, left: Any, right: Any) -> tuple[Any, Any]:
        one, two = self.encoding.schema[first], self.encoding.schema[second]
        assert isinstance(one, Categorical)
        assert isinstance(two, Categorical)
        common = [text for text in one.values if text in two.values]
        return left[:, [one.values.index(t) for t in common]], right[:, [two.values.index(t) for t in common]]

    # -- numbers ---------------------------------------------------------------------------------------------------

    def _compare(self, core: Compare) -> Any:
        value, scale = self._form(core.form)
        value = value / scale
        if core.operator == "<=":
            return self.library.clip(value - CLOSE, 0.0, None)
        if core.operator == "<":
            return self.library.clip(value, 0.0, None) + TIE * (value > -CLOSE)
        if core.operator == "=":
            return self.library.clip(abs(value) - CLOSE, 0.0, None)
        return TIE * (abs(value) <= CLOSE) + self._constant(0.0)

    def _form(self, form: LinearForm) -> tuple[Any, float]:
        """The form in raw units, from encoded values; and the standard deviations it is made of."""
        constant = form.constant
        value = self._constant(0.0)
        scale = 0.0
        for person, name, c in form.numbers:
            j = self.encoding.schema.names_numeric.index(name)
            factor = float(self.encoding.numbers.factors[j])
            value = value + float(c) * factor * self.people[person][:, self.encoding.numeric_columns[j]]
            constant += c * Fraction(float(self.encoding.numbers.origins[j]))  # exactly: those of x′ − x cancel
            scale += abs(float(c) * factor)
        for person, table, c in form.ranks:
            value = value + float(c) * self._rank(person, table)
            scale += abs(float(c)) * max(1, max(len(values) for _, values in table.groups))
        for c, inside in form.absolutes:
            part, part_scale = self._form(inside)
            value = value + float(c) * abs(part)
            scale += abs(float(c)) * part_scale
        return value + float(constant), scale or 1.0

    def _rank(self, person: Person, table: RankTable) -> Any:
        """The rank, exact in value; its gradient is that of a straight line through the training values."""
        group = np.asarray(table.group_of)[self._category(person, table.by).argmax(axis=1).tolist()]
        j = self.encoding.schema.names_numeric.index(table.attribute)
        program = self.encoding.programs[j]
        upward = -1.0 if program.decreasing else 1.0
        values = upward * self.people[person][:, self.encoding.numeric_columns[j]]
        fixed = values if self.library is np else values.detach()
        rank = self.library.ones_like(values)
        for g, known in enumerate(table.tables):
            member = group == g
            # Encoded training values against encoded people: the same function on both sides, so ties stay ties.
            steps = np.asarray(upward * program(known))
            steps = steps.astype(fixed.dtype) if self.library is np else self.library.as_tensor(steps).to(fixed)
            above = len(known) - self.library.searchsorted(steps, fixed[member], side="right")
            slope = (len(known) - 1) / float(steps[-1] - steps[0]) if len(known) > 1 and steps[-1] > steps[0] else 0.0
            line = -slope * values[member]
            rank[member] = 1.0 + above + (line + slope * fixed[member])
        return rank


def disjunction(losses: Batch) -> Batch:
    """(people,) of (parts, people): DL2's product; the minimum where the product underflows to a false zero."""
    library = _library(losses)
    product, least = losses.prod(axis=0), library.amin(losses, axis=0)
    result: Batch = library.where((product == 0) & (least > 0), least, product)
    return result
