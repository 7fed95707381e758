"""FairEncoder: a scikit-learn transformer from people to z with a provable radius."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lcifr.data import Encoding, Individuals, Schema
from lcifr.estimators.saving import read_encoder, write_encoder
from lcifr.estimators.validation import (
    LabelledPeople,
    encoder_settings,
    resolve_schema,
    resolve_similarity,
    schedule_of,
    seed_of,
    split_training,
    unread_attributes,
    validate_labels,
    validate_people,
)
from lcifr.learn.encoder import TrainedEncoder, bound_radius, train_encoder
from lcifr.learn.parameters import ENCODER
from lcifr.learn.scores import warn_of_degeneracies
from lcifr.learn.target import EncodedPeople, LatentReach, Target, class_weights
from lcifr.phi.similarity import Similarity
from lcifr.prove import Radius, radius
from lcifr.regions.region import Region

if TYPE_CHECKING:
    from lcifr.certification.handover import Representation


class FairEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn z = f(x) such that people who are similar under φ land close to each other, provably.

    Parameters
    ----------
    similarity
        φ: a formula's text, the path of a ``.phi`` file, the name of a ready formula, or a ``Similarity``.
    schema
        What the columns mean: a ``Schema`` or the path of its ``.toml`` file; None to infer it from the training table.
    latent_dim, hidden
        Width of z and of the hidden layers.
    method
        ``"bounds"``: the proved radius itself is trained. ``"dl2"``: the paper's counterexamples.
    gamma, delta
        Weight of the robust loss against the plain loss; 0 trains a plain encoder. For ``dl2``, the distance in z that
        costs nothing.
    stretch
        For ``bounds``: how many times the proved radius the label is to survive in training. Above 1 it certifies more
        people for less accuracy, also where a larger gamma no longer does.
    decoder_weight
        Weight of reconstructing x from z, for consumers with other labels; without y it is at least 1.
    whole_numbers
        Where the schema calls an attribute whole, people between two whole numbers do not exist. If True they are left
        out of what is trained and proved, and more people are certified. The paper's figures include them.
    tie_free
        Attributes of which φ never speaks get one weight for all their values, so that z does not depend on them.
    task, tolerance, class_weight
        ``"auto"``, ``"classification"`` or ``"regression"``; predicted numbers less than ``tolerance`` apart count as
        the same decision; weights of the classes as in scikit-learn.
    epochs, batch_size, learning_rate, weight_decay, patience, warmup
        See :class:`lcifr.learn.parameters.Schedule`.
    validation_fraction
        The share held out for early stopping, where ``fit`` is not given validation people.
    random_state, device, verbose
        The same seed gives the same weights on the same machine; a torch device; a progress bar on stderr.

    Attributes
    ----------
    network_, head_, decoder_ : the encoder, and the label's and the decoder's networks (None where there are none).
    schema_, encoding_, similarity_ : what the columns mean, their scales, φ. target_ : what was predicted.
    unread_ : attributes that z does not depend on.
    history_ : one :class:`lcifr.learn.history.Epoch` per epoch. degeneracies_ : what is trivial about the model.
    """

    def __init__(
        self,
        similarity: Any,
        *,
        schema: Schema | str | Path | None = None,
        latent_dim: int = ENCODER.latent_dim,
        hidden: tuple[int, ...] = ENCODER.hidden,
        method: str = "bounds",
        gamma: float = ENCODER.gamma,
        delta: float = 0.0,
        stretch: float = ENCODER.stretch,
        decoder_weight: float = ENCODER.decoder_weight,
        whole_numbers: bool = False,
        tie_free: bool = True,
        task: str = "auto",
        tolerance: float = 0.0,
        class_weight: Any = None,
        epochs: int = ENCODER.epochs,
        batch_size: int = ENCODER.batch_size,
        learning_rate: float = ENCODER.learning_rate,
        weight_decay: float = ENCODER.weight_decay,
        patience: int = ENCODER.patience,
        warmup: float = ENCODER.warmup,
        validation_fraction: float = ENCODER.validation_fraction,
        random_state: Any = 0,
        device: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.similarity = similarity
        self.schema = schema
        self.latent_dim = latent_dim
        self.hidden = hidden
        self.method = method
        self.gamma = gamma
        self.delta = delta
        self.stretch = stretch
        self.decoder_weight = decoder_weight
        self.whole_numbers = whole_numbers
        self.tie_free = tie_free
        self.task = task
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.warmup = warmup
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    # -- learning --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, validation: tuple[Any, Any] | None = None) -> FairEncoder:
        """Learn from a table of people, with a label or (by reconstruction alone) without.

        Parameters
        ----------
        validation
            A table and its labels for early stopping; otherwise ``validation_fraction`` of the people are held out.
        """
        people = validate_people(self, X, self._known_schema(), fitting=True)
        labels = None if y is None else validate_labels(y, len(people))
        seed = seed_of(self.random_state)
        encoding = getattr(self.similarity, "encoding", None) or Encoding.fit(people, people.schema)
        encoding.refuse_flat()
        self.schema_, self.encoding_ = people.schema, encoding
        self.similarity_ = resolve_similarity(self.similarity, people.schema, encoding)
        self.target_ = None if labels is None else Target.of(labels, self.task)
        learned_from, held_out = split_training(self, LabelledPeople(people, labels), validation, seed)
        training, checking = self._encoded(learned_from), self._encoded(held_out)
        produced = train_encoder(training, checking, self.target_, encoder_settings(self), schedule_of(self, seed))
        self._keep(produced)
        self._judge(checking, held_out.labels)
        return self

    def _known_schema(self) -> Schema | None:
        return self.similarity.schema if isinstance(self.similarity, Similarity) else resolve_schema(self.schema)

    def _encoded(self, side: LabelledPeople) -> EncodedPeople:
        x, region = self.encoding_.encode(side.people), self.region(side.people)
        if side.labels is None or self.target_ is None:
            return EncodedPeople(x, region, None, np.ones(len(x)))
        codes = self.target_.encode(side.labels)
        return EncodedPeople(x, region, codes, class_weights(self.target_, codes, self.class_weight))

    def _keep(self, produced: TrainedEncoder) -> None:
        self.network_, self.head_, self.decoder_ = produced.encoder, produced.head, produced.decoder
        if produced.head is not None and self.target_ is not None:
            model = self.target_.finish(produced.head)
            self.head_, self.target_ = model.network, Target.of_model(model)
        self.history_ = produced.history
        self._n_features_out = produced.encoder.outputs

    def _judge(self, people: EncodedPeople, labels: NDArray[Any] | None) -> None:
        latent, decision, label = self.network_(people.x), None, None
        if self.head_ is not None and self.target_ is not None and labels is not None:
            label = self.target_.encode(labels)
            decision = self.target_.rule.decide(self.head_(latent))
        warn_of_degeneracies(self, self.target_, latent=latent, decision=decision, label=label, region=people.region)

    @property
    def unread_(self) -> tuple[str, ...]:
        """The attributes that z does not depend on, as φ never speaks of them; none without ``tie_free``."""
        check_is_fitted(self)
        return unread_attributes(self)

    # -- use -------------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, latent_dim) z in float64: exactly the numbers that proofs speak about."""
        return self.network_(self._encode(X))

    def region(self, X: Any) -> Region:
        """S_φ(x) of every person."""
        return self.similarity_.region(self._checked(X), whole_numbers=self.whole_numbers)

    def radius(self, X: Any, **options: Any) -> Radius:
        """ε and box of every person, proved; options as for :func:`lcifr.prove.radius`."""
        people = self._checked(X)
        return radius(self.network_, self._encode(people), self.region(people), **options)

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """The hand-over: z, proved radius and box of every person; options as for ``certification.represent``."""
        from lcifr.certification.handover import represent

        check_is_fitted(self)
        return represent(self, X, ids, **options)

    def reach(self, X: Any) -> LatentReach:
        """z and ε of every person by plain bounds: proved too, quicker than :meth:`radius` and somewhat wider."""
        people = self._checked(X)
        return bound_radius(self.network_, self._encode(people), self.region(people))

    def _encode(self, X: Any) -> NDArray[np.float64]:
        return self.encoding_.encode(self._checked(X))

    def _checked(self, X: Any) -> Individuals:
        check_is_fitted(self)
        return validate_people(self, X, self.schema_, fitting=False)

    def save(self, path: str | Path) -> None:
        """Write everything but the people to one safetensors file."""
        check_is_fitted(self)
        write_encoder(self, path)

    @classmethod
    def load(cls, path: str | Path, *, training: Any = None) -> FairEncoder:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        training
            The training table, needed only where φ takes ranks among the training people: these are never saved.
        """
        encoder: FairEncoder = read_encoder(cls, path, training)
        return encoder
