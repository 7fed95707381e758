"""The work of ``lcifr consume``: a model on z alone, learned or from a file, and who is certified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lcifr.errors import ArtefactError, LcifrError, NetworkError
from lcifr.learn.parameters import HEAD, Learner
from lcifr.workflows.events import Listener, StepKind, listening, step
from lcifr.workflows.folders import Command, run_folder
from lcifr.workflows.options import (
    CLASSES,
    TOLERANCE,
    WIDTHS,
    OutOptions,
    argument,
    arithmetic_option,
    class_weight_option,
    id_option,
    learned,
    on_option,
    option,
    option_name,
    options_of,
)
from lcifr.workflows.people import HELD_OUT, TRAIN, Labels, find_split_labels
from lcifr.workflows.results import ModelOrigin

if TYPE_CHECKING:
    from lcifr.certification.consumer import CertifyOn
    from lcifr.certification.demands import FloatArray
    from lcifr.certification.handover import Provenance, Representation
    from lcifr.certification.verdicts import Certificates
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Degeneracy, Model
    from lcifr.models.source import LatentTrees
    from lcifr.workflows.results import ConsumeResult


# ConsumeRequest: what to learn on a hand-over, or which tree model on it to certify; and where the result goes.


ABOUT_TREES: dict[str, Any] = {"panel": "A tree model that was trained on z elsewhere"}
ABOUT_LEARNING: dict[str, Any] = {"family": Learner.NETWORK}


@dataclass(frozen=True, kw_only=True)
class ConsumeRequest(OutOptions):
    """What to learn on a hand-over, or which tree model on it to certify, and where the result goes."""

    handover: Path = argument("HANDOVER", "The hand-over: a folder from the producer.")
    labels: Path = argument("LABELS", "A .csv or .parquet file with the labels, by id.")
    target: str | None = option(
        None, "The column to predict. (Default: the only one besides the ids.)", metavar="COLUMN"
    )
    id_column: str | None = id_option('The column of ids. (Default: "id", if there is one, else row numbers.)')
    task: str = option(
        "auto",
        "Predict classes or numbers; auto decides by the labels.",
        choices=("auto", "classification", "regression"),
        **ABOUT_LEARNING,
    )
    tolerance: float | None = option(None, TOLERANCE, least=0.0)
    hidden: tuple[int, ...] = learned(HEAD, "hidden", spelling=WIDTHS, **ABOUT_LEARNING)
    gamma: float = learned(HEAD, "gamma", **ABOUT_LEARNING)
    class_weight: str | None = class_weight_option(**ABOUT_LEARNING)
    epochs: int = learned(HEAD, "epochs", **ABOUT_LEARNING)
    on: Literal["ball", "box"] | None = on_option()
    model: Path | None = option(None, "Its file: XGBoost, LightGBM, skops.", metavar="FILE", **ABOUT_TREES)
    classes: tuple[str, ...] = option(
        (),
        "Names of the classes of --model, in the order of their numbers in the file.",
        spelling=CLASSES,
        **ABOUT_TREES,
    )
    population: bool = option(False, "Declare that --model was not trained on held-out people.", **ABOUT_TREES)
    checked: Path | None = option(
        None, "The output of `lcifr check BUNDLE --json`: these radii count as checked.", metavar="FILE"
    )
    arithmetic: str | None = arithmetic_option(None)
    seed: int = option(
        0,
        "Seed for splits and training; the same seed gives the same run.",
        least=0,
        before="force",
        **ABOUT_LEARNING,
    )

    def __post_init__(self) -> None:
        """Refuse options of learning with a model from elsewhere, and options of such a model without one."""
        for one in options_of(self).values():
            known, name = one.metadata["option"], option_name(one)
            if one.name == "model" or getattr(self, one.name) == one.default:
                continue
            if self.model and known.family:
                raise LcifrError(f"{name} is a training option, and --model is already trained", fix="leave it out")
            if not self.model and known.panel:
                raise LcifrError(f"{name} works only with --model", fix="add --model FILE")

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        found = {"handover": self.handover, "labels": self.labels, "checked": self.checked, "model": self.model}
        return {name: path for name, path in found.items() if path is not None}


# A tree model of another library on the z of a hand-over: read from its file, and compared with its library.

SHOWN = 5


@dataclass(frozen=True, eq=False)
class LatentTreeModel:
    """model : as proofs see it. origin : the file, and who confirmed its decisions."""

    model: Model
    origin: ModelOrigin


def read_on_latents(
    path: Path, latents: FloatArray, classes: tuple[str, ...], tolerance: float | None
) -> LatentTreeModel:
    """The tree model in a file, for z (people, width) of a hand-over.

    Parameters
    ----------
    classes : their names, where the file only numbers them; empty to take those of the file.
    tolerance : of a model that predicts numbers.

    Raises
    ------
    NetworkError
        For a model that does not fit z; and if the library decides differently for someone, or beside a threshold,
        where rounding cannot be the reason.
    """
    from lcifr.workflows.subjects import open_model

    file = open_model(path)
    described = None if file.description is None else file.description.output
    if classes and described is not None and described.classes:
        raise LcifrError(
            f"--classes names classes, and {file.description.source} does too",  # type: ignore[union-attr]
            fix="leave --classes out",
        )
    read = file.read_latents()
    _refuse_columns(file, read, latents.shape[1])
    _refuse_other_decisions(file, read, latents)
    model = _named(read.model, classes)
    if model.labels is None and tolerance is None:
        raise LcifrError(
            f"{path} predicts numbers, so it needs a tolerance",
            fix="add --tolerance NUMBER: how far apart two predictions may be and still count as the same",
        )
    return LatentTreeModel(model.agreeing(tolerance=tolerance), _origin_of(file, model))


def refuse_unknown_labels(model: Model, labels: Any) -> None:
    """Refuse labels that the model cannot predict: no accuracy would be right."""
    import numpy as np

    if model.labels is None:
        return
    known, seen = model.labels.tolist(), np.unique(np.asarray(labels)).tolist()
    if unknown := [value for value in seen if value not in known]:
        names = ",".join(map(str, seen))
        raise LcifrError(
            f"the model decides between {_listed(known)}, the labels are {_listed(seen)}: {unknown[0]!r} is unknown",
            fix=f"name the classes in the order in which the model numbers them, for example --classes {names}",
        )


def _named(model: Model, classes: tuple[str, ...]) -> Model:
    import numpy as np

    if not classes:
        return model
    if model.labels is None:
        raise LcifrError("--classes is for classes, and the model predicts numbers", fix="leave it out")
    if len(classes) != len(model.labels):
        raise LcifrError(
            f"--classes names {len(classes)} classes, and the model decides between {len(model.labels)}",
            fix="name each of them once, in the order in which the model numbers them",
        )
    return replace(model, labels=np.array([_value(name) for name in classes]))


def _value(name: str) -> str | int:
    """A class as a table of labels has it: a whole number where it is written as one."""
    return int(name) if name.lstrip("-").isdigit() else name


def _refuse_columns(file: ModelFile, read: LatentTrees, width: int) -> None:
    if read.trees.inputs != width:
        raise NetworkError(
            f"{file.path} takes {read.trees.inputs} numbers, the hand-over gives {width}",
            fix="train the model on these latents",
        )
    named = [one.name for one in file.outline().inputs if one.is_column]
    expected = [f"z{j}" for j in range(width)]
    if sorted(named) == sorted(expected) and named != expected:
        raise NetworkError(
            f"{file.path} reads the columns {_listed(named)}, and z is {_listed(expected)}, in this order",
            fix="train the model on the columns in their order",
        )


def _refuse_other_decisions(file: ModelFile, read: LatentTrees, latents: FloatArray) -> None:
    """Refuse a model read wrongly: compare it with the library at everyone's z, and at and beside its thresholds."""
    import numpy as np

    from lcifr.certification.demands import outputs_at
    from lcifr.certification.reference import compare

    if read.scores is None and read.predict is None:
        return
    points = np.concatenate([latents, read.probes(latents)])
    outputs = outputs_at(read.model.function.deployed(read.trees.native), points)
    if read.scores is not None:
        values = np.asarray(read.scores(points), dtype=np.float64).reshape(len(points), -1)
        found = compare(read.model, outputs, read.model.decide(values), values)
    elif read.predict is not None:
        found = compare(read.model, outputs, np.asarray(read.predict(points)))
    if not found.agrees:
        row = int(found.wrong.argmax())
        raise NetworkError(
            f"{file.path}: as it is read here it decides {found.read[row]!s} at z = {_listed(points[row].tolist())}, "
            f"and its library {found.library[row]!s}; rounding cannot be the reason",
            fix="this is a fault of lcifr, or of the library's version: please report it",
        )


def _origin_of(file: ModelFile, model: Model) -> ModelOrigin:
    from lcifr.models.source import rule_words

    outline = file.outline()
    return ModelOrigin(
        file=str(file.path),
        sha256=file.sha256,
        format=str(file.format),
        library=outline.library,
        description=None if file.description is None else file.description.source,
        columns=tuple(f"z{j}" for j in range(model.function.inputs)),
        steps=outline.steps,
        rule=rule_words(model.rule, model.labels),
        runtime=outline.runtime,
        reference="",
        assumptions=outline.assumptions,
    )


def _listed(values: list[Any]) -> str:
    return ", ".join(map(str, values[:SHOWN])) + (", …" if len(values) > SHOWN else "")


# The consumer's work from request to result: a model on z alone, and who is certified.

MODEL, CERTIFICATES = "model.safetensors", "certificates.parquet"


@dataclass(frozen=True, eq=False)
class ConsumerModel:
    """What decides on z.

    Parameters
    ----------
    task : ``classification`` or ``regression``. trained_on : people; None if that is unknown.
    degeneracies : what is trivial about it on the people it learned from. origin : of a model from elsewhere.
    """

    model: Model
    task: str
    trained_on: int | None
    degeneracies: tuple[Degeneracy, ...] = ()
    origin: ModelOrigin | None = None


def consume(request: ConsumeRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> ConsumeResult:
    """Train a model on the hand-over and labels, and prove for whom everyone similar gets the same decision.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
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
    from lcifr.workflows.people import LEARNED, refuse_more

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

    from lcifr.workflows.producing import head_of, one_thread

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

    assert request.model is not None
    latents = np.concatenate([split.latent for split in splits.values()])
    with step(f"Comparing {request.model.name} with its library"):
        read = read_on_latents(request.model, latents, request.classes, request.tolerance)
    for labels in known.values():
        refuse_unknown_labels(read.model, labels.values)
    write_saved_trees(file, read.model, read.origin.to_dict())
    task = "classification" if read.model.rule.tolerance is None else "regression"
    return ConsumerModel(read.model, task, None, origin=read.origin)


def usual_surroundings(handed: Provenance, model: Model | None = None) -> CertifyOn:
    """Where a verdict is proved unless it is said: on the ball, as in the paper; on the box where z are scores, or
    where trees decide, which no radius serves better."""
    from lcifr.certification.handover import TREES

    return "box" if handed.method == TREES or (model and model.function.jumps) else "ball"


def _certify(
    splits: dict[str, Representation], model: Model, request: ConsumeRequest, on: CertifyOn
) -> dict[str, Certificates]:
    from lcifr.certification.consumer import certify

    computed = request.arithmetic or ("float64" if request.model is None else None)
    with step(f"Certifying {sum(map(len, splits.values()))} people"):
        return {name: certify(split, model, on=on, arithmetic=computed) for name, split in splits.items()}


def _write_certificates(path: Path, found: dict[str, Certificates]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for name, certificates in found.items():
        table = certificates.to_arrow()
        tables.append(table.add_column(1, "split", pa.repeat(name, len(table))))
    parquet.write_table(pa.concat_tables(tables), path)


def _result(
    splits: dict[str, Representation],
    known: dict[str, Labels],
    used: ConsumerModel,
    found: dict[str, Certificates],
    request: ConsumeRequest,
) -> ConsumeResult:
    from lcifr.certification.population import state
    from lcifr.workflows.results import ConsumeResult, ConsumerSummary, classes_of, learned_warnings

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
