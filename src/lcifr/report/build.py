"""From an audit's result to the content of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.handover import FrozenEncoder, Representation, freeze
from lcifr.certification.population import Statement, decision_name, scale_sources
from lcifr.certification.verdicts import Audit, Certificates, Verdict
from lcifr.data.files import versions
from lcifr.display.charts import Histogram, histogram
from lcifr.display.text import exactly
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi import Similarity
from lcifr.report.cautions import find_cautions, find_findings, find_notes
from lcifr.report.content import About, ComparedModel, DecisionRow, Decisions, Promise, Report, known
from lcifr.report.people import explore
from lcifr.workflows.results import TuneResult

if TYPE_CHECKING:
    from lcifr.estimators.tuning import Frontier


# Decision rates: how many people get which decision, by group and by true label.

MOST = 6
"""Decisions with a column of their own; of more, the frequent ones have one and the others share the last."""
OTHERS = "any other"


def read_decisions(found: Audit | Certificates, statement: Statement, words: Mapping[str, str]) -> Decisions | None:
    """What a statement counts, in the order of the model's own labels; None where a model predicts numbers."""
    if not statement.decisions:
        return None
    every = _names(found.model, statement)
    often = sorted(every, key=lambda name: (-statement.decisions.get(name, 0), every.index(name)))
    names = every if len(every) <= MOST else [name for name in every if name in often[: MOST - 1]]

    def counts(of: Mapping[str, int]) -> tuple[int, ...]:
        own = tuple(of.get(name, 0) for name in names)
        return own if len(names) == len(every) else (*own, sum(of.values()) - sum(own))

    return Decisions(
        names=tuple(words.get(name, name) for name in names) + ((OTHERS,) if len(names) < len(every) else ()),
        people=counts(statement.decisions),
        groups=tuple(
            DecisionRow(attribute, value, counts(of))
            for attribute, values in statement.group_decisions.items()
            for value, of in values.items()
        ),
        labels=tuple(
            DecisionRow("", words.get(label, label), counts(statement.confusion[label]))
            for label in sorted(statement.confusion, key=lambda label: every.index(label))
        ),
    )


def _names(model: Model, statement: Statement) -> list[str]:
    """Every decision that the model can take, that was taken, or that would have been right."""
    labels: Any = range(model.rule.classes) if model.labels is None else model.labels
    names = [decision_name(label) for label in labels]
    return list(dict.fromkeys([*names, *statement.decisions, *statement.confusion]))


# From an audit's result to the content of its report.

KINDS = {"certified": Verdict.CERTIFIED, "counterexample": Verdict.COUNTEREXAMPLE, "undecided": Verdict.UNDECIDED}


def build(
    found: Audit | Certificates,
    statement: Statement,
    *,
    encoder: Any = None,
    similarity: Similarity | None = None,
    radius: Any = None,
    tuning: Frontier | TuneResult | None = None,
    promise: Promise | None = None,
    about: About | None = None,
    hashes: Mapping[str, str] | None = None,
) -> Report:
    """The content of a report.

    Parameters
    ----------
    found : what :func:`lcifr.audit` or :func:`lcifr.certify` found.
    statement : what it says of the population, by :func:`lcifr.certification.state`.
    encoder : the encoder that was audited. similarity : of a model without one, φ. Without either, φ is not shown.
    radius : the hand-over of these people, or (people,) radii.
    tuning : the :class:`lcifr.estimators.tuning.Frontier` that :func:`lcifr.tune` returned, or the command's result.
    promise : φ, where the words are known and neither encoder nor similarity is at hand.
    about : names, words, settings, what the checker found.
    """
    about = about or About()
    if encoder is None and similarity is not None and isinstance(found, Audit):  # without either, φ is withheld
        encoder = found.encoder
    frozen = None if encoder is None else freeze(encoder)
    similarity = frozen.similarity if frozen is not None else similarity
    if about.versions is None:
        about = replace(about, versions=versions())
    if about.scales is None and similarity is not None:
        about = replace(about, scales=scale_sources(similarity, "the table that φ was fitted on"))
    promise = promise or _promise(similarity, hashes)
    findings = find_findings(found, similarity, about, promise.text)
    models = _models(statement, about)
    radii = radius.radius if isinstance(radius, Representation) else radius
    return Report(
        found=found,
        statement=statement,
        about=about,
        encoder=frozen,
        promise=promise,
        rule=_rule(found, about.decisions),
        hashes=dict(sorted((_hashes(found, frozen, similarity, about) | dict(hashes or {})).items())),
        cautions=find_cautions(found, statement, models, findings, about, promise.text is None),
        notes=find_notes(findings),
        models=models,
        margins=histogram(found.margin, _kinds(found), around_zero=True),
        radii=None if radii is None else _radii(found, np.asarray(radii, np.float64), radius),
        decisions=read_decisions(found, statement, about.decisions),
        explorer=explore(found, frozen, similarity, radii, about.decisions),
        tuning=tuning,
    )


def _promise(similarity: Similarity | None, hashes: Mapping[str, str] | None) -> Promise:
    if similarity is None:
        return Promise("withheld", None, None, (hashes or {}).get("similarity", ""))
    return Promise(similarity.source, similarity.text, similarity.explain(), similarity.hash)


def _kinds(found: Audit | Certificates) -> dict[str, NDArray[np.bool_]]:
    masks = {name: np.asarray(found.verdict == verdict) for name, verdict in KINDS.items()}
    return {name: mask for name, mask in masks.items() if mask.any()}


def _radii(found: Audit | Certificates, radii: NDArray[np.float64], source: Any) -> Histogram | None:
    """By who stands behind them, where a consumer has them from a producer; else by verdict."""
    if not isinstance(found, Certificates):
        return histogram(radii, _kinds(found))
    status = source.radius_status if isinstance(source, Representation) else found.radius_status
    masks = {name: np.asarray(status == name) for name in ("checked", "claimed")}
    return histogram(radii, {name: mask for name, mask in masks.items() if mask.any()})


def _models(statement: Statement, about: About) -> tuple[ComparedModel, ...]:
    """The model under audit, by the figures that its baselines have, and these."""
    own = {name: getattr(statement, name) for name in ("accuracy", "balanced_accuracy", "r2", "mean_error")}
    own |= {name: getattr(statement, name) / statement.people for name in ("certified", "violated", "undecided")}
    others = (
        ComparedModel(name, {figure: known(value) for figure, value in figures.items()})
        for name, figures in statement.baselines.items()
    )
    return ComparedModel(about.model, own), *others


def _rule(found: Audit | Certificates, words: Mapping[str, str]) -> str:
    """What must agree, in a sentence."""
    model, rule = found.model, found.model.rule
    if rule.kind is Kind.NUMBER:
        return f"the prediction is less than {exactly(rule.known_tolerance)} away from that person’s own"
    classes: Any = range(rule.classes) if model.labels is None else model.labels
    shown = [words.get(decision_name(label), str(label)) for label in classes]
    if all(len(group) == 1 for group in rule.groups):
        return f"two similar people get the same decision ({', '.join(shown)})"
    groups = [" or ".join(shown[c] for c in group) for group in rule.groups]
    return f"two similar people’s decisions are in the same group ({'; '.join(groups)})"


def _hashes(
    found: Audit | Certificates, encoder: FrozenEncoder | None, similarity: Similarity | None, about: About
) -> dict[str, str]:
    by_name = {"model": found.model.function.hash}
    if similarity is not None:
        by_name |= {"similarity": similarity.hash, "encoding": similarity.encoding.hash}
    if encoder is not None and about.library is None and not encoder.function.is_identity:
        by_name["encoder"] = encoder.function.hash
    return by_name
