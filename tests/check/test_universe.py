"""Claims about whole numbers and about the reals: what is true of the ones alone is never confirmed of the others."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder, Representation, represent
from lcifr.check.bundle import check_bundle
from lcifr.check.functions import read_network
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula, derive
from lcifr.check.proof import Problem, examine
from lcifr.check.table import AttributeTable
from lcifr.errors import ArtefactError
from lcifr.phi.similarity import Similarity
from tests.certification.made_bundles import contents_of, judge_of, judged_by, outputs
from tests.certification.whole_people import ENCODING, FRAME, SCHEMA
from tests.check.second.asking import refused, second_of
from tests.check.tables import features, standardised
from tests.effort import sampled
from tests.prove.instances import random_network

TENT = [[[1.0, -2.0], [1.0, -2.5], [1.0, -3.0]], [[1.0, -2.0, 1.0, 0.0]]]  # 0 up to 2, ½ at 2.5, 0 from 3 on
BUMP = [["leaf", [], [[[[0, 1.0]], [], []], [[[0, -1.0]], [], []]]]]
NO, YES = [[["leaf", [], []]]], {"universe": "whole", "arithmetic": "exact"}


def table_of_whole(**about: Any) -> AttributeTable:
    known = {"n": {"kind": "numeric", "integer": True, **about}, "r": {"kind": "numeric", "lower": 0, "upper": 0}}
    return standardised(known)


def near(low: int, high: int, per: int = 1) -> Any:
    """Whoever has n between two numbers of ``per`` each."""
    ends = ((-1, low), (1, -high))
    return ["all", *(["compare", "<=", [k, per], [[[c, 1], "other", "n"]]] for c, k in ends)]


def judged(formula: Any, latent: Any, decision: Any = None, layers: Any = TENT, rule: Any = None) -> CheckReport:
    """What is found of somebody with n = 2; the first number goes through the layers, the second counts for nothing."""
    rows = [[row[0], 0.0, row[-1]] for row in layers[0]]
    encoder, model = [rows, *layers[1:]], None if rule is None else [[[1.0, -0.25]]]
    judge = Judge(Formula(formula, table_of_whole()), encoder, model, rule)
    line = {"id": "one", "x": {"numbers": [2.0, 0.0], "codes": []}, "latent": latent}
    return judged_by(judge, line if decision is None else {**line, "decision": decision})


def box(lower: float, upper: float, universe: str, proofs: Any) -> Any:
    about = {"exact": True, "vacuous": False, "universe": universe, "arithmetic": "exact"}
    return {"z": [0.0], "radius": max(-lower, upper), "lower": [lower], "upper": [upper], "proofs": proofs, **about}


def split(*node: Any) -> Any:
    return [[list(node), *BUMP, *BUMP]]


@pytest.mark.parametrize(("universe", "right"), [("whole", True), ("reals", False)])
def test_an_end_that_only_whole_numbers_have_is_none_of_the_reals(universe: str, right: bool) -> None:
    """φ admits n up to 2.9, and f is n − 2 from there on: 0 is the most for whole numbers, 0.9 for the reals."""
    identity = [[[1.0, -2.0]]]
    report = judged(near(20, 29, 10), box(0.0, 0.0, universe, [BUMP]), layers=identity)
    assert (report.names["radius"] == ["one"]) == right
    assert bool(report.rejected) != right
    assert judged(near(20, 29, 10), box(0.0, 1.0, universe, [BUMP]), layers=identity).names["radius"]


@pytest.mark.parametrize(("universe", "right"), [("whole", True), ("reals", False)])
def test_a_range_and_a_rank_end_at_whole_numbers_for_them_alone(universe: str, right: bool) -> None:
    table = table_of_whole(lower=0.5, upper=3.5)
    groups = [[[0], [1.5, 3.2]]]
    attributes = {
        "n": {"kind": "numeric", "integer": True, "lower": 0.5, "upper": 3.5},
        "c": {"kind": "categorical", "values": ["only"]},
    }
    ranked = standardised(attributes)
    rank = ["all", *(["compare", "<=", [s * -2, 1], [[[s, 1], "other", "n", "c", groups]]] for s in (1, -1))]
    ends = {}
    for name, about, formula, x in (
        ("range", table, ["all"], {"n": 2.0, "r": 0.0}),
        ("rank", ranked, rank, {"n": 2.0, "c": 0}),
    ):
        (cell,) = derive(Formula(formula, about, whole=universe == "whole"), x)
        ends[name] = [value for _, value in cell.groups["numeric", 0]]
    below = math.nextafter(3.2, 0.0)
    assert ends == ({"range": [1.0, 3.0], "rank": [2.0, 3.0]} if right else {"range": [0.5, 3.5], "rank": [1.5, below]})


def test_what_a_row_leaves_to_a_number_is_whole_for_whole_numbers_alone() -> None:
    table = table_of_whole(lower=0, upper=9)
    row = ["compare", "<=", [-9, 2], [[[1, 1], "other", "n"], [[1, 1], "other", "r"]]]
    for whole, end in ((True, 4.0), (False, 4.5)):
        (cell,) = derive(Formula(row, table, whole), {"n": 2.0, "r": 0.0})
        assert cell.groups["numeric", 0][1] == (0, end)


def test_nobody_is_between_two_whole_numbers_but_somebody_between_two_reals() -> None:
    """The tent is above 0 only between 2 and 3."""
    tight = box(0.0, 0.0, "whole", split("whole", "n", 2))
    assert judged(near(2, 3), tight).names["radius"] == ["one"]
    assert judged(near(2, 3), tight | {"universe": "reals"}).rejected
    assert judged(near(2, 3), tight | {"proofs": split("numeric", 0, 2.5)}).rejected
    assert judged(near(2, 3), tight | {"proofs": split("whole", "n", 1)}).rejected


def test_a_number_that_a_model_reads_as_it_is_is_split_between_two_whole_ones() -> None:
    """Its program has no step, so nothing but the split itself turns the border into a float."""
    known = {"n": {"kind": "numeric", "integer": True, "lower": 0, "upper": 5}}
    table = AttributeTable({"schema": {"attributes": known}, "programs": {"n": []}, "outside": []})
    (cell,) = derive(Formula(["all"], table), {"n": 2.0})
    leaf = ["leaf", [], [[[[0, 1.0]], [], []]]]
    assert examine(Problem(read_network([[[1.0, 0.0]]]), cell), [["whole", "n", 2], leaf, leaf]) == {((0, 1.0),): 5}


@pytest.mark.parametrize("k", [2.0, 2.5, True, None, "2", [2], 10**400, -(10**400), 2**1024])
def test_a_border_that_is_no_integer_of_the_table_splits_nothing(k: Any) -> None:
    for proofs in (split("whole", "n", k), [[["whole", "n", k], ["leaf", [], []], *BUMP]]):
        assert judged(near(2, 3), box(0.0, 0.0, "whole", proofs)).rejected


@pytest.mark.parametrize("name", ["r", "m", "", 0, None, ["n"], {"n": 1}])
def test_only_an_attribute_that_the_schema_calls_whole_is_split(name: Any) -> None:
    assert judged(near(2, 3), box(0.0, 0.0, "whole", split("whole", name, 2))).rejected


@pytest.mark.parametrize("universe", ["", "integers", None, 1, ["whole"], {}, True])
def test_there_are_two_universes(universe: Any) -> None:
    assert judged(near(2, 3), box(-9.0, 9.0, "whole", [BUMP]) | {"universe": universe}).rejected
    assert judged(near(2, 3), {k: v for k, v in box(-9.0, 9.0, "whole", [BUMP]).items() if k != "universe"}).rejected


@pytest.mark.parametrize("on", ["ball", "box"])
def test_a_verdict_has_the_universe_of_its_radius(on: str) -> None:
    decision = {"verdict": "certified", "prediction": 0, "on": on, "arithmetic": "exact", "proofs": [BUMP]}
    latents = {
        "whole": box(0.0, 0.0, "whole", split("whole", "n", 2)),
        "reals": box(-0.125, 0.125, "reals", [BUMP]),
    }
    assert judged(near(2, 3), latents["whole"], {**decision, "universe": "whole"}, rule={"kind": "sign"}).names[
        "certified"
    ]
    mixed = judged(near(2, 3), latents["whole"], {**decision, "universe": "reals"}, rule={"kind": "sign"})
    assert "another universe" in mixed.rejected["one"]
    exact = judged(near(2, 2), latents["reals"], {**decision, "universe": "reals"}, rule={"kind": "sign"})
    assert exact.names["certified"]
    assert judged(near(2, 2), latents["reals"], {**decision, "universe": "whole"}, rule={"kind": "sign"}).rejected


def test_a_person_is_whole_in_both_universes() -> None:
    for universe in ("whole", "reals"):
        judge = Judge(Formula(["any"], table_of_whole()), [[[1.0, 0.0, 0.0]]], None, None)
        line = {"id": "one", "x": {"numbers": [2.5, 0.0], "codes": []}, "latent": box(2.5, 2.5, universe, [])}
        assert "nobody's" in judged_by(judge, line).rejected["one"]


def test_the_report_counts_by_universe_and_arithmetic() -> None:
    report = judged(near(2, 3), box(0.0, 0.0, "whole", split("whole", "n", 2)))
    assert report.confirmed == {"radius (universe: whole, arithmetic: exact)": 1}
    assert "  1 × radius (universe: whole, arithmetic: exact)" in report.lines()


@sampled(300)
@given(st.integers(0, 2**32))
def test_whatever_splits_at_whole_numbers_show_is_true_of_every_whole_number(seed: int) -> None:
    """Random trees of whole and other splits on random networks of two whole numbers, every one of which is tried."""
    rng = np.random.default_rng(seed)
    scales = {name: (float(rng.normal()), float(rng.uniform(0.3, 3))) for name in ("a", "b")}
    known = {name: {"kind": "numeric", "integer": True, "lower": -3.5, "upper": 3.5} for name in scales}
    table = standardised(known, **scales)
    layers = [layer.tolist() for layer in _layers(rng)]
    judge = Judge(Formula(["all"], table), layers, None, None)
    (cell,) = derive(judge.formulas["whole"], {"a": 0.0, "b": 0.0})
    people = [{"a": float(a), "b": float(b)} for a in range(-3, 4) for b in range(-3, 4)]
    values = [outputs(judge.encoder, features(table, person))[0] for person in people]
    tree = _tree(rng, 4)
    low, high = (float(v) for v in (min(values), max(values)))
    upper = math.nextafter(high, -math.inf) if Fraction(high) >= max(values) else high
    for ends in ((low - 99.0, upper), (math.nextafter(low, math.inf), high + 99.0)):
        latent = box(*ends, "whole", [tree]) | {"z": [0.0], "radius": max(map(abs, ends))}
        line = {"id": "one", "x": {"numbers": [0.0, 0.0], "codes": []}, "latent": latent}
        if max(values) > Fraction(ends[1]) or min(values) < Fraction(ends[0]):
            assert judged_by(judge, line).rejected
    assert cell.wholes.keys() == {"a", "b"}


def _layers(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=(4, 3)), rng.normal(size=(1, 5))]


def _tree(rng: np.random.Generator, deep: int) -> list[Any]:
    kind = rng.integers(4) if deep else 3
    if kind == 3:
        lines = [[0, k, *np.round(rng.uniform(0, 1, 2), 2).tolist(), 0.0] for k in range(4)]
        return [["leaf", [], [[[[0, sign]], lines, []] for sign in (1.0, -1.0)]]]
    nodes = (
        ["whole", "ab"[rng.integers(2)], int(rng.integers(-5, 5))],
        ["numeric", int(rng.integers(2)), float(rng.normal())],
        ["relu", 0, int(rng.integers(4))],
    )
    return [nodes[kind], *_tree(rng, deep - 1), *_tree(rng, deep - 1)]


def test_all_whole_numbers_one_by_one_are_a_tight_proof() -> None:
    """A split at every k leaves points, whose bounds are values; over the reals more is reached between them."""
    rng = np.random.default_rng(0)
    known = {"n": {"kind": "numeric", "integer": True, "lower": 0, "upper": 6}}
    table = standardised(known, n=(3.0, 2.0))
    layers = [rng.normal(size=(5, 2)).tolist(), rng.normal(size=(1, 6)).tolist()]
    judge = Judge(Formula(["all"], table), layers, None, None)
    values = [outputs(judge.encoder, [table.numbers["n"].encode(float(n))])[0] for n in range(7)]
    tree = [node for k in range(6) for node in (["whole", "n", k], *BUMP)] + BUMP
    lower, upper = float(min(values)) - 1e-12, float(max(values)) + 1e-12  # ends of neurons are rounded outward
    line = {"id": "one", "x": {"numbers": [0.0], "codes": []}, "latent": box(lower, upper, "whole", [tree])}
    assert judged_by(judge, line).names["radius"] == ["one"]
    line["latent"]["universe"] = "reals"
    assert judged_by(judge, line).rejected


@pytest.mark.parametrize("k", [2**53, 2**53 + 1, 2**60 + 1, 10**22 + 1, 3 * 10**300])
def test_borders_beyond_the_floats_lose_nobody(k: int) -> None:
    """Everybody whole is on one of both sides, also where float64 has no k, or no k + 1."""
    table = table_of_whole()
    for value in (float(k), math.nextafter(float(k), 0.0), math.nextafter(float(k), math.inf)):
        n = int(value)
        formula = near(n, n)
        own = Judge(Formula(formula, table), [[[1.0, 0.0, 0.0]]], None, None)
        line = {"id": "one", "x": {"numbers": [value, 0.0], "codes": []}}
        for proofs in ([[["whole", "n", k], ["leaf", [], []], *BUMP]], [[["whole", "n", k], *BUMP, ["leaf", [], []]]]):
            latent = box(value, value, "whole", proofs) | {"z": [value], "radius": 0.0}
            found = judged_by(own, {**line, "latent": latent})
            inside = n <= k if proofs[0][1] != ["leaf", [], []] else n >= k + 1
            assert inside or found.rejected  # the half that has the person says nothing of them


@pytest.mark.parametrize("formula", ["a within 1.7 and b within 2.9", "a within 1 and b within 2"])
def test_a_hand_over_for_the_reals_is_never_checked_by_a_proof_for_whole_numbers(formula: str, tmp_path: Path) -> None:
    network = random_network(np.random.default_rng(0), [len(ENCODING.features), 5, 2])
    real = FrozenEncoder(network, Similarity(formula, SCHEMA, ENCODING))
    whole = replace(real, whole_numbers=True)
    handed: Representation = represent(whole, FRAME)
    write_bundle(tmp_path / "bundle", whole, FRAME, handed)
    report = check_bundle(tmp_path / "bundle")
    (tmp_path / "report.json").write_text(json.dumps(asdict(report)))
    assert handed.with_report(tmp_path / "report.json").checked.all()  # type: ignore[union-attr]
    lie = replace(handed, provenance=replace(handed.provenance, whole_numbers=False))
    with pytest.raises(ArtefactError, match="a different hand-over"):
        lie.with_report(tmp_path / "report.json")
    write_bundle(tmp_path / "lie", real, FRAME, lie)
    said = check_bundle(tmp_path / "lie")
    assert said.exit_code == 0  # what is not true of the reals has no proof, and is not claimed
    farther = np.flatnonzero(represent(real, FRAME).radius > handed.radius + 1e-6)  # people between whole numbers
    assert {str(person) for person in farther} <= set(said.names["unproved"])
    assert len(farther) or "1.7" not in formula


def test_the_engines_own_splits_at_whole_numbers_are_confirmed_by_both_checkers(tmp_path: Path) -> None:
    """And by neither where the reals are claimed instead."""
    nodes = 0
    for seed in range(3):
        network = random_network(np.random.default_rng(seed), [len(ENCODING.features), 5, 2])
        similarity = Similarity("a within 1.7 and b within 2.9", SCHEMA, ENCODING)
        encoder = FrozenEncoder(network, similarity, whole_numbers=True)
        model = random_network(np.random.default_rng(seed + 9), [2, 4, 1])
        found = audit(encoder, model, FRAME, modular=False)
        write_bundle(tmp_path / str(seed), encoder, FRAME, represent(encoder, FRAME), found)
        assert check_bundle(tmp_path / str(seed)).rejected == {}
        plain = contents_of(tmp_path / str(seed))
        judge, second = judge_of(plain), second_of(plain)
        for line in plain["lines"]:
            assert not refused(second, line)
            proofs = line["latent"]["proofs"]
            whole = sum(node[0] == "whole" for tree in proofs for node in tree)
            real = line | {"latent": line["latent"] | {"universe": "reals"}, "decision": {"verdict": "undecided"}}
            assert not whole or (judged_by(judge, real).rejected and refused(second, real))
            nodes += whole
    assert nodes
