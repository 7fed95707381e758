"""Linter for formulas: asymmetry, free attributes, dead alternatives, odd thresholds, empty regions, proxies."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from lcifr.data import Categorical, Individuals, Numeric, Schema
from lcifr.data.codec import Record
from lcifr.display import text
from lcifr.errors import RegionError
from lcifr.phi.core import (
    AllOf,
    AnyOf,
    Booleans,
    Category,
    Compare,
    Core,
    Floats,
    LinearForm,
    PairedPeople,
    is_about,
    leaves,
    resolve,
)
from lcifr.phi.explain import list_words
from lcifr.phi.formula import (
    Comparison,
    Formula,
    Free,
    Or,
    Person,
    Same,
    Span,
    Within,
    attributes_in,
    print_set,
    quote_name,
    subformulas,
)
from lcifr.phi.free_attributes import declared_free, find_usage, free_attributes
from lcifr.phi.holds import decimal_of, evaluate
from lcifr.phi.lowering import AttributeBound, CellPlan, MixedRank, TooManyCells, plan_cells
from lcifr.phi.parser import blank_comments
from lcifr.phi.similarity import Similarity
from lcifr.regions.cell import Cell, IntArray

# Lint findings and example pairs of people.

LONGEST = 6  # attributes that are shown of one example; the whole row is in the example itself


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"  # nothing can be proved about this formula, or what is proved says nothing
    WARNING = "warning"  # it probably does not say what was meant
    NOTE = "note"  # true, perhaps meant, and good to know


@dataclass(frozen=True)
class Example(Record):
    """Two people, in the data's own units.

    Parameters
    ----------
    x, other
        The person and the other one, by attribute.
    rows
        Their rows in the data, counted from 0; None for a person who was made up.
    """

    also = ("differing",)

    x: Mapping[str, Any]
    other: Mapping[str, Any]
    rows: tuple[int | None, int | None] = (None, None)

    @classmethod
    def of(cls, pair: PairedPeople, row: int, rows: tuple[int | None, int | None] = (None, None)) -> Example:
        """One row of a pair of tables; ``rows`` says where in the data the two stand."""
        return cls(values_of(pair.x, row), values_of(pair.other, row), rows)

    @property
    def differing(self) -> tuple[str, ...]:
        """The attributes in which the two differ."""
        return tuple(name for name, value in self.x.items() if self.other[name] != value)

    def among(self, rows: Sequence[int]) -> Example:
        """The same pair in a larger table, of which these rows were looked at."""
        first, second = (None if row is None else rows[row] for row in self.rows)
        return replace(self, rows=(first, second))

    def __str__(self) -> str:
        shown = [f"{name} {_show(self.x[name])} → {_show(self.other[name])}" for name in self.differing]
        if not shown:
            return "the same in every attribute"
        equal = len(self.x) - len(shown)
        return f"{'; '.join(shown)}" + (f" ({equal} other attribute{'s' if equal != 1 else ''} equal)" if equal else "")


@dataclass(frozen=True)
class Finding:
    """Something odd about a formula.

    Parameters
    ----------
    code
        A name for it that does not change: ``not-symmetric``.
    severity
        How much it matters.
    message
        What was found, in plain words.
    span
        The part of the formula it is about, where there is one.
    examples
        People to show it on.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    examples: tuple[Example, ...] = ()

    def among(self, rows: Sequence[int]) -> Finding:
        """The same finding, its examples in a larger table, of which these rows were looked at."""
        return replace(self, examples=tuple(example.among(rows) for example in self.examples))


def values_of(people: Individuals, row: int) -> dict[str, Any]:
    """One person, by attribute: whole numbers as integers, categories as text."""
    shown: dict[str, Any] = {}
    for attribute in people.schema:
        if isinstance(attribute, Categorical):
            shown[attribute.name] = attribute.values[people.code(attribute.name)[row]]
        else:
            value = float(people.number(attribute.name)[row])
            shown[attribute.name] = int(value) if attribute.integer else value
    return shown


def describe_person(one: Mapping[str, Any], names: tuple[str, ...] = ()) -> str:
    """A person in a line: the attributes named, else the first few."""
    chosen = [name for name in one if name in names] or list(one)
    return ", ".join(f"{name} {_show(one[name])}" for name in chosen[:LONGEST]) + (
        ", …" if len(chosen) > LONGEST else ""
    )


def _show(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else str(value)


def short_percent(share: float) -> str:
    """As in a report, without a decimal that says nothing."""
    return text.percent(share).replace(".0 %", " %")


# Synthetic pairs of people, sampled from regions and recombined from real people.

PEOPLE, POINTS = 100, 10  # people whose neighbours are invented, and neighbours of each
SLOW_PEOPLE, SLOW_POINTS = 20, 4  # where cells have linear rows, every point is a small program of its own


def synthesize_pairs(similarity: Similarity, people: Individuals, seed: int = 0) -> PairedPeople:
    """Pairs of a real person and an invented one, many of them similar and many just not."""
    random = np.random.default_rng(seed)
    some = people.take(np.sort(random.permutation(len(people))[:PEOPLE]))
    mixed = _mix(some, people, random)
    try:
        drawn, _ = sample_similar_pairs(similarity, some, np.arange(len(some)), seed)
    except RegionError:
        return mixed
    return PairedPeople(*(_joined(one, two) for one, two in ((mixed.x, drawn.x), (mixed.other, drawn.other))))


def sample_similar_pairs(
    similarity: Similarity, people: Individuals, rows: IntArray, seed: int = 0
) -> tuple[PairedPeople, IntArray]:
    """Each person beside points of their region, as people in the data's units; φ may just fail on some.

    Returns the pairs, and of each pair the person's entry in ``rows``.
    """
    slow = any(plan.rows for plan in similarity.plans)
    region = similarity.region(people.take(slice(SLOW_PEOPLE)) if slow else people)
    points = region.sample(SLOW_POINTS if slow else POINTS, seed=seed)
    reached = np.flatnonzero(~np.isnan(points).any(axis=(1, 2)))
    each = np.repeat(reached, points.shape[1])
    found = region.take(reached).decode(points[reached]).individuals
    return PairedPeople(people.take(each), found), rows[each]


def _mix(some: Individuals, people: Individuals, random: np.random.Generator) -> PairedPeople:
    """Each person beside copies of themselves that have a few attributes of another person."""
    x = some.take(np.repeat(np.arange(len(some)), POINTS))
    donors = people.take(random.integers(0, len(people), len(x)))
    taken = random.random((len(x), len(people.schema))) < random.random((len(x), 1)) ** 2
    numeric = np.array([name in people.schema.names_numeric for name in people.schema.names], dtype=bool)
    numbers, codes = x.numbers.copy(), x.codes.copy()
    np.copyto(numbers, donors.numbers, where=taken[:, numeric])
    np.copyto(codes, donors.codes, where=taken[:, ~numeric])
    return PairedPeople(x, Individuals(people.schema, numbers, codes))


def _joined(one: Individuals, two: Individuals) -> Individuals:
    numbers = np.concatenate((one.numbers, two.numbers))
    return Individuals(one.schema, numbers, np.concatenate((one.codes, two.codes)))


def shrink(similarity: Similarity, pair: PairedPeople) -> PairedPeople:
    """One pair that is similar one way only, with as many attributes made equal as that allows."""
    for name in similarity.schema.names:
        numbers, codes = pair.other.numbers.copy(), pair.other.codes.copy()
        if name in similarity.schema.names_numeric:
            j = similarity.schema.names_numeric.index(name)
            numbers[:, j] = pair.x.numbers[:, j]
        else:
            j = similarity.schema.names_categorical.index(name)
            codes[:, j] = pair.x.codes[:, j]
        closer = PairedPeople(pair.x, Individuals(similarity.schema, numbers, codes))
        if evaluate(similarity.core, closer)[0] and not evaluate(similarity.core, swapped(closer))[0]:
            pair = closer
    return pair


def swapped(pair: PairedPeople) -> PairedPeople:
    """The two with their places changed."""
    return PairedPeople(pair.other, pair.x)


def find_false_part(core: Core, pair: PairedPeople) -> Span | None:
    """The smallest part of a formula that is to blame for its being false on one pair; None where it is all of it."""
    span = None
    while isinstance(core, AllOf):
        failing = [part for part in core.parts if not evaluate(part, pair)[0]]
        if not failing:
            return span
        core = failing[0]
        span = core.span
    if isinstance(core, AnyOf) and len(core.parts) == 1:
        return core.parts[0].span
    return span or core.span


# Dead and subsumed alternatives of a formula.

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
    """Whether v ≤ known gives v ≤ wanted (or < in either), for every person."""
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


# Thresholds and distances of a formula outside the range of the data.


def find_odd_thresholds(similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    """Comparisons of one attribute with a number that no one in the data lies beyond, and distances alike."""
    for part in subformulas(similarity.formula):
        if isinstance(part, Within):
            yield from _odd_distances(part, similarity, people)
        elif isinstance(part, Comparison):
            yield from _odd_threshold(part, similarity, people)


def _odd_threshold(atom: Comparison, similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    leaf = next(leaves(resolve(atom, similarity.schema, similarity.encoding)))
    assert isinstance(leaf, Compare)
    form = leaf.form
    if form.ranks or form.absolutes or len(form.numbers) != 1:
        return
    (_, name, coefficient), values = form.numbers[0], people.number(form.numbers[0][1])
    threshold = -form.constant / coefficient
    least, most = float(values.min()), float(values.max())
    if decimal_of(least) <= threshold <= decimal_of(most):
        return
    met = bool(evaluate(leaf, PairedPeople(people, people))[0])  # beyond the range, all people are on the same side
    attribute = similarity.schema[name]
    assert isinstance(attribute, Numeric)
    yield Finding(
        "threshold-outside-data",
        Severity.NOTE if met else Severity.WARNING,
        f"{'everybody' if met else 'nobody'} in the data meets this: {name} lies between {least:.6g} and "
        f"{_amount(most, attribute)}, and the threshold is {float(threshold):.6g}",
        atom.span,
    )


def _odd_distances(atom: Within, similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    wide, narrow = [], []
    for name in attributes_in(atom.set, similarity.schema):
        attribute, values = similarity.schema[name], people.number(name)
        if isinstance(attribute, Categorical):
            continue
        distance = float(atom.distance) * (similarity.encoding.sd(name) if atom.in_sd else 1.0)
        if distance >= np.ptp(values) > 0:
            wide.append(f"{name} ({_amount(distance, attribute)})")
        if attribute.integer and 0 < distance < 1:
            narrow.append(f"{name} ({distance:.2g})")
    if wide:
        yield Finding(
            "distance-beyond-data",
            Severity.WARNING,
            f"this allows more than the whole range of the data, so it asks for nothing there: {', '.join(wide)}",
            atom.span,
        )
    if narrow:
        yield Finding(
            "distance-below-one",
            Severity.NOTE,
            f"whole numbers cannot differ by less than 1, so these are equal for every real pair, although the "
            f"radius of a hand-over covers the fractions between: {', '.join(narrow)}",
            atom.span,
        )


def _amount(number: float, attribute: Numeric) -> str:
    return f"{number:.6g}{f' {attribute.unit}' if attribute.unit else ''}"


# Proxy detection: constrained attributes that predict a free one.
#
# A formula that lets sex change but keeps ``relationship = "Husband"`` compares a man with a person who hardly exists.
# The rule is simple enough to argue about: among the people with one value of the kept attribute (at least one in a
# hundred of all), at least 95 % have one and the same value of the free one, and exceptions are five times rarer than
# in the data as a whole.

REAL_SHARE = 0.01  # of all people have the telling value
ALMOST_SURELY = 0.95  # of the people with the telling value have one value of the free attribute
RARER = 5  # times fewer exceptions than in the data as a whole
EXPECTED = 20  # exceptions at the whole data's rate: with fewer, a five-fold drop could be chance (below 1 in 50,000)
PARTS = 10  # a number is cut into so many equally filled intervals


@dataclass(frozen=True)
class Proxy:
    """One value (or interval) of a kept attribute that gives away the free one.

    Parameters
    ----------
    value
        The kept attribute's value, as text: ``= "Husband"`` or ``from 40 to 99``.
    people
        How many have it.
    given_away, share, base
        The free attribute's value, how many of these people have it, and how many of all.
    """

    value: str
    people: int
    given_away: str
    share: float
    base: float


def find_proxies(people: Individuals, free: str, kept: str) -> tuple[Proxy, ...]:
    """The values of ``kept`` that give away ``free`` (categorical), the largest groups first."""
    attribute = people.schema[free]
    assert isinstance(attribute, Categorical)
    codes = people.code(free)
    base = np.bincount(codes, minlength=len(attribute.values)) / len(people)
    found = []
    for value, member in _parts(people, kept):
        size = int(member.sum())
        counts = np.bincount(codes[member], minlength=len(attribute.values))
        top = int(counts.argmax())
        expected = size * (1 - base[top])
        sure = counts[top] >= ALMOST_SURELY * size and size >= REAL_SHARE * len(people)
        if sure and expected >= max(EXPECTED, RARER * (size - counts[top])):
            found.append(Proxy(value, size, attribute.values[top], float(counts[top] / size), float(base[top])))
    return tuple(sorted(found, key=lambda proxy: -proxy.people))


def _parts(people: Individuals, name: str) -> list[tuple[str, Booleans]]:
    """Who has which value of an attribute; numbers in equally filled intervals."""
    attribute = people.schema[name]
    if isinstance(attribute, Categorical):
        return [(f'= "{value}"', people.code(name) == code) for code, value in enumerate(attribute.values)]
    values = people.number(name)
    cuts = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS))
    part: IntArray = np.searchsorted(cuts, values, side="right")
    members = [part == p for p in range(len(cuts) + 1)]
    return [
        (f"from {values[member].min():.6g} to {values[member].max():.6g}", member) for member in members if member.any()
    ]


# Mark of a formula proposed by ``lcifr init``, and detection of unedited proposals.
#
# The mark is a comment with a digest of the formula without its comments. It travels with the text (encoder, hand-over,
# audit), and becomes invalid as soon as the formula is changed.

DIGITS = 16
_MARK = re.compile(rf"^#.*\(guess ([0-9a-f]{{{DIGITS}}})\)", re.MULTILINE)

UNTOUCHED = Finding(
    "untouched-proposal",
    Severity.WARNING,
    "φ is the unedited draft of lcifr init: a guess from the names and types of the columns. Nobody has confirmed "
    "that these are the people who count as similar; correct it, or delete its first line to adopt it",
)


def mark_of(formula: str) -> str:
    """The comment that marks a proposed formula."""
    return f"(guess {_digest(formula)})"


def is_untouched(text: str) -> bool:
    """Whether a formula is marked as proposed and unchanged since, comments and spaces aside."""
    marks = _MARK.findall(text)
    return bool(marks) and _digest(text) in marks


def _digest(text: str) -> str:
    words = " ".join(blank_comments(text).split())
    return hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]


# Linter for formulas: asymmetry, free attributes, empty or singleton regions, proxies.

EXAMPLES = 3
NEGLIGIBLE = 1e-9  # standard deviations: an interval this narrow is one value


def lint(similarity: Similarity, people: Any = None, *, seed: int = 0) -> tuple[Finding, ...]:
    """Everything odd about a formula, the gravest first.

    Parameters
    ----------
    similarity
        The formula.
    people
        A table of real people to look at it with; by default those the encoding was fitted on. Without any, only what
        the formula itself tells is found.
    seed
        Of the synthetic people that symmetry is tried on.

    Examples
    --------
    >>> import pandas as pd
    >>> from lcifr import Encoding, Schema
    >>> people = pd.DataFrame({"age": [30, 40, 50], "sex": ["male", "female", "male"]})
    >>> schema = Schema.infer(people)
    >>> formula = Similarity("age within 5 and age' >= age", schema, Encoding.fit(people, schema))
    >>> [finding.code for finding in lint(formula)]
    ['not-symmetric', 'free-attribute']
    """
    findings = [*_untouched(similarity), *_free(similarity), *_empty_sets(similarity), *_branches(similarity)]
    table = similarity.encoding.training if people is None else Individuals.read(people, similarity.schema)
    if table is not None and len(table):
        synthetic = synthesize_pairs(similarity, table, seed)
        findings += _oneself(similarity, table, synthetic.other)
        findings += _symmetry(similarity, synthetic)
        findings += _regions(similarity, table, findings)
        findings += find_odd_thresholds(similarity, table)
        findings += _proxies(similarity, table)
    order = list(Severity)
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))


# -- the formula alone -------------------------------------------------------------------------------------------------


def _untouched(similarity: Similarity) -> Iterator[Finding]:
    if is_untouched(similarity.text):
        yield UNTOUCHED


def _free(similarity: Similarity) -> Iterator[Finding]:
    schema, named = similarity.schema, find_usage(similarity.formula, similarity.schema)
    free = [schema[name] for name in free_attributes(similarity.formula, schema)]
    endless = [a.name for a in free if not isinstance(a, Categorical) and (a.lower is None or a.upper is None)]
    if endless:
        message = (
            "free and without ends, so that nothing can be proved; constrain it, or declare its range in the schema"
        )
        yield Finding("unbounded", Severity.ERROR, f"{list_words(endless)}: {message}")
    # A name in `free(…)` or after `except` was left free on purpose.
    declared = declared_free(similarity.formula, schema)
    forgotten = [a.name for a in free if a.name not in (*endless, *named.excepted, *declared)]
    for how, names in (
        ("never mentioned", [name for name in forgotten if name not in named.own]),
        ("mentioned for the person alone, not for the other", [name for name in forgotten if name in named.own]),
    ):
        if names:
            message = f"{list_words(names)}: {how}, and therefore free: the other person may have any value"
            meant = ", ".join(quote_name(name) for name in names)
            message += f"; if that is meant, say so: free({meant})"
            yield Finding("free-attribute", Severity.WARNING, message)


def _empty_sets(similarity: Similarity) -> Iterator[Finding]:
    for part in subformulas(similarity.formula):
        if isinstance(part, Same | Within | Free) and not attributes_in(part.set, similarity.schema):
            message = (
                f"{print_set(part.set)}: no attribute of this schema is left in the set, so nothing is said of any"
            )
            yield Finding("empty-set", Severity.NOTE, message, part.span)


def _branches(similarity: Similarity) -> Iterator[Finding]:
    schema = similarity.schema
    if plans_of(similarity.core, schema) == ():
        yield Finding("never-true", Severity.ERROR, "no two people can ever be similar: the formula contradicts itself")
        return
    for either in disjunctions(similarity.formula):
        cores = [resolve(part, schema, similarity.encoding) for part in either.parts]
        gone: set[int] = set()
        for i, (part, core) in enumerate(zip(either.parts, cores, strict=True)):
            if plans_of(core, schema) == ():
                gone.add(i)
                yield Finding("never-true", Severity.WARNING, "this alternative can never hold", part.span)
                continue
            homes = [j for j in range(len(cores)) if j != i and j not in gone and subsumes(cores[j], core, schema)]
            if homes:
                gone.add(i)
                home = either.parts[homes[0]].span
                text = " ".join(similarity.text[home.start : home.end].split())
                message = f"this alternative changes nothing: another one holds whenever it does: {text}"
                yield Finding("contained-branch", Severity.WARNING, message, part.span)


# -- the formula on people ---------------------------------------------------------------------------------------------


def _oneself(similarity: Similarity, people: Individuals, synthetic: Individuals) -> Iterator[Finding]:
    wrong = np.flatnonzero(~evaluate(similarity.core, PairedPeople(people, people)))
    table = people
    if len(wrong):
        who = f"{len(wrong)} of {len(people)} people ({short_percent(len(wrong) / len(people))})"
    else:
        table, wrong = synthetic, np.flatnonzero(~evaluate(similarity.core, PairedPeople(synthetic, synthetic)))
        who = "nobody in the data, but other people that could exist"
    if not len(wrong):
        return
    one = table.take(wrong[:1])
    shown = describe_person(values_of(one, 0), _spoken(similarity))
    yield Finding(
        "false-on-oneself",
        Severity.WARNING,
        f"{who} would not be similar to themselves, for example: {shown}",
        find_false_part(similarity.core, PairedPeople(one, one)),
        tuple(Example.of(PairedPeople(table, table), int(row)) for row in wrong[:EXAMPLES]),
    )


def _spoken(similarity: Similarity) -> tuple[str, ...]:
    """The attributes that a formula names one by one: those worth showing."""
    return tuple(find_usage(similarity.formula, similarity.schema).one_by_one)


def _symmetry(similarity: Similarity, synthetic: PairedPeople) -> Iterator[Finding]:
    there, back = evaluate(similarity.core, synthetic), evaluate(similarity.core, swapped(synthetic))
    pairs = [synthetic.take(np.flatnonzero(there & ~back)), swapped(synthetic.take(np.flatnonzero(back & ~there)))]
    odd = next((pair for pair in pairs if len(pair)), None)
    if odd is None:
        return
    differing = (odd.x.numbers != odd.other.numbers).sum(axis=1) + (odd.x.codes != odd.other.codes).sum(axis=1)
    one = shrink(similarity, odd.take(np.argsort(differing, kind="stable")[:1]))
    example = Example.of(one, 0)
    yield Finding(
        "not-symmetric",
        Severity.WARNING,
        "it holds one way only: the second of these two is similar to the first, but not the first to the second: "
        f"{example}",
        find_false_part(similarity.core, swapped(one)),
        (example,),
    )


def _regions(similarity: Similarity, people: Individuals, known: list[Finding]) -> Iterator[Finding]:
    try:
        region = similarity.region(people)
    except RegionError as error:
        if not any(finding.severity is Severity.ERROR for finding in known):
            yield Finding("no-region", Severity.ERROR, str(error))
        return
    itself = similarity.encoding.encode(people)
    alone = region.nonempty
    for cell in region.cells:
        alone &= ~cell.present | _is_only(cell, itself, similarity)
    for who, code, message in (
        (~region.nonempty, "empty-region", "nobody at all can be similar to"),
        (alone, "only-oneself", "nobody but themselves can be similar to"),
    ):
        if who.any():
            count = f"{who.sum()} of {len(people)} people ({short_percent(float(who.mean()))})"
            rows = np.flatnonzero(who)[:EXAMPLES]
            examples = tuple(Example.of(PairedPeople(people, people), int(row), (int(row), int(row))) for row in rows)
            message += f" {count}: a certificate for them says nothing"
            yield Finding(code, Severity.WARNING, message, examples=examples)


def _is_only(cell: Cell, points: Floats, similarity: Similarity) -> Booleans:
    """(people,) whether the cell holds the person's own point and no other; linear rows are not looked at."""
    encoding = similarity.encoding
    whole = np.array([attribute.integer for attribute in encoding.schema.numeric], dtype=bool)
    lower, upper = encoding.unscale_bounds(cell.lower, cell.upper)
    steps = np.floor(upper + NEGLIGIBLE * encoding.units) - np.ceil(lower - NEGLIGIBLE * encoding.units)
    single = np.where(whole, steps <= 0, cell.upper - cell.lower <= NEGLIGIBLE)
    values = points[:, cell.numeric]
    parts: list[Booleans] = [single & (values >= cell.lower) & (values <= cell.upper)]
    parts += [choice.allowed == (points[:, choice.columns] == 1) for choice in cell.choices]
    only: Booleans = np.logical_and.reduce(np.concatenate(parts, axis=1), axis=1)
    return only


def _proxies(similarity: Similarity, people: Individuals) -> Iterator[Finding]:
    schema = similarity.schema
    free = free_attributes(similarity.formula, schema)
    for name in (name for name in free if isinstance(schema[name], Categorical)):
        for kept in (kept for kept in schema.names if kept not in free):
            proxies = find_proxies(people, name, kept)
            if not proxies:
                continue
            found = [
                f"of the {proxy.people} people with {quote_name(kept)} {proxy.value}, "
                f'{short_percent(proxy.share)} have "{proxy.given_away}" ({short_percent(proxy.base)} of all)'
                for proxy in proxies[:EXAMPLES]
            ]
            more = f"; and {len(proxies) - EXAMPLES} more such values" if len(proxies) > EXAMPLES else ""
            yield Finding(
                "proxy",
                Severity.WARNING,
                f"{name} is free, but {kept} gives it away: {'; '.join(found)}{more}",
            )
