"""Defaults of hyper-parameters: one value for the command, its request and the estimator that it sets up."""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

import pytest

from lcifr import workflows
from lcifr.cli import load
from lcifr.errors import LearningError
from lcifr.estimators import FairBooster, FairEncoder, RobustClassifier, RobustRegressor, tune
from lcifr.learn.parameters import (
    ENCODER,
    HEAD,
    MOST_DEPTH,
    BoosterParameters,
    BoostingSettings,
    EncoderParameters,
    EncoderSettings,
    HeadParameters,
    Schedule,
    find_invalid,
    parameters,
)
from lcifr.models.additive import MOST_LEVELS

REQUESTS = {
    "audit": workflows.AuditRequest,
    "certify": workflows.CertifyRequest,
    "check": workflows.CheckRequest,
    "consume": workflows.ConsumeRequest,
    "init": workflows.InitRequest,
    "produce": workflows.ProduceRequest,
    "represent": workflows.RepresentRequest,
    "sweep": workflows.SweepRequest,
    "tune": workflows.TuneRequest,
}
OTHER_NAMES = {"latent": "latent_dim", "batch": "batch_size", "seed": "random_state"}
ABOUT_THE_RUN = {"tolerance"}  # None asks for one; an estimator that classifies has none to ask for

OF_BOOSTERS = {"learning_rate"}  # a request for encoders has none


def defaults_of(function: Any) -> dict[str, Any]:
    """Parameters of a function or class that have a default."""
    known = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in known if one.default is not inspect.Parameter.empty}


def defaults_of_request(kind: Any) -> dict[str, Any]:
    return {one.name: one.default for one in fields(kind) if one.default is not MISSING}


def defaults_of_command(command: str, kind: Any) -> dict[str, Any]:
    """Options that may be left out, with the value that the request of this kind gets for their default."""
    options = {one.name: one.metadata.get("option") for one in fields(kind)}
    found = {}
    for parameter in load(command).params:
        if parameter.required or parameter.name not in options:
            continue
        known = options[parameter.name]
        value = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
        if known is not None and known.spelling is not None and value is not None:
            value = known.spelling.read(value)
        elif known is not None and "none" in known.choices and value == "none":
            value = None
        found[parameter.name] = value
    return found


@pytest.mark.parametrize("command", REQUESTS)
def test_a_command_and_its_request_have_the_same_defaults(command: str) -> None:
    asked = defaults_of_command(command, REQUESTS[command])
    request = defaults_of_request(REQUESTS[command])
    shared = set(asked) & set(request)
    assert shared
    empty = {name: () for name in shared if request[name] == () and asked[name] is None}  # typer has no empty list
    assert {name: asked[name] for name in shared} | empty == {name: request[name] for name in shared}


@pytest.mark.parametrize(
    ("request_kind", "estimators"),
    [
        (workflows.ProduceRequest, (FairEncoder, FairBooster)),
        (workflows.TuneRequest, (FairEncoder, FairBooster, tune)),
        (workflows.ConsumeRequest, (RobustClassifier, RobustRegressor)),
    ],
)
def test_a_request_and_the_estimator_have_the_same_defaults(request_kind: Any, estimators: tuple[Any, ...]) -> None:
    asked = {OTHER_NAMES.get(name, name): value for name, value in defaults_of_request(request_kind).items()}
    for estimator in estimators:
        known = defaults_of(estimator)
        shared = (set(asked) & set(known)) - ABOUT_THE_RUN - (OF_BOOSTERS if estimator is FairEncoder else set())
        assert len(shared) >= 2
        none = {name: None for name in shared if asked[name] == () and known[name] is None}
        assert {name: asked[name] for name in shared} | none == {name: known[name] for name in shared}


@pytest.mark.parametrize(
    ("kind", "defaults"),
    [
        (FairEncoder, ENCODER),
        (RobustClassifier, HEAD),
        (RobustRegressor, HEAD),
        (Schedule, ENCODER),
        (EncoderSettings, ENCODER),
    ],
)
def test_whatever_learns_reads_its_defaults_in_one_place(kind: Any, defaults: Any) -> None:
    known = defaults_of(kind)
    shared = set(known) & {one.name for one in fields(defaults)}
    assert len(shared) >= 4
    assert {name: known[name] for name in shared} == {name: getattr(defaults, name) for name in shared}


def test_defaults_are_light() -> None:
    source = inspect.getsource(importlib.import_module("lcifr.learn.parameters"))
    imported = [line for line in source.splitlines() if line.startswith(("import ", "from "))]
    modules = {line.split()[1] for line in imported}
    assert modules <= {"__future__", "lcifr.errors", *sys.stdlib_module_names, "collections.abc"}


@pytest.mark.parametrize("kind", [EncoderParameters, HeadParameters, BoosterParameters])
def test_every_hyper_parameter_has_help_and_a_default_within_its_limits(kind: type) -> None:
    known = parameters(kind)
    assert list(known) == [one.name for one in fields(kind)]
    assert all(one.help.endswith(".") and one.admits(one.default) for one in known.values())
    assert find_invalid(kind()) == []


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"epochs": 0}, Schedule),
        ({"warmup": 1.5}, Schedule),
        ({"learning_rate": 0.0}, BoostingSettings),
        ({"depth": MOST_DEPTH + 1}, BoostingSettings),
        ({"gamma": float("nan")}, BoostingSettings),
        ({"penalty": float("inf")}, BoostingSettings),
    ],
)
def test_limits_are_those_of_the_settings(wrong: dict[str, float], kind: type) -> None:
    ((name, value),) = wrong.items()
    assert not parameters(kind)[name].admits(value)
    with pytest.raises(LearningError, match=name):
        kind(**wrong)


def test_the_deepest_trees_that_are_learned_are_the_deepest_that_are_read() -> None:
    assert MOST_DEPTH == MOST_LEVELS
