"""Files made to keep a checker busy: each ends within seconds and little memory, and the reason names the limit."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import represent
from lcifr.check.exact import COUNTER, LETTERS, STEPS
from lcifr.errors import ArtefactError
from tests.certification.made_bundles import SCENES, contents, judge_of, judged_by, rewritten, said_of, with_text
from tests.certification.scenes import FORMULAS, scene
from tests.check.busy_files import (
    HUGE,
    LEAF,
    PEOPLE,
    PRIMES,
    TINY,
    Attack,
    categories,
    chain_of,
    chain_through,
    checked,
    formula,
    named_again,
    nested,
    proofs,
    put,
    ranks,
    row,
    scores,
    some_of,
    trees,
    whole,
    wide,
)

ATTACKS: dict[str, tuple[Attack, str]] = {
    "80 × 80 alternatives": (formula(["all", some_of("age", 80), some_of("income", 80)]), "cells"),
    "300 × 300 alternatives": (formula(["all", some_of("age", 300), some_of("income", 300)]), "cells"),
    "4,000 alternatives": (formula(some_of("income", 4000)), "cells"),
    "500 alternatives, again and again": (formula(["all", *[some_of("income", 500)] * 8]), "steps"),
    "2,000 rows": (formula(["all", *map(row, range(2000))]), "steps"),
    "rows of many alternatives": (formula(["all", some_of("age", 400), *map(row, range(300))]), "steps"),
    "long denominators": (formula(row(1, [[[1, p**120], "other", "age"] for p in PRIMES[:100]])), "bits in the common"),
    "many ranks in many cells": (formula(["all", some_of("income", 500), *ranks(400, 20)]), "steps"),
    "wide layers of long integers": (wide(7, 30, width=80), "bits of weights|steps"),
    "many categories": (categories(60_000), "columns"),
    "very many categories": (categories(600_000), "values"),
    "many leaves, again and again": (proofs([[["relu", 0, 0]] * 499 + [LEAF] * 500] * 100), "steps"),
    "many leaves of one tree": (proofs([[["relu", 0, 0]] * 59_999 + [LEAF] * 60_000]), "steps"),
    "very many nodes": (proofs([[LEAF] * 200_000]), "values"),
    "very many trees": (proofs([[LEAF, LEAF]] * 70_000), "steps"),
    "no trees": (proofs([[]] * 400_000), "steps"),
    "splits alone": (proofs([[["relu", 0, k % 3] for k in range(150_000)]]), "steps"),
    "passes without end": (proofs([[["leaf", [[0, [0] * 400_000, [], []]], []]]]), "steps"),
    "an id that does not end": (put("lines", 0, "id", value="1" * 10_000_000), "letters"),
    "everybody there is": (put("manifest", "people", value=8_000_000_000), "people"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_limit_ends_it(name: str, tmp_path: Path) -> None:
    attack, limit = ATTACKS[name]
    plain = copy.deepcopy(contents(0, "whole"))
    attack(plain)
    done = checked(rewritten(tmp_path, plain))
    assert (done.returncode, done.stdout) == (2, ""), (done.returncode, done.stderr[-500:])
    assert re.search(rf"beyond a limit: at most [\d,]+ .*({limit})", done.stderr), done.stderr[:500]


STUMP = [["numeric", 0, 0.0], ["leaf", [[0, 1.0]]], ["leaf", [[0, -1.0]]]]
MANY = [["leaf", [], [[[[0, -1.0 - k / 1000]], [], []] for k in range(20_000)]]]
TREES: dict[str, Attack] = {
    "a tree as deep as a file allows": trees({"trees": [chain_of(20_000)]}, [LEAF]),
    "a tree of many splits": trees({"trees": [chain_of(300)] * 60}, [LEAF]),
    "many directions of many trees": trees({"trees": [STUMP] * 8_000}, MANY),
    "many splits of many trees": trees({"trees": [STUMP] * 8_000}, [["numeric", 0, 0.0]] * 3_000 + [LEAF] * 3_001),
    "many outputs of many trees": trees(
        {"base": [1.0] * 20_000, "trees": [[["leaf", [[k, HUGE], [k + 1, TINY]]]] for k in range(10_000)]}, [LEAF]
    ),
    "long integers": trees({"trees": [[["leaf", [[0, HUGE if k % 2 else TINY]]]] for k in range(9_000)]}, MANY),
    "a leaf of many outputs": scores([[["leaf", [[k, 1.0] for k in range(12_000)]]]], 12_000, [1, 1]),
    "a long scale": scores([[["leaf", [[k, TINY] for k in range(12_000)]]]], 12_000, [10**4000 + 1, 10**4000 + 7]),
    "a tree about many attributes": chain_through(800, 18),
}


@pytest.mark.parametrize("name", TREES)
def test_trees_made_to_keep_a_checker_busy_end(name: str, tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "whole"))
    TREES[name](plain)
    done = checked(rewritten(tmp_path, plain))
    assert done.returncode in (1, 2), (done.returncode, done.stdout[-300:], done.stderr[-300:])
    assert "Traceback" not in done.stderr


HARMLESS: dict[str, Attack] = {
    "a long numerator": formula(["compare", "<=", [10**4000, 1], []]),
    "nodes inside each other": formula(nested(150)),
    "very many nodes inside each other": formula(nested(400)),
    "a thousand empty layers": put("encoder.json", value=[[[0.0] * 8], *[[]] * 1000]),
    "a thousand layers": put("encoder.json", value=[[[1.0] * 8], *[[[1.0, 1.0]]] * 1000, [[1.0, 1.0]] * 3]),
    "many outputs": put("model.json", value=[[[1.0] * 4] * 2000]),
    "many factors": put("model.json", value={"kind": "network", "factors": [[[[1.0] * 4] * 3]] * 3000}),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_no_limit_is_about_ends_as_well(name: str, tmp_path: Path) -> None:
    """It is counted as work, or as values of a file."""
    plain = copy.deepcopy(contents(0, "whole"))
    HARMLESS[name](plain)
    done = checked(rewritten(tmp_path, plain))
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr[-300:])
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("borders", [range(60_000), [10**300 + k for k in range(5_000)]], ids=["many", "enormous"])
def test_splits_at_whole_numbers_without_end_end(borders: Iterable[int], tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "whole"))
    proofs([whole(borders)])(plain)
    done = checked(rewritten(tmp_path, plain))
    assert done.returncode in (1, 2), done.stderr[-300:]


@pytest.mark.parametrize("k", [10**4000, -(10**4000), 2**1024, True, 1e300, "1"])
def test_a_border_that_no_float_has_costs_nothing(k: Any, tmp_path: Path) -> None:
    plain = said_of(contents(0, "whole"), universe="whole")
    plain["lines"][0]["latent"]["proofs"] = [whole([k] * 200)]
    done = checked(rewritten(tmp_path, plain))
    assert done.returncode == 1, done.stderr[-300:]
    assert "NOT confirmed: 0" in done.stdout


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_machines_on_wide_layers_end(arithmetic: str, tmp_path: Path) -> None:
    plain = said_of(contents(0, "whole"), arithmetic=arithmetic)
    wide(7, 30, (1e30, 1e-30), width=60)(plain)
    done = checked(rewritten(tmp_path, plain))
    assert done.returncode in (1, 2), done.stderr[-300:]


def test_deep_layers_of_long_integers_end(tmp_path: Path) -> None:
    """What one pass costs is within the limits, and nobody is where the box says."""
    plain = copy.deepcopy(contents(0, "whole"))
    wide(7, 30)(plain)
    done = checked(rewritten(tmp_path, plain))
    assert (done.returncode, done.stdout[:6]) == (1, "0 of 4")


def test_a_little_gzip_that_becomes_much_is_not_unpacked(tmp_path: Path) -> None:
    """300 MB from as many kilobytes, in lines of 60 MB that are JSON."""
    folder = rewritten(tmp_path, copy.deepcopy(contents(0, "whole")))
    with gzip.open(folder / PEOPLE, "wb", 6) as file:
        for k in range(5):
            file.write(b'{"id": %d, "more": "' % k + b" " * 60_000_000 + b'"}\n')
    named_again(folder)
    done = checked(folder)
    assert done.returncode == 2
    assert re.search(r"beyond a limit: at most [\d,]+ bytes in line 0 of people", done.stderr), done.stderr


def test_many_short_lines_from_a_little_gzip_are_not_read_either(tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "whole"))
    line = json.dumps(plain["lines"][0] | {"more": " " * 100_000})
    plain["manifest"]["people"] = 100_000
    folder = with_text(
        tmp_path, plain, PEOPLE, "".join(line.replace('"id": 0', f'"id": {k}') + "\n" for k in range(300))
    )
    done = checked(folder)
    assert done.returncode == 2
    assert "people.jsonl.gz holds" in done.stderr


@pytest.mark.parametrize("name", ["similarity.json", "people.jsonl.gz"])
def test_brackets_without_end_are_refused(name: str, tmp_path: Path) -> None:
    folder = with_text(tmp_path, copy.deepcopy(contents(0, "whole")), name, "[" * 100_000 + "]" * 100_000)
    done = checked(folder)
    assert done.returncode == 2
    assert "RecursionError" in done.stderr


def test_patience_allows_more_work_and_no_more_of_anything_else(tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "whole"))
    ATTACKS["2,000 rows"][0](plain)
    folder = rewritten(tmp_path, plain)
    done = checked(folder, "--patience=2")
    assert f"at most {2 * STEPS:,} steps of work" in done.stderr


@pytest.mark.parametrize("number", range(len(SCENES)))
def test_honest_bundles_stay_far_below_the_limits(number: int) -> None:
    """A tenth of the work for one person, at most; docs/design/proofs.md has the factors for German and Adult."""
    plain = contents(number, "whole")
    judge = judge_of(plain)
    for line in plain["lines"]:
        assert not judged_by(judge, line).rejected
        assert 0 < COUNTER.done < STEPS / 10


def test_work_is_counted_for_each_person_alone() -> None:
    plain = contents(0, "whole")
    judge, steps = judge_of(plain), []
    for _ in range(3):
        judged_by(judge, plain["lines"][0])
        steps.append(COUNTER.done)
    assert len(set(steps)) == 1


def test_what_the_checker_would_refuse_is_not_written(tmp_path: Path) -> None:
    one = scene(1, FORMULAS[0], count=2)
    handed = represent(one.encoder, one.people, ["a", "b" * (LETTERS + 1)])
    with pytest.raises(ArtefactError, match="more than 200 letters"):
        write_bundle(tmp_path / "bundle", one.encoder, one.people, handed)
