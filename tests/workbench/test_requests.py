"""Typed requests: what is of another kind, unknown or missing is refused."""

from __future__ import annotations

import pytest

from lcifr.data.codec import JsonError
from lcifr.errors import LcifrError
from lcifr.workbench.audits import AuditPlan
from lcifr.workbench.formulas import TypedFormula
from lcifr.workbench.models import DecisionAsked
from lcifr.workbench.work_folder import read_json_request

TYPED = {"text": "same(all)", "table": "people.csv"}


def test_values_become_the_request():
    assert TypedFormula.from_dict({**TYPED, "caret": 3}) == TypedFormula("same(all)", "people.csv", caret=3)
    assert AuditPlan.from_dict({"out": "audit", "tolerance": 1}).tolerance == 1.0
    asked = DecisionAsked.from_dict({"choice": {"model": "m.onnx", "table": "t.csv"}, "values": {"age": 30}})
    assert asked.choice.model == "m.onnx"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({**TYPED, "shell": "rm"}, 'the key "shell" is unknown'),
        ({"text": "same(all)"}, 'the key "table" is missing'),
        ({**TYPED, "caret": "3"}, "caret: found '3', expected a whole number"),
        ({**TYPED, "caret": True}, "caret: found True"),
        ({**TYPED, "table": ["people.csv"]}, "table: found"),
        ({**TYPED, "table": None}, "table: found None"),
        ({**TYPED, "row": 1.5}, "row: found 1.5"),
    ],
)
def test_anything_else_is_refused(values, said):
    with pytest.raises(JsonError, match=said):
        TypedFormula.from_dict(values)


def test_what_no_float_and_no_text_can_be_is_refused():
    """No process can be started with half a character, and no float is that large: neither is a fault of ours."""
    for body in (b'{"tolerance": 1%s}' % (b"0" * 400), b'{"id_column": "\\ud800"}', b"[NaN]", b"{"):
        with pytest.raises(LcifrError, match="the request is not JSON"):
            read_json_request(body)
    for body in (b"[]", b'{"id_column": "a\\u0000"}', b'{"id_column": "a\\\\\\u0000"}'):
        with pytest.raises(LcifrError, match="NUL"):
            read_json_request(body)
    assert read_json_request(b'{"id_column": "\\\\u0000"}') == {"id_column": "\\u0000"}
    assert read_json_request(b'{"id_column": "\\ud83d\\ude00"}') == {"id_column": "\U0001f600"}
