"""The consumer's work from request to result: a model on z alone, and who is certified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.errors import ArtefactError, LcifrError
from lcifr.runs.consume_request import ConsumeRequest
from lcifr.runs.events import Listener, StepKind, listening, step
from lcifr.runs.folders.run import run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.people.loading import Labels
from lcifr.runs.people.train_test import HELD_OUT, TRAIN, find_split_labels

if TYPE_CHECKING:
    from lcifr.certification.consumer import Where
    from lcifr.certification.handover import Provenance, Representation
    from lcifr.certification.verdicts import Certificates
    from lcifr.models.model import Degeneracy, Model
    from lcifr.runs.auditing.origin import ModelOrigin
    from lcifr.runs.folders.results import ConsumeResult

MODEL, CERTIFICATES = "model.safetensors", "certificates.parquet"


@dataclass(frozen=True, eq=False)
class ConsumerModel:
    """What decides on z.

    Parameters
    ----------
    task : ``classification`` or ``regression``. trained_on : people; None where nobody says so.
    degeneracies : what is trivial about it on the people it learned from. origin : of a model from elsewhere.
    """

    model: Model
    task: str
    trained_on: int | None
    degeneracies: tuple[Degeneracy, ...] = ()
    origin: ModelOrigin | None = None


def consume(request: ConsumeRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> ConsumeResult:
    """Train a model on the hand-over and labels, and prove for whom everybody similar gets the same decision.

    Parameters
    ----------
    listener : hears the events of :mod:`lcifr.runs.events`. argv : the words of the command line, for the settings.
    """
    with listening(listener):
        splits = _read_handover(request.handover)
        if request.checked is not None:
            splits = _with_report(splits, request.checked)
        ids = {name: split.ids for name, split in splits.items()}
        known = find_split_labels(request.labels, ids, request.target, request.id_column, learned=request.model is None)
        command = Command.of("consume", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            run.lost = "Learning is not kept, it starts anew."
            decides = _learn if request.model is None else _adopt
            used = decides(splits, known, request, run.work / MODEL)
            on = request.on or usual_surroundings(splits[TRAIN].provenance, used.model)
            found = _certify(splits, used.model, request, on)
            _write_certificates(run.work / CERTIFICATES, found)
            result = _result(splits, known, used, found, request)
            run.finish(result.to_dict())
    return result


def _read_handover(folder: Path) -> dict[str, Representation]:
    """Training and held-out people, or a single hand-over of people who may all be trained on."""
    from lcifr.certification.handover import Representation

    parts = [name for name in (TRAIN, HELD_OUT) if (folder / name).is_dir()]
    _refuse_many(folder, *(folder / name for name in parts))
    if TRAIN in parts and not (folder / "manifest.json").exists():
        splits = {name: Representation.read(folder / name) for name in parts}
        if len({(split.provenance.weights, split.width) for split in splits.values()}) > 1:
            raise LcifrError(f"{folder}: its parts come from different encoders", fix="get the whole folder again")
        return splits
    if not (folder / "manifest.json").exists():
        raise LcifrError(
            f"{folder} is not a hand-over" if folder.is_dir() else f"{folder}: there is no such folder",
            fix="give the folder `handover` that `lcifr produce` wrote",
        )
    return {TRAIN: Representation.read(folder)}


def _refuse_many(*folders: Path) -> None:
    from lcifr.data.files import MANIFEST, read_json
    from lcifr.runs.people.source import LEARNED, refuse_more

    said = [read_json(folder / MANIFEST) for folder in folders if (folder / MANIFEST).is_file()]
    people = sum(one["people"] for one in said if isinstance(one, dict) and type(one.get("people")) is int)
    fix = "learn from the hand-over of fewer (`lcifr produce --sample`); `lcifr certify` decides about all the others"
    refuse_more(people, LEARNED, "learning", fix)


def _with_report(splits: dict[str, Representation], report: Path) -> dict[str, Representation]:
    """The split that the checker's report is about, marked; it is about one of them."""
    found, problems = dict(splits), []
    for name, split in splits.items():
        try:
            found[name] = split.with_report(report)
        except ArtefactError as problem:
            problems.append(problem)
    if len(problems) == len(splits):
        raise problems[0]
    return found


def _learn(
    splits: dict[str, Representation], known: dict[str, Labels], request: ConsumeRequest, file: Path
) -> ConsumerModel:
    """A network that is trained on z, into a file."""
    import numpy as np

    from lcifr.runs.learning import head_of, one_thread

    rows = np.flatnonzero(known[TRAIN].there)
    if len(rows) < 2:
        raise LcifrError(
            f"there are labels for {len(rows)} of the {len(splits[TRAIN])} training people",
            fix="check that the labels use the ids of the hand-over; --id names their column",
        )
    y = known[TRAIN].values
    head = head_of(
        y,
        request.task,
        request.tolerance,
        request.class_weight,
        instead="; or --task classification",
        hidden=request.hidden,
        gamma=request.gamma,
        epochs=request.epochs,
        random_state=request.seed,
    )
    part = splits[TRAIN].take(rows)
    on = request.on or usual_surroundings(part.provenance)
    with one_thread(), step(f"Training on {len(rows)} people", StepKind.LONG):
        box = (part.lower, part.upper) if on == "box" else None
        head.fit(part.latent, y, radius=part.radius, box=box)
    head.save(file)
    model = head.model_.agreeing(tolerance=getattr(head, "tolerance", None))
    return ConsumerModel(model, head._task, len(rows), tuple(head.degeneracies_))


def _adopt(
    splits: dict[str, Representation], known: dict[str, Labels], request: ConsumeRequest, file: Path
) -> ConsumerModel:
    """A tree model that was trained on z elsewhere, into a file of our own."""
    import numpy as np

    from lcifr.certification.saved_models import write_saved_trees
    from lcifr.runs.models.on_latents import read_on_latents, refuse_unknown_labels

    assert request.model is not None
    latents = np.concatenate([split.latent for split in splits.values()])
    with step(f"Comparing {request.model.name} with its library"):
        read = read_on_latents(request.model, latents, request.classes, request.tolerance)
    for labels in known.values():
        refuse_unknown_labels(read.model, labels.values)
    write_saved_trees(file, read.model, read.origin.to_dict())
    task = "classification" if read.model.rule.tolerance is None else "regression"
    return ConsumerModel(read.model, task, None, origin=read.origin)


def usual_surroundings(handed: Provenance, model: Model | None = None) -> Where:
    """Where a verdict is proved unless it is said: on the ball, as in the paper; on the box where z are scores, or
    where trees decide, which no radius serves better."""
    from lcifr.certification.handover import TREES
    from lcifr.models.trees import Trees

    return "box" if handed.method == TREES or (model and isinstance(model.function, Trees)) else "ball"


def _certify(
    splits: dict[str, Representation], model: Model, request: ConsumeRequest, on: Where
) -> dict[str, Certificates]:
    from lcifr.certification.consumer import certify

    computed = request.arithmetic or ("float64" if request.model is None else None)
    with step(f"Certifying {sum(map(len, splits.values()))} people"):
        return {name: certify(split, model, on=on, arithmetic=computed) for name, split in splits.items()}


def _write_certificates(path: Path, found: dict[str, Certificates]) -> None:
    import pandas as pd

    frames = []
    for name, certificates in found.items():
        frame = certificates.frame()
        frame.insert(1, "split", name)
        frames.append(frame.assign(id=frame["id"].astype("string")))
    pd.concat(frames).to_parquet(path, index=False)


def _result(
    splits: dict[str, Representation],
    known: dict[str, Labels],
    used: ConsumerModel,
    found: dict[str, Certificates],
    request: ConsumeRequest,
) -> ConsumeResult:
    from lcifr.certification.population import state
    from lcifr.runs.folders.results import ConsumeResult
    from lcifr.runs.folders.summaries import ConsumerSummary, classes_of, learned_warnings

    about = HELD_OUT if HELD_OUT in found else TRAIN
    held_out = about == HELD_OUT and (request.model is None or request.population)
    labels = known[about]
    y = labels.values if labels.there.all() else None
    said = state(found[about], y, held_out=held_out)
    checked = int((found[about].radius_status == "checked").sum())
    model = ConsumerSummary(
        target=labels.name,
        task=used.task,
        classes=classes_of(used.model),
        tolerance=used.model.rule.tolerance,
        trained_on=used.trained_on,
        provenance=splits[about].provenance,
        model=used.model.function.hash,
    )
    return ConsumeResult(
        model=model,
        about=about,
        sizes={name: len(split) for name, split in splits.items()},
        held_out=held_out,
        statement=replace(said, warnings=(*said.warnings, *learned_warnings(used.degeneracies, said))),
        on=found[about].on,
        arithmetic=str(found[about].arithmetic),
        claimed=len(found[about]) - checked,
        checked=checked,
        files={"model": MODEL, "certificates": CERTIFICATES},
        origin=used.origin,
    )
