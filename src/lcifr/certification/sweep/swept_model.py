"""SweptModel: what a sweep is about: a model, who counts as similar, and the arithmetic in which it is computed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.bundles.hashes import Hashes
from lcifr.certification.counterexample import Trial
from lcifr.certification.deployment import Encoder, deploy_both
from lcifr.certification.library.decisions import LibraryDecisions
from lcifr.certification.query import FloatArray
from lcifr.certification.sweep.additive_models.terms import AdditiveTerms, is_additive
from lcifr.data import Encoding, Individuals
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.chain import chain_of
from lcifr.models.deployed import Deployment
from lcifr.models.model import Model
from lcifr.models.pairing import scores_of
from lcifr.models.rule import Kind, Rule
from lcifr.models.table_model import TableModel
from lcifr.models.trees.deployed import NetworkOnTrees, TreesDeployment, TreesOnLatents
from lcifr.models.trees.trees import NUMBER
from lcifr.regions.universe import UniverseCells
from lcifr.similarity.pairs import PairSpace

Sweepable = Deployment | TreesDeployment | NetworkOnTrees
"""Models of which pairs can be asked about."""


@dataclass(frozen=True, eq=False)
class SweptModel:
    """Parameters
    ----------
    encoder, model : what decides; of a model on raw columns the encoder is the identity.
    arithmetic : in which it is computed.
    library : of a model from elsewhere; a pair counts only if the library itself decides differently.
    """

    encoder: Encoder
    model: Model
    arithmetic: Arithmetic
    library: TableModel | None = None

    @property
    def rule(self) -> Rule:
        """How outputs become decisions."""
        return self.model.rule

    @property
    def encoding(self) -> Encoding:
        """Of people."""
        return self.encoder.encoding

    @cached_property
    def hashes(self) -> Hashes:
        """What all that is found is about."""
        return Hashes.of(self.encoder, self.model, self.arithmetic)

    @cached_property
    def pairs(self) -> PairSpace:
        """The similar pairs."""
        return PairSpace.of(self.encoder.similarity)

    @cached_property
    def ignores_changes(self) -> bool:
        """Whether the model reads nothing that φ lets differ: then both people of every pair have the same outputs."""
        changing = [name for name, other in self.pairs.others.items() if name != other]
        columns = [column for name in changing for column in self._columns(name)]
        return not (self._read_columns() & set(columns))

    def _columns(self, name: str) -> range:
        return range(*self.encoding.columns(name).indices(len(self.encoding.features)))

    def _read_columns(self) -> set[int]:
        """Encoded columns that can change an output, as far as the weights of the first layer or the splits show."""
        if not isinstance(self.deployment, Deployment):
            trees = self.deployment if isinstance(self.deployment, TreesDeployment) else self.deployment.first
            nodes = trees.trees.nodes
            numbers = nodes.column[nodes.kind == NUMBER].tolist()
            return {*numbers, *np.flatnonzero(nodes.sets.any(0)).tolist()}
        first = next((one for one in self.deployment.factors if not one.is_identity), self.deployment.factors[0])
        return set(np.flatnonzero((first.layers[0].weight != 0).any(0)).tolist())

    @cached_property
    def deployment(self) -> Sweepable:
        """Encoder and model, in the arithmetic.

        Raises
        ------
        LcifrError
            For anything but a linear model on the scores of a booster (only sums of terms can be told apart), and for
            trees behind an encoder.
        """
        found = deploy_both(self.encoder, self.model, self.arithmetic, None)
        if isinstance(found, NetworkOnTrees) and not is_additive(found, self.encoding):
            raise LcifrError(
                "a network with hidden layers on the scores of trees cannot be swept",
                fix="learn a linear model on them",
            )
        if isinstance(found, TreesOnLatents):
            raise LcifrError("trees behind an encoder cannot be swept", fix="audit people: `lcifr audit`")
        return found

    @cached_property
    def additive(self) -> AdditiveTerms | None:
        """The model as a sum of terms of one attribute or two; None where it is none."""
        everybody = UniverseCells.everybody(self.encoding, whole=False).region(self.encoding)
        return AdditiveTerms.of(self.deployment, self.encoding, everybody)

    @cached_property
    def scores(self) -> FloatArray:
        """(scores, outputs) see :func:`scores_of`; the outputs themselves for numbers."""
        return np.eye(self.rule.outputs) if self.rule.kind is Kind.NUMBER else scores_of(self.rule)

    def score(self, people: Individuals) -> FloatArray:
        """(people, scores) by a plain forward pass."""
        return np.asarray(self.deployment.evaluate(self.encoding.encode(people)).values @ self.scores.T)

    def exactly(self, features: FloatArray) -> tuple[Fraction, ...]:
        """The outputs of one encoded person (features,), without rounding."""
        deployment, point = self.deployment, features.tolist()
        if isinstance(deployment, TreesDeployment):
            return deployment.trees.exactly(point)
        if isinstance(deployment, NetworkOnTrees):
            scores, head = deployment.first.trees.exactly(point), deployment.merged.layers[0]
            rows = zip(head.weight.tolist(), head.bias.tolist(), strict=True)
            return tuple(
                Fraction(bias) + sum(Fraction(w) * s for w, s in zip(row, scores, strict=True)) for row, bias in rows
            )
        return chain_of(deployment.factors).exactly(point)  # merged, they would be another function by a little

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions in the model's own labels, by a plain forward pass."""
        return self.model.decide(self.deployment.evaluate(self.encoding.encode(people)).values)

    def trial(self, people: Individuals, *, without_library: bool = False) -> Trial:
        """For whom others are to be judged."""
        library = None
        if self.library is not None and not without_library:
            library = LibraryDecisions(self.library, self.model, self.library.library_decides(people))
        return Trial(self.encoder, self.model, people, self.arithmetic, library=library)
