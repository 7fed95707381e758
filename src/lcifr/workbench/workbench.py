"""Workbench: everything that the page can ask for, by name; each a typed request, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lcifr.data.codec import JsonError, to_json
from lcifr.errors import LcifrError
from lcifr.phi.lint import values_of
from lcifr.workbench.audits import AuditExplorer, AuditPlan, open_sweep
from lcifr.workbench.command_runs import PROGRAM, CommandRuns
from lcifr.workbench.formulas import FormulaDesk, TypedFormula
from lcifr.workbench.models import ChosenModel, DecisionAsked, ModelDesk, Subjects
from lcifr.workbench.people_tables import PeopleTables
from lcifr.workbench.work_folder import PageRequest, WorkFolder, command_line, write_example
from lcifr.workflows.drafting import InitRequest, init

# Workbench: everything that the page can ask for, by name; each a typed request and what answers it.


@dataclass(frozen=True)
class EmptyRequest(PageRequest):
    """A request without anything to say."""


@dataclass(frozen=True)
class TableAsked(PageRequest):
    """A table, and the schema it is read with; row : of one of its people."""

    table: str
    schema: str = ""
    row: int | None = None


@dataclass(frozen=True)
class ProposalAsked(PageRequest):
    """A table to propose a schema and a formula for; target : the column that is predicted, or nothing."""

    table: str
    target: str = ""


@dataclass(frozen=True)
class FileAsked(PageRequest):
    """A file or a folder."""

    name: str


@dataclass(frozen=True)
class FormulaToSave(PageRequest):
    """A formula for a file; seen : the hash of the file as it was opened."""

    file: str
    text: str
    seen: str = ""
    overwrite: bool = False


@dataclass(frozen=True)
class PersonAsked(PageRequest):
    """A person of an audit; values : of a changed copy, for "what if"."""

    audit: str
    id: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ability:
    """What the page can ask for: the kind of its request, and what answers."""

    request: type[PageRequest]
    answer: Callable[[Any], Any]


class Workbench:
    """The workbench without its page.

    program : what runs its commands; see :class:`CommandRuns`.
    """

    def __init__(self, folder: Path, program: tuple[str, ...] = PROGRAM) -> None:
        self.folder = WorkFolder(folder)
        self.tables = PeopleTables(self.folder)
        self.subjects = Subjects(self.folder, self.tables)
        self.formulas = FormulaDesk(self.folder, self.tables)
        self.models = ModelDesk(self.subjects)
        self.runs = CommandRuns(self.folder, program)
        self.audits = AuditExplorer(self.folder)
        formulas, models, audits = self.formulas, self.models, self.audits
        self._abilities: dict[str, Ability] = {
            "folder": Ability(EmptyRequest, lambda _: self.listing()),
            "example": Ability(EmptyRequest, lambda _: self.example()),
            "table": Ability(TableAsked, lambda asked: self.tables.open(asked.table, asked.schema).card()),
            "table/row": Ability(TableAsked, self.row),
            "table/propose": Ability(ProposalAsked, self.propose),
            "formula/open": Ability(FileAsked, lambda asked: formulas.open(asked.name)),
            "formula/save": Ability(FormulaToSave, lambda a: formulas.save(a.file, a.text, a.seen, a.overwrite)),
            "formula/read": Ability(TypedFormula, formulas.read),
            "formula/look": Ability(TypedFormula, formulas.look),
            "formula/around": Ability(TypedFormula, formulas.around),
            "model/show": Ability(ChosenModel, models.show),
            "model/schema": Ability(ChosenModel, self.attributes),
            "model/decide": Ability(DecisionAsked, models.decide),
            "audit/plan": Ability(AuditPlan, lambda plan: {"command": command_line(*self.planned(plan).words())}),
            "audit/start": Ability(AuditPlan, self.start),
            "audit/resume": Ability(FileAsked, self.resume),
            "run/stop": Ability(EmptyRequest, lambda _: self.runs.stop()),
            "run/state": Ability(EmptyRequest, lambda _: self.runs.state()),
            "audit/open": Ability(FileAsked, lambda asked: audits.open(asked.name)),
            "audit/person": Ability(PersonAsked, lambda asked: audits.person(asked.audit, asked.id)),
            "audit/what-if": Ability(PersonAsked, lambda asked: audits.what_if(asked.audit, asked.id, asked.values)),
            "sweep/open": Ability(FileAsked, lambda asked: open_sweep(self.folder, asked.name)),
            "audit/report": Ability(FileAsked, lambda asked: {"file": audits.write_page(asked.name)}),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Of everything that can be asked for."""
        return tuple(self._abilities)

    def answer(self, name: str, values: Mapping[str, Any]) -> Any:
        """Plain values for JSON; KeyError for an unknown name."""
        ability = self._abilities[name]
        try:
            asked = ability.request.from_dict(values)
        except JsonError as problem:
            raise LcifrError(f"the request does not fit: {problem}") from None
        return to_json(ability.answer(asked))

    def close(self) -> None:
        """Stop what runs; what is done is kept."""
        self.runs.close()

    def listing(self) -> dict[str, Any]:
        """What is in the folder, and which stopped audits can be gone on with."""
        found = self.folder.listing()
        stopped = []
        running = self.runs.state()
        busy = running.out if running is not None and running.state == "running" else None
        for one in (one for one in found.unfinished if one.out != busy):
            plan = AuditPlan.of_settings(one.settings, one.out)
            line = command_line(one.settings.command, f"--out={one.out}", *one.settings.argv[1:])
            stopped.append(
                {
                    "out": one.out,
                    "command": line if plan is None else command_line(*plan.words()),
                    "here": plan is not None,
                }
            )
        names = ("tables", "formulas", "schemas", "models", "producers", "consumers", "audits", "sweeps", "cut")
        return {"folder": self.folder.root.name, **{name: getattr(found, name) for name in names}, "stopped": stopped}

    def example(self) -> dict[str, Any]:
        """Write the example's files, and start to learn its model."""
        made = write_example(self.folder)
        return {"files": list(made.files), "run": self.runs.start(made.words, made.words[-1].partition("=")[2])}

    def row(self, asked: TableAsked) -> dict[str, Any]:
        """One person of a table, by attribute."""
        table = self.tables.open(asked.table, asked.schema)
        row = table.rows[0] if asked.row is None else asked.row
        return {"row": row, "values": values_of(table.people, table.place(row))}

    def propose(self, asked: ProposalAsked) -> dict[str, Any]:
        """A schema and a formula beside a table, as ``lcifr init`` writes them."""
        made = init(InitRequest(table=self.folder.file(asked.table), target=asked.target or None))
        names = [path.relative_to(self.folder.root).as_posix() for path in (made.schema_file, made.phi_file)]
        command = command_line("init", asked.table, target=asked.target)
        know = [f"{name}: {advice}" for name, advice in made.left_out.items()]
        return {"schema": names[0], "phi": names[1], "to_know": [*made.to_know, *know], "command": command}

    def attributes(self, choice: ChosenModel) -> dict[str, Any]:
        """What is to be known of a person to decide about them."""
        return self.subjects.schema(choice).to_dict()

    def planned(self, plan: AuditPlan) -> AuditPlan:
        """The plan with the schema that the table is shown with, so that both read it alike."""
        known = plan.schema or not (plan.model and plan.table)
        return plan if known else replace(plan, schema=self.tables.schema_for(plan.table))

    def start(self, plan: AuditPlan) -> Any:
        """Start an audit."""
        plan = self.planned(plan)
        plan.check(self.folder)
        return self.runs.start(plan.words(), plan.out)

    def resume(self, asked: FileAsked) -> Any:
        """Go on with an audit that was stopped."""

        stopped = {one.out: one.settings for one in self.folder.listing().unfinished}
        plan = AuditPlan.of_settings(stopped[asked.name], asked.name) if asked.name in stopped else None
        if plan is None:
            raise LcifrError(f"{asked.name} cannot be resumed here", fix="run the command that began it")
        plan.check(self.folder)
        return self.runs.start(plan.words(), plan.out)
