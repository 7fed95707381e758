"""Bundles of sweeps over universes so small that all pairs can be tried."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from sklearn.tree import DecisionTreeClassifier

from lcifr.certification.subject import Subject, subject_of
from lcifr.certification.sweep.bundle import write_sweep_bundle
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.data.files import describe_files
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.rule import Rule
from lcifr.phi.similarity import Similarity
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, TinyUniverse, everybody, fitted

PLACE = Path(tempfile.mkdtemp(prefix="lcifr-sweeps-"))


def numbers() -> TinyUniverse:
    """A number must not differ by more than a tolerance."""
    one = TinyUniverse.with_network(1)
    return TinyUniverse(one.text, one.function, Rule.of(1, tolerance=0.5))


def on_a_machine() -> TinyUniverse:
    """Computed in float32."""
    one = TinyUniverse.with_network(5)
    return TinyUniverse(one.text, one.function, one.rule, Arithmetic.FLOAT32)


def with_a_band() -> TinyUniverse:
    """Between two outputs nobody can tell."""
    one = TinyUniverse.with_network(3)
    return TinyUniverse(one.text, one.function, replace(one.rule, band=(-0.01, 0.02)))


def with_ranks() -> TinyUniverse:
    """Who is similar rests on ranks."""
    one = TinyUniverse.with_network(3)
    return TinyUniverse(f"{FORMULAS[0]} and |rank(age by race) - 1| <= 1", one.function, one.rule)


UNIVERSES: dict[str, Callable[[], TinyUniverse]] = {
    "conditional": lambda: TinyUniverse.with_network(3),
    "one-sided": lambda: TinyUniverse.with_network(2),
    "classes": lambda: TinyUniverse.with_network(2, outputs=3),
    "numbers": numbers,
    "float32": on_a_machine,
    "band": with_a_band,
}

HARDER: dict[str, Callable[[], TinyUniverse]] = {
    "strict": lambda: TinyUniverse.with_network(4),
    "ranks": lambda: with_ranks(),
    "ties": lambda: TinyUniverse.with_ties(3),
}
"""Of these a sweep knows more than proofs over closed regions can show."""


def decision_tree() -> Subject:
    """A tree of scikit-learn."""
    model, table = fitted(DecisionTreeClassifier(max_depth=3, random_state=0), 1), everybody().to_pandas()
    similarity = Similarity(FORMULAS[1], SCHEMA, ENCODING)
    subject = subject_of(model, table, None, similarity, None, None, "float64").subject
    return replace(subject, reference=None)


@cache
def written(name: str) -> Path:
    """The bundle of one of the universes, or of the tree; not to be changed."""
    swept = decision_tree() if name == "tree" else (UNIVERSES | HARDER)[name]().swept
    write_sweep_bundle(PLACE / name, swept, Sweeper(swept).run())
    return PLACE / name


def copy(name: str, place: Path) -> Path:
    """A bundle that may be changed."""
    shutil.copytree(written(name), place / name)
    return place / name


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Its cells."""
    with gzip.open(folder / "people.jsonl.gz") as file:
        return [json.loads(line) for line in file]


def rewrite(folder: Path, lines: list[dict[str, Any]] | None = None, **changes: Any) -> None:
    """Other cells, or another manifest, with the hashes that belong to them: whoever tampers does that too."""
    if lines is not None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "people.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").unlink()
    manifest |= {"files": describe_files(folder), **changes}
    manifest["people"] = manifest["people"] if lines is None else len(lines)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def sweep_of(folder: Path) -> dict[str, Any]:
    """What the manifest says of the sweep."""
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())["sweep"]
    return found


def shares_of(universe: TinyUniverse) -> dict[str, str]:
    """By trying all pairs."""
    violating = universe.share()
    found = {"proved": 1 - violating, "violating": violating}
    return {standing: str(share) for standing, share in found.items() if share != Fraction(0)}
