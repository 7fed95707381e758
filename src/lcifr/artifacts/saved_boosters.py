"""Files of boosted additive models: shape functions as plain numbers; nothing is pickled."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, final

from lcifr.artifacts.additive_values import additive_from_dict, additive_to_dict
from lcifr.artifacts.learned_function import LearnedFunction, Plain
from lcifr.artifacts.saved_models import (
    ENCODER,
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
from lcifr.learn.trees.additive import AdditiveModel
from lcifr.learn.trees.representation import score_trees
from lcifr.models.model import Degeneracy
from lcifr.models.network import Network
from lcifr.models.trees.trees import Trees
from lcifr.similarity.similarity import Similarity

if TYPE_CHECKING:
    from lcifr.learn.target import Target

BOOSTERS = ("FairBooster", "FairBoosterRegressor")
"""Kinds of files that hold a booster."""


@final
@dataclass(frozen=True, eq=False)
class SavedBooster(LearnedFunction):
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

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file, whose header holds all of it: JSON loses no bit of a float."""
        content = {
            "parameters": dict(self.parameters),
            **write_formula(self.similarity),
            "target": self.target.to_dict(),
            "additive": additive_to_dict(self.additive),
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
                additive=additive_from_dict(content["additive"], similarity.encoding),
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
            return SavedFunction(encoding, score_trees(additive_from_dict(stored.content["additive"], encoding)))
        return SavedFunction(encoding, stored.networks["encoder"])
