"""An audit of a whole file, written part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from lcifr.artifacts.folder import MANIFEST, describe_files
from lcifr.certification.auditor import audit_region
from lcifr.certification.bundles.manifest import Hashes
from lcifr.certification.library.library_model import LibraryModel
from lcifr.certification.producer import freeze, represent_lowered
from lcifr.data.io.files import write_json
from lcifr.data.io.stream import Chunk, TableSource
from lcifr.models.arithmetic import read_arithmetic
from lcifr.models.chain import choose_for
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.runs.streaming.large import CHUNK, Done, EncoderJob
from lcifr.runs.streaming.parts import assembled, join_tables, parts_beside, table_part

AUDITED = "audit.parquet"
FORMAT = "lcifr-audited-3"


@final
@dataclass(frozen=True)
class AuditJob(EncoderJob):
    """The audit of a chunk.

    Parameters
    ----------
    options : ``modular``, ``budget`` and ``arithmetic``, as for :func:`audit_file`.
    library : of a model from elsewhere; compared on every chunk, and no counterexample counts without its word.
    """

    model: Model
    library: LibraryModel | None = None
    version = 5
    suffix = ".parquet"

    def settings(self) -> str:
        source = None if self.library is None else self.library.source
        return super().settings() + repr(self.model.identity) + ("" if source is None else repr(source.runtime))

    def work(self, chunk: Chunk) -> bytes:
        import pandas as pd

        encoder, people = self.encoder, chunk.people
        said: dict[str, Any] = {
            "budget": self.options["budget"],
            "arithmetic": read_arithmetic(self.options["arithmetic"]),
        }
        decided = None if self.library is None else self.library.decisions_about(people, ids=chunk.ids)
        lowered, handed = encoder.similarity.region(people), None  # once, for the hand-over and from end to end
        if self.options["modular"]:
            handed = represent_lowered(encoder, people, lowered, **said)
        said |= {"modular": handed or False, "library": decided}
        found = audit_region(encoder, self.model, people, lowered, chunk.ids, **said)
        frame = found.frame()
        frame["alone"] = found.alone
        if handed is not None:
            frame["radius"] = handed.radius
        others = found.others.to_pandas().astype(object)
        others[~found.violated] = None
        for name in others.columns:  # text, so that all parts have the same types
            texts = [None if value is None else str(value) for value in others[name]]
            frame[f"similar:{name}"] = pd.array(texts, dtype="string")
        return table_part(frame)

    def audit(self, source: TableSource, folder: Path, id_column: str | None, chunk: int, workers: int | None) -> Done:
        """Everybody of a file, into ``folder/audit.parquet``."""
        with parts_beside(folder, "audit_file") as parts:
            found, done = self.run(source, id_column, chunk, parts, workers)
            with assembled(folder, parts) as fresh:
                join_tables(found, fresh / AUDITED)
                hashes = Hashes.of(self.encoder, self.model, self.options["arithmetic"])
                about = {"format": FORMAT, **asdict(hashes), "run": self.run_hash()}
                write_json(fresh / MANIFEST, {**about, "files": describe_files(fresh)})
        return done


def audit_file(
    encoder: Any,
    model: Any,
    source: TableSource,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    modular: bool = True,
    budget: int | None = None,
    arithmetic: str | None = None,
) -> Done:
    """Audit a Parquet or CSV file into ``folder/audit.parquet``: a verdict per person, and whoever refutes it.

    Parameters are those of :func:`represent_file` and :func:`audit`.
    """
    frozen, known = freeze(encoder), read_model(model, groups, tolerance)
    options = {"modular": modular, "budget": budget}
    deployed = choose_for(arithmetic, (frozen.network, *known.factors))
    job = AuditJob(frozen, {**options, "arithmetic": str(deployed)}, known)
    return job.audit(source, Path(folder), id_column, chunk, workers)
