"""Files of tree models on z, from other libraries: nodes and rule as plain numbers; nothing is pickled."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from lcifr.artifacts.learned_function import Plain
from lcifr.artifacts.saved_models import SavedHead, Stored, consistent_file, read_stored, write_stored
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Model, Prediction
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees.nodes import from_preorder
from lcifr.models.trees.trees import Trees

TREES = "TreesOnLatents"
"""The kind of file."""


def write_saved_trees(path: str | Path, model: Model, origin: Plain) -> None:
    """One safetensors file, whose header holds all of it.

    Parameters
    ----------
    origin : the file that the trees come from, as :class:`lcifr.runs.auditing.origin.ModelOrigin` says it.
    """
    trees, rule = model.function, model.rule
    assert isinstance(trees, Trees)
    content = {
        "function": trees.to_plain(),
        "native": str(trees.native),
        "rule": {
            "kind": str(rule.kind),
            "groups": [list(group) for group in rule.groups],
            "band": list(rule.band),
            "log_odds": None if rule.log_odds is None else list(rule.log_odds),
        },
        "target": Prediction.of_model(model).to_dict(),
        "origin": dict(origin),
    }
    write_stored(path, TREES, Stored(content, {}))


def read_saved_trees(path: str | Path) -> SavedHead:
    """What :func:`write_saved_trees` wrote; ``parameters`` are its origin."""
    content = read_stored(path, TREES).content
    with consistent_file(path):
        try:
            function = _trees(content["function"]).of_runtime(Arithmetic(content["native"]))
        except NetworkError as problem:
            raise ValueError(str(problem)) from None
        said, target = content["rule"], Prediction.from_dict(content["target"])
        groups = tuple(tuple(int(c) for c in group) for group in said["groups"])
        lower, upper = map(float, said["band"])
        rule = Rule(Kind(said["kind"]), function.outputs, groups, band=(lower, upper))
        if (known := said.get("log_odds")) is not None:
            slope, shift = map(float, known)
            rule = replace(rule, log_odds=(slope, shift))
        labels = target.classes if len(target.classes) else None
        _refuse_unfit(rule, target.kind, 0 if labels is None else len(labels))
        return SavedHead(TREES, Model(function, rule, labels), dict(content["origin"]), (), ())


def _trees(plain: Plain) -> Trees:
    base, (top, below) = [float(value) for value in plain["base"]], plain["scale"]
    nodes = [from_preorder(tree, len(base)) for tree in plain["trees"]]
    return Trees.of(int(plain["inputs"]), base, nodes, Fraction(int(top), int(below)))


def _refuse_unfit(rule: Rule, kind: Kind, labels: int) -> None:
    """Refuse outputs, groups and names that are not those of one rule."""
    listed = sorted(c for group in rule.groups for c in group)
    grouped = listed == list(range(rule.outputs)) if rule.kind is Kind.CLASS else not listed
    if kind is not rule.kind or labels != rule.classes or not grouped or (rule.kind is Kind.SIGN and rule.outputs > 1):
        raise ValueError("outputs, groups and classes are not those of one rule")
