"""Bagging: several models, each learned and stopped by other people, averaged to one additive model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lcifr.data import Encoding
from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.target import Target
from lcifr.learn.training_loop import Epoch
from lcifr.learn.trees.averaging import average
from lcifr.learn.trees.boosting import boost
from lcifr.learn.trees.boosting_settings import BoostingSettings
from lcifr.models.additive import AdditiveModel


@dataclass(frozen=True)
class Bag:
    """Whom a model is learned from, and who stops it."""

    training: EncodedPeople
    validation: EncodedPeople


@dataclass(frozen=True)
class BaggedModel:
    """The average of all bags' models, their histories one after the other, and who stopped the first one."""

    model: AdditiveModel
    history: tuple[Epoch, ...]
    checked: EncodedPeople


def boost_bags(
    encoding: Encoding,
    given: EncodedPeople,
    bags: Iterable[Bag],
    target: Target,
    settings: BoostingSettings,
    start: AdditiveModel | None = None,
) -> BaggedModel:
    """Boost a model for each bag, and average them.

    Several divide attributes as everybody ``given`` does, all of them alike, so that their average has no more steps
    than one of them may have; and where steps are chosen by a share of the people, each draws its own.
    """
    models, history, checked = list[AdditiveModel](), list[Epoch](), list[EncodedPeople]()
    divided = given if settings.bags > 1 else None
    for number, bag in enumerate(bags):
        own = replace(settings, seed=settings.seed + number)
        found = boost(encoding, bag.training, bag.validation, target, own, start, divided)
        models.append(found.model)
        before = len(history)
        history += (replace(epoch, number=before + epoch.number) for epoch in found.history)
        checked = checked or [bag.validation]
    model = models[0] if len(models) == 1 else average(models)
    return BaggedModel(model, tuple(history), checked[0])
