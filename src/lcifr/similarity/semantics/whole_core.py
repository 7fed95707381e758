"""Core trees over whole numbers: strict comparisons as closed ones, ``!=`` as two sides.

Regions are closed, so ``age' > 1`` holds age′ = 1 too. Where every number of a comparison is whole, it says the same as
``age' >= 2``, and the closed region holds nobody else.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from lcifr.similarity.semantics.core import FALSE, AllOf, AnyOf, Compare, Core, LinearForm
from lcifr.similarity.semantics.resolve import two_sided, without_absolute


def closed_over_whole_numbers(core: Core, whole: frozenset[str]) -> Core:
    """The same for everybody whose attributes ``whole`` are whole numbers; no comparison of these alone is strict."""
    if isinstance(core, AllOf):
        return AllOf(tuple(closed_over_whole_numbers(part, whole) for part in core.parts), core.span)
    if isinstance(core, AnyOf):
        return AnyOf(tuple(closed_over_whole_numbers(part, whole) for part in core.parts), core.span)
    if not isinstance(core, Compare) or not _is_whole(core.form, whole):
        return core
    if core.form.absolutes:
        return closed_over_whole_numbers(without_absolute(core), whole)
    if not core.form.numbers:
        return core
    if core.operator == "!=":
        return closed_over_whole_numbers(two_sided(core), whole)
    return _closed(core)


def _is_whole(form: LinearForm, whole: frozenset[str]) -> bool:
    """Whether all that varies in it are whole numbers."""
    numbers = all(name in whole for _, name, _ in form.numbers)
    return numbers and not form.ranks and all(_is_whole(inside, whole) for _, inside in form.absolutes)


def _closed(core: Compare) -> Core:
    """Σ aᵢ·vᵢ ⋈ k with coprime whole aᵢ: the sum is whole, so k is rounded to a whole number that it can reach."""
    scale = _step(core.form)
    form = core.form.times(1 / scale)
    limit = -form.constant
    if core.operator == "=":
        return core if limit.denominator == 1 else FALSE
    whole = math.ceil(limit) - 1 if core.operator == "<" else math.floor(limit)
    return Compare(replace(form, constant=Fraction(-whole)), "<=", core.span)


def _step(form: LinearForm) -> Fraction:
    """The largest number of which all coefficients are whole multiples."""
    below = math.lcm(*(c.denominator for *_, c in form.numbers))
    return Fraction(math.gcd(*(int(c * below) for *_, c in form.numbers)), below)
