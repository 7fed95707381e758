"""The cascade: bounds for everybody, search, branch-and-bound, a solver for what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import final

import numpy as np
import torch

from lcifr.prove.answer import Claim, IntArray, Question
from lcifr.prove.method import SolverMethod
from lcifr.prove.networks import kernel as compiled
from lcifr.prove.networks.batched.engine import BatchQuestion, deadline_of, run
from lcifr.prove.networks.batched.incumbent import Incumbent
from lcifr.prove.networks.linear_bounds.cell_batch import tensors
from lcifr.prove.networks.solver_fallback import ask_solver, open_directions
from lcifr.prove.oracles.solvers import Capability
from lcifr.prove.proof import CellProof

CHUNK = 4_000_000
"""People × (directions + features) of one chunk: some tens of MB, so that memory does not grow with the people."""


def chunks(people: int, width: int, most: int = CHUNK) -> Iterator[slice]:
    """Slices of the people, ``width`` numbers each, that hold ``most`` numbers."""
    step = max(1, most // max(width, 1))
    for start in range(0, people, step):
        yield slice(start, min(people, start + step))


@final
class Cascade(SolverMethod):
    """Never refines what cannot change the answer; the solver is asked about what branch-and-bound leaves open."""

    name = "cascade"
    needs = frozenset({Capability.WHOLE_NUMBERS})

    def _maximize(self, question: Question) -> Claim:
        deadline = deadline_of(question.budget)
        claim = grow_claim(question, refine=True, name=self.name)
        pairs = open_directions(self.name, question, claim)
        return ask_solver(question, claim, pairs, self.solver, deadline) if pairs else claim


def grow_claim(question: Question, *, refine: bool, name: str) -> Claim:
    """Run the engine on chunks of people and gather what it says about each person and direction."""
    people, k, _ = question.directions.shape
    features = question.region.features
    claim = Claim(
        upper=np.full((people, k), -np.inf),
        proved=np.ones((people, k), dtype=np.bool_),
        witness=np.full((people, k, features), np.nan),
        exhausted=np.zeros((people, k), dtype=np.bool_),
        nodes=np.zeros((people, k), dtype=np.int64),
        method=np.zeros((people, k), dtype=np.int8),
        methods=("bounds", "branch"),
    )
    deadline = deadline_of(question.budget)
    if compiled.covers(question.network, question.region, question.device, question.proof):
        for piece in chunks(people if k else 0, k * (features + 8), compiled.CHUNK):
            rest = _by_kernel(question, piece, claim, refine, deadline)
            if len(rest):
                before = claim.upper[rest]
                _by_engine(question, rest, claim, refine, deadline)
                claim.upper[rest] = np.minimum(before, claim.upper[rest])
        return claim
    proofs: list[list[list[CellProof]]] = []
    for piece in chunks(people if k else 0, k * (features + 8), CHUNK):  # nothing is asked without a direction
        proofs += _by_engine(question, piece, claim, refine, deadline)
    return replace(claim, proof=proofs if k else [[] for _ in range(people)]) if question.proof else claim


def _directions(question: Question, piece: slice | IntArray) -> np.ndarray:
    """(K, outputs) where everybody is asked the same, else (n, K, outputs)."""
    rows = question.directions
    alike = len(rows) > 1 and rows.strides[0] == 0
    return np.array(rows[0] if alike else rows[piece])


def _by_kernel(question: Question, piece: slice, claim: Claim, refine: bool, deadline: float | None) -> IntArray:
    """What the kernel finds about a piece of the people, and whom (indices) it cannot answer."""
    from lcifr.prove.networks.kernel.call import Request, answer_people

    shape = claim.upper[piece].shape
    request = Request(
        question.network,
        question.region.take(piece),
        _directions(question, piece),
        offset=np.zeros(shape),
        target=None if question.target is None else question.target[piece],
        best=np.full(shape, -np.inf),
        tolerance=question.tolerance,
        budget=question.budget,
        together=False,
        branch=refine,
        deadline=deadline,
    )
    found, rest = answer_people(request)
    claim.upper[piece], claim.witness[piece], claim.nodes[piece] = found.upper, found.witness, found.nodes
    claim.exhausted[piece], claim.method[piece] = found.exhausted, found.branched
    return np.asarray(rest + piece.start)


def _by_engine(
    question: Question, piece: slice | IntArray, claim: Claim, refine: bool, deadline: float | None
) -> list[list[list[CellProof]]]:
    layers, features = tensors(question.network, question.device), question.region.features
    count, k = claim.upper[piece].shape
    target = None if question.target is None else question.target[piece].reshape(-1)
    device = layers[0][0].device
    goal = None if target is None else torch.tensor(target, device=device)
    nothing = torch.full((count * k,), -torch.inf, dtype=torch.float64, device=device)
    incumbent = Incumbent(nothing, goal, question.tolerance)
    task = BatchQuestion(
        layers=layers,
        region=question.region if count == question.region.people else question.region.take(piece),
        directions=torch.as_tensor(_directions(question, piece), device=device),
        offset=torch.zeros((count, k), dtype=torch.float64, device=device),
        answer=torch.arange(count * k, device=device).reshape(count, k),
        incumbent=incumbent,
        budget=question.budget,
        refine=refine,
        deadline=deadline,
        proof=question.proof,
    )
    result = run(task)
    claim.upper[piece] = result.upper.cpu().numpy()
    claim.witness[piece] = incumbent.points(features).reshape(count, k, features)
    claim.exhausted[piece] = result.exhausted.cpu().numpy()
    claim.nodes[piece] = result.nodes.cpu().numpy()
    claim.method[piece] = result.branched.cpu().numpy()
    return result.proof or []
