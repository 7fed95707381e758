"""ConsumeRequest: what to learn on a hand-over, or which tree model on it to certify; and where the result goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lcifr.errors import LcifrError
from lcifr.learn.parameters import HEAD


@dataclass(frozen=True, kw_only=True)
class ConsumeRequest:
    """What to learn on a hand-over, or which tree model on it to certify, and where the result goes.

    Parameters
    ----------
    handover : the folder that the producer handed over. labels : a .csv or .parquet file with labels, by id.
    out : the new folder. force : replace it if lcifr wrote it.
    target, id_column : columns of the labels; None for the only one, and for ``id`` or else row numbers.
    task : ``auto``, ``classification`` or ``regression``. tolerance : how far two numbers of
        one decision may be apart.
    hidden, gamma, class_weight, epochs, seed : as :class:`lcifr.RobustClassifier` has them.
    arithmetic : in which the model is computed: ``exact``, ``float64`` or ``float32``; None for float64, and for what
        the library of ``model`` adds up in.
    on : ``ball``, as in the paper, or the tighter ``box``, for which the model is then learned; None for the ball, and
        for the box of a hand-over of trees, whose scores reach differently far, and of a tree model.
    checked : what ``lcifr check --json`` printed of the radii.
    model : the file of a tree model that was trained on z; None to learn a network.
    classes : names of its classes, where the file only numbers them.
    population : whether nobody trained it on the people whom the producer held out.
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
    arithmetic: str | None = None
    seed: int = 0
    force: bool = False
    model: Path | None = None
    classes: tuple[str, ...] = ()
    population: bool = False

    def __post_init__(self) -> None:
        said = {name: getattr(self, name) for name in (LEARNING if self.model else FOREIGN)}
        for name, value in said.items():
            if value != (LEARNING if self.model else FOREIGN)[name]:
                option = f"--{name.replace('_', '-')}"
                if self.model:
                    raise LcifrError(
                        f"{option} is a training option, and --model is already trained", fix="leave it out"
                    )
                raise LcifrError(f"{option} works only with --model", fix="add --model FILE")

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        found = {"handover": self.handover, "labels": self.labels, "checked": self.checked, "model": self.model}
        return {name: path for name, path in found.items() if path is not None}


LEARNING = {
    "task": "auto",
    "hidden": HEAD.hidden,
    "gamma": HEAD.gamma,
    "class_weight": None,
    "epochs": HEAD.epochs,
    "seed": 0,
}
"""What only means something where a model is learned, as it is unless somebody says it."""
FOREIGN = {"classes": (), "population": False}
"""What only means something of a model from elsewhere."""
