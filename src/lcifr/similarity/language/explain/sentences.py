"""Translation of formulas to English: what is equal, what may differ and by how much, what is free."""

from __future__ import annotations

from collections.abc import Mapping

from lcifr.data.schema import Schema
from lcifr.similarity.language.constrained_attributes import declared_free, free_attributes, sometimes_free_attributes
from lcifr.similarity.language.explain.phrases import Clause, Phrases, list_words
from lcifr.similarity.language.formula import (
    Absolute,
    And,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Implies,
    Linear,
    Membership,
    Not,
    Or,
    Rank,
    Same,
    Within,
)

_ALL, _ANY = "all of this holds:", "at least one of these holds:"


def explain(formula: Formula, schema: Schema, sds: Mapping[str, float] | None = None) -> str:
    """Say a formula in English.

    Parameters
    ----------
    formula, schema
        The formula, and the schema it was read under.
    sds
        The standard deviation of each numeric attribute in the training data; with it, distances given in standard
        deviations are said in the data's own units too.

    Examples
    --------
    >>> from lcifr.data.schema import Categorical, Numeric
    >>> from lcifr.similarity.language.parser import parse
    >>> schema = Schema((Numeric("age", unit="years"), Categorical("sex", ("female", "male"))))
    >>> print(explain(parse("age within 0.3 sd", schema), schema, sds={"age": 13.13}))
    Another person is similar to a person if this holds:
    - age may differ by at most 3.94 years (0.3 standard deviations)
    Free, with any value at all: sex.
    """
    constraint = _without_free_clauses(formula)
    if constraint is None:
        everybody = "Another person is similar to a person, whoever they are: nothing is asked."
        return "\n".join([everybody, *_say_freedom(formula, schema)])
    said = _say(constraint, True, Phrases(schema, sds))
    head = "Another person is similar to a person if"
    if said.text in (_ALL, _ANY):
        lines = [f"{head} {said.text}", *_bullets(said.below, "")]
    else:
        lines = [f"{head} this holds:", *_bullets((said,), "")]
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
    """The formula in words, or its negation where ``positive`` is false: negations are said of single conditions."""
    match formula:
        case Not(part):
            return _say(part, not positive, wording)
        case And(parts) | Or(parts):
            said = tuple(_say(part, positive, wording) for part in parts)
            return _say_all(said) if isinstance(formula, And) == positive else _say_any(said)
        case Implies(condition, consequence) if positive:
            return _say_implication(_say(condition, True, wording), _say(consequence, True, wording))
        case Implies(condition, consequence):
            return _say_all((_say(condition, True, wording), _say(consequence, False, wording)))
        case Free(names):  # under `or` and the like no text can say it; of a tree made by hand it is said all the same
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
    said = [f"May differ freely, on purpose: {list_words(declared)}."] if declared else []
    said += [f"Free, with any value at all: {list_words(others)}."] if others else []
    said = said or ["No attribute is free."]
    return said + ([f"Free in some of these cases: {list_words(sometimes)}."] if sometimes else [])


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
