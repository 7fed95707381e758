"""The command ``python -m lcifr.check``: a bundle checked and compared, what it is about in words, exit codes."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from lcifr.check.bundle import ENCODER, ENCODING, PEOPLE, SIMILARITY, check_bundle, read_people
from lcifr.check.exact import Rejected, fraction, printable, reading
from lcifr.check.judge import CheckReport
from lcifr.check.people import FILES, Kinds, checked_json, compare, exit_code, kinds_of, number_text

# What a bundle is about, in words: φ as text from its own tree, who can exist, what counts as the same decision.

RULES = {
    "sign": "class 1 where the output is above {band[1]}, class 0 where it is below {band[0]}",
    "class": "the group of the largest output, more than {band[1]} ahead; groups of classes: {groups}",
    "within": "every output less than {tolerance} apart",
}
TIE = "a tie is never confirmed as the same decision"
UNIVERSES = {"whole": "numbers are whole where the schema says so", "reals": "every number within its range"}
ARITHMETICS = {
    "exact": "real numbers, without rounding",
    "float64": "every machine that computes in float64, however it rounds",
    "float32": "every machine that computes in float32, however it rounds",
}


def statement(root: Any, report: CheckReport) -> list[str]:
    """Lines for whoever reads a report: about what it is, from the very files that were checked."""
    try:
        with reading(f"{ENCODING} or {SIMILARITY}"):
            return [
                printable(line) for line in (*_about(root, report), *_decision(report), *_says_little(root, report))
            ]
    except Rejected as problem:
        if not report.exit_code:
            raise
        return [f"about what it is cannot be said: {problem}"]


def _about(root: Any, report: CheckReport) -> list[str]:
    encoding, similarity = (checked_json(root, name, report.hashes[name]) for name in (ENCODING, SIMILARITY))
    known, kinds = encoding["schema"]["attributes"], kinds_of(encoding["schema"])
    about = [f"  {_name(name)}: {_attribute(known[name], encoding['scales'].get(name))}" for name in kinds]
    nobody = [f"  nobody has {_name(name)} = {value!r}: the model takes none" for name, value in encoding["outside"]]
    similar = ["another person (other) is similar to a person (self) if", *_node(similarity["formula"], kinds, 1)]
    return [*similar, "people who can exist", *about, *nobody, *_first(root, report, kinds)]


def _first(root: Any, report: CheckReport, kinds: Kinds) -> list[str]:
    """Whether there is an encoder: a first function that reads each of its numbers from one attribute is none."""
    layers = checked_json(root, ENCODER, report.hashes[ENCODER]) if ENCODER in report.hashes else None
    if layers == {"kind": "network", "factors": []}:
        return [f"without an encoder: {ENCODER} changes nothing, the model reads the attributes"]
    if not isinstance(layers, list) or len(layers) != 1:
        return []
    place = [name for name, values in kinds.items() for _ in values or (name,)]
    if any(len({name for name, weight in zip(place, row, strict=False) if weight}) > 1 for row in layers[0]):
        return []
    return [f"without an encoder: {ENCODER} only looks up columns, each of its numbers is read from one attribute"]


def _decision(report: CheckReport) -> list[str]:
    rule, claims = report.decision, " ".join(report.confirmed)
    given = {"band": [0.0, 0.0], "groups": "", "tolerance": "", **(rule or {})}
    said = [] if rule is None else [f"the same decision: {RULES[rule['kind']].format(**given)}; {TIE}"]
    said += [f"universe {name}: {text}" for name, text in UNIVERSES.items() if f"universe: {name}" in claims]
    return said + [
        f"arithmetic {name}: {text}" for name, text in ARITHMETICS.items() if f"arithmetic: {name}" in claims
    ]


def _says_little(root: Any, report: CheckReport) -> list[str]:
    """What is confirmed and says less than one may think."""
    said, groups = list[str](), (report.decision or {}).get("groups", [])
    if report.decision is None:
        said.append("without a model: it is about a representation, and nothing is decided")
    if len(groups) == 1:
        said.append("every class counts as the same decision, so nothing can be decided otherwise")
    if alone := {*report.names["vacuous"], *report.names["vacuous_radius"]}:
        said.append(f"no one who could exist is similar to {len(alone)} of the people: about them, it says nothing")
    if not report.shares and (copies := _copies(root, report.hashes[PEOPLE])):
        said.append(f"{copies} people are the same as somebody before them in every attribute")
    return said


def _copies(root: Any, sha256: str) -> int:
    """How many people in a bundle equal an earlier person in every attribute."""
    found = [hash(json.dumps(line.get("x"), sort_keys=True)) for line in read_people(Path(root) / PEOPLE, sha256)]
    return len(found) - len(set(found))


def _name(name: str) -> str:
    """A name that is not one plain word stands in backticks, so that nothing in it reads as part of φ."""
    return name if re.fullmatch(r"[^\W\d][\w-]*", name) else f"`{name.replace('`', '``')}`"


def _attribute(entry: Any, scale: Any) -> str:
    if entry["kind"] == "categorical":
        return "one of " + ", ".join(map(repr, entry["values"]))
    ends = [(f"{words} {number_text(float(entry[key]))}") for key, words in ENDS.items() if key in entry]
    kind = "a whole number" if entry.get("integer") else "a number"
    unit = f", in {entry['unit']}" if "unit" in entry else ""
    known = f"; mean {scale['mean']!r}, standard deviation {scale['sd']!r}" if scale else ""
    return f"{kind} {' '.join(ends) or 'without a range'}{unit}{known}"


ENDS = {"lower": "from", "upper": "to"}


def _node(node: Any, kinds: Kinds, depth: int) -> list[str]:
    """A node and all below it, one line for each comparison; what is one of one is itself."""
    kind, *inside = node
    if kind == "category":
        who, name, codes = inside
        allowed = " or ".join(repr((kinds[name] or ())[code]) for code in codes)
        said = f"{who}.{_name(name)} is {allowed}" if codes else "never"
    elif kind == "compare":
        said = _comparison(*inside)
    elif kind == "same":
        (name,) = inside
        said = f"other.{_name(name)} = self.{_name(name)}"
    elif len(inside) == 1:
        return _node(inside[0], kinds, depth)
    else:
        parts = _parts(kind, inside)
        said = (
            {"all": "all of these:", "any": "one or more of these:"}[kind]
            if parts
            else {"all": "always", "any": "never"}[kind]
        )
        return ["  " * depth + said, *(line for one in parts for line in _node(one, kinds, depth + 1))]
    return ["  " * depth + said]


def _parts(kind: str, inside: Any) -> list[Any]:
    """The parts of a node, with those of parts of the same kind in their place."""
    return [part for one in inside for part in (_parts(kind, one[1:]) if one[0] == kind else [one])]


def _comparison(operator: str, constant: Any, terms: Any) -> str:
    """Constant + Σ c·term ⋈ 0, with what counts negatively on the other side."""
    sides: tuple[list[str], list[str]] = [], []
    for factor, who, name, *rank in terms:
        among = f" by {_name(rank[0])}, among {sum(len(values) for _, values in rank[1])} values" if rank else ""
        c, term = fraction(factor), f"rank({who}.{_name(name)}{among})" if rank else f"{who}.{_name(name)}"
        sides[c < 0].append(term if abs(c) == 1 else f"{_fraction(abs(c))} · {term}")
    if value := fraction(constant):
        sides[value < 0].append(_fraction(abs(value)))
    left, right = (" + ".join(side) or "0" for side in sides)
    return f"{left} {operator} {right}"


def _fraction(value: Fraction) -> str:
    """A decimal, with ≈ where it is not the fraction itself."""
    near = float(value)
    return number_text(near) if Fraction(repr(near)) == value else f"≈{number_text(near)}"


# The command: a bundle is checked, and its people are compared with the reader's own; exit codes tell.

ABOUT = "Check an audit bundle in exact arithmetic. With --people, a CSV file, say whether it is about these people."


def main(arguments: list[str] | None = None) -> int:
    """Check one bundle; the report goes to stdout, as JSON with ``--json``; None for the process's own arguments."""
    parser = argparse.ArgumentParser("python -m lcifr.check", description=ABOUT, allow_abbrev=False)
    parser.add_argument("bundle", metavar="BUNDLE")
    parser.add_argument("--patience", type=int, default=1, metavar="TIMES")
    for name in ("json", "strict"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in FILES:
        parser.add_argument(f"--{name}")
    try:
        asked = parser.parse_args(arguments)
        report = check_bundle(asked.bundle, patience=max(1, min(asked.patience, 10**9)))
        said, compared = statement(asked.bundle, report), compare(asked.bundle, report, vars(asked))
    except SystemExit as wrong:
        return int(wrong.code or 0)
    except (Rejected, OSError, RecursionError) as problem:
        print(f"{asked.bundle}: {problem}", file=sys.stderr)
        return 2
    lines = [*report.lines(), *said, *(line for one in compared for line in one.lines())]
    plain = {**asdict(report), "about": said, "compared": [asdict(one) for one in compared]}
    try:
        print(json.dumps(plain, indent=1) if asked.json else "\n".join(lines), flush=True)
    except BrokenPipeError:
        hush()
    strict = report.strict_exit_code if asked.strict else 0
    return exit_code(report, compared) or strict


def hush() -> None:
    """Drop further output, because the reader of stdout has gone; the exit code still gives the answer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
