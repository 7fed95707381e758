"""Linter for formulas: asymmetry, free attributes, empty or singleton regions, proxies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lcifr.data import Categorical, Individuals
from lcifr.errors import RegionError
from lcifr.regions.cell import Cell
from lcifr.similarity.language.constrained_attributes import declared_free, find_usage, free_attributes
from lcifr.similarity.language.explain.phrases import list_words
from lcifr.similarity.language.formula import Free, Same, Within, subformulas
from lcifr.similarity.language.names import attributes_in, quote_name
from lcifr.similarity.language.printer import print_set
from lcifr.similarity.linting.branches import disjunctions, plans_of, subsumes
from lcifr.similarity.linting.finding import Example, Finding, Severity, describe_person, short_percent, values_of
from lcifr.similarity.linting.proxies import find_proxies
from lcifr.similarity.linting.synthetic_pairs import find_false_part, shrink, swapped, synthesize_pairs
from lcifr.similarity.linting.thresholds import find_odd_thresholds
from lcifr.similarity.proposal_mark import UNTOUCHED, is_untouched
from lcifr.similarity.semantics.core import Booleans, Floats, PairedPeople
from lcifr.similarity.semantics.holds import evaluate
from lcifr.similarity.semantics.resolve import resolve
from lcifr.similarity.similarity import Similarity

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
            said = [
                f"of the {proxy.people} people with {quote_name(kept)} {proxy.value}, "
                f'{short_percent(proxy.share)} have "{proxy.given_away}" ({short_percent(proxy.base)} of all)'
                for proxy in proxies[:EXAMPLES]
            ]
            more = f"; and {len(proxies) - EXAMPLES} more such values" if len(proxies) > EXAMPLES else ""
            yield Finding(
                "proxy",
                Severity.WARNING,
                f"{name} is free, but {kept} gives it away: {'; '.join(said)}{more}",
            )
