"""The content of a report, from an audit's result in memory or from the folder that a command wrote.

For a folder, verdicts are counted again from the people's own rows, and formulas are hashed again: a folder whose parts
do not belong together is refused, not shown.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.handover import FrozenEncoder, Provenance, Representation, freeze
from lcifr.certification.population import Statement, Tally, decision_name, scale_sources
from lcifr.certification.subject import Hashes, rule_of_bundle
from lcifr.certification.verdicts import Audit, Certificates, Verdict
from lcifr.data import Individuals, Schema, read_frame
from lcifr.data.files import first_change, versions
from lcifr.display.charts import Histogram, histogram
from lcifr.display.text import exactly
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi import Similarity
from lcifr.report.cautions import find_cautions, find_findings, find_notes
from lcifr.report.content import About, ComparedModel, DecisionRow, Decisions, Promise, Report, known
from lcifr.report.people import explore
from lcifr.workflows.folders import SETTINGS, RunSettings, command_of_folder, fitting_together
from lcifr.workflows.jobs import read_audited
from lcifr.workflows.results import (
    AuditResult,
    ConsumeResult,
    ModelSummary,
    TuneResult,
    decisions_of,
    name_decisions,
    read_saved_head,
)
from lcifr.workflows.subjects import read_model_again

if TYPE_CHECKING:
    from lcifr.estimators.tuning import Frontier


# From an audit's result to the content of its report.

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
    models = _compared_models(statement, about)
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


def _compared_models(statement: Statement, about: About) -> tuple[ComparedModel, ...]:
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


# From the folder that ``lcifr audit`` or ``lcifr consume`` wrote to the content of its report.
#
# Verdicts are counted again from the people's own rows, and formulas are hashed again: a folder whose parts do not
# belong
# together is refused, not shown.

# What surrounds the verdicts in a folder: data, command, check, findings and hashes.


def about_audit(result: AuditResult, settings: RunSettings | None) -> About:
    """From an audit and its ``settings.json``."""
    data = result.model.data
    of = "" if data is None else f" of {data.title}"
    drawn = f" drawn at random from {result.drawn_from:,}" if result.drawn_from else ""
    known = result.model.trained_on is not None
    return About(
        title=_title(result.model.target),
        data=f"{result.statement.rows:,} people{of}{drawn}, {_training_words(result.held_out, known=known)}",
        partial=None if data is None else data.partial,
        data_cautions=() if data is None else data.cautions,
        decisions=result.model.labels,
        baseline_learner=result.baseline_learner,
        checked=result.checked,
        recheck=(f"python -m lcifr.check {result.bundle}",) if result.bundle else (),
        findings=result.findings,
        scales=result.model.scales,
        library=result.model.origin,
        **_of_run(settings),
    )


def about_consumer(result: ConsumeResult, settings: RunSettings | None) -> About:
    """The same for a consumer's folder, which knows neither the data nor a check."""
    trained_on = result.is_in_sample
    training = _training_words(result.held_out, known=result.origin is None, trained_on=trained_on)
    return About(
        title=_title(result.model.target),
        data=f"{result.statement.people:,} people, {training}",
        library=result.origin,
        trained_on=trained_on or None,
        **_of_run(settings),
    )


def _title(target: str) -> str:
    return f"{target}: do similar people get the same decision?"


def _training_words(held_out: bool, *, known: bool, trained_on: bool = False) -> str:
    """Whether these people were used for training, as far as is known.

    ``known`` : whether lcifr trained the model, and so knows on which people.
    ``trained_on`` : whether it was trained on some of these people.
    """
    if held_out:
        return "held out from training" if known else "declared as held out from training"
    return "used for training" if trained_on else "possibly used for training"


def _of_run(settings: RunSettings | None) -> dict[str, Any]:
    """The run's command, seed, versions and date."""
    if settings is None:
        return {}
    words = {"command": shlex.join(["lcifr", *settings.argv])} if settings.argv else {}
    words |= {"started": settings.started} | ({} if settings.seed is None else {"seed": str(settings.seed)})
    day = (settings.finished or settings.started)[: len("2026-11-16")]
    return {"settings": words, "versions": settings.versions, "audited": day}


def hashes_of_audit(result: AuditResult) -> dict[str, str]:
    """The hashes of everything that the verdicts depend on, by name."""
    origin = result.model.origin
    file = {} if origin is None else {"model file": origin.sha256}
    return dict(sorted((result.model.hashes.to_dict() | file).items()))


def hashes_of_consumer(proved: Provenance) -> dict[str, str]:
    """The hashes of everything that the radii depend on, by name."""
    return {
        "encoder": proved.weights,
        "encoding": proved.encoding,
        "schema": proved.schema,
        "similarity": proved.similarity,
    }


LARGEST = 2_000_000
"""The most people whose rows are read into memory: for the histograms, and to count them again."""


def read_folder(
    folder: str | Path,
    tuned: str | Path | None = None,
    *,
    author: str = "",
    written: str = "",
    labels: Mapping[Any, str] | None = None,
) -> Report:
    """The report of a result folder.

    Parameters
    ----------
    folder : written by ``lcifr audit``; or by ``lcifr consume``, whose report has no people and no counterexamples.
    tuned : the folder that ``lcifr tune`` wrote, for the frontier.
    author : who is responsible for the page. written : its date, as 2026-11-16; shown if it differs from the audit's.
    labels : what decisions are called; by default, what the folder calls them.
    """
    root = Path(folder)
    is_audit = command_of_folder(root, "audit", "consume") == "audit"
    settings = read_settings(root)
    with fitting_together(root):
        result = AuditResult.read(root) if is_audit else ConsumeResult.read(root)
        _refuse_many(root, result.statement.people)
        if isinstance(result, AuditResult):
            about, found = about_audit(result, settings), _read_audit(root, result)
        else:
            about, found = about_consumer(result, settings), _read_consumer(root, result)
        statement = _counted_again(root, found.verdicts, result.statement)
        _refuse_changed(root, settings)
        about = replace(about, author=author, written=written)
        if labels:
            about = replace(about, decisions=name_decisions(labels, decisions_of(found.verdicts.model)))
        return build(
            found.verdicts,
            statement,
            encoder=found.encoder,
            radius=found.radius,
            tuning=None if tuned is None else TuneResult.read(Path(tuned)),
            about=about,
            promise=found.promise,
            hashes=found.hashes,
        )


def _refuse_many(root: Path, people: int) -> None:
    if people > LARGEST:
        raise LcifrError(
            f"{root} covers {people:,} people, but a report holds everyone in memory and is limited to {LARGEST:,}",
            fix="audit a sample for the page: lcifr audit … --sample 100000",
        )


@dataclass(frozen=True)
class FolderVerdicts:
    """The verdicts of a folder and what they are about; ``encoder`` is None if φ cannot be evaluated."""

    verdicts: Audit | Certificates
    promise: Promise
    hashes: dict[str, str]
    encoder: FrozenEncoder | None = None
    radius: Any = None


def read_settings(root: Path) -> RunSettings | None:
    """How the folder was made; None if that is not on file."""
    return RunSettings.read(root) if (root / SETTINGS).is_file() else None


def _refuse_changed(root: Path, settings: RunSettings | None) -> None:
    """Files still in the folder must be unchanged since the run; the bundle may have been removed."""
    files = {} if settings is None else settings.files
    there = {name: digest for name, digest in files.items() if (root / name).exists()}
    if (changed := first_change(root, there)) is not None:
        raise ArtefactError(
            f"{root / changed} has changed since the run that wrote the folder: its hash differs",
            fix="give the folder as it was written, or audit again",
        )


# -- verdicts ----------------------------------------------------------------------------------------------------------


def _read_audit(root: Path, result: AuditResult) -> FolderVerdicts:
    schema = Schema.load(root / "schema.toml")
    people = Individuals.read(read_frame(root / "people.parquet"), schema)
    is_own = result.model.origin is None
    encoder, model, about = (_models if is_own else _library_models)(root, schema, result.model)
    verdicts = read_audited(root / "audited", people, model, about)
    phi = result.model.phi
    promise = Promise(phi.source, phi.text, phi.english, phi.hash)
    return FolderVerdicts(verdicts, promise, hashes_of_audit(result), encoder, verdicts.radius)


def _models(root: Path, schema: Schema, said: ModelSummary) -> tuple[FrozenEncoder | None, Model, Hashes]:
    """Both models, and what the verdicts must be about: these very models and the φ that the result names.

    The encoder is None if φ ranks training people: an audit's folder does not hold them.
    """
    from lcifr.certification.saved_models import read_saved_function

    saved, phi = read_saved_function(root / "encoder.safetensors"), said.phi
    encoding = _fitting(saved.encoding, schema)
    model = read_saved_head(root, said.task).model.agreeing(tolerance=said.tolerance)
    about = Hashes(
        saved.function.hash, model.function.hash, phi.hash, encoding.hash, rule_of_bundle(model.rule), said.arithmetic
    )
    about.refuse_others({**asdict(about), **said.hashes.of_proofs()}, root / "result.json")
    try:
        similarity = Similarity(phi.text, schema, encoding)
    except LcifrError:
        return None, model, about
    if similarity.hash != phi.hash:
        raise ArtefactError(f"{root}: the formula in result.json is not the one that was audited: the hashes differ")
    return FrozenEncoder(saved.function, similarity), model, about


def _library_models(root: Path, schema: Schema, said: ModelSummary) -> tuple[FrozenEncoder | None, Model, Hashes]:
    """The same for a model of another library, read again from the file that was audited."""
    model, encoder = read_model_again(root, said)
    known = Hashes(**said.hashes.of_proofs(), decision=rule_of_bundle(model.rule), arithmetic=said.arithmetic)
    if encoder is not None:
        found = Hashes.of(encoder, model, said.arithmetic)
        found.refuse_others(asdict(known), root / "result.json")
        _fitting(encoder.encoding, schema)
    return encoder, model, known


def _fitting(encoding: Any, schema: Schema) -> Any:
    if encoding.schema.attributes != schema.attributes:
        raise ArtefactError("schema.toml is not the schema of the encoder", fix="give the folder as it was written")
    return encoding


def _read_consumer(root: Path, result: ConsumeResult) -> FolderVerdicts:
    from pyarrow import compute, parquet

    rows, said, proved = parquet.read_table(root / "certificates.parquet"), result.model, result.model.provenance
    if "split" in rows.column_names:
        rows = rows.filter(compute.equal(rows["split"], result.about))
    model = read_saved_head(root, said.task).model.agreeing(tolerance=said.tolerance)
    if model.function.hash != said.model:
        raise ArtefactError(f"{root}: model.safetensors is not the model that was certified: the hashes differ")
    similar = proved.formula()  # parsed again, so that edits to the text are detected
    english = None if similar is None else similar.explain()
    promise = Promise("the producer’s formula", proved.similarity_text, english, proved.similarity)
    return FolderVerdicts(Certificates.from_arrow(rows, model, result.on), promise, hashes_of_consumer(proved))


def _counted_again(root: Path, found: Audit | Certificates, said: Statement) -> Statement:
    """The statement, after counting the people's rows again; decisions are counted from the rows."""
    violated = int(found.violated.sum()) if isinstance(found, Audit) else 0
    certified = int(found.certified.sum())
    vacuous = int((found.vacuous & found.certified).sum())
    counted = (len(found), certified, violated, len(found) - certified - violated, vacuous)
    if counted != (said.people, said.certified, said.violated, said.undecided, said.vacuous):
        raise ArtefactError(f"{root}: the counts in result.json do not match the people's rows", fix="audit again")
    tally = Tally()
    tally.add(found, None, {})
    return replace(said, share=certified / said.rows, constant=tally.constant, decisions=dict(tally.all.decisions))
