"""Boosters as producers: z has one score per attribute, with its exact box, for hand-overs and heads on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lcifr.learn.radius_bounds import LatentReach
from lcifr.models.additive import score_trees, summing_head
from lcifr.models.rule import Kind
from lcifr.models.trees import Trees, box_around

if TYPE_CHECKING:
    from lcifr.certification.handover import Representation
    from lcifr.estimators.base_head import Head


class ScoreRepresentation(TransformerMixin):  # type: ignore[misc]
    """What :class:`FairEncoder` offers, of a fitted booster."""

    @property
    def score_trees_(self) -> Trees:
        """From encoded people to z."""
        check_is_fitted(self)
        return score_trees(self.additive_)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, scores) z: what each attribute and pair says, for each class where there are more than two."""
        people = self._checked(X)
        return self.score_trees_(self.encoding_.encode(people))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """(scores,) the attributes and pairs; with the class where there are more than two."""
        check_is_fitted(self)
        names = [shape.bins.attribute for shape in self.additive_.shapes]
        names += [" × ".join(axis.attribute for axis in pair.bins.axes) for pair in self.additive_.pairs]
        names += [
            f"tree {number} of {' × '.join(t.bins.attributes)}" for number, t in enumerate(self.additive_.trees, 1)
        ]
        names = names or ["nothing"]
        if self.target_.kind is Kind.CLASS:
            names = [f"{name} for {label}" for name in names for label in self.classes_]
        return np.array(names, dtype=object)

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """The hand-over: z with the proved ball and box of everybody; options as for ``certification.represent``."""
        from lcifr.certification.handover import represent

        check_is_fitted(self)
        return represent(self, X, ids, **options)

    def reach(self, X: Any) -> LatentReach:
        """z of everybody with ball and box: exact where φ has no linear rows."""
        people = self._checked(X)
        x, trees = self.encoding_.encode(people), self.score_trees_
        box = box_around(trees, x, self.region(people))
        return LatentReach.of_box(trees(x), box.lower, box.upper)

    @property
    def head_(self) -> Head:
        """The head on z that decides as the booster itself: it adds the scores up."""
        from lcifr.estimators.heads import RobustClassifier, RobustRegressor

        check_is_fitted(self)
        head: Head = (
            RobustRegressor(tolerance=self.tolerance)
            if self.target_.kind is Kind.NUMBER
            else RobustClassifier(class_weight=self.class_weight)
        )
        network = summing_head(self.additive_)
        head._keep(self.target_.model(network), ())
        head.degeneracies_, head.n_features_in_ = self.degeneracies_, network.inputs
        return head
