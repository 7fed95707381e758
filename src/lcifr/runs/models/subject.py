"""ModelSubject: a model of another library with a φ, read for the people of a table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import choose_for
from lcifr.runs.auditing.subject import AuditSubject

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.subject import LibraryModel
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Model
    from lcifr.phi import Similarity
    from lcifr.runs.auditing.origin import ModelOrigin
    from lcifr.runs.auditing.result import ModelSummary
    from lcifr.runs.executors.library_file import LibraryFile

MODEL, DESCRIPTION, FORMULA, SCHEMA = "model", "model.toml", "similar.phi", "schema.toml"
SCALES, EXAMPLE = "scales.json", "model-input.parquet"


@dataclass(frozen=True, eq=False)
class ModelSubject(AuditSubject):
    """A model that decides already.

    Parameters
    ----------
    file : where it comes from. read : the model as proofs see it, with φ and the library.
    arithmetic : in which it is computed. similarity : φ with the scales of ``reference``.
    target : the column of true labels, or what stands for it. alike : classes that count as one decision.
    accepted : what the user was warned of and accepted, in sentences.
    table, table_columns : the people's file by its name, and its columns in their order; empty where there is none.
    reference_warnings : what a reader should know about the reference.
    """

    file: ModelFile
    read: LibraryModel
    arithmetic: Arithmetic
    similarity: Similarity
    target: str
    reference: str
    alike: tuple[tuple[Any, ...], ...] = ()
    accepted: tuple[str, ...] = ()
    table: str = ""
    table_columns: tuple[str, ...] = ()
    reference_warnings: tuple[str, ...] = ()

    @property
    def encoder(self) -> FrozenEncoder:  # type: ignore[override]
        return self.read.encoder

    @property
    def model(self) -> Model:
        return self.read.model

    @property
    def library(self) -> LibraryModel:
        return self.read

    @property
    def library_file(self) -> LibraryFile:
        from lcifr.models.description import description_text
        from lcifr.runs.executors.library_file import LibraryFile

        described = self.file.description
        return LibraryFile(
            path=str(self.file.path),
            content=self.file.path.read_bytes(),
            description=None if described is None else description_text(described, {}),
            example=self.read.source.table,
            similarity=self.similarity,
            groups=self.alike,
            tolerance=self.model.rule.tolerance,
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the file does not say, what the library does not check, and what the user accepted, in sentences."""
        positional = self.read.source.positional
        order = () if positional is None else (positional.assumption,)
        described = self.file.description
        draft = () if described is None or not described.draft else (f"{described.draft_notice}.",)
        return tuple(dict.fromkeys((*self.file.outline().assumptions, *order, *draft, *self.accepted)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the deployed model may decide otherwise about the table as it is, and what is odd in the reference."""
        positional = self.read.source.positional
        text = None if positional is None or not self.table else positional.warning(self.table, self.table_columns)
        return self.reference_warnings if text is None else (text, *self.reference_warnings)

    @property
    def origin(self) -> ModelOrigin:
        """What is said of the file."""
        from lcifr.runs.auditing.origin import ModelOrigin

        outline, described = self.file.outline(), self.file.description
        columns = outline.columns if described is None or not described.inputs else described.columns
        return ModelOrigin(
            file=str(self.file.path),
            sha256=self.file.sha256,
            format=str(self.file.format),
            library=outline.library,
            description=None if described is None else described.source,
            columns=columns or self.schema.names,
            steps=outline.steps,
            rule=outline.rule,
            runtime=outline.runtime,
            reference=self.reference,
            groups=self.alike,
            assumptions=self.assumptions,
        )

    def summary(self) -> ModelSummary:
        from lcifr.certification.population import scale_sources
        from lcifr.runs.auditing.result import FormulaSummary, ModelHashes, ModelSummary
        from lcifr.runs.folders.summaries import classes_of

        similarity, hashes = self.encoder.similarity, self.hashes
        return ModelSummary(
            target=self.target,
            task="classification" if self.model.rule.tolerance is None else "regression",
            classes=classes_of(self.model),
            tolerance=self.model.rule.tolerance,
            trained_on=None,
            data=None,
            phi=FormulaSummary(similarity.text, similarity.explain(), similarity.hash, similarity.source, True),
            hashes=ModelHashes(hashes.encoder, hashes.model, hashes.similarity, hashes.encoding, has_encoder=False),
            arithmetic=str(self.arithmetic),
            origin=self.origin,
            scales=scale_sources(self.similarity, Path(self.reference).name),
        )

    def copy_into(self, folder: Path) -> None:
        """What a reader of the results needs to read the very same model again."""
        from lcifr.models.description import write_description

        shutil.copyfile(self.file.path, folder / f"{MODEL}{self.file.path.suffix}")
        if self.file.description is not None:
            write_description(self.file.description, folder / DESCRIPTION)
        (folder / FORMULA).write_text(self.similarity.text, encoding="utf-8")
        self.schema.save(folder / SCHEMA)
        (folder / SCALES).write_text(json.dumps(self.similarity.encoding.to_dict()), encoding="utf-8")
        self.read.source.table.to_parquet(folder / EXAMPLE, index=False)


def read_subject(
    file: ModelFile,
    example: Any,
    similarity: Similarity,
    *,
    target: str,
    reference: str,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    arithmetic: str | None = None,
) -> ModelSubject:
    """Read a model for people who are written like those of ``example``, a pandas frame.

    Parameters
    ----------
    arithmetic : what was asked for; None for what the description says, else what the model comes from.
    """
    from lcifr.certification.subject import LibraryModel

    read = LibraryModel.read(file, example, similarity, groups, tolerance)
    described = None if file.description is None else file.description.arithmetic
    asked = arithmetic if arithmetic is not None or described is None else str(described)
    deployed = choose_for(asked, (read.encoder.function, *read.model.computed))
    named = tuple(tuple(group) for group in groups or ())
    return ModelSubject(file, read, deployed, similarity, target, reference, named)


def read_model_again(folder: Path, said: ModelSummary) -> tuple[Model, FrozenEncoder | None]:
    """The model in a folder that an audit wrote, and the encoder with φ; None where φ ranks people who are not there.

    Raises
    ------
    ArtefactError
        If the file is not the one that was audited.
    """
    import pandas as pd

    from lcifr.certification.subject import LibraryModel
    from lcifr.data import Encoding
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file
    from lcifr.phi import Similarity

    assert said.origin is not None
    described = read_description(folder / DESCRIPTION) if said.origin.description is not None else None
    file = load_file(folder / f"{MODEL}{Path(said.origin.file).suffix}", described)
    if file.sha256 != said.origin.sha256:
        raise ArtefactError(f"{file.path} is not the model that was audited: the hashes differ", fix="audit it again")
    encoding = Encoding.from_dict(json.loads((folder / SCALES).read_text(encoding="utf-8")))
    phi, ranked = said.phi.text, False
    try:
        similarity = Similarity(phi, encoding.schema, encoding, source=said.phi.source)
    except LcifrError:
        similarity, ranked = Similarity("same(all)", encoding.schema, encoding), True
    groups = said.origin.groups or None
    read = LibraryModel.read(file, pd.read_parquet(folder / EXAMPLE), similarity, groups, said.tolerance)
    return read.model, None if ranked else read.encoder
