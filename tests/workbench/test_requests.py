"""Typed requests: what is of another kind, unknown or missing is refused."""

from __future__ import annotations

import pytest

from lcifr.errors import LcifrError
from lcifr.workbench.audits import AuditPlan
from lcifr.workbench.formulas import TypedFormula
from lcifr.workbench.models import DecisionAsked
from lcifr.workbench.workbench import read_as, read_json_request

TYPED = {"text": "same(all)", "table": "people.csv"}


def test_values_become_the_request():
    assert read_as(TypedFormula, {**TYPED, "caret": 3}) == TypedFormula("same(all)", "people.csv", caret=3)
    assert read_as(AuditPlan, {"out": "audit", "tolerance": 1}).tolerance == 1.0
    asked = read_as(DecisionAsked, {"choice": {"model": "m.onnx", "table": "t.csv"}, "values": {"age": 30}})
    assert asked.choice.model == "m.onnx"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({**TYPED, "shell": "rm"}, "unknown entry “shell”"),
        ({"text": "same(all)"}, "lacks “table”"),
        ({**TYPED, "caret": "3"}, "“caret”"),
        ({**TYPED, "caret": True}, "“caret”"),
        ({**TYPED, "table": ["people.csv"]}, "“table”"),
        ({**TYPED, "table": None}, "“table”"),
        ({**TYPED, "row": 1.5}, "“row”"),
        ({**TYPED, "file": "a\0b"}, "“file”"),
    ],
)
def test_anything_else_is_refused(values, said):
    with pytest.raises(LcifrError, match=said):
        read_as(TypedFormula, values)


def test_what_no_float_and_no_text_can_be_is_refused():
    """No process can be started with half a character, and no float is that large: neither is a fault of ours."""
    with pytest.raises(LcifrError, match="“tolerance”"):
        read_as(AuditPlan, {"out": "audit", "tolerance": 10**400})
    with pytest.raises(LcifrError, match="no JSON"):
        read_json_request(b'{"id_column": "\\ud800"}')
    assert read_json_request(b'{"id_column": "\\ud83d\\ude00"}') == {"id_column": "\U0001f600"}
