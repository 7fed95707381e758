"""Files of boosted additive models: shape functions as plain numbers; nothing is pickled."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.saved_models import (
    ENCODER,
    Plain,
    SavedEncoder,
    Stored,
    Training,
    consistent_file,
    read_formula,
    read_kind,
    read_stored,
    write_formula,
    write_stored,
)
from lcifr.data import Encoding
from lcifr.learn.trees.additive import AdditiveModel, PairFunction, ShapeFunction
from lcifr.learn.trees.attribute_bins import AttributeBins
from lcifr.learn.trees.pair_bins import PairBins
from lcifr.learn.trees.representation import score_trees
from lcifr.models.model import Degeneracy
from lcifr.models.network import Network
from lcifr.models.trees.trees import Trees
from lcifr.similarity.similarity import Similarity

if TYPE_CHECKING:
    from lcifr.learn.target import Target

BOOSTERS = ("FairBooster", "FairBoosterRegressor")
"""Kinds of files that hold a booster."""


@dataclass(frozen=True, eq=False)
class SavedBooster:
    """A boosted model; kind : the name of its estimator. Otherwise as for ``SavedEncoder``."""

    kind: str
    additive: AdditiveModel
    similarity: Similarity
    target: Target
    parameters: Plain
    history: tuple[Plain, ...]
    degeneracies: tuple[Degeneracy, ...]
    named: bool

    @cached_property
    def function(self) -> Trees:
        """From encoded people to z: the scores of attributes."""
        return score_trees(self.additive)

    @property
    def is_unaware(self) -> bool:
        """Whether it was learned for the label alone, without what φ leaves free."""
        return bool(self.parameters["tie_free"]) and self.parameters["gamma"] == 0

    @property
    def whole_numbers(self) -> bool:
        """Whether its hand-overs speak about whole numbers only."""
        return bool(self.parameters["whole_numbers"])

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file, whose header holds all of it: JSON loses no bit of a float."""
        content = {
            "parameters": dict(self.parameters),
            **write_formula(self.similarity),
            "target": self.target.to_dict(),
            "additive": _to_dict(self.additive),
            "history": list(self.history),
            "degeneracies": [asdict(one) for one in self.degeneracies],
            "named": self.named,
        }
        write_stored(path, self.kind, Stored(content, {}))

    @classmethod
    def read(
        cls, path: str | Path, kind: str, training: Training | None = None, *, only_for_ranks: bool = False
    ) -> SavedBooster:
        """What :meth:`write` wrote of this kind; ``training`` as for ``SavedEncoder``."""
        from lcifr.learn.target import Target  # imports torch, which an audit of networks does without

        content = read_stored(path, kind).content
        with consistent_file(path):
            similarity = read_formula(content, training, only_for_ranks=only_for_ranks)
            return cls(
                kind=kind,
                additive=_from_dict(content["additive"], similarity.encoding),
                similarity=similarity,
                target=Target.from_dict(content["target"]),
                parameters=content["parameters"],
                history=tuple(content["history"]),
                degeneracies=tuple(Degeneracy(**one) for one in content["degeneracies"]),
                named=bool(content["named"]),
            )


SavedProducer = SavedEncoder | SavedBooster
"""What a producer's folder holds."""


@dataclass(frozen=True)
class SavedFunction:
    """From people to z, without φ: how people are encoded, and a network or trees."""

    encoding: Encoding
    function: Network | Trees


def read_saved_function(path: str | Path) -> SavedFunction:
    """Of the encoder or booster in a file; for whoever has no training people, whom some formulas need."""
    kind = read_kind(path)
    stored = read_stored(path, kind if kind in BOOSTERS else ENCODER)
    with consistent_file(path):
        encoding = Encoding.from_dict(stored.content["encoding"])
        if kind in BOOSTERS:
            return SavedFunction(encoding, score_trees(_from_dict(stored.content["additive"], encoding)))
        return SavedFunction(encoding, stored.networks["encoder"])


def _to_dict(model: AdditiveModel) -> dict[str, Any]:
    shapes = [{**_bins_to_dict(shape.bins), "values": shape.values.tolist()} for shape in model.shapes]
    pairs = [
        {"axes": [_bins_to_dict(axis) for axis in pair.bins.axes], "values": pair.values.tolist()}
        for pair in model.pairs
    ]
    return {"base": model.base.tolist(), "shapes": shapes, "pairs": pairs}


def _bins_to_dict(bins: AttributeBins) -> dict[str, Any]:
    return {"attribute": bins.attribute, "thresholds": None if bins.thresholds is None else bins.thresholds.tolist()}


def _from_dict(said: Plain, encoding: Encoding) -> AdditiveModel:
    base = np.array(said["base"], dtype=np.float64)
    shapes = tuple(_shape(one, encoding, len(base)) for one in said["shapes"])
    pairs = tuple(_pair(one, encoding, len(base)) for one in said.get("pairs", ()))  # older files have none
    model = AdditiveModel(base, shapes, len(encoding.features), pairs)
    names = [sorted(axis.attribute for axis in term.bins.axes) for term in model.terms]
    if any(name in names[:i] or len(set(name)) < len(name) for i, name in enumerate(names)):
        raise ValueError("an attribute or a pair has two shape functions")
    return model


def _shape(said: Plain, encoding: Encoding, outputs: int) -> ShapeFunction:
    bins = _bins(said, encoding)
    return ShapeFunction(bins, _values(said, (bins.count, outputs), bins.attribute))


def _pair(said: Plain, encoding: Encoding, outputs: int) -> PairFunction:
    first, second = (_bins(axis, encoding) for axis in said["axes"])
    name = f"{first.attribute} and {second.attribute}"
    return PairFunction(PairBins(first, second), _values(said, (first.count, second.count, outputs), name))


def _bins(said: Plain, encoding: Encoding) -> AttributeBins:
    name = said["attribute"]
    thresholds = None if said["thresholds"] is None else np.array(said["thresholds"], dtype=np.float64)
    if (thresholds is not None) != (name in encoding.schema.names_numeric):
        raise ValueError(f"the shape function of {name} does not fit the attribute")
    if not (thresholds is None or (np.isfinite(thresholds).all() and (np.diff(thresholds) > 0).all())):
        raise ValueError(f"the thresholds of {name} do not rise")
    return AttributeBins(name, encoding.columns(name), thresholds)


def _values(said: Plain, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    values = np.array(said["values"], dtype=np.float64)
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"the shape function of {name} does not fit, or holds numbers that are not finite")
    return values
