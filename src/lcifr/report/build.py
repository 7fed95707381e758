"""From an audit's result to the content of its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.handover import FrozenEncoder, Representation, freeze
from lcifr.certification.population import ScaleSource, Statement, decision_name, scale_sources, why_no_bound
from lcifr.certification.verdicts import Audit, Certificates, Verdict
from lcifr.data.files import versions
from lcifr.display.charts import Histogram, histogram
from lcifr.display.text import arithmetic_words, exactly
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi import Similarity
from lcifr.report.cautions import find_cautions, find_findings, find_notes
from lcifr.report.content import (
    About,
    DecisionRow,
    Decisions,
    FrontierRow,
    GroupRow,
    ModelRow,
    Origin,
    Promise,
    Proved,
    Report,
    Tuning,
)
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
    known = _names(found.model, statement)
    often = sorted(known, key=lambda name: (-statement.decisions.get(name, 0), known.index(name)))
    names = known if len(known) <= MOST else [name for name in known if name in often[: MOST - 1]]

    def counts(of: Mapping[str, int]) -> tuple[int, ...]:
        own = tuple(of.get(name, 0) for name in names)
        return own if len(names) == len(known) else (*own, sum(of.values()) - sum(own))

    return Decisions(
        names=tuple(words.get(name, name) for name in names) + ((OTHERS,) if len(names) < len(known) else ()),
        people=counts(statement.decisions),
        groups=tuple(
            DecisionRow(attribute, value, counts(of))
            for attribute, values in statement.group_decisions.items()
            for value, of in values.items()
        ),
        labels=tuple(
            DecisionRow("", words.get(label, label), counts(statement.confusion[label]))
            for label in sorted(statement.confusion, key=lambda label: known.index(label))
        ),
    )


def _names(model: Model, statement: Statement) -> list[str]:
    """Every decision that the model can take, that was taken, or that would have been right."""
    labels: Any = range(model.rule.classes) if model.labels is None else model.labels
    names = [decision_name(label) for label in labels]
    return list(dict.fromkeys([*names, *statement.decisions, *statement.confusion]))


# From an audit's result to the content of its report.

KINDS = {"certified": Verdict.CERTIFIED, "counterexample": Verdict.COUNTEREXAMPLE, "undecided": Verdict.UNDECIDED}
FIGURES = ("accuracy", "balanced_accuracy", "certified", "violated", "undecided", "r2", "mean_error")


def build(
    found: Audit | Certificates,
    statement: Statement,
    *,
    encoder: Any = None,
    similarity: Similarity | None = None,
    radius: Any = None,
    tuning: Any = None,
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
    tuning : the :class:`lcifr.estimators.tuning.Frontier` that :func:`lcifr.tune` returned.
    promise : φ, where the words are known and neither encoder nor similarity is at hand.
    about : names, words, settings, the checker's word.
    """
    about = about or About()
    if encoder is None and similarity is not None and isinstance(found, Audit):  # without either, φ is withheld
        encoder = found.encoder
    frozen = None if encoder is None else freeze(encoder)
    similarity = frozen.similarity if frozen is not None else similarity
    models = _models(statement, about)
    said = promise or _promise(similarity, hashes)
    findings = find_findings(found, similarity, about, said.text)
    radii = radius.radius if isinstance(radius, Representation) else radius
    return Report(
        title=about.title,
        data=about.data,
        origin=_origin(found, frozen, about),
        promise=said,
        proved=_proved(found, statement, about),
        cautions=find_cautions(found, statement, models, findings, about, said.text is None),
        models=models,
        majority_rate=statement.majority_rate,
        margins=histogram(found.margin, _kinds(found), around_zero=True),
        radii=None if radii is None else _radii(found, np.asarray(radii, np.float64), radius),
        groups=_groups(statement),
        decisions=read_decisions(found, statement, about.decisions),
        explorer=explore(found, frozen, similarity, radii, about.decisions),
        tuning=tuning if tuning is None or isinstance(tuning, Tuning) else read_frontier(tuning),
        checked=about.checked,
        recheck=about.recheck,
        rule=_rule(found, about.decisions),
        hashes=dict(sorted((_hashes(found, frozen, similarity, about) | dict(hashes or {})).items())),
        versions=dict(about.versions if about.versions is not None else versions()),
        settings=dict(about.settings),
        data_cautions=about.data_cautions,
        notes=find_notes(findings),
        baseline_learner=about.baseline_learner,
        scales=_scales(similarity, about),
    )


def _origin(found: Audit | Certificates, encoder: FrozenEncoder | None, about: About) -> Origin:
    return Origin(
        audited=about.audited,
        written="" if about.written == about.audited else about.written,
        author=about.author,
        encoder=() if encoder is None or encoder.function.is_identity else encoder.function.widths,
        model=found.model.function.widths,
        arithmetic=arithmetic_words(found.arithmetic, getattr(found, "handover_arithmetic", None)),
        library=about.library,
        trees=found.model.function.tree_count,
        encoder_trees=0 if encoder is None else encoder.function.tree_count,
        labels=about.decisions,
    )


def _promise(similarity: Similarity | None, hashes: Mapping[str, str] | None) -> Promise:
    if similarity is None:
        return Promise("withheld", None, None, (hashes or {}).get("similarity", ""))
    return Promise(similarity.source, similarity.text, similarity.explain(), similarity.hash)


def _proved(found: Audit | Certificates, statement: Statement, about: About) -> Proved:
    words, trained_on = about.decisions, bool(about.trained_on)
    modular = found.modularity() if isinstance(found, Audit) else {}
    reasons = Counter(str(r) for r, v in zip(found.reason, found.verdict, strict=True) if v == Verdict.UNDECIDED)
    return Proved(
        people=statement.people,
        certified=statement.certified,
        violated=statement.violated,
        undecided=statement.undecided,
        vacuous=statement.vacuous,
        alone=int((found.alone & ~found.vacuous).sum()) if isinstance(found, Audit) else 0,
        share=statement.share,
        lower=statement.lower,
        confidence=statement.confidence,
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        on_ball=modular.get("ball"),
        on_box=modular.get("box"),
        constant=None if statement.constant is None else words.get(statement.constant, statement.constant),
        not_examined=statement.not_examined,
        no_bound=why_no_bound(statement.not_examined, trained_on=trained_on) if statement.lower is None else "",
    )


def _scales(similarity: Similarity | None, about: About) -> tuple[ScaleSource, ...]:
    if about.scales is not None or similarity is None:
        return about.scales or ()
    return scale_sources(similarity, "the table that φ was fitted on")


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


def _models(statement: Statement, about: About) -> tuple[ModelRow, ...]:
    own = ModelRow(
        about.model,
        statement.accuracy,
        statement.balanced_accuracy,
        statement.share_of_examined,
        statement.violated / statement.people,
        statement.undecided / statement.people,
        statement.r2,
        statement.mean_error,
    )
    others = [
        ModelRow(name, *(_known(figures.get(figure)) for figure in FIGURES))
        for name, figures in statement.baselines.items()
    ]
    return own, *others


def _known(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def _groups(statement: Statement) -> tuple[GroupRow, ...]:
    if statement.subgroups is None:
        return ()
    return tuple(
        GroupRow(
            str(row["attribute"]),
            str(row["value"]),
            int(row["people"]),
            float(row["certified"]),
            _known(row.get("at_least")),
            float(row["violated"]),
            _known(row.get("accuracy")),
            _known(row.get("mean_error")),
        )
        for row in statement.subgroups.to_dict("records")
    )


def read_frontier(frontier: Frontier | TuneResult) -> Tuning:
    """What :func:`lcifr.tune` found, or the result of the command."""
    chosen = frontier.chosen if isinstance(frontier, TuneResult) or frontier.chosen is None else frontier.chosen.name
    points = [(point, "unaware" if point.name.endswith("unaware") else "plain") for point in frontier.baselines]
    points += [(point, "chosen" if point.name == chosen else "tried") for point in frontier.points]
    several = len({point.learner for point, _ in points}) > 1
    rows = [
        FrontierRow(p.name, kind, p.gamma, p.score, p.balanced, p.certified, p.learner if several else "")
        for p, kind in points
    ]
    return Tuning(float(frontier.required), tuple(rows), frontier.by)


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
    known = {"model": found.model.function.hash}
    if similarity is not None:
        known |= {"similarity": similarity.hash, "encoding": similarity.encoding.hash}
    if encoder is not None and about.library is None and not encoder.function.is_identity:
        known["encoder"] = encoder.function.hash
    return known
