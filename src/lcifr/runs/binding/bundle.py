"""CheckedBundle: what a bundle says of φ, schema, encoding, functions and rule, in the files that were checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.certification.bundle import ENCODER, ENCODING, MODEL, SIMILARITY
from lcifr.errors import ArtefactError

if TYPE_CHECKING:
    from lcifr.check.judge import CheckReport
    from lcifr.data import Encoding, Schema


@dataclass(frozen=True)
class RankedValues:
    """The values of an attribute among which a φ ranks people whose category ``by`` is one of ``codes``."""

    attribute: str
    by: str
    codes: tuple[int, ...]
    values: tuple[float, ...]


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
