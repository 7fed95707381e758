"""Subject: the model, φ and arithmetic that a claim is about, and the hashes that name them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.demands import outputs_at
from lcifr.certification.handover import FrozenEncoder, freeze
from lcifr.certification.reference import LibraryComparison, Reference, ReferencePredictions, compare
from lcifr.data import Categorical, Encoding, Individuals, Schema, read_frame
from lcifr.errors import ArtefactError, LcifrError, TableError, TableProblem
from lcifr.models.additive import AdditiveTerms
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import ModelDescription
from lcifr.models.function import Deployed, deploy
from lcifr.models.loading import ModelFile, load_described, read_model, read_table_model
from lcifr.models.model import Model
from lcifr.models.network import choose_for, scores_of
from lcifr.models.rule import Kind, Rule
from lcifr.models.source import ColumnOrderWarning, TableModel
from lcifr.phi.pairs import PairSpace
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells

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


# Origin: where a subject was read from.


class Origin(ABC):
    """A model file, or the folders that it was learned into."""

    @abstractmethod
    def summary(self, subject: Subject) -> Any:
        """What every result says of the subject."""

    @abstractmethod
    def copy_into(self, subject: Subject, folder: Path) -> None:
        """Write what a reader of a result needs to have the very same subject again."""


# Subject: what a claim is about. A model with φ and the arithmetic that it is computed in; of a model of another
# library also that library's own predictions.


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """Parameters
    ----------
    encoder : the function to z, with φ and the encoding; for a model of another library its first layer.
    model : what decides on z, with what counts as the same decision.
    arithmetic : in which both are computed.
    reference : of a model of another library, that library's predictions; None for a model of our own.
    handed : the encoder's arithmetic where it is another one, as in a hand-over.
    origin : where it comes from, and how it is written beside a result; None where Python gave the objects. It stays
        behind when the subject goes to another process.
    """

    encoder: FrozenEncoder
    model: Model
    arithmetic: Arithmetic = Arithmetic.EXACT
    reference: Reference | None = None
    handed: Arithmetic | None = None
    origin: Origin | None = None

    @classmethod
    def of(
        cls,
        encoder: Any,
        model: Any,
        groups: Sequence[Sequence[Any]] | None = None,
        tolerance: float | None = None,
        arithmetic: str | None = None,
    ) -> Subject:
        """An encoder of this package, or a frozen one, with a model on its latents."""
        frozen, known = freeze(encoder), read_model(model, groups, tolerance)
        return cls(frozen, known, choose_for(arithmetic, (frozen.function, known.function)))

    @classmethod
    def of_library(
        cls,
        model: Any,
        table: Any,
        similarity: Similarity,
        groups: Sequence[Sequence[Any]] | None = None,
        tolerance: float | None = None,
        arithmetic: str | None = None,
    ) -> Subject:
        """Read a fitted model, or what was loaded from a file, for the columns of a pandas frame.

        Parameters
        ----------
        arithmetic : None for the one that a file's description declares, else for that of its library.

        Raises
        ------
        NetworkError
            For what cannot be read exactly, by the name of the step that stands in the way.
        """
        source = read_table_model(model, table, similarity.encoding)
        encoder = FrozenEncoder(source.inputs, similarity.over(source.encoding))
        known = source.model.agreeing(groups, tolerance)
        described = model.description if isinstance(model, ModelFile) else None
        if arithmetic is None and described is not None and described.arithmetic is not None:
            arithmetic = described.arithmetic.value
        return cls(encoder, known, choose_for(arithmetic, (encoder.function, known.function)), Reference(source))

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"origin": None}

    @property
    def similarity(self) -> Similarity:
        """φ."""
        return self.encoder.similarity

    @property
    def encoding(self) -> Encoding:
        return self.encoder.encoding

    @property
    def schema(self) -> Schema:
        return self.encoder.encoding.schema

    @cached_property
    def hashes(self) -> Hashes:
        """What all verdicts must be about."""
        return Hashes.of(self.encoder, self.model, self.arithmetic)

    @cached_property
    def deployed(self) -> Deployed:
        """The whole model as machines compute it."""
        return self._deployed_in(self.handed or self.arithmetic, self.arithmetic)

    @cached_property
    def deployed_in_library(self) -> Deployed:
        """The same in the format of its own library: its error bounds sums in any order, so the library's own."""
        native = self.model.function.native
        if native is self.arithmetic and self.handed is None:
            return self.deployed
        return self._deployed_in(native, native)

    def _deployed_in(self, first: Arithmetic, second: Arithmetic) -> Deployed:
        return deploy(self.encoder.function, self.model.function, self.encoding, first, second)

    @property
    def library(self) -> TableModel:
        """The model as its loader read it, with the library's own functions: of a model of another library alone."""
        assert self.reference is not None, "a model of our own"
        return self.reference.source

    def compare(self, people: Individuals, frame: Any = None) -> LibraryComparison:
        """The model and its library on some people; ``frame`` has them as the library takes them, where at hand."""
        answer = self.library.library_says(people, frame)
        outputs = outputs_at(self.deployed_in_library, self.encoding.encode(people))
        return compare(self.model, outputs, answer.decisions, answer.outputs)

    def with_formula(self, similarity: Similarity) -> Subject:
        """The same model with another φ over the same encoding."""
        return replace(self, encoder=replace(self.encoder, similarity=similarity))

    def region(self, people: Individuals) -> Region:
        """S_φ of these people over the reals."""
        return self.encoder.similarity.region(people)

    @property
    def rule(self) -> Rule:
        """How outputs become decisions."""
        return self.model.rule

    def scores(self, people: Individuals) -> NDArray[np.float64]:
        """(people, outputs) by a plain forward pass, before anything is decided."""
        return self.deployed.evaluate(self.encoding.encode(people)).values

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions in the model's own labels."""
        return self.model.predict(self.encoder.transform(people)) if len(people) else np.empty(0, object)

    # -- pairs of people who can exist: what a sweep asks about --------------------------------------------------------

    @cached_property
    def pairs(self) -> PairSpace:
        """The similar pairs."""
        return PairSpace.of(self.similarity)

    @cached_property
    def ignores_changes(self) -> bool:
        """Whether the model reads nothing that φ lets differ: then both people of every pair have the same outputs."""
        slices = [self.encoding.columns(name) for name, other in self.pairs.others.items() if name != other]
        columns = [column for part in slices for column in range(*part.indices(len(self.encoding.features)))]
        return not (set(self.deployed.reads().tolist()) & set(columns))

    @cached_property
    def terms(self) -> AdditiveTerms | None:
        """The model as a sum of terms of one attribute or two, over everyone who can exist; None where it is none."""
        everyone = UniverseCells.everybody(self.encoding, whole=False).region(self.encoding)
        return self.deployed.terms(self.encoding, everyone)

    @cached_property
    def score_directions(self) -> NDArray[np.float64]:
        """(scores, outputs) see :func:`lcifr.models.network.scores_of`; the outputs themselves for numbers."""
        return np.eye(self.rule.outputs) if self.rule.kind is Kind.NUMBER else scores_of(self.rule)

    def directed_scores(self, people: Individuals) -> NDArray[np.float64]:
        """(people, scores) the outputs along :attr:`score_directions`, by a plain forward pass."""
        return np.asarray(self.scores(people) @ self.score_directions.T)

    # -- the library that the model comes from -------------------------------------------------------------------------

    def library_decisions(self, people: Individuals) -> ReferencePredictions | None:
        """The library's decisions about people, not compared with the model; None for a model without a library."""
        return None if self.reference is None else ReferencePredictions(people, self.reference.decide(people))

    def predicted(
        self, people: Individuals, frame: Any = None, ids: Sequence[Any] | None = None, who: str = "people"
    ) -> ReferencePredictions | None:
        """The library's predictions for people, compared with the model; None for a model without a library.

        The library's rounding is bounded only for those who differ in a way that our own pass does not explain.

        Parameters
        ----------
        frame : the people as the library takes them, where at hand. who : what an error calls them.

        Raises
        ------
        NetworkError
            If the library decides otherwise about anyone, where rounding cannot be the reason.
        """
        if self.reference is None:
            return None
        points = self.encoding.encode(people)  # who has a category at which the library raises is refused by name
        answer = self.library.library_says(people, frame)
        deployed = self.deployed_in_library
        outputs = outputs_at(deployed, points, np.zeros(deployed.outputs))
        exact = compare(self.model, outputs, answer.decisions, answer.outputs)
        if len(rows := np.flatnonzero(exact.wrong)):
            numbers = None if answer.outputs is None else answer.outputs[rows]
            some = compare(self.model, outputs_at(deployed, points[rows]), answer.decisions[rows], numbers)
            wrong = np.zeros(len(people), np.bool_)
            wrong[rows] = some.wrong
            replace(exact, wrong=wrong).refuse_difference(who, ids)
        return ReferencePredictions(people, answer.decisions, points, outputs)

    def agreeing_on(self, made_up: Individuals) -> Subject:
        """The same, compared with its library on made-up rows.

        Raises
        ------
        NetworkError
            As for :meth:`predicted`.
        """
        assert self.reference is not None
        self.predicted(made_up, who="people made up among those of the table")
        return replace(self, reference=replace(self.reference, made_up=made_up))

    def agreeing_among(self, people: Individuals) -> Subject:
        """The same, compared with its library on rows made up among these people: once a run, before anyone's row."""
        if self.reference is None or not len(people):
            return self
        return self.agreeing_on(self.reference.made_up_among(people))


# AuditInput: the subject of an audit in Python, the people, and what their table lacks.


@dataclass(frozen=True)
class AuditInput:
    """Parameters
    ----------
    predicted : of a model of another library, its predictions for the people.
    missing : (rows,) of a table for such a model, where a value is missing: none of ``people``. None where no row is.
    assumptions : what every verdict rests on and no library checks, in sentences.
    """

    subject: Subject
    people: Individuals
    predicted: ReferencePredictions | None = None
    missing: NDArray[np.bool_] | None = None
    assumptions: tuple[str, ...] = ()


def _library_input(
    model: Any,
    X: Any,
    similarity: Similarity | str,
    groups: Sequence[Sequence[Any]] | None,
    tolerance: float | None,
    arithmetic: str | None,
) -> AuditInput:
    """A model of another library on the raw columns of a table: a fitted object, or the path of its file.

    A description beside the file, of the same name, is obeyed as commands obey it.

    Raises
    ------
    NetworkError
        For what cannot be read exactly; and if the library decides otherwise about a person in the table, where
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
    subject = Subject.of_library(model, table, similarity, groups, tolerance, arithmetic)
    people = Individuals.read(table[[name for name in table.columns if name in schema]], schema)
    predicted = subject.predicted(people, table)
    subject = subject.agreeing_among(people)
    file = model if isinstance(model, ModelFile) else None
    assumed: tuple[str, ...] = () if file is None else file.outline().assumptions
    reference = subject.reference
    if reference is not None and (positional := reference.source.positional) is not None:
        assumed = tuple(dict.fromkeys((*assumed, positional.assumption)))
        if (text := positional.warning("the table", table.columns)) is not None:
            warnings.warn(text, ColumnOrderWarning, stacklevel=4)
    described = None if file is None else file.description
    if described is not None:
        assumed = (*assumed, f"What the file of the model does not say is described in {described.source}.")
    return AuditInput(subject, people, predicted, missing if missing.any() else None, assumed)


def _inferred(table: Any) -> Schema:
    try:
        return Schema.infer(table)
    except TableError as problem:
        if not len(table):
            raise
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
    arithmetic: str | None = None,
) -> AuditInput:
    """Of ``audit(encoder, model, X)``, or of ``audit(model, X, similarity=…)``; arguments may be named."""
    if similarity is None:
        if third is None:
            raise LcifrError(
                "an audit needs an encoder, a model and people; or a model, people and a similarity",
                fix="audit(encoder, model, X), or audit(model, X, similarity=…)",
            )
        subject = Subject.of(first, second, groups, tolerance, arithmetic)
        return AuditInput(subject, Individuals.read(third, subject.schema))
    model, people = (first, second) if third is None else (second, third)
    if third is not None and first is not None:
        raise LcifrError("the encoder has a similarity of its own", fix="leave similarity out, or the encoder")
    return _library_input(model, people, similarity, groups, tolerance, arithmetic)
