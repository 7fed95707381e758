"""A model as it was read, compared with its library on the rows of a table and on rows made up to find differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data.files import json_value
from lcifr.runs.events import Listener, listening, step, warn
from lcifr.runs.models.labels import LabelComparison, compare_with_labels
from lcifr.runs.models.opening import ModelOptions, open_model, schema_of_table

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.certification.reference import LibraryComparison
    from lcifr.certification.subject import LibraryModel
    from lcifr.data import Encoding, Individuals, Schema
    from lcifr.models.loading import ModelFile

MADE_UP = 2000
"""People made up within the ranges of the table."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(ModelOptions):
    """Which model to compare with its library, and on whose rows; see :class:`ModelOptions`.

    Parameters
    ----------
    table : a .csv or .parquet file. seed : of the people who are made up.
    """

    table: Path
    seed: int = 0


@dataclass(frozen=True)
class ComparedRows:
    """What both say of some rows.

    Parameters
    ----------
    equal : decisions that are the same. rounding : that differ, where the margin is below what rounding can do.
    wrong : decisions or outputs that differ beyond that. largest : the largest difference of an output; None where the
        library gives none. allowed : what rounding can make of it at most. first : the first wrong row.
    """

    name: str
    people: int
    equal: int
    rounding: int
    wrong: int
    largest: float | None
    allowed: float
    first: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class DeclaredRule:
    """What a declared threshold changes: ``rule`` is the library's own one, in words.

    Parameters
    ----------
    people : rows of the table. others : about whom the library decides otherwise by its own rule.
    """

    rule: str
    people: int
    others: int


@dataclass(frozen=True)
class CompareResult:
    """What a comparison found.

    Parameters
    ----------
    runtime : what computed the library's own decisions; empty where it is not installed and nothing was compared.
    left_out : rows of the table with missing values, which an audit does not examine. total : all its rows.
    rule : how both decide, in words.
    declared : where a description declares the threshold, what that changes. assumptions : what the file does not say.
    labels : how the decisions compare with the true labels; None where the table has none that are classes.
    draft : of a description that is still one and was not accepted, its file; backwards : whether the score ranks the
        labels backwards, and that was not accepted.
    """

    model: str
    sha256: str
    runtime: str
    rows: tuple[ComparedRows, ...]
    left_out: int
    total: int
    rule: str = ""
    declared: DeclaredRule | None = None
    assumptions: tuple[str, ...] = ()
    labels: LabelComparison | None = None
    draft: str | None = None
    backwards: bool = False

    @property
    def agrees(self) -> bool:
        """Whether the library was asked, and nothing differs beyond rounding."""
        return bool(self.runtime) and not any(one.wrong for one in self.rows)

    @property
    def is_ready(self) -> bool:
        """Whether an audit would start: the library agrees, the description is no draft, labels are not backwards."""
        return self.agrees and self.draft is None and not self.backwards

    @property
    def share(self) -> float:
        """Of equal decisions."""
        return sum(one.equal for one in self.rows) / max(sum(one.people for one in self.rows), 1)

    @property
    def largest(self) -> float | None:
        """The largest difference of an output."""
        return max((one.largest for one in self.rows if one.largest is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        said = {"agrees": self.agrees, "ready": self.is_ready, "share": self.share, "largest": self.largest}
        return {"format": "lcifr-model-compared-1", "command": "doctor", **asdict(self), **said}


def compare_model(request: CompareRequest, listener: Listener | None = None) -> CompareResult:
    """Compare a model with its library; ``listener`` hears the events of :mod:`lcifr.runs.events`."""
    from lcifr.certification.reference import make_up_people, place_at_boundaries
    from lcifr.data import Individuals
    from lcifr.runs.people.complete import complete_table
    from lcifr.runs.people.loading import load_whole

    with listening(listener), step(f"Comparing {request.model} with its library"):
        file = open_model(request.model, request.describe, request.missing, drafts=True)
        loaded = load_whole(request.table, None, "lcifr doctor")
        beside = str(request.table.with_suffix(".phi"))  # and the schema of the same name, as `lcifr init` writes them
        schema = schema_of_table(loaded.frame, request.table, request, file.outline(), beside)
        loaded, left_out = complete_table(loaded, request.table, schema)
        columns, labels = loaded.frame.column_names, _labels(loaded.frame, schema)
        frame = loaded.frame.select(list(schema.names))
        read = _read_model(file, frame, schema)
        positional = read.source.positional
        if positional is not None and (text := positional.warning(str(request.table), columns)) is not None:
            warn(text)
        people = Individuals.read(frame, schema)
        tried = {
            "rows of the table": people,
            "made-up rows": make_up_people(read.source, people, MADE_UP, request.seed),
            "beside boundaries": place_at_boundaries(read.source, people),
        }
        rows = tuple(_compared(name, some, read) for name, some in tried.items())
        outline, declared = file.outline(), _declared(file, read, people, schema)
        beside_labels = None if labels is None else compare_with_labels(read.model, read.scores(people), labels)
    described = file.description
    return CompareResult(
        model=str(request.model),
        sha256=file.sha256,
        runtime=outline.runtime,
        rows=rows,
        left_out=left_out,
        total=loaded.count,
        rule=outline.rule,
        declared=declared,
        assumptions=outline.assumptions,
        labels=beside_labels,
        draft=described.source if described is not None and described.draft and not request.accept_draft else None,
        backwards=beside_labels is not None and beside_labels.is_backwards and not request.accept_accuracy,
    )


def _declared(file: ModelFile, read: LibraryModel, people: Individuals, schema: Schema) -> DeclaredRule | None:
    """The library's own rule beside the declared one; None where none is declared, or the file has no rule itself."""
    from dataclasses import replace

    from lcifr.models.description import DescribedOutput, Meaning
    from lcifr.models.loading import ModelFormat, load_file

    described = file.description
    output = None if described is None else described.output
    if described is None or output is None or not output.has_threshold or file.format is ModelFormat.ONNX:
        return None
    own = load_file(file.path, replace(described, output=DescribedOutput(Meaning.CLASS, classes=output.classes)))
    plain = own.read_table(read.source.table, _unscaled(schema))
    others = int((plain.library_decides(people) != read.source.library_decides(people)).sum())
    return DeclaredRule(own.outline().rule, len(people), others)


def _labels(frame: pa.Table, schema: Schema) -> list[Any] | None:
    """The true labels of the rows, where the table has them."""
    if schema.target is None or schema.target not in frame.column_names:
        return None
    import pyarrow as pa

    from lcifr.data.frames import as_text

    column = frame[schema.target]
    return list((as_text(column) if pa.types.is_string(column.type) else column).to_pylist())


def _read_model(file: Any, frame: pa.Table, schema: Schema) -> LibraryModel:
    """Without scales: nothing here speaks of standard deviations."""
    from lcifr.certification.subject import LibraryModel
    from lcifr.phi import Similarity

    similarity = Similarity("same(all)", schema, _unscaled(schema))
    tolerance = 0.0 if file.outline().is_number else None
    return LibraryModel.read(file, frame.to_pandas(), similarity, tolerance=tolerance)


def _unscaled(schema: Schema) -> Encoding:
    import numpy as np

    from lcifr.data import Encoding

    return Encoding(schema, np.zeros(len(schema.numeric)), np.ones(len(schema.numeric)))


def _compared(name: str, people: Individuals, read: LibraryModel) -> ComparedRows:
    found: LibraryComparison = read.compare(people)
    wrong = int(found.wrong.sum())
    first = None
    if wrong:
        row = int(found.wrong.argmax())
        person = {str(column): json_value(value) for column, value in people.to_pandas().iloc[row].items()}
        first = {"read": json_value(found.read[row]), "library": json_value(found.library[row]), "person": person}
    rounding = int((found.differ & ~found.wrong).sum())
    return ComparedRows(name, len(found), found.equal, rounding, wrong, found.largest, found.allowed, first)
