"""The consumer's work from request to result: a model on z alone, and who is certified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lcifr.errors import ArtefactError, LcifrError
from lcifr.learn.defaults import HEAD
from lcifr.runs.events import Listener, StepKind, listening, note, step
from lcifr.runs.folders.run import run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.people.loading import Labels, LabelTable
from lcifr.runs.people.train_test import HELD_OUT, TRAIN

if TYPE_CHECKING:
    from lcifr.artifacts.handover import Representation
    from lcifr.artifacts.provenance import Provenance
    from lcifr.certification.consumer import Where
    from lcifr.certification.verdicts import Certificates
    from lcifr.estimators.base_head import Head
    from lcifr.runs.folders.results import ConsumeResult

MODEL, CERTIFICATES = "model.safetensors", "certificates.parquet"


@dataclass(frozen=True, kw_only=True)
class ConsumeRequest:
    """What to learn on a hand-over, and where the result goes.

    Parameters
    ----------
    handover : the folder that the producer handed over. labels : a .csv or .parquet file with labels, by id.
    out : the new folder. force : replace it if lcifr wrote it.
    target, id_column : columns of the labels; None for the only one, and for ``id`` or else row numbers.
    task : ``auto``, ``classification`` or ``regression``. tolerance : how far two numbers of
        one decision may be apart.
    hidden, gamma, class_weight, epochs : as :class:`lcifr.RobustClassifier` has them.
    arithmetic : in which the model is computed: ``exact``, ``float64`` or ``float32``.
    on : ``ball``, as in the paper, or the tighter ``box``, for which the model is then learned; None for the ball, and
        for the box of a hand-over of trees, whose scores reach differently far.
    checked : what ``lcifr check --json`` printed of the radii.
    """

    handover: Path
    labels: Path
    out: Path
    target: str | None = None
    id_column: str | None = None
    task: str = "auto"
    tolerance: float | None = None
    hidden: tuple[int, ...] = HEAD.hidden
    gamma: float = HEAD.gamma
    class_weight: str | None = None
    epochs: int = HEAD.epochs
    on: Literal["ball", "box"] | None = None
    checked: Path | None = None
    arithmetic: str = "float64"
    seed: int = 0
    force: bool = False

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        found = {"handover": self.handover, "labels": self.labels}
        return found if self.checked is None else {**found, "checked": self.checked}


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
        known = find_split_labels(request.labels, ids, request.target, request.id_column)
        command = Command.of("consume", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            run.lost = "Learning is not kept, it starts anew."
            on = request.on or usual_surroundings(splits[TRAIN].provenance)
            head = _learn(splits, known, request, on)
            head.save(run.work / MODEL)
            found = _certify(splits, head, request, on)
            _write_certificates(run.work / CERTIFICATES, found)
            result = _result(splits, known, head, found)
            run.finish(result.to_dict())
    return result


def _read_handover(folder: Path) -> dict[str, Representation]:
    """Training and held-out people, or a single hand-over of people who may all be trained on."""
    from lcifr.artifacts.handover import Representation

    parts = [name for name in (TRAIN, HELD_OUT) if (folder / name).is_dir()]
    _refuse_many(folder, *(folder / name for name in parts))
    if TRAIN in parts and not (folder / "manifest.json").exists():
        splits = {name: Representation.read(folder / name) for name in parts}
        if len({(split.provenance.weights, split.width) for split in splits.values()}) > 1:
            raise LcifrError(f"{folder}: its parts come from different encoders", fix="get the whole folder again")
        return splits
    if not (folder / "manifest.json").exists():
        raise LcifrError(
            f"{folder} is no hand-over" if folder.is_dir() else f"{folder}: there is no such folder",
            fix="give the folder `handover` that `lcifr produce` wrote",
        )
    return {TRAIN: Representation.read(folder)}


def _refuse_many(*folders: Path) -> None:
    from lcifr.artifacts.folder import MANIFEST, read_json
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


def _learn(splits: dict[str, Representation], known: dict[str, Labels], request: ConsumeRequest, on: Where) -> Head:
    import numpy as np

    from lcifr.runs.learning import head_of, one_thread

    rows = np.flatnonzero(known[TRAIN].there)
    if len(rows) < 2:
        raise LcifrError(
            f"there are labels for {len(rows)} of the {len(splits[TRAIN])} training people",
            fix="are the ids of the labels those of the hand-over? --id names their column",
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
    with one_thread(), step(f"Learning from {len(rows)} people", StepKind.LONG):
        box = (part.lower, part.upper) if on == "box" else None
        head.fit(part.latent, y, radius=part.radius, box=box)
    return head


def usual_surroundings(handed: Provenance) -> Where:
    """Where a verdict is proved unless it is said: on the ball, as in the paper; on the box where z are scores."""
    from lcifr.certification.producer import TREES

    return "box" if handed.method == TREES else "ball"


def _certify(
    splits: dict[str, Representation], head: Head, request: ConsumeRequest, on: Where
) -> dict[str, Certificates]:
    from lcifr.certification.consumer import certify

    said = dict[str, Any](on=on, arithmetic=request.arithmetic, tolerance=getattr(head, "tolerance", None))
    with step(f"Certifying {sum(map(len, splits.values()))} people"):
        return {name: certify(split, head, **said) for name, split in splits.items()}


def _write_certificates(path: Path, found: dict[str, Certificates]) -> None:
    import pandas as pd

    frames = []
    for name, certificates in found.items():
        frame = certificates.frame()
        frame.insert(1, "split", name)
        frames.append(frame.assign(id=frame["id"].astype("string")))
    pd.concat(frames).to_parquet(path, index=False)


def _result(
    splits: dict[str, Representation], known: dict[str, Labels], head: Head, found: dict[str, Certificates]
) -> ConsumeResult:
    from lcifr.certification.population.statement import state
    from lcifr.runs.folders.results import ConsumeResult
    from lcifr.runs.folders.summaries import ConsumerSummary, classes_of, learned_warnings

    about = HELD_OUT if HELD_OUT in found else TRAIN
    labels = known[about]
    y = labels.values if labels.there.all() else None
    said = state(found[about], y, held_out=about == HELD_OUT)
    checked = int((found[about].radius_status == "checked").sum())
    model = ConsumerSummary(
        target=labels.name,
        task=head._task,
        classes=classes_of(head.model_),
        tolerance=getattr(head, "tolerance", None),
        trained_on=int(known[TRAIN].there.sum()),
        provenance=splits[about].provenance,
        model=head.network_.hash,
    )
    return ConsumeResult(
        model=model,
        about=about,
        sizes={name: len(split) for name, split in splits.items()},
        held_out=about == HELD_OUT,
        statement=replace(said, warnings=(*said.warnings, *learned_warnings(head.degeneracies_, said))),
        on=found[about].on,
        arithmetic=str(found[about].arithmetic),
        claimed=len(found[about]) - checked,
        checked=checked,
        files={"model": MODEL, "certificates": CERTIFICATES},
    )


def find_split_labels(
    path: Path, splits: Mapping[str, Sequence[str | int]], target: str | None, id_column: str | None
) -> dict[str, Labels]:
    """The labels of those to learn from and of those held out, by their ids; it is said how many have none."""
    table, known = LabelTable.read(path, target, id_column), {}
    for name, ids in splits.items():
        known[name] = table.find(ids, learned=name == TRAIN)
        if without := int((~known[name].there).sum()):
            meaning = "nothing is learned from them" if name == TRAIN else "no accuracy is said"
            note(f"{path} has no label for {without} of the {len(ids)} {name} people: {meaning}")
    return known
