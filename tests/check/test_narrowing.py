"""Attacks on how the checker reads φ and what names it: trees that are none, files without a name, ends that tie."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lcifr.check.__main__ import main
from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.check.similar import Formula, Table, derive
from tests.certificates.test_bundle import contents, judge_of, judged_by, rewritten


def rejected(formula: Any) -> list[bool]:
    """Of whom nothing is confirmed when a right bundle says that this is its formula."""
    plain = {**copy.deepcopy(contents(0, "whole")), "similarity": {"format": 2, "formula": formula}}
    judge = judge_of(json.loads(json.dumps(plain)))
    return [bool(judged_by(judge, line).rejected) for line in plain["lines"]]


RIGHT = contents(0, "whole")["similarity"]["formula"]
AGES = [[[1, 1], "other", "age"], [[1, 7], "other", "income"]]


NO_TREES: dict[str, Any] = {
    "nobody, as a mapping that says more": {"any": [RIGHT]},
    "everybody, as a mapping": {"all": [RIGHT]},
    "a mapping inside": ["all", RIGHT, {"any": [RIGHT], "compare": 1}],
    "text": "all",
    "a number without end": ["all", RIGHT, ["compare", "<=", ["-1e99999999"], []]],
    "a coefficient without end": ["all", RIGHT, ["compare", "<=", [-1, 1], [[["1e-99999999"], "other", "age"]]]],
    "a fraction without a denominator": ["all", RIGHT, ["compare", "<=", [-1, None], []]],
    "a float": ["all", RIGHT, ["compare", "<=", [-0.5], []]],
    **{
        f"{operator} of {len(terms)}": ["all", RIGHT, ["compare", operator, [-(10**6), 1], terms]]
        for operator in (">=", ">", "=", "~", "", None, 0)
        for terms in ([], AGES[:1], AGES)
    },
}


@pytest.mark.parametrize("name", NO_TREES)
def test_a_tree_that_is_none_confirms_nothing(name: str) -> None:
    """Whoever reads the file would read something else, so nothing may be called confirmed about it."""
    assert not any(rejected(RIGHT))
    assert all(rejected(NO_TREES[name]))


def table_of(numbers: int, categories: int) -> Table:
    """Numbers a0, a1, … in [−9, 9] and yes-no categories c0, c1, …"""
    number, category = {"kind": "numeric", "lower": -9, "upper": 9}, {"kind": "categorical", "values": ["no", "yes"]}
    known = {**{f"a{k}": number for k in range(numbers)}, **{f"c{k}": category for k in range(categories)}}
    scales = {f"a{k}": {"mean": "0x0p+0", "sd": "0x1p+0"} for k in range(numbers)}
    return Table({"schema": {"attributes": known}, "scales": scales})


def test_alternatives_that_double_end() -> None:
    table = table_of(1, 12)
    doubled = [["any", *(["category", "other", f"c{k}", [code]] for code in (0, 1))] for k in range(12)]
    x = table.person({"numbers": [0.0], "codes": [0] * 12})
    assert len(derive(Formula(["all", *doubled[:8]], table), x)) == 256  # as many as the language allows
    with pytest.raises(Rejected, match="too many alternatives"):
        derive(Formula(["all", *doubled], table), x)


@pytest.mark.parametrize(
    "first", [["category", "other", "c0", [0]], ["compare", "<=", [0, 1], [[[1, 1], "other", "a0"]]]]
)
def test_an_alternative_inside_another_is_no_cell_of_its_own(first: Any) -> None:
    """As many exceptions as there are numbers, all for the same people: two cells, not one for each set of them."""
    table = table_of(30, 1)
    near = [["compare", "<=", [-1, 1], [[[1, 1], "other", f"a{k}"]]] for k in range(30)]
    x = table.person({"numbers": [0.0] * 30, "codes": [0]})
    for order in (1, -1):
        exceptions = [["any", *[first, one][::order]] for one in near[1:]]
        assert len(derive(Formula(["all", *exceptions], table), x)) == 2


@pytest.mark.parametrize("name", ["encoder.network", "model.network", "similarity.json", "people.jsonl.gz"])
def test_a_file_without_a_hash_is_not_the_one_that_was_meant(name: str, tmp_path: Path) -> None:
    folder = rewritten(tmp_path, copy.deepcopy(contents(0, "whole")))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name]["sha256"] = None
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Rejected, match=f"{name} is not the file"):
        check_bundle(folder)


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("depth", [100, 600, 900])
def test_a_report_that_cannot_be_written_is_no_traceback(depth: int, options: list[str], tmp_path: Path) -> None:
    """The rule of decision is repeated in the report, however deep the unread part of it is."""
    folder = rewritten(tmp_path, copy.deepcopy(contents(0, "whole")))
    text, nested = (folder / "manifest.json").read_text(), "[" * depth + "]" * depth
    (folder / "manifest.json").write_text(text.replace('{"kind": "sign"}', f'{{"kind": "sign", "x": {nested}}}'))
    assert main([str(folder), *options]) in (0, 2)
