"""Every result and every settings file: what is written is read again, the very same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import hypothesis.strategies as st
import pandas as pd
import pytest
from hypothesis import given, settings

from lcifr.certification.handover import Provenance, RadiusSummary
from lcifr.certification.population import Statement
from lcifr.data.codec import Record
from lcifr.errors import ArtefactError
from lcifr.learn.history import FrontierPoint
from lcifr.models.model import Degeneracy
from lcifr.phi.lint import Finding, Severity
from lcifr.workflows.results import AuditResult, CertifyResult, ConsumeResult, ModelHashes
from lcifr.workflows.sweep_people import SweptPeople
from lcifr.workflows.sweeping import SweepCheck

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=5)
CUSTOM: dict[tuple[str, str], st.SearchStrategy[Any]] = {
    ("Provenance", "latent_format"): st.just("float64"),
    ("Statement", "subgroups"): st.just(None) | st.just(pd.DataFrame([{"attribute": "age", "people": 3}])),
    ("FrontierPoint", "degeneracies"): st.just((Degeneracy("", "constant"),)),
    ("ModelHashes", "encoder"): TEXTS.filter(bool),
    ("ModelHashes", "look_up"): st.just(None),
    ("Example", "x"): st.just({"age": 30, "sex": "f"}),  # both have the same attributes
    ("Example", "other"): st.just({"age": 30, "sex": "m"}),
    **{
        (owner, "findings"): st.none() | st.just((Finding("odd", Severity.NOTE, "an odd formula"),))
        for owner in ("ProducerSummary", "AuditResult")
    },
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of the type of a field."""
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any:
        return st.integers() | TEXTS | st.none()
    if origin in (Union, UnionType):
        return st.one_of(*map(values, inside))
    if origin is tuple and inside[-1] is not ...:
        return st.tuples(*map(values, inside))
    if origin in (tuple, list):
        several = st.lists(values(inside[0]), max_size=2)
        return several.map(origin)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(TEXTS, values(inside[1]), max_size=2)
    if is_dataclass(kind):
        return written(kind)
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    plain = {str: TEXTS, int: st.integers(), float: NUMBERS, bool: st.booleans(), type(None): st.none()}
    return plain[kind]


def written(kind: Any) -> st.SearchStrategy[Any]:
    """Any dataclass of a kind."""
    hints = get_type_hints(kind)
    named = {}
    for one in fields(kind):
        own = CUSTOM.get((kind.__name__, one.name))
        named[one.name] = values(hints[one.name]) if own is None else own
    return st.builds(kind, **named)


def records(kind: type[Record] = Record) -> set[type[Record]]:
    """Every dataclass that is written as a JSON object of its own."""
    own = {kind} if is_dataclass(kind) and kind.__module__.startswith("lcifr.") else set()
    return own.union(*map(records, kind.__subclasses__()))


def test_the_results_are_among_them() -> None:
    known = records()
    assert {AuditResult, Statement, Provenance, FrontierPoint, SweptPeople, SweepCheck, ModelHashes} <= known
    assert RadiusSummary not in known  # a part of others


@pytest.mark.parametrize("kind", sorted(records(), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
@settings(max_examples=10)
@given(data=st.data())
def test_what_is_written_is_read_again(kind: type[Record], data: st.DataObject) -> None:
    one = as_commands_make_it(data.draw(written(kind)))
    plain = json.loads(json.dumps(one.to_dict()))
    again = kind.from_dict(plain)
    assert repr(again) == repr(one)  # frames are not compared by ==
    assert again.to_dict() == plain


def as_commands_make_it(one: Any) -> Any:
    """A result names its label once, and `tune` its files; a consumer's statement has no subgroups or baselines."""
    if isinstance(one, ConsumeResult | CertifyResult):
        return replace(one, statement=replace(one.statement, subgroups=None, baselines={}))
    if (made := getattr(one, "produced", None)) is None:
        return one
    made = replace(made, files=getattr(one, "files", made.files))
    model = one.model and replace(one.model, target=made.target, task=made.task)
    return replace(one, produced=made, model=model)


def test_hashes_are_of_an_encoder_or_of_a_look_up() -> None:
    named = {"model": "m", "similarity": "s", "encoding": "e"}
    found = ModelHashes.from_dict({"look_up": "l", **named})
    assert (found.first, found.encoder, found.to_dict()) == ("l", None, {"look_up": "l", **named})
    assert found.of_proofs() == {"encoder": "l", **named}
    for first in ({}, {"encoder": "e", "look_up": "l"}):
        with pytest.raises(ValueError, match="an encoder or of a look-up"):
            ModelHashes.from_dict({**first, **named})


def test_results_of_before_rows_were_left_out_are_read_as_what_they_should_have_said() -> None:
    counts = {"people": 8, "certified": 5, "violated": 2, "undecided": 1, "vacuous": 0}
    groups = [{"attribute": "age", "people": 8, "at_least": 0.5}]
    older = {**counts, "share": 0.625, "lower": 0.4, "confidence": 0.95, "left_out": 2, "subgroups": groups}
    found = Statement.from_dict(older)
    assert (found.not_examined, found.share, found.lower) == (2, 0.5, None)
    assert found.subgroups.to_dict("records") == [{"attribute": "age", "people": 8}]


def test_an_older_sweep_has_counts_alone() -> None:
    assert SweptPeople.from_dict({"people": {"proved": 3, "open": 4}}) == SweptPeople({"proved": 3}, {}, 4)


def test_an_odd_value_is_named_with_its_folder_and_key(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps({"command": "audit", "target": 3}), encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"its contents are inconsistent: target: found 3, expected text"):
        AuditResult.read(tmp_path)
