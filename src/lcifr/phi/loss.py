"""DL2 loss of a formula: zero where it holds, growing with the violation.

DL2's translation (Fischer et al. 2019): t ≤ t′ becomes max(t − t′, 0); strict comparisons add a constant at ties;
conjunctions add, disjunctions multiply. Categories are relaxed to the simplex as in the paper's appendix. Every
comparison is divided by the standard deviations it is made of, so that years and dollars weigh alike.
"""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

from lcifr.data import Categorical, Encoding
from lcifr.phi.core import AllOf, Category, Compare, Core, LinearForm, RankTable, SameCategory
from lcifr.phi.formula import Person

TIE = 1.0  # DL2's ξ: what a strict comparison costs on its boundary
CLOSE = 1e-9  # standard deviations: float noise of the encoding, which must not decide a tie


def logic_loss(core: Core, encoding: Encoding, x: Tensor, other: Tensor) -> Tensor:
    """(people,) the loss of ``core``; see :meth:`Similarity.loss`."""
    return _Loss(encoding, x, other).of(core)


class _Loss:
    def __init__(self, encoding: Encoding, x: Tensor, other: Tensor) -> None:
        self.encoding = encoding
        self.people = {Person.SELF: x, Person.OTHER: other}

    def of(self, core: Core) -> Tensor:
        if isinstance(core, Compare):
            return self._compare(core)
        if isinstance(core, Category):
            values = self._category(core.person, core.attribute)
            outside = [code for code in range(values.shape[1]) if code not in core.allowed]
            return values[:, outside].sum(dim=1)
        if isinstance(core, SameCategory):
            return self._same_category(core)
        losses = [self.of(part) for part in core.parts]
        if not losses:
            return self._constant(0.0 if isinstance(core, AllOf) else TIE)
        stacked = torch.stack(losses)
        return stacked.sum(dim=0) if isinstance(core, AllOf) else disjunction(stacked)

    def _constant(self, value: float) -> Tensor:
        x = self.people[Person.SELF]
        return torch.full((len(x),), value, dtype=x.dtype, device=x.device)

    # -- categories ------------------------------------------------------------------------------------------------

    def _category(self, person: Person, attribute: str) -> Tensor:
        return self.people[person][:, self.encoding.columns(attribute)]

    def _same_category(self, core: SameCategory) -> Tensor:
        left, right = self._category(*core.left), self._category(*core.right)
        if core.left[1] != core.right[1]:
            left, right = self._common_names(core.left[1], core.right[1], left, right)
        overlap = torch.minimum(left, right).sum(dim=1)  # 1 for the same category, 0 for two whole different ones
        if not core.equal:
            return overlap
        return torch.clamp(self._constant(1.0) - overlap, min=0.0)

    def _common_names(self, first: str, second: str, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        one, two = self.encoding.schema[first], self.encoding.schema[second]
        assert isinstance(one, Categorical)
        assert isinstance(two, Categorical)
        common = [text for text in one.values if text in two.values]
        return left[:, [one.values.index(t) for t in common]], right[:, [two.values.index(t) for t in common]]

    # -- numbers ---------------------------------------------------------------------------------------------------

    def _compare(self, core: Compare) -> Tensor:
        value, scale = self._form(core.form)
        value = value / scale
        if core.operator == "<=":
            return torch.clamp(value - CLOSE, min=0.0)
        if core.operator == "<":
            return torch.clamp(value, min=0.0) + TIE * (value > -CLOSE)
        if core.operator == "=":
            return torch.clamp(value.abs() - CLOSE, min=0.0)
        return TIE * (value.abs() <= CLOSE).to(value.dtype)

    def _form(self, form: LinearForm) -> tuple[Tensor, float]:
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
            value = value + float(c) * part.abs()
            scale += abs(float(c)) * part_scale
        return value + float(constant), scale or 1.0

    def _rank(self, person: Person, table: RankTable) -> Tensor:
        """The rank, exact in value; its gradient is that of a straight line through the training values."""
        group = self._category(person, table.by).argmax(dim=1)
        group = torch.as_tensor(table.group_of, device=group.device)[group]
        j = self.encoding.schema.names_numeric.index(table.attribute)
        program = self.encoding.programs[j]
        upward = -1.0 if program.decreasing else 1.0
        values = upward * self.people[person][:, self.encoding.numeric_columns[j]]
        rank = torch.ones_like(values)
        for g, known in enumerate(table.tables):
            member = group == g
            # Encoded training values against encoded people: the same function on both sides, so ties stay ties.
            steps = torch.as_tensor(upward * program(known), dtype=values.dtype).to(values.device)
            above = len(known) - torch.searchsorted(steps, values[member].detach().contiguous(), right=True)
            slope = (len(known) - 1) / float(steps[-1] - steps[0]) if len(known) > 1 and steps[-1] > steps[0] else 0.0
            line = -slope * values[member]
            rank[member] = 1.0 + above + (line - line.detach())
        return rank


def disjunction(losses: Tensor) -> Tensor:
    """(people,) of (parts, people): DL2's product; the minimum where the product underflows to a false zero."""
    product, least = losses.prod(dim=0), losses.min(dim=0).values
    return torch.where((product == 0) & (least > 0), least, product)
