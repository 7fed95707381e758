"""Questions of rules with a band: nothing inside it is certified, strict, or a difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcifr.certification.demands import Outputs, is_strict, limits_of, surely_differ
from lcifr.certification.subject import rule_of_bundle
from lcifr.models.rule import Kind, Rule

SIGN = Rule(Kind.SIGN, 1, band=(1.0, 2.0))
CLASS = replace(Rule.of(3), band=(-0.5, 0.5))


def exact(*values: list[float]) -> Outputs:
    array = np.array(values, dtype=float)
    return Outputs(array, np.zeros_like(array), np.zeros_like(array))


def test_inside_the_band_of_a_sign_nothing_is_sure():
    outputs = exact([0.5], [1.2], [1.8], [2.5])
    assert SIGN.decide(outputs.values).tolist() == [0, 0, 1, 1]
    assert is_strict(SIGN, outputs).tolist() == [True, False, False, True]
    limits = limits_of(SIGN, outputs)
    assert limits.directions[:, 0, 0].tolist() == [1.0, 1.0, -1.0, -1.0]
    assert limits.limit[:, 0].tolist() == [1.0, 1.0, -2.0, -2.0]
    others = exact([2.5], [2.5], [0.5], [1.8])
    assert surely_differ(SIGN, outputs, others).tolist() == [True, False, False, False]


def test_a_lead_within_the_band_of_classes_is_none():
    outputs = exact([1.0, 0.0, 0.0], [1.0, 0.7, 0.0])
    assert is_strict(CLASS, outputs).tolist() == [True, False]
    assert (limits_of(CLASS, outputs).limit == -0.5).all()
    one = exact([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    assert surely_differ(CLASS, one, exact([0.0, 0.4, 0.0], [0.0, 0.6, 0.0])).tolist() == [False, True]


def test_bundles_hold_the_band_where_there_is_one():
    assert rule_of_bundle(SIGN) == {"kind": "sign", "band": [1.0, 2.0]}
    assert rule_of_bundle(CLASS)["band"] == [-0.5, 0.5]
    assert "band" not in rule_of_bundle(Rule(Kind.SIGN, 1))
