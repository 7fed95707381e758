"""The subject of an audit: encoder, model and people, or a model from elsewhere; and the hashes that name it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.demands import Outputs, outputs_at
from lcifr.certification.deployment import Encoder, deploy_both
from lcifr.certification.handover import FrozenEncoder, freeze
from lcifr.certification.reference import EvaluatedPeople, LibraryComparison, LibraryDecisions, compare, make_up_people
from lcifr.data import Categorical, Encoding, Individuals, Schema, read_frame
from lcifr.errors import ArtefactError, LcifrError, NetworkError, TableError, TableProblem
from lcifr.models.description import ModelDescription
from lcifr.models.loading import ModelFile, load_described, read_model, read_table_model
from lcifr.models.model import Model
from lcifr.models.rule import Kind, Rule
from lcifr.models.source import ColumnOrderWarning, TableModel
from lcifr.phi.similarity import Similarity

# Hashes: which weights, formula and encoding a claim is about, with the rule of decision and the arithmetic.


def rule_of_bundle(rule: Rule) -> dict[str, Any]:
    """As an audit bundle holds it, and the checker reads it."""
    if rule.kind is Kind.NUMBER:
        return {"kind": "within", "tolerance": rule.known_tolerance}
    band = {} if rule.band == (0.0, 0.0) else {"band": list(rule.band)}
    if rule.kind is Kind.CLASS:
        return {"kind": "class", "groups": [list(group) for group in rule.groups], **band}
    return {"kind": "sign", **band}


@dataclass(frozen=True)
class Hashes:
    """Weights, formula and encoding by hash; the rule of decision and the arithmetic in full.

    Parameters
    ----------
    encoder, model : weights. similarity : φ, resolved. encoding : of the people.
    decision : what counts as the same decision. arithmetic : in which the models are computed.
    """

    encoder: str
    model: str
    similarity: str
    encoding: str
    decision: Mapping[str, Any]
    arithmetic: str

    @classmethod
    def of(cls, encoder: Any, model: Model, arithmetic: str) -> Hashes:
        """Those of an encoder with its φ, and of the model on top of it, both computed in this arithmetic."""
        frozen = freeze(encoder)
        return cls(
            encoder=frozen.function.hash,
            model=model.function.hash,
            similarity=frozen.similarity.hash,
            encoding=frozen.encoding.hash,
            decision=rule_of_bundle(model.rule),
            arithmetic=str(arithmetic),
        )

    def refuse_others(self, found: Mapping[str, Any], where: Path) -> None:
        """Refuse what a file says of itself where it is about something else; the first difference is named."""
        expected = asdict(self)
        for field in fields(self):
            if found.get(field.name) != expected[field.name]:
                raise ArtefactError(
                    f"{where} is about another {WORDS[field.name]}: {_short(found.get(field.name))}, "
                    f"expected {_short(expected[field.name])}",
                    fix="give the folder as it was written, or audit again",
                )


WORDS = {
    "encoder": "encoder",
    "model": "model",
    "similarity": "φ",
    "encoding": "encoding of the people",
    "decision": "rule of decision",
    "arithmetic": "arithmetic",
}


def _short(value: Any) -> str:
    return f"{value[:12]}…" if isinstance(value, str) and len(value) > 12 else str(value)


# LibraryModel: a model of another library, read for the columns of a table, with a φ; compared with the library.

MADE_UP = 256
"""People beside those of the table that a model is compared with its library on, at least."""


@dataclass(frozen=True)
class LibraryModel:
    """What proofs are about, and the library's own word on it.

    Parameters
    ----------
    encoder : the encoding and the first layer, with φ. model : what decides behind it, with what counts as the same.
    source : the model as it was read, with the library's own functions.
    """

    encoder: FrozenEncoder
    model: Model
    source: TableModel

    @classmethod
    def read(
        cls,
        model: Any,
        table: Any,
        similarity: Similarity,
        groups: Sequence[Sequence[Any]] | None = None,
        tolerance: float | None = None,
    ) -> LibraryModel:
        """Read a fitted model, or what was loaded from a file, for the columns of a pandas frame.

        Raises
        ------
        NetworkError
            For what cannot be read exactly, by the name of the step that stands in the way.
        """
        source = read_table_model(model, table, similarity.encoding)
        encoder = FrozenEncoder(source.inputs, similarity.over(source.encoding))
        return cls(encoder, source.model.agreeing(groups, tolerance), source)

    def scores(self, people: Individuals) -> NDArray[np.float64]:
        """(people, outputs) what the model as it was read computes, before anything is decided."""
        return self._outputs(self._encoded(people), rounds=False).values

    def compare(self, people: Individuals, frame: Any = None) -> LibraryComparison:
        """Both on some people; ``frame`` has them as the library takes them, where that is at hand."""
        said = self.source.library_says(people, frame)
        return compare(self.model, self._outputs(self._encoded(people)), said.decisions, said.outputs)

    def decisions_about(
        self, people: Individuals, frame: Any = None, ids: Sequence[Any] | None = None
    ) -> LibraryDecisions:
        """The library's decisions about people.

        Compared with are these people, and as many others made up among them as it takes to have every category: a
        model that is read wrongly elsewhere would decide alike about those who happen to be in the table.

        Raises
        ------
        NetworkError
            If the library decides otherwise about somebody, where rounding cannot be the reason.
        """
        decided, own = self._agreed(people, "people", frame, ids)
        if len(people):
            count = max([MADE_UP, *(len(category.values) for category in people.schema.categorical)])
            made_up = make_up_people(self.source, people, count)
            self._agreed(made_up, "people made up among those of the table")
        return LibraryDecisions(self.source, self.model, decided, own)

    def _agreed(
        self, people: Individuals, who: str, frame: Any = None, ids: Sequence[Any] | None = None
    ) -> tuple[NDArray[Any], EvaluatedPeople]:
        """(people,) the library's decisions, if rounding can be the reason wherever they are not those of the model.

        Also what the model as it was read computes.
        What rounds in the library is bounded only for those of whom something differs that our own pass explains not.
        """
        said, points = self.source.library_says(people, frame), self._encoded(people)
        outputs = self._outputs(points, rounds=False)
        exact = compare(self.model, outputs, said.decisions, said.outputs)
        if len(rows := np.flatnonzero(exact.wrong)):
            numbers = None if said.outputs is None else said.outputs[rows]
            some = compare(self.model, self._outputs(points[rows]), said.decisions[rows], numbers)
            wrong = np.zeros(len(people), np.bool_)
            wrong[rows] = some.wrong
            self._refuse_difference(replace(exact, wrong=wrong), who, ids)
        return said.decisions, EvaluatedPeople(people, points, outputs.values, outputs.rounding_error)

    def _refuse_difference(self, found: LibraryComparison, who: str, ids: Sequence[Any] | None) -> None:
        if found.agrees:
            return
        row = int(found.wrong.argmax())
        named = f"row {row}" if ids is None else f'"{ids[row]}"'
        raise NetworkError(
            f"the library decides otherwise than its model as it was read about {int(found.wrong.sum())} of "
            f"{len(found)} {who}; the first is {named}: {found.library[row]!r}, not {found.read[row]!r}",
            fix="see that the table is the one that the model takes (spaces in texts, dtypes); "
            "`lcifr doctor --model` shows more",
        )

    def _encoded(self, people: Individuals) -> NDArray[np.float64]:
        return self.encoder.encoding.encode(people)

    def _outputs(self, points: NDArray[np.float64], *, rounds: bool = True) -> Outputs:
        """Of encoded people, with what rounding can do in the library.

        That is a bound for sums in any order, so for its own, in its format.
        """
        native = self.model.function.native
        deployment = deploy_both(self.encoder, self.model, native, None)
        nothing = None if rounds else np.zeros(deployment.outputs)
        return outputs_at(deployment, points, nothing)


# The subject of an audit: encoder, model and people; or a model from elsewhere, read and compared with its library.


@dataclass(frozen=True)
class Subject:
    """Parameters
    ----------
    library : of a model from elsewhere; nothing counts as a counterexample that it does not confirm.
    missing : (rows,) of a table for such a model, where a value is missing: nobody of ``people``. None where no row is.
    assumptions : what every verdict rests on and no library checks, in sentences.
    arithmetic : that the description of such a model declares; None where it declares none.
    """

    encoder: Encoder
    model: Model
    people: Individuals
    library: LibraryDecisions | None = None
    missing: NDArray[np.bool_] | None = None
    assumptions: tuple[str, ...] = ()
    arithmetic: str | None = None


def own_subject(
    encoder: Any, model: Any, X: Any, groups: Sequence[Sequence[Any]] | None, tolerance: float | None
) -> Subject:
    """An encoder of this package, or a frozen one, with a model on its latents."""
    frozen = freeze(encoder)
    return Subject(frozen, read_model(model, groups, tolerance), Individuals.read(X, frozen.encoding.schema))


def foreign_subject(
    model: Any,
    X: Any,
    similarity: Similarity | str,
    groups: Sequence[Sequence[Any]] | None,
    tolerance: float | None,
) -> Subject:
    """A model of another library on the raw columns of a table: a fitted object, or the path of its file.

    A description beside the file, of the same name, is obeyed as commands obey it.

    Raises
    ------
    NetworkError
        For what cannot be read exactly; and if the library decides otherwise about somebody in the table, where
        rounding cannot be the reason.
    """
    if isinstance(model, str | Path):
        model = load_described(model)
    described = getattr(model, "description", None)
    if isinstance(described, ModelDescription):
        described.refuse_draft("or go on with the guesses: dataclasses.replace(description, draft=False)")
    table = _pandas(X)
    schema = _inferred(table) if isinstance(similarity, str) else similarity.schema
    missing = rows_with_missing(table, schema)
    if isinstance(similarity, str):
        known = table[[name for name in table.columns if name in schema]]
        similarity = Similarity(similarity, schema, Encoding.fit(known, schema, skip_missing=True))
    if missing.any():
        table = table[~missing].reset_index(drop=True)
    read = LibraryModel.read(model, table, similarity, groups, tolerance)
    people = Individuals.read(table[[name for name in table.columns if name in schema]], schema)
    library = read.decisions_about(people, table)
    file = model if isinstance(model, ModelFile) else None
    assumed: tuple[str, ...] = () if file is None else file.outline().assumptions
    if (positional := read.source.positional) is not None:
        assumed = tuple(dict.fromkeys((*assumed, positional.assumption)))
        if (text := positional.warning("the table", table.columns)) is not None:
            warnings.warn(text, ColumnOrderWarning, stacklevel=4)
    described = None if file is None else file.description
    if described is not None:
        assumed = (*assumed, f"What the file of the model does not say is described in {described.source}.")
    asked = None if described is None or described.arithmetic is None else described.arithmetic.value
    return Subject(read.encoder, read.model, people, library, missing if missing.any() else None, assumed, asked)


def _inferred(table: Any) -> Schema:
    try:
        return Schema.infer(table)
    except TableError as problem:
        raise TableError(
            problem.problems,
            fix="leave out columns that the model does not read: X.drop(columns=[…]); or say what they are: "
            "similarity=Similarity(text, Schema.infer(X, categorical=[…]), X). "
            "A date is compared as a number, such as an age in years",
        ) from None


def rows_with_missing(table: Any, schema: Schema) -> NDArray[np.bool_]:
    """(rows,) of a pandas frame, whether a value of an attribute is missing or blank.

    Raises
    ------
    TableError
        If there is no row without one.
    """
    found = np.zeros(len(table), np.bool_)
    for name in [name for name in schema.names if name in table.columns]:
        column = table[name]
        found |= column.isna().to_numpy(np.bool_)
        if column.dtype.kind not in "biuf" and isinstance(schema[name], Categorical):
            found |= np.array([isinstance(value, str) and not value.strip() for value in column], np.bool_)
    if len(found) and found.all():
        raise TableError([TableProblem("every row has a missing value")], fix="fill them as the model's users would")
    return found


def _pandas(X: Any) -> Any:
    import pandas as pd

    return X if isinstance(X, pd.DataFrame) else read_frame(X).to_pandas()


def subject_of(
    first: Any,
    second: Any,
    third: Any,
    similarity: Similarity | str | None,
    groups: Sequence[Sequence[Any]] | None,
    tolerance: float | None,
) -> Subject:
    """Of ``audit(encoder, model, X)``, or of ``audit(model, X, similarity=…)``; arguments may be named."""
    if similarity is None:
        if third is None:
            raise LcifrError(
                "an audit needs an encoder, a model and people; or a model, people and a similarity",
                fix="audit(encoder, model, X), or audit(model, X, similarity=…)",
            )
        return own_subject(first, second, third, groups, tolerance)
    model, people = (first, second) if third is None else (second, third)
    if third is not None and first is not None:
        raise LcifrError("the encoder has a similarity of its own", fix="leave similarity out, or the encoder")
    return foreign_subject(model, people, similarity, groups, tolerance)
