"""ModelOrigin: where a model of another library comes from, how it decides, and who confirmed that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ModelOrigin:
    """The model of another library that was audited, and who confirmed its decisions.

    Parameters
    ----------
    file : as it was named. sha256 : of the file. format : what it is. library : what wrote it.
    description : the file that says which column feeds which input; None where the model says so itself.
    columns : that the model reads. steps, rule : what it computes and decides, in words.
    runtime : what was asked for its own decisions, of everybody and of every counterexample; empty where that is not
        installed, and an exact forward pass of the model as it was read stands for it.
    reference : the table whose standard deviations and ranks φ speaks of.
    groups : classes that count as one decision, where somebody said so.
    assumptions : what the file does not say and was taken for granted, in sentences.
    """

    file: str
    sha256: str
    format: str
    library: str
    description: str | None
    columns: tuple[str, ...]
    steps: tuple[str, ...]
    rule: str
    runtime: str
    reference: str
    groups: tuple[tuple[Any, ...], ...] = ()
    assumptions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = {name: list(getattr(self, name)) for name in ("columns", "steps", "assumptions")}
        return {**asdict(self), **plain, "groups": [list(group) for group in self.groups]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ModelOrigin:
        """What :meth:`to_dict` gave."""
        groups = tuple(tuple(group) for group in plain["groups"])
        lists = {name: tuple(plain.get(name, ())) for name in ("columns", "steps", "assumptions")}
        return cls(**{**plain, **lists, "groups": groups})

    @property
    def confirmed_by(self) -> str:
        """Who decided about the two people of a counterexample, in words."""
        return self.runtime or "an exact forward pass of the model as it was read (its runtime is not installed)"
