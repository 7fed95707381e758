"""The auditor: h ∘ f from end to end, certified or refuted by a concrete similar person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.handover import Representation
from lcifr.certification.consumer import certify
from lcifr.certification.counterexample import Trial, find, simplify
from lcifr.certification.display import VerdictDisplay, counterexample_rows
from lcifr.certification.encoder import Encoder
from lcifr.certification.end_to_end import may_overflow, query_end_to_end, reasons_of
from lcifr.certification.merged_network import merge
from lcifr.certification.producer import represent_lowered
from lcifr.certification.query import OWN_WORD, BoolArray, FloatArray, is_strict
from lcifr.certification.subject import LibraryDecisions, subject_of
from lcifr.certification.verdicts import Reason, Verdict, words
from lcifr.data import Individuals
from lcifr.data.io.ids import Id, as_ids
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.model import Model
from lcifr.prove import Budget, maximize
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.similarity import Similarity


@dataclass(frozen=True, repr=False)
class Audit(VerdictDisplay):
    """What an audit found, per person.

    Parameters
    ----------
    ids : (people,)
    people : who was audited, in the table's own units.
    verdict : (people,) :class:`Verdict`. reason : (people,) why somebody is undecided.
    prediction : (people,) the decision, in the model's own labels.
    margin : (people,) proved distance of every similar person from another decision; negative where none is proved.
    vacuous : (people,) whether nobody is similar. alone : (people,) whether nobody but themselves is.
    others : for every COUNTEREXAMPLE the similar person; meaningless for the others.
    ball, box : (people,) whether the person is certified from the radius or box alone; None where that was not asked.
    model : the network and what must agree.
    arithmetic : in which the model is computed, from the table's values to the decision.
    """

    ids: tuple[str | int, ...]
    people: Individuals
    verdict: NDArray[np.object_]
    reason: NDArray[np.object_]
    prediction: NDArray[Any]
    margin: FloatArray
    vacuous: BoolArray
    alone: BoolArray
    others: Individuals
    ball: BoolArray | None
    box: BoolArray | None
    model: Model
    arithmetic: Arithmetic

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def certified(self) -> BoolArray:
        """(people,)"""
        return np.asarray(self.verdict == Verdict.CERTIFIED)

    @property
    def violated(self) -> BoolArray:
        """(people,) whether there is a counterexample."""
        return np.asarray(self.verdict == Verdict.COUNTEREXAMPLE)

    def frame(self) -> Any:
        """A pandas frame, one row per person."""
        import pandas as pd

        columns: dict[str, Any] = {
            "id": list(self.ids),
            "verdict": [str(v) for v in self.verdict],
            "prediction": list(self.prediction),
            "margin": self.margin,
            "reason": [str(r) for r in self.reason],
            "vacuous": self.vacuous,
            "arithmetic": str(self.arithmetic),
        }
        modular = {"certified_on_ball": self.ball, "certified_on_box": self.box}
        return pd.DataFrame(columns | {name: mask for name, mask in modular.items() if mask is not None})

    def counterexample(self, name: str | int) -> Any:
        """Two rows, the person and the similar person with another decision, and only the columns that differ."""
        row = self.ids.index(name)
        if not self.violated[row]:
            raise LcifrError(f"{name!r} is {self.verdict[row]}, not a counterexample")
        import pandas as pd

        both = pd.concat([self.people.take([row]).to_pandas(), self.others.take([row]).to_pandas()])
        both.index = pd.Index([str(name), "similar"])
        return both.loc[:, (both.iloc[0] != both.iloc[1]).to_numpy()]

    def _examples(self) -> Sequence[Sequence[str]]:
        return counterexample_rows(self)

    def modularity(self) -> dict[str, float]:
        """What modularity cost: shares certified on the ball, on the box, end to end, and really violated."""
        shares = {"end_to_end": self.certified, "violated": self.violated}
        known = {"ball": self.ball, "box": self.box}
        return {name: float(mask.mean()) for name, mask in (known | shares).items() if mask is not None}


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
) -> Audit:
    """Prove from end to end that nobody similar gets another decision, or show somebody who does.

    ``audit(encoder, model, X)`` is about an encoder of ours and a model on top; ``audit(model, X, similarity=…)`` about
    a fitted scikit-learn estimator or Pipeline on the raw columns of a table. There, a counterexample is one for the
    library's own ``predict`` too. What cannot be read exactly is refused by name (docs/design/models.md).

    Parameters
    ----------
    encoder : a fitted ``FairEncoder``, or anything with ``network``, ``similarity`` and ``encoding``.
    similarity : who counts as similar, over the table's own columns; a text has its schema and scales from X.
    model, groups, tolerance, budget, device : as for :func:`certify`.
    X : the people, a table with the columns of the encoder's schema. ids : one for each; row numbers if None.
    modular : whether to say also who is certified from the hand-over alone; or the hand-over itself, for these people.
    arithmetic : what the verdicts speak about: real numbers (``"exact"``), or every machine that computes encoder and
        model in ``"float64"`` or ``"float32"``; see docs/design/arithmetic.md. None for what the networks come from:
        float32 for a torch module in float32, exact for scalers multiplied into weights, else float64.
    """
    subject = subject_of(encoder, model, X, similarity, groups, tolerance)
    encoder, known, people = subject.encoder, subject.model, subject.people
    deployed = choose_arithmetic(arithmetic, encoder.native, known.network.native)
    names = as_ids(ids, len(people))  # before hours of proofs
    options = dict[str, Any](budget=budget, device=device, modular=modular, arithmetic=deployed)
    if subject.library is not None:  # nothing is handed over
        options |= {"modular": False, "library": subject.library}
    return audit_region(encoder, known, people, encoder.similarity.region(people), names, **options)


def audit_region(
    encoder: Encoder,
    known: Model,
    people: Individuals,
    lowered: Region,
    ids: tuple[Id, ...],
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
    modular: bool | Representation = True,
    arithmetic: Arithmetic = Arithmetic.FLOAT64,
    library: LibraryDecisions | None = None,
) -> Audit:
    """:func:`audit` of people whose regions over the reals are at hand: end to end and hand-over share them."""
    region = narrow_to_whole_numbers(lowered, encoder.encoding)
    trial = Trial(encoder, known, people, arithmetic, library=library)
    query = query_end_to_end(trial, region)
    network = merge(encoder.network, known.network)
    answer = maximize(
        network,
        query.directions,
        region,
        target=query.limit,
        tolerance=query.precision,
        method=OWN_WORD,
        budget=budget,
        device=device,
    )
    strict = is_strict(known.rule, trial.own)
    certified = (answer.upper < query.limit).all(1) & strict
    # A loose bound may hide somebody whom the search did not reach: sampling is cheap, so every open person gets it.
    open_rows = np.flatnonzero(~certified & strict)
    found = find(trial, region, open_rows, answer.witness[open_rows])
    found = simplify(trial, found)
    undecided = np.flatnonzero(~certified & ~found.found)
    reasons = {Reason.NONE: certified | found.found, **reasons_of(trial, region, query, answer, undecided)}
    rows = np.flatnonzero(~may_overflow(trial, query)) if modular is True else np.arange(len(people))
    options = dict[str, Any](budget=budget, device=device, arithmetic=arithmetic)
    if modular is True:  # of whom numbers may overflow there is no hand-over
        modular = represent_lowered(encoder, people.take(rows), lowered.take(rows), **options)
    ball, box = (None, None) if modular is False else _modular(known, modular, rows, len(people), options)
    return Audit(
        ids=ids,
        people=people,
        verdict=words(Verdict, {Verdict.CERTIFIED: certified, Verdict.COUNTEREXAMPLE: found.found}, Verdict.UNDECIDED),
        reason=words(Reason, reasons, Reason.LOOSE),  # type: ignore[arg-type]
        prediction=known.decide(trial.own.values),
        margin=np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max),
        vacuous=~region.nonempty,
        alone=alone(region),
        others=found.others,
        ball=ball,
        box=box,
        model=known,
        arithmetic=arithmetic,
    )


def alone(region: Region) -> BoolArray:
    """(people,) whether the region is one point at most: then there is nothing to prove."""
    moves = np.zeros(region.people, np.bool_)
    for number, cell in enumerate(region.cells):
        wide = (cell.upper > cell.lower).any(1) | (number > 0)
        for choice in cell.choices:
            wide |= choice.allowed.sum(1) > 1
        moves |= wide & cell.present
    return ~moves


def _modular(
    model: Model, handed: Representation, rows: NDArray[np.intp], people: int, options: dict[str, Any]
) -> tuple[BoolArray, BoolArray]:
    """(people,) who is certified from the hand-over alone, which is about these rows: on the ball, and on the box."""
    ball, box = np.zeros((2, people), np.bool_)
    ball[rows] = certify(handed, model, on="ball", largest_radius=False, **options).certified
    box[rows] = certify(handed, model, on="box", largest_radius=False, **options).certified
    return ball, box
