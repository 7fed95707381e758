"""Encodings of other libraries in the checker: every bit of a program, ends that fall, clips, rows, bands, factors."""

from __future__ import annotations

import contextlib
import copy
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.check.exact import Rejected, reading
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula, derive
from lcifr.check.table import AttributeTable, Number
from lcifr.data.program import Program
from lcifr.errors import LcifrError
from tests.certification.made_bundles import KINDS, SCENES, confirmed_in, contents, judge_of, judged_by
from tests.check.second import program as second
from tests.check.second.asking import refused, second_of
from tests.check.tables import features, inside
from tests.effort import sampled

SIZES = [1.0, 0.1, 3.0, 1e-3, 7e5, 2.0**-126, 2.0**-149, 2.0**-140 * 3, 2.0**-130]
LEAF = [["leaf", [], [[[[0, sign]], [], []] for sign in (1.0, -1.0)]]]


def random_program(rng: np.random.Generator, tame: bool = False) -> list[list[Any]]:
    """One to four steps, their constants numbers of their formats."""
    steps: list[list[Any]] = []
    for _ in range(int(rng.integers(1, 5))):
        operation = str(rng.choice(["cast", "add", "subtract", "multiply", "divide", "clip"]))
        form = str(rng.choice(["float32", "float64"]))
        sizes = SIZES[:4] if tame or operation in ("multiply", "divide") else SIZES
        values = sorted(
            float(getattr(np, form)(rng.choice(sizes) * rng.choice([-1, 1]) * rng.uniform(0.5, 2))) for _ in "ab"
        )
        count = {"cast": 0, "clip": 2}.get(operation, 1)
        if operation != "clip" or values[0] < values[1]:
            steps.append([operation, form, *values[:count]])
    return steps


def number_of(program: list[list[Any]], **about: Any) -> Number:
    with reading("the number"):
        return Number("a", {"kind": "numeric", **about}, program)


def near(rng: np.random.Generator, program: list[list[Any]]) -> list[float]:
    """Values of every size, and at and one float beside those at which a clip or a constant is met."""
    found = [float(rng.choice(SIZES) * rng.normal()) for _ in range(5)] + [0.0, -0.0, 5e-324, 2.0**-1022]
    found += [constant for _, _, *constants in program for constant in constants]
    found += [float(np.float32(v)) for v in found]
    return [w for v in found for w in (v, math.nextafter(v, math.inf), math.nextafter(v, -math.inf))]


@sampled(300)
@given(st.integers(0, 2**32))
def test_every_bit_is_the_engines_and_the_second_checkers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng)
    with contextlib.suppress(LcifrError, Rejected):
        theirs, ours = Program.from_list(program), number_of(program)
        for value in near(rng, program):
            expected = float(theirs(value))
            if math.isfinite(expected):
                assert ours.encode(value) == expected == second.encode(program, value)


def test_a_product_below_the_normal_numbers_is_rounded_once() -> None:
    """By way of float64 it would be a tie that it is not: an odd half of the smallest float32, and a little more."""
    tie = Fraction(1, 2**150) * 3
    left, right = np.float32(1 + 2.0**-23), np.float32(2.0**-149 * 3)
    number = number_of([["multiply", "float32", float(right)]])
    for value in (float(left) / 2, 0.5, float(np.nextafter(np.float32(0.5), np.float32(1)))):
        exactly = Fraction(float(np.float32(value))) * Fraction(float(right))
        grid = round(exactly * 2**149)
        assert number.encode(value) == grid * 2.0**-149
    assert number.encode(0.5) == 2.0**-148  # a tie goes to the even one
    assert tie == Fraction(float(right)) / 2


def table_of(program: Any, other: Any, **about: Any) -> AttributeTable:
    known = {name: {"kind": "numeric", "lower": -4.0, "upper": 4.0, **about} for name in ("a", "b")}
    encoding = {"format": 3, "schema": {"attributes": known}, "programs": {"a": program, "b": other}, "outside": []}
    with reading("the table"):
        return AttributeTable({**encoding, "scales": {name: {"mean": 0.0, "sd": 1.0} for name in known}})


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32), st.booleans())
def test_whoever_ties_with_a_row_is_in_it_whatever_the_programs(seed: int, whole: bool) -> None:
    """Falling programs, clips in the middle of the box, casts that round."""
    rng = np.random.default_rng(seed)
    with contextlib.suppress(Rejected):
        table = table_of(random_program(rng, True), random_program(rng, True), integer=whole)
        x = {
            name: float(v)
            for name, v in zip("ab", rng.integers(-4, 5, 2) if whole else rng.uniform(-4, 4, 2), strict=True)
        }
        factors = [Fraction(int(rng.choice([-3, -1, 1, 2])), int(rng.integers(1, 4))) for _ in "ab"]
        constant = -sum(c * Fraction(repr(x[name])) for c, name in zip(factors, "ab", strict=True))
        terms = [[list(c.as_integer_ratio()), "other", name] for c, name in zip(factors, "ab", strict=True)]
        formula = Formula(["compare", "<=", list(Fraction(constant).as_integer_ratio()), terms], table)
        with reading("the row"):
            cells = derive(formula, x)
        assert any(inside(cell, features(table, x)) for cell in cells)


def judged(program: Any, decision: Any, rule: Any, layers: Any = None, **about: Any) -> CheckReport:
    table = table_of(program, [["cast", "float64"]], **about)
    judge = Judge(Formula(["all"], table), [[[1.0, 0.0, 0.0]]], layers or [[[1.0, 0.0]]], rule)
    claim = {
        "verdict": "certified",
        "universe": "whole",
        "arithmetic": "exact",
        "on": "whole",
        "proofs": [LEAF],
        **decision,
    }
    return judged_by(judge, {"id": "one", "x": {"numbers": [0.0, 0.0], "codes": []}, "decision": claim})


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_between_two_whole_numbers_is_nobody_where_numbers_fall_too(sign: float) -> None:
    """The tent is above 0 only between the features of 2 and 3; the first child has those up to 2."""
    program = [["multiply", "float32", sign * 0.5]]
    middle = sign * 1.25
    tent = [[[1.0, -middle + 0.25], [1.0, -middle], [1.0, -middle - 0.25]], [[1.0, -2.0, 1.0, -0.01]]]
    for k, right in ((2, True), (1, False), (3, False)):
        lines = [[0, n, 1.0, 1.0, 0.0] for n in range(3)]
        on, off = (["leaf", [], [[[[0, 1.0]], by, []]]] for by in (lines, []))
        proofs = [[["whole", "a", k], *([off, on] if sign > 0 else [on, off])]]
        report = judged(program, {"prediction": 0, "proofs": proofs}, {"kind": "sign"}, tent, integer=True)
        assert bool(report.names["certified"]) == right


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_a_band_is_left_strictly(step: int) -> None:
    """Outputs are in [−4, 4] + b: certified where all of them are beyond the end of the band, not at it."""

    def beside(value: float) -> float:
        return value if step == 0 else math.nextafter(value, step * math.inf)

    rule = {"kind": "sign", "band": [-1.0, 2.0]}
    up, down = [[[1.0, beside(6.0)]]], [[[1.0, beside(-5.0)]]]
    assert bool(judged([["cast", "float64"]], {"prediction": 1}, rule, up).names["certified"]) == (step > 0)
    assert bool(judged([["cast", "float64"]], {"prediction": 0}, rule, down).names["certified"]) == (step < 0)


@pytest.mark.parametrize(("other", "right"), [(-1.5, False), (1.9, False), (2.0, False), (2.1, True), (4.0, True)])
def test_a_counterexample_is_beyond_the_other_end_of_the_band(other: float, right: bool) -> None:
    rule = {"kind": "sign", "band": [0.5, 2.0]}
    decision = {"verdict": "counterexample", "prediction": 0, "other": {"numbers": [other, 0.0], "codes": []}}
    assert bool(judged([["cast", "float64"]], decision, rule).names["counterexample"]) == right


@pytest.mark.parametrize("band", [[1.0, 0.0], [0.0], [0, 1], ["0", "1"], [math.inf, math.inf], None, 0.0])
def test_a_band_that_is_none_is_refused(band: Any) -> None:
    with pytest.raises(Rejected):
        judged([["cast", "float64"]], {"prediction": 1}, {"kind": "sign", "band": band})


@pytest.mark.parametrize(
    "program",
    [
        [["multiply", "float64", 0.0]],
        [["divide", "float64", 0.0]],
        [["add", "float32", 0.1]],
        [["add", "float64", 1]],
        [["add", "float64"]],
        [["add", "float64", 1.0, 2.0]],
        [["cast", "float16"]],
        [["square", "float64", 1.0]],
        [["clip", "float64", 1.0, 1.0]],
        [["clip", "float64", 2.0, 1.0]],
        [["clip", "float64", 0.0, 1.0], ["clip", "float64", 2.0, 3.0]],
        [["add", "float64", math.inf]],
        {"add": 1.0},
        "cast",
    ],
    ids=str,
)
def test_a_program_that_is_none_is_refused(program: Any) -> None:
    with pytest.raises(Rejected):
        number_of(program)


def test_a_category_outside_is_nobodys() -> None:
    known = {"c": {"kind": "categorical", "values": ["x", "y", "z"]}}
    encoding = {"format": 3, "schema": {"attributes": known}, "programs": {}, "outside": [["c", "y"]], "scales": {}}
    table = AttributeTable(encoding)
    (cell,) = derive(Formula(["all"], table), {"c": 0})
    assert cell.groups["choice", 0] == [(0, 1.0), (2, 1.0)]
    with pytest.raises(Rejected, match="category"):
        table.person({"numbers": [], "codes": [1]})
    with pytest.raises(ValueError, match="is not in list"):
        AttributeTable({**encoding, "outside": [["c", "w"]]})


def in_factors(plain: dict[str, Any]) -> dict[str, Any]:
    """The same bundle with its model as two factors."""
    plain = copy.deepcopy(plain)
    width = len(plain["model.json"][0][0]) - 1
    identity = [[[*(float(i == j) for j in range(width)), 0.0] for i in range(width)]]
    plain["model.json"] = {"kind": "network", "factors": [identity, plain["model.json"]]}
    return plain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(SCENES)))
def test_the_same_written_as_programs_and_factors_is_confirmed(number: int, kind: str) -> None:
    plain = in_factors(contents(number, kind))
    judge, other = judge_of(plain), second_of(plain)
    for line in plain["lines"]:
        assert not judged_by(judge, line).rejected
        assert not refused(other, line)


@sampled(80)
@given(st.integers(0, len(SCENES) - 1), st.sampled_from(KINDS), st.integers(0, 2**32), st.sampled_from(["", "float64"]))
def test_what_is_confirmed_of_a_changed_program_the_second_confirms(
    number: int, kind: str, change: int, arithmetic: str
) -> None:
    rng, plain = np.random.default_rng(change), in_factors(contents(number, kind))
    name = str(rng.choice(sorted(plain["encoding"]["programs"])))
    program = plain["encoding"]["programs"][name]
    place = int(rng.integers(len(program)))
    what = rng.integers(6)
    if what == 0:
        program[place][2] = float(math.nextafter(program[place][2], rng.choice([-math.inf, math.inf])))
    elif what == 1:
        program[place][2] *= -1.0
    elif what == 2:
        program.append(["cast", "float32"])
    elif what == 3:
        program.append(["clip", "float64", -0.5, 0.5])
    elif what == 4:
        plain["manifest"]["decision"] = {"kind": "sign", "band": sorted(rng.normal(size=2).tolist())}
    else:
        factor = plain["model.json"]["factors"][int(rng.integers(2))]
        factor[0][0][0] += float(rng.normal())
    if arithmetic:
        for line in plain["lines"]:
            for part in ("latent", "decision"):
                line[part] |= {"arithmetic": arithmetic} if "arithmetic" in line.get(part, {}) else {}
    for line, _ in confirmed_in(plain):
        assert not refused(second_of(plain), line)
