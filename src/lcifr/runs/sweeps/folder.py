"""The folder of a sweep: cells, pairs, encoding and shares, written by ``lcifr sweep`` and read back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import ArtefactError
from lcifr.runs.folders.run import fitting_together, read_result
from lcifr.runs.folders.settings import RunSettings
from lcifr.runs.sweeps.people import SweptPeople
from lcifr.runs.sweeps.proving import CHECKED, SweepCheck
from lcifr.runs.sweeps.worst_pairs import WorstPair

if TYPE_CHECKING:
    from lcifr.certification.population import Tally
    from lcifr.certification.sweep.look_up import ProvedCells
    from lcifr.certification.sweep.result import Sweep
    from lcifr.data import Encoding
    from lcifr.runs.auditing.certify_result import LookUpSummary
    from lcifr.runs.auditing.result import ModelSummary

FORMAT = "lcifr-swept-1"
CELLS, PAIRS, ENCODING = "cells.parquet", "pairs.csv", "encoding.json"


@dataclass(frozen=True, eq=False)
class SweepResult:
    """Parameters
    ----------
    model : what was swept. sweep : its cells, shares and pairs. people : of the table, and what decided them.
    worst : the pairs whose outputs are furthest apart. checked : what the exact checker confirmed of proofs on file;
        None where none were asked for.
    """

    model: ModelSummary
    sweep: Sweep
    people: SweptPeople
    worst: tuple[WorstPair, ...] = ()
    checked: SweepCheck | None = None

    @property
    def undecided(self) -> int:
        """Cells that are neither strictly proved nor violating."""
        from lcifr.certification.sweep.result import Standing

        return sum(len(self.sweep.cells(one)) for one in (Standing.OPEN, Standing.CROSSINGS))

    @property
    def people_lines(self) -> list[str]:
        """The people of the table in words, and which of their proofs the exact checker has not seen."""
        lines = [f"people in the table: {self.people}"]
        if self.checked is not None and self.people.proofs:
            lines.append(
                f"the bundle is about cells: proofs of single people ({self.people.proofs:,}) are not in it and not "
                "checked; lcifr audit writes and checks proofs about people"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        from lcifr.certification.sweep.result import Standing

        shares = {str(one): self.sweep.share(one) for one in Standing}
        unknown = float(self.sweep.share(Standing.OPEN) + self.sweep.share(Standing.CROSSINGS))
        sure = (Standing.PROVED, Standing.VIOLATING)
        bounds = {str(one): [float(shares[one]), min(1.0, float(shares[one]) + unknown)] for one in sure}
        decision = None if self.sweep.hashes is None else dict(self.sweep.hashes.decision)
        return {
            "format": FORMAT,
            "command": "sweep",
            "universe": "whole" if self.sweep.whole else "reals",
            "shares": {name: float(share) for name, share in shares.items()},
            "exact_shares": {name: str(share) for name, share in shares.items()},
            "bounds": bounds,
            "cells": {str(one): len(self.sweep.cells(one)) for one in Standing},
            "pairs": len(self.sweep.pairs),
            "stopped_by": None if self.sweep.limit is None else asdict(self.sweep.limit),
            "refuted_cells": self.sweep.refuted_cells,
            **self.people.to_dict(),
            "individuals": self.sweep.individuals,
            "worst": [asdict(one) for one in self.worst],
            "map": self.sweep.map().to_dict(),
            "decision": decision,
            "sweep": self.sweep.hash,
            "checked": None if self.checked is None else self.checked.to_dict(),
            **self.model.to_dict(),
        }

    def with_labels(self, labels: Mapping[Any, str]) -> SweepResult:
        """The same with other names of decisions, for people to read; nothing else depends on them."""
        from lcifr.runs.auditing.result import name_decisions

        if not labels:
            return self
        binary = self.sweep.hashes is not None and self.sweep.hashes.decision.get("kind") == "sign"
        named = name_decisions(labels, self.model.classes or (range(2) if binary else ()))
        return replace(self, model=replace(self.model, labels=named))

    @classmethod
    def read(cls, folder: Path) -> SweepResult:
        """What is in a folder that ``lcifr sweep`` wrote.

        Raises
        ------
        LcifrError
            If it is the folder of something else, or its cells are not those that were written.
        """
        from lcifr.certification.sweep.result import SweepLimit
        from lcifr.runs.auditing.result import ModelSummary

        with fitting_together(folder):
            said = read_result(folder, "sweep")
            if said.get("format") != FORMAT:
                raise ArtefactError(
                    f"{folder} was written by another version of lcifr: {said.get('format')!r}, expected {FORMAT!r}",
                    fix="sweep again",
                )
            _refuse_changed(folder, CELLS, ENCODING)
            model = ModelSummary.from_dict(said)
            sweep = _read_cells(folder, said, model)
            if sweep.hash != said["sweep"]:
                raise ArtefactError(f"{folder / CELLS} does not hold the cells of this sweep", fix="sweep again")
            stopped = said.get("stopped_by")
            sweep = replace(sweep, limit=None if stopped is None else SweepLimit(**stopped))
            people = SweptPeople.from_dict(said)
            worst = tuple(WorstPair(**one) for one in said["worst"])
            return cls(model, sweep, people, worst, SweepCheck.from_dict(said["checked"]))


def _refuse_changed(folder: Path, *names: str) -> None:
    from lcifr.data.files import sha256_of

    known = RunSettings.read(folder).files
    for name in names:
        if not (folder / name).is_file() or sha256_of(folder / name) != known.get(name):
            raise ArtefactError(f"{folder / name} is not what the sweep wrote", fix="get the whole folder again")


def _read_cells(folder: Path, said: Mapping[str, Any], model: ModelSummary) -> Sweep:
    import pyarrow.parquet as pq

    from lcifr.certification.subject import Hashes
    from lcifr.certification.sweep.result import from_table
    from lcifr.models.arithmetic import Arithmetic

    hashes = Hashes(**model.hashes.of_proofs(), decision=said["decision"], arithmetic=model.arithmetic)
    encoding = read_encoding(folder)
    if encoding.hash != hashes.encoding:
        raise ArtefactError(f"{folder / ENCODING} is not the encoding that was swept", fix="sweep again")
    table, whole = pq.read_table(folder / CELLS), said["universe"] == "whole"
    arithmetic = Arithmetic(model.arithmetic)
    return from_table(table, encoding.schema, whole=whole, arithmetic=arithmetic, hashes=hashes)


def read_encoding(folder: Path) -> Encoding:
    """The encoding, with its schema, of whom was swept."""
    from lcifr.data import Encoding

    return Encoding.load(folder / ENCODING)


@dataclass(frozen=True, eq=False)
class SweepLookUp:
    """The strictly proved cells of a sweep's folder, for people who are to be certified."""

    folder: Path
    cells: ProvedCells

    @classmethod
    def read(cls, folder: Path | None) -> SweepLookUp | None:
        """None where there is not a folder."""
        from lcifr.certification.sweep.look_up import ProvedCells

        return (
            None if folder is None else cls(folder, ProvedCells.of(SweepResult.read(folder).sweep, _confirmed(folder)))
        )

    def summary(self, tally: Tally) -> LookUpSummary:
        """How many were found, of those who were counted."""
        from lcifr.runs.auditing.certify_result import LookUpSummary

        claimed = tally.looked_up - tally.in_checked
        return LookUpSummary(tally.looked_up, tally.in_checked, claimed, str(self.folder), self.cells.sweep)


def _confirmed(folder: Path) -> set[int]:
    """The numbers of proved cells that the exact checker has confirmed, by its report in the folder."""
    from lcifr.data.files import read_json

    if not (folder / CHECKED).exists():
        return set()
    _refuse_changed(folder, CHECKED)
    return {int(name) for name in read_json(folder / CHECKED)["names"].get("proved", ())}
