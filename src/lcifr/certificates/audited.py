"""What was proved of whom? An audit of a whole file, read back as :class:`Audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lcifr.certificates.auditor import Audit
from lcifr.certificates.decision import read_model
from lcifr.certificates.files import AUDITED
from lcifr.certificates.folder import open_folder
from lcifr.certificates.verdicts import Reason, Verdict
from lcifr.data import Individuals
from lcifr.errors import ArtefactError


def read_audited(folder: str | Path, people: Individuals, model: Any, *, tolerance: float | None = None) -> Audit:
    """What :func:`lcifr.certificates.files.audit_file` wrote, about these people and this model.

    Parameters
    ----------
    people : those who were audited, in this order. model, tolerance : as for :func:`lcifr.audit`.
    """
    import pandas as pd

    root = Path(folder)
    manifest = open_folder(root, "lcifr-audited-1", (AUDITED,))
    decider = read_model(model, tolerance=tolerance)
    frame = pd.read_parquet(root / AUDITED)
    if manifest.get("model") != decider.network.hash or len(frame) != len(people):
        raise ArtefactError(f"{root} is about another model or other people", fix="give those that were audited")
    verdict = np.array([Verdict(word) for word in frame["verdict"]], dtype=object)
    return Audit(
        ids=tuple(str(name) for name in frame["id"]),
        people=people,
        verdict=verdict,
        reason=np.array([Reason(word) for word in frame["reason"]], dtype=object),
        prediction=frame["prediction"].to_numpy(),
        margin=frame["margin"].to_numpy(np.float64),
        vacuous=frame["vacuous"].to_numpy(np.bool_),
        alone=frame["alone"].to_numpy(np.bool_),
        others=_others(people, frame, verdict == Verdict.COUNTEREXAMPLE),
        ball=_mask(frame, "certified_on_ball"),
        box=_mask(frame, "certified_on_box"),
        model=decider,
    )


def _mask(frame: Any, name: str) -> Any:
    return frame[name].to_numpy(np.bool_) if name in frame.columns else None


def _others(people: Individuals, frame: Any, violated: Any) -> Individuals:
    """The similar people as the file writes them; whoever has none stands for themselves."""
    numbers, codes = people.numbers.copy(), people.codes.copy()
    for j, numeric in enumerate(people.schema.numeric):
        numbers[violated, j] = frame.loc[violated, f"similar:{numeric.name}"].astype(np.float64)
    for j, categorical in enumerate(people.schema.categorical):
        texts = frame.loc[violated, f"similar:{categorical.name}"]
        codes[violated, j] = [categorical.values.index(text) for text in texts]
    return Individuals(people.schema, numbers, codes)
