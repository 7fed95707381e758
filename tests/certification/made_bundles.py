"""Audit bundles of generated scenes: right ones, changed ones with hashes redone, and an exact judge of claims."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.check.exact import Rejected, reading
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula, derive
from lcifr.check.table import AttributeTable
from lcifr.data.files import sha256_of
from tests.certification.scenes import FORMULAS, Scene, scene
from tests.check.tables import features

KINDS = ("ball", "box", "whole")


UNIVERSES, ARITHMETICS = ("reals", "whole"), ("exact", "float64", "float32")
SCENES = ((2, 0), (5, 1), (3, 2), (4, 4), (7, 0))  # seed, formula


@cache
def bundle(number: int, kind: str) -> Path:
    """A bundle that is right, as a folder."""
    seed, formula = SCENES[number]
    one: Scene = scene(seed, FORMULAS[formula], count=4)
    handed = represent(one.encoder, one.people)
    found: Any = audit(one.encoder, one.model, one.people, modular=False)
    if kind != "whole":
        found = certify(handed, one.model, on=kind)  # type: ignore[arg-type]
    folder = Path(mkdtemp()) / "bundle"
    write_bundle(folder, one.encoder, one.people, handed, found)
    return folder


WEIGHTS = ("encoder.json", "model.json")


@cache
def contents(number: int, kind: str) -> dict[str, Any]:
    return contents_of(bundle(number, kind))


def contents_of(folder: Path) -> dict[str, Any]:
    """Everything in a bundle as JSON values."""
    lines = gzip.decompress((folder / "people.jsonl.gz").read_bytes()).decode().splitlines()
    weights = {name: json.loads((folder / name).read_text()) for name in WEIGHTS if (folder / name).exists()}
    return {
        "lines": [json.loads(line) for line in lines],
        "similarity": json.loads((folder / "similarity.json").read_text()),
        "encoding": json.loads((folder / "encoding.json").read_text()),
        "manifest": json.loads((folder / "manifest.json").read_text()),
        **weights,
    }


def judge_of(plain: dict[str, Any]) -> Judge:
    with reading("the bundle"):
        formula = Formula(plain["similarity"]["formula"], AttributeTable(plain["encoding"]))
        return Judge(formula, *(plain[name] for name in WEIGHTS), plain["manifest"]["decision"])


def judged_by(judge: Judge, line: Any) -> CheckReport:
    """The report about one person."""
    report = CheckReport()
    with reading("the line"):
        judge.judge(line, report)
    return report


def places(plain: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    found = [path] if path else []
    for key, value in inside:
        found += places(value, (*path, key))
    return found


def mutate(plain: dict[str, Any], where: str, rng: np.random.Generator) -> None:
    """Change one number, or remove, repeat or exchange things, in one part of the bundle."""
    target: Any = {
        "proof": [line.get(part, {}).get("proofs", []) for line in plain["lines"] for part in ("latent", "decision")],
        "weights": [plain[name] for name in WEIGHTS],
        "latent": [{k: v for k, v in line["latent"].items() if k != "proofs"} for line in plain["lines"]],
        "x": [line["x"] for line in plain["lines"]],
        "similarity": [plain["similarity"]["formula"]],
        "verdict": [line["decision"] for line in plain["lines"]],
    }[where]
    choices = [path for path in places(target) if "proofs" not in path or where == "proof"]
    path = choices[rng.integers(len(choices))]
    parent = target
    for key in path[:-1]:
        parent = parent[key]
    value = parent[path[-1]]
    if isinstance(value, float):
        options = [-value, 0.0, value / 2, value * 1.5, value + rng.normal(), np.nextafter(value, -9e9)]
        parent[path[-1]] = float(options[rng.integers(len(options))])
    elif value in ("certified", "undecided", "counterexample"):
        parent[path[-1]] = "certified"
    elif value in UNIVERSES + ARITHMETICS:
        others = UNIVERSES if value in UNIVERSES else ARITHMETICS
        parent[path[-1]] = others[rng.integers(len(others))]
    elif isinstance(value, bool):
        parent[path[-1]] = not value
    elif isinstance(value, int):
        parent[path[-1]] = int(rng.integers(3)) if where != "similarity" else value + int(rng.integers(-2, 3))
    elif isinstance(value, list) and len(value) > 1:
        one, other = rng.integers(len(value), size=2)
        value[one], value[other] = value[other], value[one]
    elif isinstance(parent, list) and len(path) > 1:
        parent.pop(path[-1])
    if where == "latent":  # it was a copy without the proofs
        for line, changed in zip(plain["lines"], target, strict=True):
            line["latent"] = changed | {"proofs": line["latent"]["proofs"]}


def outputs(function: Any, point: Sequence[float]) -> list[Fraction]:
    """The outputs at a point, exactly."""
    found: list[Fraction] = function.at({("numeric", 0): [*enumerate(point)]})
    return found


class Oracle:
    """Looks for a similar person who makes a claim false, by exact evaluation at corners and random points of cells."""

    def __init__(self, judge: Judge, seed: int) -> None:
        self.judge, self.rng = judge, np.random.default_rng(seed)

    def points(self, x: Any, universe: str) -> list[list[float]]:
        """Points of the person's cells, the person included; rows respected, whole numbers whole where they must be."""
        found = [features(self.judge.table, x)]
        for cell in derive(self.judge.formulas[universe], x):
            wholes = dict(cell.wholes.values())
            for _ in range(30):
                point = [0.0] * len(found[0])
                for (kind, _), corners in cell.groups.items():
                    column, value = corners[self.rng.integers(len(corners))]
                    if kind == "numeric" and self.rng.random() < 0.3:
                        (_, low), (_, high) = corners
                        value = min(max(low + self.rng.random() * (high - low), low), high)
                        if column in wholes:
                            value = self.whole_near(wholes[column], value, low, high)
                    point[column] = value
                whole = [Fraction(value) for value in (*point, 1.0)]
                if all(sum(Fraction(a) * v for a, v in zip(row, whole, strict=True)) <= 0 for row in cell.rows):
                    found.append(point)
        return found

    def refutes(self, line: Any) -> bool:
        """Whether the radius or a certificate of this line is surely false."""
        x = self.judge.table.person(line["x"])
        latent, decision = line["latent"], line["decision"]
        z, radius = [Fraction(v) for v in latent["z"]], Fraction(latent["radius"])
        ends = [[Fraction(v) for v in latent[key]] for key in ("lower", "upper")]
        for point in self.points(x, latent["universe"]):
            landed = outputs(self.judge.encoder, point)
            for j, value in enumerate(landed):
                if abs(value - z[j]) > radius or not ends[0][j] <= value <= ends[1][j]:
                    return True
        if decision["verdict"] != "certified":
            return False
        return any(self.decided(point) != decision["prediction"] for point in self.points(x, decision["universe"]))

    def whole_near(self, encode: Any, value: float, low: float, high: float) -> float:
        """The encoding of a whole number that is not outside."""
        zero, one = encode(0.0), encode(1.0)
        near = encode(round((value - zero) / (one - zero)))
        return near if low <= near <= high else low

    def decided(self, point: list[float]) -> int:
        value = outputs(self.judge.whole, point)[0]
        return -1 if value == 0 else int(value > 0)


def said_of(plain: dict[str, Any], **about: str) -> dict[str, Any]:
    """The same claims, of another universe or arithmetic."""
    plain = copy.deepcopy(plain)
    for line in plain["lines"]:
        for part in ("latent", "decision"):
            if "universe" in line.get(part, {}):
                line[part] |= about
    return plain


PARTS = ("proof", "weights", "latent", "x", "similarity", "verdict")


def changed(number: int, kind: str, where: str, change: int, **about: str) -> dict[str, Any]:
    """A bundle that was right, after one change."""
    plain = said_of(contents(number, kind), **about)
    mutate(plain, where, np.random.default_rng(change))
    return plain


def confirmed_in(plain: dict[str, Any]) -> list[tuple[Any, CheckReport]]:
    """The people of whom everything is confirmed; nobody, where the bundle cannot be read."""
    try:
        judge = judge_of(plain)
        judged = [(line, judged_by(judge, line)) for line in plain["lines"]]
    except Rejected:
        return []
    return [(line, report) for line, report in judged if not report.rejected]


def rewritten(tmp_path: Path, plain: dict[str, Any]) -> Path:
    """The bundle with these contents, all hashes redone."""
    folder = tmp_path / "bundle"
    folder.mkdir(parents=True)
    for name in WEIGHTS:
        (folder / name).write_text(json.dumps(plain[name]))
    for key in ("similarity", "encoding"):
        (folder / f"{key}.json").write_text(json.dumps(plain[key]))
    text = "".join(json.dumps(line) + "\n" for line in plain["lines"])
    (folder / "people.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    files = {f.name: {"sha256": sha256_of(f), "bytes": f.stat().st_size} for f in folder.iterdir()}
    manifest = plain["manifest"] | {"files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def with_text(tmp_path: Path, plain: dict[str, Any], name: str, text: str) -> Path:
    """The bundle with a file whose text no writer makes, its hash redone."""
    folder = rewritten(tmp_path, plain)
    (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": sha256_of(folder / name), "bytes": (folder / name).stat().st_size}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder
