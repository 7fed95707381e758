"""Bundles of sweeps that somebody changed: nothing wrong is confirmed of anybody, whatever was changed."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.certification.sweep.bundle import write_sweep_bundle
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.check import Rejected, check_bundle
from lcifr.check.judge import CheckReport
from tests.certification.made_sweeps import UNIVERSES, copy, lines_of, rewrite, sweep_of
from tests.certification.sweep.tiny import SCHEMA, TinyUniverse, everybody


def cells_by_person(lines: list[dict[str, Any]]) -> dict[int, str]:
    """Of each of the 72 the id of the cell they are in, by following the cuts one person at a time."""
    people, names = everybody(), SCHEMA.names_numeric
    waiting, found = [list(range(len(people)))], dict[int, str]()
    for line in lines:
        for name, border in line["cuts"]:
            rows = waiting.pop()
            value = people.number(name) if name in names else people.code(name)
            first = [row for row in rows if (value[row] <= border if name in names else value[row] in border)]
            waiting += [[row for row in rows if row not in first], first]
        found |= dict.fromkeys(waiting.pop(), str(line["id"]))
    return found


def assert_nothing_wrong(report: CheckReport, lines: list[dict[str, Any]], universe: TinyUniverse) -> None:
    violating, cells = universe.violating(), cells_by_person(lines)
    for row, cell in cells.items():
        if cell in report.names.get("proved", []) + report.names.get("strict crossings only", []):
            assert not violating[row]
        if cell in report.names.get("violating", []):
            assert violating[row]


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of every value in lists and mappings."""
    inside = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [path, *(place for key, value in inside for place in places(value, (*path, key)))]


def other_value(value: Any, rng: random.Random) -> Any:
    if isinstance(value, float):
        return rng.choice([-value, 0.0, value * 2, float(np.nextafter(value, np.inf)), 1e300])
    if isinstance(value, int):
        return value + rng.choice([-1, 1])
    if isinstance(value, str):
        return rng.choice(["proved", "violating", "open", "strict crossings only", "sex", "whole", "reals", value])
    return rng.choice([[], {}, None, [value, value]])


def change_one_value(lines: list[dict[str, Any]], rng: random.Random) -> None:
    line = rng.choice(lines)
    *path, last = rng.choice([place for place in places(line) if place and place != ("id",)])
    inside: Any = line
    for key in path:
        inside = inside[key]
    if rng.random() < 0.2:
        del inside[last]
    else:
        inside[last] = other_value(inside[last], rng)


def try_changes(folder: Path, universe: TinyUniverse, rng: random.Random, examples: int) -> int:
    """How many of the changed bundles were refused, or not confirmed."""
    honest, refused = lines_of(folder), 0
    for _ in range(examples):
        lines = json.loads(json.dumps(honest))
        change_one_value(lines, rng)
        rewrite(folder, lines)
        try:
            report = check_bundle(folder)
        except Rejected:
            refused += 1
            continue
        refused += report.exit_code
        assert_nothing_wrong(report, lines, universe)
    return refused


def test_a_value_changed_at_random_confirms_nothing_wrong(tmp_path: Path):
    assert try_changes(copy("one-sided", tmp_path), UNIVERSES["one-sided"](), random.Random(7), 12) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["conditional", "one-sided", "classes", "float32"])
def test_many_values_changed_at_random_confirm_nothing_wrong(name: str, tmp_path: Path):
    assert try_changes(copy(name, tmp_path), UNIVERSES[name](), random.Random(8), 200) > 20


def test_a_standing_that_is_not_the_cells_own_is_not_confirmed(tmp_path: Path):
    """Each cell under the other claim, with any proof of any other cell."""
    folder = copy("conditional", tmp_path)
    lines = lines_of(folder)
    proofs = [tree for line in lines for tree in line.get("proofs", [])]
    for line in lines:
        if line["standing"] == "violating":
            line |= {"standing": "proved", "proofs": proofs}
            line.pop("decision")
    rewrite(folder, lines)
    report = check_bundle(folder)
    assert_nothing_wrong(report, lines, UNIVERSES["conditional"]())
    assert len(report.rejected) > 10


def test_a_cell_that_is_left_out_or_there_twice_is_refused(tmp_path: Path):
    folder = copy("one-sided", tmp_path)
    lines = lines_of(folder)
    for changed in (lines[:-1], [*lines, {**lines[-1], "id": "again"}], [{**lines[0], "cuts": []}, *lines[1:]]):
        rewrite(folder, changed)
        with pytest.raises(Rejected):
            check_bundle(folder)


def test_a_cut_with_nobody_on_one_side_is_refused(tmp_path: Path):
    folder = copy("one-sided", tmp_path)
    lines = lines_of(folder)
    for cut in (["age", 3.0], ["age", -1.0], ["race", [0, 1, 2]], ["race", []], ["age", 0.5], ["nobody", 1.0]):
        first = {**lines[0], "cuts": [cut, *lines[0]["cuts"]]}
        rewrite(
            folder, [{"id": "new", "cuts": [cut], "standing": "open"}, {**first, "cuts": first["cuts"][1:]}, *lines[1:]]
        )
        with pytest.raises(Rejected):
            check_bundle(folder)


def test_a_cut_along_what_nobody_has_counts_no_cell_twice(tmp_path: Path):
    """Over the reals, where no attribute is asked whether it is whole: each half would be the whole cell again."""
    swept, folder = UNIVERSES["one-sided"]().swept, tmp_path / "bundle"
    write_sweep_bundle(folder, swept, Sweeper(swept, whole=False).run(cells=1))
    first, *others = lines_of(folder)
    halves = [{**first, "cuts": [*first["cuts"], ["nobody", 1.0]]}, {**first, "id": "again", "cuts": []}]
    rewrite(folder, [*halves, *others])
    with pytest.raises(Rejected):
        check_bundle(folder)


def test_the_order_in_which_the_manifest_names_attributes_says_nothing(tmp_path: Path):
    """The columns of x′ are those of the schema's order, as those of x are: the same proofs are confirmed."""
    folder = copy("conditional", tmp_path)
    sweep, honest = sweep_of(folder), check_bundle(folder)
    rewrite(folder, sweep={**sweep, "others": dict(reversed(sweep["others"].items()))})
    report = check_bundle(folder)
    assert (report.rejected, report.shares) == ({}, honest.shares)


@pytest.mark.parametrize("name", ["age", "sex"])
def test_what_phi_does_not_keep_equal_is_not_shared(name: str, tmp_path: Path):
    folder = copy("conditional", tmp_path)
    sweep = sweep_of(folder)
    for other in (name, "income", sweep["others"]["income"]):
        rewrite(folder, sweep={**sweep, "others": {**sweep["others"], name: other}})
        with pytest.raises(Rejected, match="does not keep equal, or two have the same name"):
            check_bundle(folder)


def test_a_name_that_nobody_has_makes_no_two_names_of_one(tmp_path: Path):
    folder = copy("conditional", tmp_path)
    sweep = sweep_of(folder)
    apart = [name for name, other in sweep["others"].items() if name != other]
    rewrite(folder, sweep={**sweep, "others": {**sweep["others"], **dict.fromkeys(apart, "one"), "nobody": "two"}})
    with pytest.raises(Rejected, match="two have the same name"):
        check_bundle(folder)


def test_a_pair_that_is_not_similar_or_decided_alike_is_not_confirmed(tmp_path: Path):
    folder = copy("conditional", tmp_path)
    lines = lines_of(folder)
    alone = next(line for line in lines if line["standing"] == "violating" and "change" not in line)
    for other in (alone["x"], {**alone["x"], "codes": [1 - alone["x"]["codes"][0], (alone["x"]["codes"][1] + 1) % 3]}):
        changed = [
            {**line, "decision": {**line["decision"], "other": other}} if line is alone else line for line in lines
        ]
        rewrite(folder, changed)
        assert str(alone["id"]) in check_bundle(folder).rejected


def test_shares_that_are_miscounted_are_not_confirmed(tmp_path: Path):
    folder = copy("conditional", tmp_path)
    sweep = sweep_of(folder)
    shares = {**sweep["shares"], "proved": str(Fraction(sweep["shares"]["proved"]) + Fraction(1, 72))}
    rewrite(folder, sweep={**sweep, "shares": shares})
    report = check_bundle(folder)
    assert report.exit_code == 1
    assert [*report.rejected] == ["shares"]


def test_in_a_larger_universe_the_old_proofs_do_not_speak_of_the_new_people(tmp_path: Path):
    """age up to 6: the shares are others, and whatever is confirmed is true of the 72 people as before."""
    folder = copy("conditional", tmp_path)
    encoding = json.loads((folder / "encoding.json").read_bytes())
    encoding["schema"]["attributes"]["age"]["upper"] = 6.0
    (folder / "encoding.json").write_text(json.dumps(encoding))
    rewrite(folder)
    report = check_bundle(folder)
    assert "shares" in report.rejected
    assert_nothing_wrong(report, lines_of(folder), UNIVERSES["conditional"]())


def test_another_model_under_the_same_proofs_confirms_nothing_wrong(tmp_path: Path):
    folder, one = copy("conditional", tmp_path), UNIVERSES["conditional"]()
    other = TinyUniverse(one.text, TinyUniverse.with_network(7).function, one.rule)
    (folder / "model.json").write_bytes(other.function.to_bytes())
    rewrite(folder)
    report = check_bundle(folder)
    assert report.rejected
    assert_nothing_wrong(report, lines_of(folder), other)


def test_a_machine_that_rounds_more_needs_proofs_of_its_own(tmp_path: Path):
    """What is proved of exact arithmetic says nothing of a float32 machine where the margin is smaller than that."""
    folder = copy("conditional", tmp_path)
    sweep = sweep_of(folder)
    for arithmetic in ("float32", "float16"):
        rewrite(folder, sweep={**sweep, "arithmetic": arithmetic})
        try:
            report = check_bundle(folder)
        except Rejected:
            continue
        assert_nothing_wrong(report, lines_of(folder), UNIVERSES["conditional"]())
