"""AuditPlan: an audit as the page asks for it, checked, and as the words of the command that does it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lcifr.errors import LcifrError
from lcifr.runs.auditing.run import AuditRequest
from lcifr.runs.folders.settings import Command, RunSettings
from lcifr.runs.models.auditing import ModelAuditRequest
from lcifr.workbench.command_lines import command_words
from lcifr.workbench.work_folder import WorkFolder


@dataclass(frozen=True)
class AuditPlan:
    """Which model is audited on whom, and where the result goes; names are those of the folder.

    Parameters
    ----------
    model : a file; or producer and consumer, what lcifr learned.
    table : the people; with a producer, nothing for those whom it held out. phi : a file; with a producer, nothing
        for its own. reference : a table whose standard deviations φ speaks of; nothing for the table itself.
    sample : audit so many people, drawn at random; None for all.
    population : whether they were drawn from the population, and nobody trained on them.
    """

    out: str
    model: str = ""
    producer: str = ""
    consumer: str = ""
    table: str = ""
    phi: str = ""
    schema: str = ""
    reference: str = ""
    target: str = ""
    id_column: str = ""
    tolerance: float | None = None
    sample: int | None = None
    population: bool = False

    def words(self) -> list[str]:
        """The command after ``lcifr``."""
        how = {"sample": self.sample, "population": self.population, "id": self.id_column, "out": self.out}
        if not self.model:
            people = [self.table] if self.table else []
            return command_words("audit", self.producer, self.consumer, *people, phi=self.phi, **how)
        about: dict[str, Any] = {
            "model": self.model,
            "phi": self.phi,
            "schema": self.schema,
            "reference": self.reference,
        }
        about |= {"target": self.target, "tolerance": self.tolerance}
        return command_words("audit", self.table, **about, **how)

    def check(self, folder: WorkFolder) -> None:
        """Refuse what is not there, or not below the folder, before anything is started."""
        if not self.model and not (self.producer and self.consumer):
            raise LcifrError("no model is chosen", fix="choose one on the page Model")
        if self.model and not (self.table and self.phi):
            missing = "table of people" if not self.table else "formula"
            raise LcifrError(f"no {missing} is chosen", fix=f"choose a {missing}")
        for name in (self.model, self.table, self.phi, self.schema, self.reference):
            if name:
                folder.file(name)
        for name in (self.producer, self.consumer):
            if name and not self.model:
                folder.folder(name)
        if folder.new(self.out).exists():
            raise LcifrError(f"{self.out} already exists", fix="choose another name for the result")

    @property
    def request(self) -> AuditRequest | ModelAuditRequest:
        """What the command asks the run for."""
        how: dict[str, Any] = {
            "sample": self.sample,
            "population": self.population,
            "id_column": self.id_column or None,
        }
        if self.model:
            about: dict[str, Any] = {"schema": self.schema or None, "target": self.target or None}
            about |= {"reference": Path(self.reference) if self.reference else None, "tolerance": self.tolerance}
            about |= {"model": Path(self.model), "table": Path(self.table), "out": Path(self.out)}
            return ModelAuditRequest(phi=self.phi, **about, **how)
        table, phi = Path(self.table) if self.table else None, self.phi or None
        return AuditRequest(Path(self.producer), Path(self.consumer), Path(self.out), table=table, phi=phi, **how)

    @classmethod
    def of_settings(cls, settings: RunSettings, out: str) -> AuditPlan | None:
        """The plan whose command made these settings; None where it was asked for something else.

        Only what a plan can say is ever started from the page: settings are a file that anybody may have written.
        """
        if settings.command != "audit":
            return None
        known = {one.name for one in fields(cls)} - {"out"}
        try:
            given = {name: value for name, value in settings.arguments.items() if name in known and value is not None}
            plan = cls(out, **given)
            again = RunSettings.of(Command.of("audit", plan.request), {}).arguments
        except (AttributeError, TypeError, ValueError, LcifrError):
            return None
        return plan if again == settings.arguments else None
