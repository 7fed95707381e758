"""Dead and subsumed alternatives of a formula."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lcifr.data import Schema
from lcifr.similarity.language.formula import Formula, Or, Person, subformulas
from lcifr.similarity.lowering.plan import AttributeBound, CellPlan, MixedRank, TooManyCells, plan_cells
from lcifr.similarity.semantics.core import AllOf, AnyOf, Category, Compare, Core, LinearForm, is_about, leaves

CELLS = 64  # alternatives of one branch that are looked at; beyond, nothing is claimed


def disjunctions(formula: Formula) -> Iterator[Or]:
    """Every ``or`` of a formula, outermost first."""
    return (part for part in subformulas(formula) if isinstance(part, Or))


def plans_of(core: Core, schema: Schema) -> tuple[CellPlan, ...] | None:
    """The plans of a part of a formula; none where it can never hold, None where there are too many to say."""
    try:
        return plan_cells(core, schema, CELLS)
    except (TooManyCells, MixedRank):
        return None


def subsumes(larger: Core, smaller: Core, schema: Schema) -> bool:
    """Whether ``larger`` holds wherever ``smaller`` does, as far as comparing their plans one by one can tell."""
    if not _is_exact(larger):
        return False
    big, small = plans_of(larger, schema), plans_of(smaller, schema)
    return bool(big and small) and all(any(_inside(plan, home) for home in big) for plan in small)  # type: ignore[union-attr]


def _is_exact(core: Core) -> bool:
    """Whether plans say exactly what the formula does: they close strict rows, and ``!=`` leaves no trace in them."""
    for leaf in leaves(core):
        if not isinstance(leaf, Compare) or not is_about(leaf, Person.OTHER):
            continue
        if leaf.operator == "!=" or (leaf.operator == "<" and len(_others(leaf.form)) > 1):
            return False
    return True


def _others(form: LinearForm) -> set[str]:
    """The attributes of the other person in a form."""
    own = {name for person, name, _ in form.numbers if person is Person.OTHER}
    return own.union(*(_others(inside) for _, inside in form.absolutes))


def _inside(plan: CellPlan, home: CellPlan) -> bool:
    """Whether everything that ``home`` asks for follows from one thing that ``plan`` asks for."""
    if plan.implies(home):
        return True
    return (
        all(any(_core_follows(known, wanted) for known in plan.conditions) for wanted in home.conditions)
        and all(any(_bound_follows(known, wanted) for known in plan.bounds) for wanted in home.bounds)
        and plan.links >= home.links
        and plan.ranks >= home.ranks
        and plan.rows >= home.rows
        and all(name in plan.categories and plan.categories[name] <= codes for name, codes in home.categories.items())
    )


def _bound_follows(known: AttributeBound, wanted: AttributeBound) -> bool:
    if (known.attribute, known.side) != (wanted.attribute, wanted.side):
        return False
    sign = 1 if known.side == "upper" else -1
    return _at_most(known.limit.times(Fraction(sign)), wanted.limit.times(Fraction(sign)), known.strict, wanted.strict)


def _at_most(known: LinearForm, wanted: LinearForm, known_strict: bool, wanted_strict: bool) -> bool:
    """Whether v ≤ known gives v ≤ wanted (or < in either), whoever the person is."""
    gap = known.plus(wanted.times(Fraction(-1)))
    if gap.numbers or gap.ranks or gap.absolutes:
        return False
    return gap.constant < 0 or (gap.constant == 0 and (known_strict or not wanted_strict))


def _core_follows(known: Core, wanted: Core) -> bool:
    """Whether a condition on x alone follows from another."""
    if known == wanted:
        return True
    if isinstance(wanted, AnyOf):
        return any(_core_follows(known, part) for part in wanted.parts)
    if isinstance(wanted, AllOf):
        return all(_core_follows(known, part) for part in wanted.parts)
    if isinstance(known, AllOf):
        return any(_core_follows(part, wanted) for part in known.parts)
    if isinstance(known, Category) and isinstance(wanted, Category):
        return (known.person, known.attribute) == (wanted.person, wanted.attribute) and known.allowed <= wanted.allowed
    if isinstance(known, Compare) and isinstance(wanted, Compare) and {known.operator, wanted.operator} <= {"<", "<="}:
        one, two = _scaled(known.form), _scaled(wanted.form)  # form ⋈ 0: the larger form is the stronger condition
        return _at_most(two, one, known.operator == "<", wanted.operator == "<")
    return False


def _scaled(form: LinearForm) -> LinearForm:
    """The form with its first coefficient at ±1: ``2*age - 6`` and ``age - 3`` are one condition."""
    first = form.numbers[0][2] if form.numbers else Fraction(1)
    return form.times(1 / abs(first))
