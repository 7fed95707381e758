"""What a latent claims, seen by eye: one number, an encoder that does nothing, boxes and balls around it."""

from __future__ import annotations

from typing import Any

import pytest

from lcifr.check.exact import Rejected
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula
from tests.certification.made_bundles import judged_by
from tests.check.tables import table_of

IDENTITY = [[[1.0, 0.0]]]
EXACT = {"universe": "reals", "arithmetic": "exact"}
NOBODY: Any = ["any"]
ENDS = [["leaf", [], [[[[0, sign]], [], []] for sign in (1.0, -1.0)]]]  # both ends of whatever has one number


def near(most: int) -> Any:
    """Whoever has a number between −most and most."""
    return ["all", *(["compare", "<=", [-most, 1], [[[sign, 1], "other", "a0"]]] for sign in (1, -1))]


def judged(formula: Any, latent: Any, decision: Any = None, model: Any = IDENTITY) -> CheckReport:
    """What is found of somebody with the number 0."""
    judge = Judge(Formula(formula, table_of(1, 0)), IDENTITY, model, {"kind": "sign"})
    line = {"id": "one", "x": {"numbers": [0.0], "codes": []}, "latent": latent}
    return judged_by(judge, {**line, **({} if decision is None else {"decision": decision})})


def around(z: float, radius: float, lower: float, upper: float, **more: Any) -> Any:
    return {"z": [z], "radius": radius, "lower": [lower], "upper": [upper], "proofs": [ENDS], **EXACT, **more}


@pytest.mark.parametrize(
    ("latent", "right"),
    [
        (around(1.0, 1.0, 0.0, 1.0), True),
        (around(1.0, 0.0, 1.0, 1.0), False),  # nobody similar is outside the box, but the person is
        (around(-1.0, 0.0, -1.0, -1.0), False),
        (around(1.0, 0.5, 0.0, 1.0), False),
        (around(-1.0, 0.5, -1.0, 0.0), False),
    ],
)
def test_a_box_holds_the_person_and_a_ball_the_box_even_where_nobody_is_similar(latent: Any, right: bool) -> None:
    assert bool(judged(NOBODY, latent).names["radius"]) == right


@pytest.mark.parametrize("on", ["whole", "ball", "box"])
def test_a_radius_without_a_proof_is_said_and_not_claimed(on: str) -> None:
    """Nothing on the ball or box may rest on it, whoever vouches for it; what is shown from end to end does not."""
    decision = {"verdict": "certified", "prediction": 1, "on": on, "proofs": [ENDS], **EXACT}
    model = [[[1.0, 9.0]]]
    sure = judged(near(2), around(0.0, 2.0, -2.0, 2.0), decision, model)
    assert (sure.names["certified"], sure.names["radius"], sure.strict_exit_code) == (["one"], ["one"], 0)
    said = around(0.0, 1.0, -1.0, 1.0)
    del said["proofs"]
    for latent in (said, said | {"trusted": "a solver"}):
        report = judged(near(2), latent, decision, model)
        assert (report.names["radius"], bool(report.rejected)) == ([], on != "whole")
        alone = judged(near(2), latent)
        assert (alone.names["unproved"], alone.exit_code, alone.strict_exit_code) == (["one"], 0, 4)
    for word in ("a solver", None, 1):
        assert judged(near(2), around(0.0, 1.0, -1.0, 1.0, trusted=word), decision, model).rejected


def test_a_certificate_on_the_box_is_none_on_the_ball() -> None:
    decision = {"verdict": "certified", "prediction": 1, "proofs": [ENDS], **EXACT}
    latent = around(0.5, 2.0, -1.0, 1.0)
    assert judged(near(1), latent, decision | {"on": "box"}, [[[1.0, 1.25]]]).names["certified"]
    assert judged(near(1), latent, decision | {"on": "ball"}, [[[1.0, 1.25]]]).rejected
    assert judged(near(1), latent, decision | {"on": "ball"}, [[[1.0, 1.75]]]).names["certified"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_ball_that_ends_between_two_floats_ends_at_the_outer_one(sign: float) -> None:
    """1 + 2**-54 is no float; from halfway between 1 and that on, the model is on the other side."""
    model = [[[sign, -1.0]], [[1.0, -(2.0**-55)]]]
    judge = Judge(Formula(NOBODY, table_of(1, 0)), IDENTITY, model, {"kind": "sign"})
    decision = {"verdict": "certified", "prediction": 0, "on": "ball", "proofs": [ENDS], **EXACT}
    for radius, right in ((0.0, True), (2.0**-54, False)):
        latent = around(sign, radius, sign, sign)
        line = {"id": "one", "x": {"numbers": [sign], "codes": []}, "latent": latent, "decision": decision}
        assert bool(judged_by(judge, line).names["certified"]) == right


def test_a_model_for_other_latents_decides_nothing() -> None:
    for model in ([[[1.0, 1.0, 0.0]]], [[[0.0]]]):
        with pytest.raises(Rejected, match="1 numbers come in"):
            judged(NOBODY, None, None, model)


def test_proofs_may_stand_in_any_order() -> None:
    """A tree that serves one cell alone is tried at every cell."""
    pieces = [near(1), ["all", near(4), ["compare", "<=", [3, 1], [[[-1, 1], "other", "a0"]]]]]
    low = [["numeric", 0, 2.0], *ENDS, ["leaf", [], []]]
    high = [["numeric", 0, 2.0], ["leaf", [], []], *ENDS]
    for proofs in ([low, high], [high, low]):
        assert judged(["any", *pieces], around(0.0, 4.0, -1.0, 4.0) | {"proofs": proofs}).names["radius"]
    assert judged(["any", *pieces], around(0.0, 4.0, -1.0, 4.0) | {"proofs": [low]}).rejected
