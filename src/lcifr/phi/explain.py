"""Translation of formulas to English: what is equal, what may differ and by how much, what is free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeGuard

from lcifr.data.schema import Numeric, Schema
from lcifr.phi.formula import (
    Absolute,
    And,
    AttributeSet,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Implies,
    Linear,
    Membership,
    Not,
    Or,
    Person,
    Rank,
    Same,
    Value,
    Variable,
    Within,
    attributes_in,
    quote_value,
    write_decimal,
)
from lcifr.phi.free_attributes import declared_free, free_attributes, sometimes_free_attributes

# English phrases for single conditions: sets, numbers, comparisons, ranks.

SHOWN = 16  # names in one list; more are counted
NEGATED = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIZE = {
    "=": "equals",
    "!=": "does not equal",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
}
_GAP = {
    "=": "differs by exactly",
    "!=": "does not differ by exactly",
    "<": "differs by less than",
    "<=": "differs by at most",
    ">": "differs by more than",
    ">=": "differs by at least",
}
_SETS = {"all": "every attribute", "numeric": "every number", "categorical": "every category"}


def list_words(words: Iterable[str], last: str = "and", shown: int = SHOWN) -> str:
    """``a, b and c``; a long list is cut and the rest counted."""
    listed = list(words)
    if len(listed) > shown:
        listed = [*listed[: shown - 1], f"{len(listed) - shown + 1} more"]
    return f" {last} ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


@dataclass(frozen=True)
class Clause:
    """One statement, and the ones that belong under it."""

    text: str
    below: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Phrases:
    """English phrases for conditions, in the data's units where the standard deviations are known."""

    schema: Schema
    sds: Mapping[str, float] | None = None

    # -- sets ------------------------------------------------------------------------------------------------------

    def same(self, atom: Same, positive: bool) -> Clause:
        members = attributes_in(atom.set, self.schema)
        if not members:
            return self._of_none(atom.set, positive)
        if len(members) == 1:
            return Clause(f"{members[0]} {'is equal' if positive else 'is not equal'}")
        if not positive:
            return Clause(f"at least one of these is not equal: {list_words(members)}")
        if self._is_plain(atom.set):
            return Clause(f"{list_words(members)} are equal")
        return Clause(f"{self._set(atom.set)} is equal: {list_words(members)}")

    def free(self, names: AttributeSet, positive: bool) -> Clause:
        return Clause(f"{self._set(names)} may {'' if positive else 'not '}differ freely")

    def _of_none(self, names: AttributeSet, positive: bool) -> Clause:
        """The meaning of a condition on an empty set."""
        return Clause(f"{self._set(names)}: there is none, so {'nothing is asked' if positive else 'this never holds'}")

    def within(self, atom: Within, positive: bool) -> Clause:
        members = attributes_in(atom.set, self.schema)
        if not members:
            return self._of_none(atom.set, positive)
        verb = "may differ by at most" if positive else "differs by more than"
        if len(members) == 1:
            return Clause(f"{members[0]} {verb} {self._distance(members[0], atom)}")
        subject = "at least one of these" if not positive else self._set(atom.set)
        amount = _in_sd(atom.distance) if atom.in_sd else write_decimal(atom.distance)
        if atom.in_sd and not self.sds:
            return Clause(f"{subject} {verb} {amount}: {list_words(members)}")
        shown = members if len(members) <= SHOWN else members[: SHOWN - 1]
        below = [Clause(f"{name}: {self._distance(name, atom, in_list=True)}") for name in shown]
        if len(shown) < len(members):
            below.append(Clause(f"and {len(members) - len(shown)} more"))
        return Clause(f"{subject} {verb} {amount}:", tuple(below))

    def _is_plain(self, names: AttributeSet) -> bool:
        """Whether the set names nothing but attributes, so that a list of them says it all."""
        return not names.excluded and not any(name in _SETS or name in self.schema.groups for name in names.names)

    def _set(self, names: AttributeSet) -> str:
        if self._is_plain(names):
            return list_words(names.names)
        words = [_SETS.get(name) or self._of_group(name, "every attribute") for name in names.names]
        excluded = [_SETS.get(name) or self._of_group(name, "those") for name in names.excluded]
        return list_words(words) + (f" except {list_words(excluded)}" if excluded else "")

    def _of_group(self, name: str, what: str) -> str:
        return f'{what} of "{name}"' if name in self.schema.groups else name

    def _distance(self, name: str, atom: Within, in_list: bool = False) -> str:
        if not atom.in_sd:
            return self._amount(write_decimal(atom.distance), name)
        if self.sds is None or name not in self.sds:
            return _in_sd(atom.distance)
        amount = self._amount(_rounded(float(atom.distance) * self.sds[name]), name)
        return amount if in_list else f"{amount} ({_in_sd(atom.distance)})"  # it is in the list's head

    def _amount(self, number: str, name: str) -> str:
        """The number with the attribute's unit; a unit that is more than a plain word stands in parentheses."""
        attribute = self.schema[name]
        unit = attribute.unit if isinstance(attribute, Numeric) else None
        if unit is None:
            return number
        return f"{number} {unit}" if unit == "%" or unit.replace(" ", "").isalpha() else f"{number} ({unit})"

    # -- numbers ---------------------------------------------------------------------------------------------------

    def comparison(self, atom: Comparison, positive: bool) -> Clause:
        left, operator, right = atom.left, atom.operator if positive else NEGATED[atom.operator], atom.right
        if not left.terms and right.terms:
            left, operator, right = right, _MIRRORED[operator], left
        subject = _only_variable(left)
        if isinstance(subject, Absolute) and not right.terms and (gap := _gap_subject(subject.inside)):
            verb = _GAP[operator] if operator not in ("<", "<=") else _GAP[operator].replace("differs", "may differ")
            return Clause(f"{_gap_words(gap)} {verb} {self._constant(gap, right.constant)}")
        other = _only_variable(right)
        if isinstance(subject, Value) and not right.terms:
            amount = self._amount(write_decimal(right.constant), subject.attribute)
            return Clause(f"{_variable(subject)} {_SIZE[operator]} {amount}")
        if operator in ("=", "!=") and _are_two(subject, other):
            return Clause(f"{subject.attribute} {'is equal' if operator == '=' else 'is not equal'}")
        return Clause(f"{_linear(left)} {_SIZE[operator]} {_linear(right)}")

    def _constant(self, gap: Value | Rank, number: Fraction) -> str:
        text = write_decimal(number)
        return self._amount(text, gap.attribute) if isinstance(gap, Value) else text

    # -- categories ------------------------------------------------------------------------------------------------

    def category(self, atom: CategoryComparison, positive: bool) -> Clause:
        equal = (atom.operator == "=") == positive
        if isinstance(atom.right, str):
            return Clause(f"{_variable(atom.left)} is {'' if equal else 'not '}{quote_value(atom.right)}")
        if _are_two(atom.left, atom.right):
            return Clause(f"{atom.left.attribute} is {'' if equal else 'not '}equal")
        return Clause(f"{_variable(atom.left)} is {'' if equal else 'not '}the same as {_variable(atom.right)}")

    def membership(self, atom: Membership, positive: bool) -> Clause:
        values = [quote_value(value) for value in atom.values]
        if positive:
            return Clause(f"{_variable(atom.left)} is {list_words(values, 'or')}")
        listed = f"not {values[0]}" if len(values) == 1 else f"none of {list_words(values)}"
        return Clause(f"{_variable(atom.left)} is {listed}")


def _in_sd(distance: Fraction) -> str:
    return f"{write_decimal(distance)} standard deviation{'' if distance == 1 else 's'}"


def _rounded(number: float) -> str:
    """Three digits that count, or all before the point: 3.94, 0.127, 31,654."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _only_variable(term: Linear) -> Variable | None:
    if term.constant == 0 and len(term.terms) == 1 and term.terms[0][0] == 1:
        return term.terms[0][1]
    return None


def _are_two(first: Variable | None, second: Variable | None) -> TypeGuard[Value]:
    """Whether these are one attribute of the two people."""
    if not isinstance(first, Value) or not isinstance(second, Value):
        return False
    return first.attribute == second.attribute and first.person is not second.person


def _gap_subject(inside: Linear) -> Value | Rank | None:
    """What differs in ``|age' - age|``: age."""
    if inside.constant != 0 or sorted(factor for factor, _ in inside.terms) != [-1, 1]:
        return None
    first, second = (variable for _, variable in inside.terms)
    if isinstance(first, Absolute) or isinstance(second, Absolute) or first.person is second.person:
        return None
    return first if replace(first, person=second.person) == second else None


def _gap_words(subject: Value | Rank) -> str:
    return subject.attribute if isinstance(subject, Value) else f"the {_rank(subject)}"


def _rank(rank: Rank) -> str:
    groups = f"by {rank.by}" if rank.values is None else f"{rank.by} {list_words(rank.values, 'or')}, or not"
    return f"rank in {rank.attribute} within the own group ({groups})"


def _variable(variable: Variable) -> str:
    if isinstance(variable, Absolute):
        return f"the absolute value of ({_linear(variable.inside)})"
    owner = "the other's" if variable.person is Person.OTHER else "the person's"
    return f"{owner} {variable.attribute if isinstance(variable, Value) else _rank(variable)}"


def _linear(term: Linear) -> str:
    parts = [(factor, _variable(variable)) for factor, variable in term.terms]
    words = [
        (factor < 0, text if abs(factor) == 1 else f"{write_decimal(abs(factor))} × {text}") for factor, text in parts
    ]
    if term.constant != 0 or not words:
        words.append((term.constant < 0, write_decimal(abs(term.constant))))
    (is_minus, text), *rest = words
    return ("−" if is_minus else "") + text + "".join(f" {'−' if minus else '+'} {text}" for minus, text in rest)


# Translation of formulas to English: what is equal, what may differ and by how much, what is free.

_ALL, _ANY = "all of this holds:", "at least one of these holds:"


def explain(formula: Formula, schema: Schema, sds: Mapping[str, float] | None = None) -> str:
    """Say a formula in English.

    Parameters
    ----------
    formula, schema
        The formula, and the schema it was read under.
    sds
        The standard deviation of each numeric attribute in the training data; with it, distances given in standard
        deviations are given in the data's own units too.

    Examples
    --------
    >>> from lcifr.data.schema import Categorical, Numeric
    >>> from lcifr.phi.parser import parse
    >>> schema = Schema((Numeric("age", unit="years"), Categorical("sex", ("female", "male"))))
    >>> print(explain(parse("age within 0.3 sd", schema), schema, sds={"age": 13.13}))
    Another person is similar to a person if this holds:
    - age may differ by at most 3.94 years (0.3 standard deviations)
    Free, with any value at all: sex.
    """
    constraint = _without_free_clauses(formula)
    if constraint is None:
        anyone = "Another person is similar to a person, whoever they are: nothing is asked."
        return "\n".join([anyone, *_say_freedom(formula, schema)])
    sentence = _say(constraint, True, Phrases(schema, sds))
    head = "Another person is similar to a person if"
    if sentence.text in (_ALL, _ANY):
        lines = [f"{head} {sentence.text}", *_bullets(sentence.below, "")]
    else:
        lines = [f"{head} this holds:", *_bullets((sentence,), "")]
    return "\n".join([*lines, *_say_freedom(formula, schema), *_say_ranks(formula)])


def _without_free_clauses(formula: Formula) -> Formula | None:
    """The formula without its ``free(…)`` clauses; None if nothing else is left."""
    match formula:
        case Free():
            return None
        case And(parts, span):
            kept = tuple(part for part in map(_without_free_clauses, parts) if part is not None)
            return And(kept, span) if len(kept) > 1 else kept[0] if kept else None
        case _:
            return formula


def _bullets(lines: tuple[Clause, ...], indent: str) -> list[str]:
    shown = []
    for line in lines:
        shown += [f"{indent}- {line.text}", *_bullets(line.below, indent + "    ")]
    return shown


# -- conditions --------------------------------------------------------------------------------------------------------


def _say(formula: Formula, positive: bool, wording: Phrases) -> Clause:
    """The formula in words, or its negation where ``positive`` is false: single conditions are negated."""
    match formula:
        case Not(part):
            return _say(part, not positive, wording)
        case And(parts) | Or(parts):
            sentences = tuple(_say(part, positive, wording) for part in parts)
            return _say_all(sentences) if isinstance(formula, And) == positive else _say_any(sentences)
        case Implies(condition, consequence) if positive:
            return _say_implication(_say(condition, True, wording), _say(consequence, True, wording))
        case Implies(condition, consequence):
            return _say_all((_say(condition, True, wording), _say(consequence, False, wording)))
        case Free(
            names
        ):  # under `or` and the like no text can say it; for a tree made by hand it is put in words all the same
            return wording.free(names, positive)
        case Same():
            return wording.same(formula, positive)
        case Within():
            return wording.within(formula, positive)
        case Comparison():
            return wording.comparison(formula, positive)
        case CategoryComparison():
            return wording.category(formula, positive)
        case Membership():
            return wording.membership(formula, positive)


def _say_all(parts: tuple[Clause, ...]) -> Clause:
    flat = [line for part in parts for line in (part.below if part.text == _ALL else (part,))]
    return Clause(_ALL, tuple(flat))


def _say_any(parts: tuple[Clause, ...]) -> Clause:
    flat: list[Clause] = []
    for part in parts:
        if part.text == _ANY:  # its lines begin with "either" or "or", and are now lines of this list
            flat += [Clause(line.text.split(" ", 1)[1], line.below) for line in part.below]
        else:
            flat.append(part)
    return Clause(
        _ANY, tuple(Clause(f"{'or' if i else 'either'} {line.text}", line.below) for i, line in enumerate(flat))
    )


def _say_implication(condition: Clause, consequence: Clause) -> Clause:
    if not condition.below and not condition.text.startswith("if "):
        return Clause(f"if {condition.text}, then {consequence.text}", consequence.below)
    if not condition.below:  # an implication itself
        condition = Clause("this holds:", (condition,))
    steps = Clause(f"if {condition.text}", condition.below), Clause(f"then {consequence.text}", consequence.below)
    return Clause("under a condition:", steps)


# -- what is left to say -----------------------------------------------------------------------------------------------


def _say_freedom(formula: Formula, schema: Schema) -> list[str]:
    declared, sometimes = declared_free(formula, schema), sometimes_free_attributes(formula, schema)
    others = [name for name in free_attributes(formula, schema) if name not in declared]
    lines = [f"May differ freely, on purpose: {list_words(declared)}."] if declared else []
    lines += [f"Free, with any value at all: {list_words(others)}."] if others else []
    lines = lines or ["No attribute is free."]
    return lines + ([f"Free in some of these cases: {list_words(sometimes)}."] if sometimes else [])


def _say_ranks(formula: Formula) -> list[str]:
    ranked = sorted({rank.attribute for rank in _ranks(formula)})
    return [
        f"The rank in {name} is 1 plus the number of different higher values of {name} that the training data has "
        "within the own group: the best have rank 1."
        for name in ranked
    ]


def _ranks(formula: Formula) -> list[Rank]:
    match formula:
        case And(parts) | Or(parts):
            return [rank for part in parts for rank in _ranks(part)]
        case Not(part):
            return _ranks(part)
        case Implies(condition, consequence):
            return [*_ranks(condition), *_ranks(consequence)]
        case Comparison(left, _, right):
            return [*_ranks_in(left), *_ranks_in(right)]
        case _:
            return []


def _ranks_in(term: Linear) -> list[Rank]:
    inside = [variable.inside for _, variable in term.terms if isinstance(variable, Absolute)]
    ranks = [variable for _, variable in term.terms if isinstance(variable, Rank)]
    return ranks + [rank for linear in inside for rank in _ranks_in(linear)]
