"""Evaluation of φ(x, x′): the definition of truth that everything else is tested against.

Numbers mean the decimals they are written as: 3.6 in a table is 36/10, so that 3.6 − 3.4 <= 0.2 is true. Floats decide
every row that is further from a tie than their error bound; the few others are decided in exact rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Individuals
from lcifr.phi.core import (
    AllOf,
    AnyOf,
    Booleans,
    Category,
    Compare,
    Core,
    LinearForm,
    PairedPeople,
    RankTable,
    SameCategory,
    approximate,
)
from lcifr.phi.formula import Person

FEW = 4  # parts of a formula look at a copy of the open rows alone where those are less than one in so many


def evaluate(core: Core, pair: PairedPeople) -> Booleans:
    """(rows,) the truth of ``core`` on each row of the pair."""
    if isinstance(core, Compare):
        return _compare(core, pair)
    if isinstance(core, Category):
        allowed: Booleans = np.isin(pair.code(core.person, core.attribute), list(core.allowed))
        return allowed
    if isinstance(core, SameCategory):
        return _same_category(core, pair)
    return _evaluate_parts(core, pair)


def _evaluate_parts(core: AllOf | AnyOf, pair: PairedPeople) -> Booleans:
    """Part by part; once a part has settled most rows (false in an All, true in an Any), the rest look at the others.

    Categories come first: they are cheap to compare, and settle most.
    """
    settled_by = isinstance(core, AnyOf)
    truth = np.full(len(pair), not settled_by)
    rows: slice | NDArray[np.intp] = slice(None)
    left = pair
    for part in sorted(core.parts, key=lambda part: not isinstance(part, Category | SameCategory)):
        found = evaluate(part, left)
        truth[rows] = truth[rows] | found if settled_by else truth[rows] & found
        open_rows = truth[rows] != settled_by
        count = np.count_nonzero(open_rows)
        if not count:
            break
        if FEW * count < len(left):
            still = np.flatnonzero(open_rows)
            rows, left = still if isinstance(rows, slice) else rows[still], left.take(still)
    return truth


def _same_category(core: SameCategory, pair: PairedPeople) -> Booleans:
    left, right = pair.code(*core.left), pair.code(*core.right)
    if core.left[1] != core.right[1]:  # two attributes: the same category is the same name
        right = translate_codes(pair.x, core.right[1], core.left[1])[right]
    same: Booleans = left == right
    return same if core.equal else ~same


def translate_codes(people: Individuals, source: str, target: str) -> NDArray[np.int32]:
    """(values of source,) the code of each value's name in ``target``, or −1."""
    known, wanted = people.schema[source], people.schema[target]
    assert isinstance(known, Categorical)
    assert isinstance(wanted, Categorical)
    homes = {text: code for code, text in enumerate(wanted.values)}
    return np.array([homes.get(text, -1) for text in known.values], dtype=np.int32)


def _compare(core: Compare, pair: PairedPeople) -> Booleans:
    if _is_plain_difference(core.form):
        return _compare_two_numbers(core, pair)
    value, error = approximate(core.form, pair)
    truth = _TESTS[core.operator](value, 0.0)
    sure = np.abs(value) > error  # nowhere that the value is not a number
    if not sure.all():
        unsure = np.flatnonzero(~sure)
        truth[unsure] = _exact_truth(core, pair.take(unsure))
    return truth


_TESTS: dict[str, Callable[..., Booleans]] = {
    "<=": np.less_equal,
    "<": np.less,
    "=": np.equal,
    "!=": np.not_equal,
}


def _is_plain_difference(form: LinearForm) -> bool:
    """c·a − c·b and nothing else: floats compare exactly, ties included, because decimals grow with their floats."""
    alone = not (form.ranks or form.absolutes or form.constant)
    return alone and len(form.numbers) == 2 and form.numbers[0][2] == -form.numbers[1][2]


def _compare_two_numbers(core: Compare, pair: PairedPeople) -> Booleans:
    plus, minus = sorted(core.form.numbers, key=lambda term: -term[2])
    return _TESTS[core.operator](pair.number(*plus[:2]), pair.number(*minus[:2]))


@lru_cache(maxsize=1 << 16)
def decimal_of(value: float) -> Fraction:
    """The decimal a float prints as, exactly."""
    return Fraction(repr(value))


def exact_values(form: LinearForm, pair: PairedPeople) -> list[Fraction]:
    """The form's exact value on each row."""
    total = [form.constant] * len(pair)
    for person, name, c in form.numbers:
        total = [t + c * decimal_of(float(v)) for t, v in zip(total, pair.number(person, name), strict=True)]
    for person, table, c in form.ranks:
        total = [t + c * int(v) for t, v in zip(total, pair.rank(person, table), strict=True)]
    for c, inside in form.absolutes:
        total = [t + c * abs(v) for t, v in zip(total, exact_values(inside, pair), strict=True)]
    return total


def exact_distinct(form: LinearForm, pair: PairedPeople) -> tuple[list[Fraction], NDArray[np.intp]]:
    """The form's exact value for each distinct input, and for every row which of them it is.

    Ties are common in whole-number data and always the same few, so each is worked out once.
    """
    columns = [pair.number(person, name) for person, name in sorted(_inputs(form), key=str)]
    ranks = [pair.rank(person, table) for person, table in _rank_inputs(form)]
    stacked = np.stack([*columns, *ranks], axis=1) if columns or ranks else np.zeros((len(pair), 1))
    _, first, inverse = np.unique(stacked, axis=0, return_index=True, return_inverse=True)
    return exact_values(form, pair.take(first)), inverse.reshape(-1)


def _exact_truth(core: Compare, pair: PairedPeople) -> Booleans:
    values, row = exact_distinct(core.form, pair)
    signs = np.array([float((v > 0) - (v < 0)) for v in values])
    decided: Booleans = _TESTS[core.operator](signs, 0.0)[row]
    return decided


def _inputs(form: LinearForm) -> set[tuple[Person, str]]:
    own = {(person, name) for person, name, _ in form.numbers}
    return own.union(*(_inputs(inside) for _, inside in form.absolutes))


def _rank_inputs(form: LinearForm) -> list[tuple[Person, RankTable]]:
    own = [(person, table) for person, table, _ in form.ranks]
    return own + [pair for _, inside in form.absolutes for pair in _rank_inputs(inside)]
