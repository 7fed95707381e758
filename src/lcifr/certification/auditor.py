"""The auditor: h ∘ f from end to end, certified or refuted by a concrete similar person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.handover import Representation
from lcifr.certification.consumer import certify
from lcifr.certification.counterexample import Trial, find, simplify
from lcifr.certification.display import VerdictDisplay, counterexample_rows
from lcifr.certification.encoder import Encoder, freeze
from lcifr.certification.merged_network import merge, merging_error
from lcifr.certification.producer import represent_lowered
from lcifr.certification.query import OWN_WORD, BoolArray, FloatArray, Query, is_strict, query_of
from lcifr.certification.verdicts import Reason, Verdict, words
from lcifr.data import Individuals
from lcifr.data.io.ids import Id, as_ids
from lcifr.errors import LcifrError
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.prove import Budget, Status, maximize
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers


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
    encoder: Any,
    model: Any,
    X: Any,
    ids: Any = None,
    *,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    budget: Budget | int | None = None,
    device: str | None = None,
    modular: bool | Representation = True,
) -> Audit:
    """Prove from end to end that nobody similar gets another decision, or show somebody who does.

    Parameters
    ----------
    encoder : a fitted ``FairEncoder``, or anything with ``network``, ``similarity`` and ``encoding``.
    model, groups, tolerance, budget, device : as for :func:`certify`.
    X : the people, a table with the columns of the encoder's schema. ids : one for each; row numbers if None.
    modular : whether to say also who is certified from the hand-over alone; or the hand-over itself, for these people.
    """
    encoder = freeze(encoder)
    known = read_model(model, groups, tolerance)
    people = Individuals.read(X, encoder.encoding.schema)
    names = as_ids(ids, len(people))  # before hours of proofs
    lowered = encoder.similarity.region(people)
    return audit_region(encoder, known, people, lowered, names, budget=budget, device=device, modular=modular)


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
) -> Audit:
    """:func:`audit` of people whose regions over the reals are at hand: end to end and hand-over share them."""
    region = narrow_to_whole_numbers(lowered, encoder.encoding)
    trial = Trial(encoder, known, people)
    query = query_end_to_end(encoder, known, trial, region)
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
    strict = is_strict(known.rule, trial.values, trial.rounding_error)
    certified = (answer.upper < query.limit).all(1) & strict
    reached = (answer.best > query.limit).any(1)
    # A loose bound may hide somebody whom the search did not reach: sampling is cheap, so every open person gets it.
    open_rows = np.flatnonzero(~certified & strict)
    found = find(trial, region, open_rows, answer.witness[open_rows])
    found = simplify(trial, found)
    reasons = {
        Reason.NONE: certified | found.found,
        Reason.TIE: ~strict,
        Reason.FRACTIONAL: reached,
        Reason.BUDGET: (answer.status == Status.BUDGET).any(1),
    }
    if modular is True:
        modular = represent_lowered(encoder, people, lowered, budget=budget, device=device)
    ball, box = (None, None) if modular is False else _modular(known, modular, budget, device)
    return Audit(
        ids=ids,
        people=people,
        verdict=words(Verdict, {Verdict.CERTIFIED: certified, Verdict.COUNTEREXAMPLE: found.found}, Verdict.UNDECIDED),
        reason=words(Reason, reasons, Reason.LOOSE),  # type: ignore[arg-type]
        prediction=known.decide(trial.values),
        margin=np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max),
        vacuous=~region.nonempty,
        alone=alone(region),
        others=found.others,
        ball=ball,
        box=box,
        model=known,
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


def query_end_to_end(encoder: Encoder, model: Model, trial: Trial, region: Region) -> Query:
    """What must be shown of the merged network so that it holds for h(f(x′)): limits lowered by the merging error."""
    query = query_of(model.rule, trial.values, trial.rounding_error)
    error = merging_error(encoder.network, model.network, region)
    room = np.einsum("pko,po->pk", np.abs(query.directions), error) * (1.0 + 1e-9)
    return replace(query, limit=query.limit - room)


def _modular(
    model: Model, handed: Representation, budget: Budget | int | None, device: str | None
) -> tuple[BoolArray, BoolArray]:
    """(people,) who is certified from the hand-over alone: on the ball, and on the box."""
    found = [
        certify(handed, model, on=on, budget=budget, device=device, largest_radius=False).certified
        for on in ("ball", "box")
    ]
    return found[0], found[1]
