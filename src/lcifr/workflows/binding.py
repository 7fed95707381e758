"""Comparison of a bundle with the reader's own files, each read by the parsers and loaders that audits use."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.certification.bundle import ENCODER, ENCODING, MODEL, SIMILARITY, encoder_bytes, read_sample
from lcifr.certification.subject import rule_of_bundle
from lcifr.check.people import DIFFERS, NAMED, NOT_GIVEN, SAME, SHOWN, FileComparison, compare_people
from lcifr.data.codec import Record
from lcifr.data.schema import attribute_to_dict
from lcifr.errors import ArtefactError, LcifrError, no_such_file
from lcifr.phi.core import distinct_values
from lcifr.workflows.events import step
from lcifr.workflows.options import (
    REQUIRED,
    DeclaredByOption,
    argument,
    describe_option,
    id_option,
    missing_option,
    option,
    score_threshold_option,
    threshold_option,
)
from lcifr.workflows.people import read_schema
from lcifr.workflows.subjects import open_model

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.certification.bundle import ProofSample
    from lcifr.check.judge import CheckReport
    from lcifr.check.people import CanonicalPeople, Kinds
    from lcifr.data import Encoding, Schema
    from lcifr.models.function import Function
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Model
    from lcifr.phi import Similarity


# CheckedBundle: what a bundle says of φ, schema, encoding, functions and rule, in the files that were checked.


@dataclass(frozen=True)
class RankedValues:
    """The values of an attribute among which a φ ranks people whose category ``by`` is one of ``codes``."""

    attribute: str
    by: str
    codes: tuple[int, ...]
    values: tuple[float, ...]


PANEL: dict[str, Any] = {"panel": "Your own files, to compare the bundle with"}


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """The reader's own files; what is not given is not compared."""

    people: Path | None = option(None, "The people: .csv or .parquet.", metavar="TABLE", **PANEL)
    id_column: str | None = id_option()
    models: tuple[Path, ...] = option(
        (),
        "The model (ONNX, skops, XGBoost, LightGBM), or the producer's and the consumer's folder.",
        name="model",
        metavar="FILE|FOLDER",
        **PANEL,
    )
    describe: Path | None = describe_option(**PANEL)
    missing: float | None = missing_option()
    threshold: float | None = threshold_option()
    score_threshold: float | None = score_threshold_option()
    phi: str | None = option(None, "Who counts as similar.", metavar="FILE|NAME", **PANEL)
    schema: str | None = option(
        None, "The schema: a .toml file. (Default: the .toml next to the .phi.)", metavar="FILE|NAME", **PANEL
    )
    train: Path | None = option(
        None, "The table that supplies the standard deviations and ranks in φ.", metavar="TABLE", **PANEL
    )

    @property
    def are_given(self) -> bool:
        return any(getattr(self, one.name) != one.default for one in fields(OwnFiles))

    def refuse_lost(self) -> None:
        """Refuse paths that do not exist, before anything is checked."""
        for path in (self.people, self.describe, self.train, *self.models):
            if path is not None and not path.exists():
                raise no_such_file(str(path), "check the path")


@dataclass(frozen=True)
class CheckedBundle:
    """``files``: by name, each of the hash that the report names. ``decision``: the rule, None without a model."""

    files: dict[str, bytes]
    decision: dict[str, Any] | None

    @classmethod
    def read(cls, folder: Path, report: CheckReport) -> CheckedBundle:
        """The files of a bundle, if they are still those that the report is about."""
        found = {}
        for name in (ENCODER, ENCODING, MODEL, SIMILARITY):
            if name in report.hashes:
                found[name] = (folder / name).read_bytes()
                if hashlib.sha256(found[name]).hexdigest() != report.hashes[name]:
                    raise ArtefactError(f"{folder / name} has changed since it was checked", fix="check it again")
        return cls(found, report.decision)

    @cached_property
    def encoding(self) -> Encoding:
        """How people are encoded, and the scales of which φ speaks."""
        from lcifr.data import Encoding

        return Encoding.from_dict(json.loads(self.files[ENCODING]))

    @property
    def schema(self) -> Schema:
        return self.encoding.schema

    @cached_property
    def formula(self) -> Any:
        """The tree of φ."""
        return json.loads(self.files[SIMILARITY])["formula"]

    def ranked(self) -> Iterator[RankedValues]:
        """What φ ranks people among, wherever it does."""
        waiting = [self.formula]
        while waiting:
            kind, *inside = waiting.pop()
            if kind in ("all", "any"):
                waiting += inside
            elif kind == "compare":
                for _, _, name, *rank in inside[2]:
                    for codes, values in rank[1] if rank else ():
                        yield RankedValues(name, rank[0], tuple(codes), tuple(values))


# People of a table in the canonical form of bundles, and their digest.


@dataclass(frozen=True)
class DigestRequest:
    """The table whose people are hashed."""

    table: Path = argument("TABLE", "The people: .csv or .parquet.")
    schema: str = option(REQUIRED, "The schema: a .toml file.", metavar="FILE|NAME")
    id_column: str | None = id_option()


@dataclass(frozen=True)
class PeopleDigest(Record):
    """digest : SHA-256 of the canonical lines. attributes : what it binds. unbound : columns that it ignores.

    incomplete : people with a missing value.
    """

    digest: str
    people: int
    attributes: tuple[str, ...]
    unbound: tuple[str, ...]
    incomplete: int


def digest_people(request: DigestRequest) -> PeopleDigest:
    """The digest of the people of a .csv, .tsv or .parquet file."""
    from lcifr.check.people import kinds_of

    known = read_schema(request.schema)
    with step(f"Reading {request.table}"):
        people = read_canonical(request.table, kinds_of(known.to_dict()), request.id_column)
    persons = (json.loads(line)[1:] for line in people.lines.values())
    incomplete = sum(any(value is None for _, value in values) for values in persons)
    return PeopleDigest(people.digest, len(people.lines), known.names, people.unbound, incomplete)


def read_canonical(path: Path, kinds: Kinds, id_column: str | None) -> CanonicalPeople:
    """The people of a file, each in their canonical form.

    Raises
    ------
    LcifrError
        For a column that is not there, an id that occurs twice, and what is no number.
    """
    from lcifr.check.exact import Rejected
    from lcifr.check.people import read_csv
    from lcifr.data.frames import is_parquet

    if not path.is_file():
        raise LcifrError(f"{path}: there is no such file", fix="check the path")
    try:
        return _read_parquet(path, kinds, id_column) if is_parquet(path) else read_csv(path, kinds, id_column)
    except Rejected as problem:
        raise LcifrError(str(problem), fix="correct the table, or name another column with --id or --schema") from None


def _read_parquet(path: Path, kinds: Kinds, id_column: str | None) -> CanonicalPeople:
    from lcifr.check.people import CanonicalPeople, person_line
    from lcifr.data import read_frame
    from lcifr.data.ingest import duplicate_id_error, first_duplicate, read_ids

    frame = read_frame(path)
    if lost := [name for name in kinds if name not in frame.column_names]:
        raise LcifrError(f'{path} has no column "{lost[0]}"', fix="name the schema of this table with --schema")
    rows = range(len(frame))
    ids = [*rows] if id_column is None else read_ids(frame, str(path), id_column, rows, texts=True)
    if id_column is not None and (twice := first_duplicate(ids)) is not None:
        raise duplicate_id_error(str(path), id_column, twice)
    columns = {name: list(_values(frame[name], known is None, f"{path}: {name}")) for name, known in kinds.items()}
    lines = {
        str(one): person_line(str(one), {name: values[row] for name, values in columns.items()})
        for row, one in enumerate(ids)
    }
    return CanonicalPeople(lines, tuple(name for name in frame.column_names if name not in (*kinds, id_column)))


def _values(column: pa.ChunkedArray, numeric: bool, where: str) -> Iterator[float | str | None]:
    """Of a typed column: numbers as the gate reads them, categories as the text that they print as."""

    from lcifr.data.frames import is_missing, text_of
    from lcifr.data.schema import to_float

    if not numeric:
        texts = (None if is_missing(value) else text_of(value) for value in column.to_pylist())
        yield from (text if text and text.strip() else None for text in texts)  # a blank is missing, as in CSV
        return
    values, odd = to_float(column)
    if len(odd) or np.isinf(values).any():
        row = odd[0] if len(odd) else int(np.isinf(values).argmax())
        raise LcifrError(
            f"{where}: {column[row].as_py()!r} in row {row} is not a finite number", fix="correct the table"
        )
    yield from (None if np.isnan(value) else float(value) for value in values)


# The functions of a bundle, derived again from the reader's own model: a file of another library, or our folders.

Json = dict[str, Any]
ENCODER_FILE, HEAD = "encoder.safetensors", "model.safetensors"


@dataclass(frozen=True)
class DerivedModel:
    """What a bundle says of a model, as the reader's own one says it; None where it has no such part.

    Parameters
    ----------
    encoding : how it encodes people; the scales in it are not the model's.
    encoder, model : bytes of the functions. rule : of decision, without what the audit chose.
    classes : what the model calls them, in the order of the rule's numbers; empty for numbers.
    """

    encoding: Encoding | None
    encoder: bytes | None
    model: bytes | None
    rule: Json | None
    classes: tuple[str, ...] = ()


def derive_from_file(
    file: ModelFile, table: Path, encoding: Encoding, id_column: str | None, rule: Json | None
) -> DerivedModel:
    """A model of another library, read as an audit reads it for the columns of a table of people.

    Parameters
    ----------
    rule : of the bundle, whose tolerance is the audit's choice.
    """
    from lcifr.phi import Similarity
    from lcifr.workflows.people import scan_people
    from lcifr.workflows.subjects import FileOrigin, read_for_people

    anybody = Similarity("same(all)", encoding.schema, encoding)  # who is similar changes nothing about the model
    tolerance = _tolerance(rule) if file.outline().is_number else None
    with tempfile.TemporaryDirectory() as work:
        source = scan_people(table, encoding.schema, id_column, Path(work), labels=False, skip_missing=True)
        subject = read_for_people(FileOrigin(file, anybody, "decision", ""), source, table, tolerance=tolerance)
    return _derived(subject.encoder.encoding, subject.encoder.function, subject.model)


def derive_from_folders(folders: tuple[Path, ...], rule: Json | None) -> DerivedModel:
    """What `lcifr produce` and `lcifr consume` wrote; of several folders with a model that decides, the last one's.

    Parameters
    ----------
    rule : of the bundle; without one it is about an encoder alone.
    """
    from lcifr.certification.saved_models import read_saved_function
    from lcifr.models.rule import Kind
    from lcifr.workflows.results import read_consumer, read_saved_head

    encoders = [folder for folder in folders if (folder / ENCODER_FILE).is_file()]
    heads = [folder for folder in folders if (folder / HEAD).is_file()]
    if strange := [folder for folder in folders if folder not in (*encoders, *heads)]:
        raise LcifrError(
            f"{strange[0]} contains neither {ENCODER_FILE} nor {HEAD}",
            fix="give a model file, or the folders that `lcifr produce` and `lcifr consume` wrote",
        )
    if rule is None:
        heads = [folder for folder in heads if folder not in encoders]  # a booster that could decide, and is not asked
    model = None
    if heads:
        model = read_saved_head(heads[-1], read_consumer(heads[-1]).task).model
        model = model.agreeing(tolerance=_tolerance(rule) if model.rule.kind is Kind.NUMBER else None)
    if not encoders:
        return _derived(None, None, model)
    saved = read_saved_function(encoders[-1] / ENCODER_FILE)
    return _derived(saved.encoding, saved.function, model)


def _tolerance(rule: Json | None) -> float:
    """The one of the bundle; of a rule for classes any will do, as the kinds differ already."""
    return float((rule or {}).get("tolerance", 0.0))


def _derived(encoding: Encoding | None, function: Function | None, model: Model | None) -> DerivedModel:
    encoder = None if function is None else encoder_bytes(function, model)
    if model is None:
        return DerivedModel(encoding, encoder, None, None)
    classes = () if model.labels is None else tuple(str(label) for label in model.labels)
    rule = without_choices(rule_of_bundle(model.rule))
    return DerivedModel(encoding, encoder, model.function.to_bytes(), rule, classes)


def without_choices(rule: Json | None) -> Json | None:
    """A rule without what an audit chooses: classes that count as one, and how far numbers may be apart."""
    return None if rule is None else {name: said for name, said in rule.items() if name not in ("groups", "tolerance")}


# A bundle about a sample of the reader's people: whether it is the one that its seed draws from their table.

SAMPLE = "the same, of a sample"
"""Not "the same": the party that chose the seed chose the sample."""


def as_sample(found: FileComparison, yours: CanonicalPeople, drawn: ProofSample | None) -> FileComparison:
    """The comparison of people, where all that differs is that others were not drawn; else as it was.

    Parameters
    ----------
    yours : the reader's people in the order of their table. drawn : how the bundle says that it was drawn.
    """
    complete = [name for name, line in yours.lines.items() if None not in dict(json.loads(line)[1:]).values()]
    if drawn is None or drawn.seed < 0 or drawn.of != len(complete) or not 0 < drawn.people < drawn.of:
        return found
    others = {*complete} - {complete[row] for row in drawn.rows()}
    if found.names["strangers"] or found.names["differ"] or set(found.names["missing"]) != others:
        return found
    said = f"the bundle is about {drawn}, as this seed draws them from your table; nothing is known about the others"
    mind = "whoever chose the seed chose the sample: ask for your own seed (--seed), or for everyone (--bundle)"
    return replace(found, status=SAMPLE, details=(said, mind, *found.details))


# What differs between the reader's own schema, scales, ranks or model and those of a bundle, in words.

ROUNDING = 1e-12


def attribute_differences(yours: Schema, bundle: Schema) -> Iterator[str]:
    """Attributes that one of the two does not have, or that they declare otherwise; else their order."""
    for name in dict.fromkeys((*yours.names, *bundle.names)):
        if name not in bundle:
            yield f"{name} is no attribute of the bundle"
        elif name not in yours:
            yield f"{name} is an attribute of the bundle, and not of your schema"
        elif yours[name] != bundle[name]:
            mine, theirs = (attribute_to_dict(one[name]) for one in (yours, bundle))
            keys = [key for key in dict.fromkeys((*mine, *theirs)) if mine.get(key) != theirs.get(key)]
            said = (f"{key} is {mine.get(key)!r}, in the bundle {theirs.get(key)!r}" for key in keys)
            yield f"{name}: {'; '.join(said)}"
    if set(yours.names) == set(bundle.names) and yours.names != bundle.names:
        yield "the attributes are in another order"


def scale_differences(yours: Encoding, bundle: Encoding) -> Iterator[str]:
    """Means and standard deviations that are not the same float64."""
    for name in bundle.schema.names_numeric:
        for what, mine, theirs in (
            ("standard deviation", yours.sd(name), bundle.sd(name)),
            ("mean", yours.mean(name), bundle.mean(name)),
        ):
            if mine != theirs:
                near = " (only by rounding: are its rows in another order?)" if _near(mine, theirs) else ""
                yield f"the {what} of {name} is {mine!r}, in the bundle {theirs!r}{near}"


def _near(mine: float, theirs: float) -> bool:
    return bool(np.isclose(mine, theirs, rtol=ROUNDING, atol=0.0))


def rank_differences(yours: Encoding, bundle: CheckedBundle) -> list[str]:
    """Ranks of φ that are taken among other values than those of the training people."""
    ranked, known = yours.ranked, bundle.schema
    assert ranked is not None
    found = (
        f"the values among which {one.attribute} is ranked by {one.by}"
        for one in bundle.ranked()
        if one.attribute not in known.names_numeric
        or one.by not in known.names_categorical
        or distinct_values(ranked, one.attribute, one.by, frozenset(one.codes)) != one.values
    )
    return list(dict.fromkeys(found))


def same_json(yours: bytes, bundle: bytes) -> bool:
    """Whether two JSON files hold the same values, however they are spaced."""
    plain = (json.dumps(json.loads(one), sort_keys=True, separators=(",", ":")) for one in (yours, bundle))
    return yours == bundle or len(set(plain)) == 1


def rule_text(rule: Json | None) -> str:
    """How a bundle's model decides, in words, without what an audit chooses."""
    if rule is None:
        return "nothing is decided"
    lower, upper = rule.get("band", (0.0, 0.0))
    return {
        "sign": f"class 1 where the output is above {upper!r}, class 0 where it is below {lower!r}",
        "class": f"the class with the largest output, if it is more than {upper!r} ahead",
        "within": "the number itself",
    }[rule["kind"]]


def function_differences(yours: DerivedModel, bundle: CheckedBundle) -> tuple[list[str], list[str]]:
    """Parts of the bundle that the reader's model does not have; and parts that are not the same."""
    missing, found = list[str](), list[str]()
    if yours.encoding is None or yours.encoder is None:
        missing.append("the encoder")
    else:
        if yours.encoding.schema.attributes != bundle.schema.attributes:
            found.append("the attributes of your encoder are others, or declared otherwise")
        elif (yours.encoding.programs, yours.encoding.outside) != (bundle.encoding.programs, bundle.encoding.outside):
            found.append("it scales numbers otherwise, or takes other categories")
        if not same_json(yours.encoder, bundle.files[ENCODER]):
            found.append("the weights of the encoder, or of the first layer, are others")
    if MODEL not in bundle.files and yours.model is not None:
        found.append("the bundle holds no model that decides: it is about a representation alone")
    elif MODEL in bundle.files and yours.model is None:
        missing.append("the model that decides")
    elif MODEL in bundle.files and yours.model is not None:
        if not same_json(yours.model, bundle.files[MODEL]):
            found.append(
                "the weights or the trees of the model are different, or another number stands for a missing value"
            )
        if yours.rule != without_choices(bundle.decision):
            found.append(
                f"it decides by another rule: {rule_text(yours.rule)}; "
                f"in the bundle: {rule_text(without_choices(bundle.decision))}"
            )
    return missing, found


# Comparison of a checked bundle with the reader's own people, schema, training table, φ and model.


class BundleBinding:
    """One bundle against the files of a reader; each is read with what the others say, or else the bundle itself."""

    def __init__(self, folder: Path, report: CheckReport, files: OwnFiles) -> None:
        self.folder, self.report, self.files = folder, report, files
        self.bundle = CheckedBundle.read(folder, report)
        self.schema: Schema = self.bundle.schema
        self.encoding: Encoding = self.bundle.encoding

    def compare(self) -> list[FileComparison]:
        """Every kind of file, whether it was given or not."""
        schema = self._schema()
        train = self._train(schema)
        return [self._people(), self._model(schema), self._phi(schema, train), schema, train]

    def _people(self) -> FileComparison:
        if self.files.people is None:
            return compare_people(self.folder, self.report, None, None)
        read: list[CanonicalPeople] = []

        def keep(*asked: Any) -> CanonicalPeople:
            read.append(read_canonical(*asked))
            return read[0]

        with step("Comparing people"):
            found = compare_people(self.folder, self.report, self.files.people, self.files.id_column, keep)
            return as_sample(found, read[0], read_sample(self.folder)) if read else found

    def _schema(self) -> FileComparison:
        from lcifr.workflows.people import schema_beside

        named = self.files.schema or (schema_beside(self.files.phi) if self.files.phi else None)
        if named is None:
            return FileComparison("schema", NOT_GIVEN)
        yours = read_schema(named)
        if found := list(attribute_differences(yours, self.bundle.schema)):
            return FileComparison("schema", DIFFERS, tuple(found[:SHOWN]))
        self.schema = yours
        return FileComparison("schema", SAME, (f"{len(yours)} attributes with their ranges and categories",))

    def _train(self, schema: FileComparison) -> FileComparison:
        from lcifr.data import Encoding
        from lcifr.workflows.people import read_whole

        path = self.files.train
        if path is None:
            return FileComparison("train", NOT_GIVEN)
        try:
            frame = read_whole(path, "taking standard deviations")
            known = [name for name in self.schema.names if name in frame.column_names]
            self.encoding = Encoding.fit(frame.select(known), self.schema, skip_missing=True)
        except LcifrError as problem:
            return _misfit("train", schema, problem)
        found = [*scale_differences(self.encoding, self.bundle.encoding), *rank_differences(self.encoding, self.bundle)]
        details = (f"means and standard deviations of {len(self.schema.numeric)} numbers, by {path}",)
        return _status("train", found, details, [schema])

    def _phi(self, schema: FileComparison, train: FileComparison) -> FileComparison:
        from lcifr.phi import Similarity
        from lcifr.phi.parser import parse
        from lcifr.workflows.people import read_formula

        if self.files.phi is None:
            return FileComparison("phi", NOT_GIVEN)
        text, source = read_formula(self.files.phi)
        try:
            parse(text, self.schema, source=source)
        except LcifrError as problem:
            return _misfit("phi", schema, problem)
        try:
            yours = Similarity(text, self.schema, self.encoding, source=source)
        except LcifrError as problem:  # ranks among people who are not at hand
            return FileComparison("phi", NAMED, (f"{_words(problem)}: give them with --train",))
        details = (f"{source}: {yours.canonical_text}",)
        needed = [schema, train] if _takes_scales(yours) else [schema]
        if same_json(yours.to_bytes(), self.bundle.files[SIMILARITY]):
            return _status("phi", [], details, needed)
        found = f"your formula says: {yours.canonical_text}; what the bundle says stands above"
        with_theirs = _canonical(yours, self.bundle.encoding)
        if train.status == DIFFERS and with_theirs and same_json(with_theirs, self.bundle.files[SIMILARITY]):
            found = "only by the standard deviations or ranks of the training table; the text is the same"
        return FileComparison("phi", DIFFERS, (found,))

    def _model(self, schema: FileComparison) -> FileComparison:
        paths = self.files.models
        declared = DeclaredByOption.of(self.files)
        given = (*(() if self.files.describe is None else ("--describe",)), *declared.words())
        if not paths and given:
            raise LcifrError(f"{given[0]} works only with --model", fix="add --model FILE")
        if not paths:
            return FileComparison("model", NOT_GIVEN)
        folders = any(path.is_dir() for path in paths)
        if not folders and len(paths) > 1:
            raise LcifrError(
                f"{len(paths)} model files were given", fix="give one file, or the folders of a producer and a consumer"
            )
        table = self.files.people or self.files.train
        if not folders and table is None:
            return FileComparison("model", NAMED, ("it is read for the columns of a table: give --people or --train",))
        if folders and given:
            raise LcifrError(
                f"--model names folders, and {' and '.join(given)} is for a model file", fix=f"leave {given[0]} out"
            )
        file = None if folders else open_model(paths[0], self.files.describe, declared, drafts=True)
        if file is None or table is None:
            derived = derive_from_folders(paths, self.bundle.decision)
        else:
            ids = self.files.id_column if self.files.people else None
            try:
                derived = derive_from_file(file, table, self._raw_encoding(), ids, self.bundle.decision)
            except LcifrError as problem:
                if schema.status == SAME:
                    raise
                return FileComparison("model", NAMED, (f"the bundle's own schema does not fit it: {_words(problem)}",))
        missing, found = function_differences(derived, self.bundle)
        named = ", ".join(map(str, paths))
        if missing and not found:
            return FileComparison("model", NAMED, tuple(f"{part} is not among {named}" for part in missing))
        rule = "" if self.bundle.decision is None else ", and how it decides"
        classes = ", ".join(f"{number} is {label!r}" for number, label in enumerate(derived.classes))
        details = (f"{named}: how it reads people, every weight{rule}", *([f"classes: {classes}"] if classes else []))
        return _status("model", found, details, [schema])

    def _raw_encoding(self) -> Encoding:
        """Attributes and scales alone: how a model reads them is its own."""
        return replace(self.bundle.encoding, schema=self.schema, programs=(), outside=frozenset())


def _status(
    what: str, found: Sequence[str], details: tuple[str, ...], needed: Sequence[FileComparison]
) -> FileComparison:
    """The same where nothing differs and all that it was read with is the reader's own, too."""
    if found:
        return FileComparison(what, DIFFERS, tuple(found[:SHOWN]))
    assumed = [one.what for one in needed if one.status != SAME]
    if assumed:
        asked = " and ".join(f"--{name}" for name in assumed)
        return FileComparison(
            what, NAMED, (f"it agrees if read with the bundle's own {' and '.join(assumed)}: {asked}",)
        )
    return FileComparison(what, SAME, details)


def _misfit(what: str, schema: FileComparison, problem: LcifrError) -> FileComparison:
    """A file that does not fit a schema: with that of the bundle it is a difference, with the reader's own an error."""
    if schema.status == SAME:
        raise problem
    return FileComparison(what, DIFFERS, (f"it does not fit the bundle's own schema: {_words(problem)}",))


def _words(problem: LcifrError) -> str:
    """What is wrong, without what to do about it: nothing is wrong with the reader's file."""
    return str(problem).partition("\nFix:")[0].replace("\n", "; ")


def _takes_scales(similarity: Similarity) -> bool:
    """Whether a formula means something else with other standard deviations or ranks."""
    known = similarity.encoding
    other = replace(known, sds=2 * known.sds, programs=known.programs)
    return similarity.takes_ranks or _canonical(similarity, other) != similarity.to_bytes()


def _canonical(similarity: Similarity, encoding: Encoding) -> bytes:
    """The canonical form of a formula with other scales; nothing where it ranks among people who are not there."""
    from lcifr.phi import Similarity

    try:
        return Similarity(similarity.text, similarity.schema, encoding).to_bytes()
    except LcifrError:
        return b""
