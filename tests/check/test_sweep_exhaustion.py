"""Bundles of sweeps made to keep a checker busy: each ends within seconds and little memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.certification.made_sweeps import copy, rewrite
from tests.check.busy_files import HUGE, TINY, checked

LEAF = ["leaf", [], [[[[0, 1.0]], [], []], [[[1, 1.0]], [], []]]]
PROVED = {"id": 0, "cuts": [], "standing": "proved", "proofs": [[LEAF]]}


def number(lower: float, upper: float) -> dict[str, Any]:
    return {"kind": "numeric", "integer": False, "lower": lower, "upper": upper}


def made(folder: Path, attributes: dict[str, Any], formula: Any, layers: Any, lines: Any, rule: Any = None) -> Path:
    """A bundle about such people, whose similar ones share nothing but what φ lists."""
    programs = {name: [] for name, about in attributes.items() if about["kind"] == "numeric"}
    scales = {name: {"mean": 0.0, "sd": 1.0} for name in programs}
    encoding = {
        "format": 3,
        "schema": {"attributes": attributes},
        "scales": scales,
        "programs": programs,
        "outside": [],
    }
    (folder / "encoding.json").write_text(json.dumps(encoding))
    (folder / "similarity.json").write_text(json.dumps({"format": 4, "formula": formula}))
    (folder / "encoder.json").write_text('{"kind":"network","factors":[]}')
    (folder / "model.json").write_text(json.dumps(layers))
    others = {name: name if name.startswith("same") else f"{name}'" for name in attributes}
    sweep = {"universe": "whole", "arithmetic": "exact", "others": others, "shares": {"proved": "1"}}
    rewrite(folder, lines, sweep=sweep, decision=rule or {"kind": "sign"})
    return folder


def many_cuts(folder: Path) -> Path:
    cuts = [["a", 2.0**-k] for k in range(1, 900)]
    tree = [{"id": 0, "cuts": cuts * 40, "standing": "open"}]
    return made(folder, {"a": number(0.0, 1.0)}, ["all"], [[[1.0, 0.0]]], tree)


def many_waiting(folder: Path) -> Path:
    people = {f"a{k}": number(0.0, 1.0) for k in range(1000)}
    cuts = [["a0", 2.0**-k] for k in range(1, 900)]
    return made(folder, people, ["all"], [[[1.0] * 1000 + [0.0]]], [{"id": 0, "cuts": cuts, "standing": "open"}])


def long_fractions(folder: Path) -> Path:
    people = {f"a{k}": number(5e-324, 1e300) for k in range(2000)}
    return made(folder, people, ["all"], [[[1.0] * 2000 + [0.0]]], [{**PROVED, "standing": "open"}])


def many_equalities(folder: Path) -> Path:
    people = {f"same{k}": {"kind": "categorical", "values": ["0", "1"]} for k in range(1500)}
    formula = ["all", *(["same", f"same{k}"] for _ in range(4) for k in range(1500))]
    return made(folder, people, formula, [[[1.0] * 3000 + [0.0]]], [PROVED])


def many_that_are_not_shared(folder: Path) -> Path:
    people = {f"a{k}": {"kind": "categorical", "values": [str(v) for v in range(3)]} for k in range(8)}
    return made(folder, people, ["all", *(["same", name] for name in people)], [[[1.0] * 24 + [0.0]]], [PROVED])


def many_classes(folder: Path) -> Path:
    rule = {"kind": "class", "groups": [[k] for k in range(2000)]}
    return made(folder, {"a": number(0.0, 1.0)}, ["all"], [[[1.0, 0.0]] * 2000], [PROVED], rule)


def long_weights(folder: Path) -> Path:
    row = [HUGE, TINY] * 20
    layers = [[[HUGE, TINY, 1.0]] * 40, *([[*row, 0.0]] * 40 for _ in range(3)), [[*row, 0.0]]]
    people = {"a": number(0.0, 1.0), "b": number(0.0, 1.0)}
    return made(folder, people, ["all"], layers, [{**PROVED, "id": k, "cuts": [["a", 0.5]] * (k == 0)} for k in (0, 1)])


@pytest.mark.parametrize(
    "attack",
    [many_cuts, many_waiting, long_fractions, many_equalities, many_that_are_not_shared, many_classes, long_weights],
)
def test_a_busy_sweep_ends(attack: Any, tmp_path: Path) -> None:
    done = checked(attack(copy("one-sided", tmp_path)))
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr[-300:])
    assert "Traceback" not in done.stderr
