"""A tree model of another library on the z of a hand-over: read from its file, and compared with its library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, NetworkError
from lcifr.runs.auditing.origin import ModelOrigin

if TYPE_CHECKING:
    from lcifr.certification.demands import FloatArray
    from lcifr.models.loaders.tree_ensembles import LatentTrees
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Model

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
        For a model that does not fit z; and if the library decides otherwise about somebody, or beside a threshold,
        where rounding cannot be the reason.
    """
    from lcifr.runs.models.opening import open_model

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
    """At everybody's z, and at and beside the thresholds, where a model that is read wrongly decides otherwise."""
    import numpy as np

    from lcifr.certification.demands import outputs_at
    from lcifr.certification.deployment import deploy_model
    from lcifr.certification.reference import compare

    if read.scores is None and read.predict is None:
        return
    points = np.concatenate([latents, read.probes(latents)])
    outputs = outputs_at(deploy_model(read.model, read.trees.native), points)
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
        rule=rule_words(model),
        runtime=outline.runtime,
        reference="",
        assumptions=outline.assumptions,
    )


def _listed(values: list[Any]) -> str:
    return ", ".join(map(str, values[:SHOWN])) + (", …" if len(values) > SHOWN else "")
