"""People of the table in a sweep: decided by their cell, or asked about one by one where no cell decides."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from lcifr.data.codec import Record, key
from lcifr.workflows.events import StepKind, step

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.certification.subject import Subject
    from lcifr.certification.sweep.result import Sweep
    from lcifr.data import Individuals
    from lcifr.data.ingest import Chunk
    from lcifr.workflows.people import PeopleSource

PEOPLE = "people.parquet"
ANSWERS = ".people.parts"
"""Answers about people, in the folder that is worked in, until the sweep is written."""
MOST = 10_000
"""People who are asked about one by one at most, unless told otherwise."""
READ, AT_ONCE = 8192, 64
"""People who are read, and asked about, in one call; a stopped run loses the last call."""


class DecidedBy(StrEnum):
    """What is known about a person of the table rests on this."""

    CELL = "cell"
    PROOF = "own proof"
    COUNTEREXAMPLE = "own counterexample"
    SEARCH = "undecided by own search"
    NOTHING = "not asked about"


@dataclass(frozen=True)
class SweptPeople(Record):
    """People of the table, by standing and by what decided them.

    Parameters
    ----------
    by_cell : by standing, those whom their cell decides. one_by_one : by standing, those who were asked about on their
        own. not_asked : the others, who are in open cells. not_examined : rows with missing values.
    """

    by_cell: Mapping[str, int] = field(default_factory=dict, metadata=key("people_decided.by_cell"))
    one_by_one: Mapping[str, int] = field(default_factory=dict, metadata=key("people_decided.one_by_one"))
    not_asked: int = field(default=0, metadata=key("people_decided.not_asked"))
    not_examined: int = field(default=0, metadata=key("people_decided.not_examined"))

    @property
    def counts(self) -> dict[str, int]:
        """People by standing, whatever decided them."""
        from lcifr.certification.sweep.result import CellStatus

        found = {str(one): self.by_cell.get(one, 0) + self.one_by_one.get(one, 0) for one in CellStatus}
        found[CellStatus.OPEN] += self.not_asked
        return found | ({"not examined": self.not_examined} if self.not_examined else {})

    @property
    def proofs(self) -> int:
        """How many were proved by a proof of their own; the bundle of a sweep does not contain these proofs."""
        from lcifr.certification.sweep.result import CellStatus

        return sum(self.one_by_one.get(one, 0) for one in (CellStatus.PROVED, CellStatus.CROSSINGS))

    @classmethod
    def upgraded(cls, plain: Mapping[str, Any]) -> Mapping[str, Any]:
        """An older result has only counts, from cells alone."""
        if "people_decided" in plain:
            return plain
        cells = {name: number for name, number in plain["people"].items() if name != "open"}
        decided = {"by_cell": cells, "one_by_one": {}, "not_asked": plain["people"].get("open", 0), "not_examined": 0}
        return {**plain, "people_decided": decided}

    def __str__(self) -> str:
        from lcifr.certification.sweep.result import CellStatus

        words = {
            CellStatus.PROVED: "proved",
            CellStatus.CROSSINGS: str(CellStatus.CROSSINGS),
            CellStatus.VIOLATING: "refuted",
        }
        own = {CellStatus.VIOLATING: "by a counterexample of their own"}
        known: dict[str, dict[str, int]] = {
            word: {
                "by their cell": self.by_cell.get(standing, 0),
                own.get(standing, "by a proof of their own"): self.one_by_one.get(standing, 0),
            }
            for standing, word in words.items()
        }
        searched = self.one_by_one.get(CellStatus.OPEN, 0)
        known["open"] = {"after a search of their own": searched, "not asked about": self.not_asked}
        parts = []
        for word, ways in known.items():
            some = {way: count for way, count in ways.items() if count}
            said = ", ".join(f"{count:,} {way}" for way, count in some.items()) if len(some) > 1 else "".join(some)
            if some:
                parts.append(f"{sum(some.values()):,} {word} ({said})")
        if self.not_examined:
            parts.append(f"{self.not_examined:,} not examined (rows with missing values)")
        return "; ".join(parts) or "none"


def decide_people(
    work: Path, subject: Subject, found: Sweep, people: PeopleSource, most: int
) -> tuple[SweptPeople, Sweep]:
    """What is known about everyone in the table; at most ``most`` are asked about one by one, as in an audit.

    Writes ``people.parquet`` with a row for each. The sweep that comes back is the same, but for counterexamples that
    were found: such a pair refutes the open cell of its person.
    """
    import numpy as np

    from lcifr.certification.counterexample import Pairs
    from lcifr.certification.sweep.result import CellStatus
    from lcifr.data.parquet import ParquetAppender

    standings = np.array([*(one for one in CellStatus for _ in found.cells(one)), CellStatus.OPEN], dtype=object)
    sure = (CellStatus.PROVED, CellStatus.VIOLATING)

    def waiting(cells: Any) -> Any:
        return np.flatnonzero((cells >= 0) & ~np.isin(standings[cells], sure))

    asked, total = 0, min(most, sum(len(waiting(found.index.find(one.people))) for one in _chunks(people)))
    answers, decided, pairs = _Answers(work / ANSWERS, subject, found), Counter[tuple[str, str]](), dict[int, Pairs]()
    with (
        step("Asking about people whom no cell decides", StepKind.COUNT, total) as advance,
        ParquetAppender(work / PEOPLE) as file,
    ):
        for chunk in _chunks(people):
            cells = found.index.find(chunk.people)
            standing = standings[cells]
            by = np.where(standing == CellStatus.OPEN, DecidedBy.NOTHING, DecidedBy.CELL).astype(object)
            others: list[Individuals | None] = [None] * len(cells)
            rows = waiting(cells)[: total - asked]
            for some in (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)):
                for row, one in zip(some.tolist(), answers.about(chunk.people.take(some)), strict=True):
                    if one.by is not DecidedBy.SEARCH or by[row] is not DecidedBy.CELL:  # else the cell says more
                        standing[row], by[row], others[row] = one.standing, one.by, one.other
                    if one.other is not None and one.strict:
                        x = chunk.people.take([row])
                        pairs.setdefault(int(cells[row]), Pairs(x, one.other, np.ones(1, np.bool_)))
                asked += len(some)
                advance(asked, total)
            decided.update(zip(standing.tolist(), by.tolist(), strict=True))
            file.add(_rows(chunk, standing, by, cells, others))
    return replace(_counted(decided), not_examined=people.left_out), _refuted(found, pairs)


def _chunks(people: PeopleSource) -> Iterator[Chunk]:
    from lcifr.data.ingest import read_chunks

    yield from read_chunks(people.attributes, people.schema, READ, people.id_column)
    if people.scanned is not None:
        people.scanned.refuse_changed()


def _counted(decided: Counter[tuple[str, str]]) -> SweptPeople:
    by_cell, one_by_one, not_asked = dict[str, int](), dict[str, int](), 0
    for (standing, by), count in decided.items():
        if by == DecidedBy.NOTHING:
            not_asked += count
        else:
            into = by_cell if by == DecidedBy.CELL else one_by_one
            into[str(standing)] = into.get(str(standing), 0) + count
    return SweptPeople(by_cell, one_by_one, not_asked)


def _rows(chunk: Chunk, standing: Any, by: Any, cells: Any, others: list[Individuals | None]) -> pa.Table:
    import pyarrow as pa

    from lcifr.certification.sweep.result import person_columns

    said: dict[str, Any] = {
        "id": pa.array([str(one) for one in chunk.ids], pa.string()),
        "standing": pa.array([str(one) for one in standing], pa.string()),
        "decided by": pa.array([str(one) for one in by], pa.string()),
        "cell": pa.array(cells, pa.int64()),
    }
    return pa.table(said | person_columns("x'", others, chunk.people.schema))


def _refuted(found: Sweep, pairs: Mapping[int, Any]) -> Sweep:
    """The sweep with pairs in open cells that had none."""
    first = len(found.proved) + len(found.violating)
    cells = [
        replace(one, pair=pairs[number]) if one.pair is None and number in pairs else one
        for number, one in enumerate(found.open, first)
    ]
    return replace(found, open=tuple(cells))


@dataclass(frozen=True)
class _PersonAnswer:
    """About one person; ``strict`` where the other is decided differently by more than a tie."""

    standing: str
    strict: bool
    other: Individuals | None

    @property
    def by(self) -> DecidedBy:
        from lcifr.certification.sweep.result import CellStatus

        if self.standing == CellStatus.OPEN:
            return DecidedBy.SEARCH
        return DecidedBy.COUNTEREXAMPLE if self.standing == CellStatus.VIOLATING else DecidedBy.PROOF


@final
class _Answers:
    """Answers about some people, each kept in a file that a resumed run finds again."""

    def __init__(self, folder: Path, subject: Subject, found: Sweep) -> None:
        from lcifr.certification.sweep.pair_question import PairQuestion
        from lcifr.data.files import versions
        from lcifr.workflows.parts import PartFiles

        self._question, self._schema = PairQuestion(subject), subject.encoding.schema
        self._about = f"{found.hash} {sorted(versions().items())}".encode()
        self._parts, self._number = PartFiles(folder, 1, ".parquet"), 0

    def about(self, people: Individuals) -> list[_PersonAnswer]:
        import pyarrow as pa
        from pyarrow import parquet

        from lcifr.certification.sweep.result import CellStatus, read_person
        from lcifr.data.files import write_atomic
        from lcifr.workflows.folders import keep_part

        digest = hashlib.sha256(self._about)
        for array in (people.numbers, people.codes):
            digest.update(array.tobytes(order="C"))
        inputs, self._number = digest.hexdigest(), self._number + 1
        path = self._parts.find(self._number, inputs)
        if path is None:
            content = self._ask(people)
            path = self._parts.path(self._number, inputs, content)
            write_atomic(path, content)
            keep_part(path)
        rows = parquet.read_table(pa.BufferReader(path.read_bytes())).to_pylist()
        return [
            _PersonAnswer(CellStatus(row["standing"]), row["strict"], read_person(row, "x'", self._schema))
            for row in rows
        ]

    def _ask(self, people: Individuals) -> bytes:
        import pyarrow as pa

        from lcifr.certification.sweep.result import CellStatus, person_columns
        from lcifr.certification.verdicts import parquet_bytes
        from lcifr.prove import Budget

        found = self._question.ask_individuals(people, Budget())
        standing, others = list[str](), list[Any]()
        for row in range(len(people)):
            proved = CellStatus.PROVED if found.strict[row] else CellStatus.CROSSINGS
            refuted = CellStatus.VIOLATING if found.pairs.found[row] else CellStatus.OPEN
            standing.append(str(proved if found.proved[row] else refuted))
            others.append(found.pairs.other.take([row]) if refuted is CellStatus.VIOLATING else None)
        said: dict[str, Any] = {"standing": standing, "strict": found.strict}
        return parquet_bytes(pa.table(said | person_columns("x'", others, self._schema)))
