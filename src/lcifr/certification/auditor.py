"""The auditor: h ∘ f from end to end, certified or refuted by a concrete similar person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lcifr.artifacts.handover import Representation
from lcifr.certification.end_to_end import audit_region
from lcifr.certification.looked_up_audit import audit_looked_up
from lcifr.certification.subject import subject_of
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.sweep.result import Sweep
from lcifr.certification.verdicts import Audit
from lcifr.data.io.ids import Id, as_ids
from lcifr.models.chain import choose_for
from lcifr.prove import Budget
from lcifr.similarity.similarity import Similarity


def audit(
    encoder: Any = None,
    model: Any = None,
    X: Any = None,
    ids: Any = None,
    *,
    similarity: Similarity | str | None = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    budget: Budget | int | None = None,
    device: str | None = None,
    modular: bool | Representation = True,
    arithmetic: str | None = None,
    sweep: Sweep | None = None,
) -> Audit:
    """Prove from end to end that nobody similar gets another decision, or show somebody who does.

    ``audit(encoder, model, X)`` is about an encoder of ours and a model on top; ``audit(model, X, similarity=…)`` about
    a model of another library on the raw columns of a table: a fitted scikit-learn estimator or Pipeline, or the path
    of a model file. There, a counterexample is one for the library's own ``predict`` too. What cannot be read exactly
    is refused by name (docs/design/models.md). Rows with missing values are not examined; the result lists them, and
    its shares count them as not certified.

    Parameters
    ----------
    encoder : a fitted ``FairEncoder``, or anything with ``network``, ``similarity`` and ``encoding``.
    similarity : who counts as similar, over the table's own columns; a text has its schema and scales from X.
    model, groups, tolerance, budget, device : as for :func:`certify`.
    X : the people, a table with the columns of the encoder's schema. ids : one for each; row numbers if None.
    modular : whether to say also who is certified from the hand-over alone; or the hand-over itself, for these people.
    arithmetic : what the verdicts speak about: real numbers (``"exact"``), or every machine that computes encoder and
        model in ``"float64"`` or ``"float32"``; see docs/design/arithmetic.md. None for what the networks come from:
        float32 for a torch module in float32, else float64.
    sweep : what :func:`lcifr.sweep` found of the same model and φ: whoever is in a strictly proved cell is certified
        without a search, the others are searched for; nothing is said of the hand-over then.
    """
    subject = subject_of(encoder, model, X, similarity, groups, tolerance)
    encoder, known, people = subject.encoder, subject.model, subject.people
    deployed = choose_for(arithmetic or subject.arithmetic, (encoder.function, *known.computed))
    missing = subject.missing
    everybody = as_ids(ids, len(people) if missing is None else len(missing))  # before hours of proofs
    names, left_out = everybody, tuple[Id, ...]()
    if missing is not None:
        names = tuple(name for name, gone in zip(everybody, missing, strict=True) if not gone)
        left_out = tuple(name for name, gone in zip(everybody, missing, strict=True) if gone)
    options = dict[str, Any](budget=budget, device=device, modular=modular, arithmetic=deployed)
    if subject.library is not None:  # nothing is handed over
        options |= {"modular": False, "library": subject.library}
    region = encoder.similarity.region(people)
    if sweep is None:
        found = audit_region(encoder, known, people, region, names, **options)
    else:
        options["modular"] = False
        found = audit_looked_up(encoder, known, people, region, names, ProvedCells.of(sweep), **options)
    return replace(found, left_out=left_out, assumptions=subject.assumptions)
