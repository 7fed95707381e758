"""The bundle of a sweep: the cut of everybody who can exist, and of every cell its proof or its pair.

    folder/manifest.json        format, files with their hashes, the rule of decision, universe, arithmetic and shares
    folder/people.jsonl.gz      per cell the cuts that lead to it, what is claimed, and the proofs
    folder/similarity.json, encoding.json, encoder.json, model.json

``python -m lcifr.check FOLDER`` derives the similar pairs of every cell and confirms all of it in exact arithmetic.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

from lcifr.artifacts.folder import describe_files, fresh_folder, versions, write_manifest
from lcifr.certification.bundles.cell_claims import CellClaims
from lcifr.certification.bundles.hashes import rule_of_bundle
from lcifr.certification.bundles.manifest import encoder_bytes, readable
from lcifr.certification.bundles.writer import ENCODER, ENCODING, MODEL, PEOPLE, SIMILARITY
from lcifr.certification.sweep.cut_tree import cut_tree
from lcifr.certification.sweep.result import Standing, Sweep
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.errors import LcifrError
from lcifr.models.trees.deployed import NetworkOnTrees
from lcifr.prove import Budget

FORMAT = "lcifr-sweep-2"
AT_ONCE = 64
"""Cells whose proofs are in memory together."""
Shares = dict[str, Fraction]


def write_sweep_bundle(
    folder: str | Path,
    swept: SweptModel,
    found: Sweep,
    *,
    budget: Budget | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Shares:
    """Write the proofs of a sweep for the exact checker; returns the shares that the bundle claims.

    They are those of the sweep, less what has no proof on file and is open in the bundle: cells whose proof the search
    does not find within ``budget`` again, ties (a pair that differs by one, or cells without strict crossings), and
    numbers that trees predict.
    """
    if isinstance(swept.deployment, NetworkOnTrees):
        raise LcifrError(
            "proofs of a model on the scores of a booster are not written for sweeps", fix="sweep without a bundle"
        )
    with fresh_folder(folder) as fresh:
        (fresh / ENCODER).write_bytes(encoder_bytes(swept.encoder.function, swept.model))
        (fresh / ENCODING).write_bytes(swept.encoder.encoding.to_bytes())
        (fresh / SIMILARITY).write_bytes(swept.encoder.similarity.to_bytes())
        (fresh / MODEL).write_bytes(readable(swept.model.function.to_bytes()))
        shares = _write_cells(fresh / PEOPLE, CellClaims(swept, budget or Budget()), found, progress)
        manifest = {
            "format": FORMAT,
            "people": len(found.index.cells),
            "decision": rule_of_bundle(swept.model.rule),
            "sweep": {
                "universe": "whole" if found.whole else "reals",
                "arithmetic": str(found.arithmetic),
                "others": swept.pairs.others,
                "shares": {standing: str(share) for standing, share in shares.items()},
            },
            "versions": versions(),
            "files": describe_files(fresh),
        }
        write_manifest(fresh, manifest)
    return shares


def _write_cells(
    path: Path, claims: CellClaims, found: Sweep, progress: Callable[[int, int], Any] | None
) -> dict[str, Fraction]:
    standings = [standing for standing in Standing for _ in found.cells(standing)]
    cells = [one for standing in Standing for one in found.cells(standing)]
    shares: Shares = {}
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        order, done = cut_tree(found.index.cells), 0
        while leaves := list(islice(order, AT_ONCE)):
            some = [leaf.cell for leaf in leaves]
            claimed = claims.of([standings[row] for row in some], [cells[row] for row in some])
            for leaf, claim in zip(leaves, claimed, strict=True):
                line = {"id": leaf.cell, "cuts": [cut.to_plain() for cut in leaf.cuts], **claim}
                shares[claim["standing"]] = shares.get(claim["standing"], Fraction(0)) + cells[leaf.cell].share
                file.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")
            done += len(leaves)
            if progress is not None:
                progress(done, len(cells))
    return shares
