"""Comparison of a checked bundle with the reader's own people, schema, training table, φ and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.certification.bundle import SIMILARITY, read_drawn
from lcifr.check.people import DIFFERS, NAMED, NOT_GIVEN, SAME, SHOWN, FileComparison, compare_people
from lcifr.errors import LcifrError
from lcifr.runs.binding.bundle import CheckedBundle
from lcifr.runs.binding.differences import (
    attribute_differences,
    function_differences,
    rank_differences,
    same_json,
    scale_differences,
)
from lcifr.runs.binding.digest import read_canonical
from lcifr.runs.binding.functions import derive_from_file, derive_from_folders
from lcifr.runs.binding.own_files import OwnFiles
from lcifr.runs.binding.sample import as_sample
from lcifr.runs.events import step
from lcifr.runs.models.opening import open_model

if TYPE_CHECKING:
    from lcifr.check.judge import CheckReport
    from lcifr.check.people import CanonicalPeople
    from lcifr.data import Encoding, Schema
    from lcifr.phi import Similarity


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
            return as_sample(found, read[0], read_drawn(self.folder)) if read else found

    def _schema(self) -> FileComparison:
        from lcifr.runs.formulas import read_schema, schema_beside

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
        from lcifr.runs.people.loading import read_whole

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
        from lcifr.runs.formulas import read_formula

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
        paths = self.files.model
        alone = {"--describe": self.files.describe, "--missing": self.files.missing}
        if not paths and (given := [name for name, value in alone.items() if value is not None]):
            raise LcifrError(f"{given[0]} works only with --model", fix="add --model FILE")
        if not paths:
            return FileComparison("model", NOT_GIVEN)
        folders = any(path.is_dir() for path in paths)
        if not folders and len(paths) > 1:
            raise LcifrError(f"{len(paths)} model files were given", fix="give one, or the folders of two parties")
        table = self.files.people or self.files.train
        if not folders and table is None:
            return FileComparison("model", NAMED, ("it is read for the columns of a table: give --people or --train",))
        if folders and (self.files.describe is not None or self.files.missing is not None):
            raise LcifrError(
                "--describe and --missing are for a model file, and --model names folders", fix="leave them out"
            )
        file = None if folders else open_model(paths[0], self.files.describe, self.files.missing, drafts=True)
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
