"""What is the exact answer? The cascade: bounds for everybody, search, branch-and-bound, a solver for what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import final

import numpy as np
import torch

from lcifr.bounds.scene import tensors
from lcifr.prove.answer import Claim, Question
from lcifr.prove.engine import Task, deadline_of, run
from lcifr.prove.incumbent import Incumbent
from lcifr.prove.leftover import ask_solver, open_pairs
from lcifr.prove.method import Method
from lcifr.prove.proof import CellProof
from lcifr.prove.solvers import Solver, find_solver

CHUNK = 4_000_000
"""People × (directions + features) of one chunk: some tens of MB, so that memory does not grow with the people."""


def chunks(people: int, width: int) -> Iterator[slice]:
    """Slices of the people, ``width`` numbers each, that fit :data:`CHUNK`."""
    step = max(1, CHUNK // max(width, 1))
    for start in range(0, people, step):
        yield slice(start, min(people, start + step))


@final
class Cascade(Method):
    """Never refines what cannot change the answer.

    Parameters
    ----------
    solver : who is asked about what branch-and-bound leaves open; HiGHS where none is given.
    """

    name = "cascade"

    def __init__(self, solver: Solver | None = None) -> None:
        self.solver = solver

    def _maximize(self, question: Question) -> Claim:
        deadline = deadline_of(question.budget)
        claim = grow_claim(question, refine=True, name=self.name)
        pairs = open_pairs(self.name, question, claim)
        return ask_solver(question, claim, pairs, self.solver or find_solver(), deadline) if pairs else claim


def grow_claim(question: Question, *, refine: bool, name: str) -> Claim:
    """Run the engine on chunks of people and gather what it says about each person and direction."""
    people, k, _ = question.directions.shape
    features = question.region.features
    layers = tensors(question.network, question.device)
    claim = Claim(
        upper=np.full((people, k), -np.inf),
        proved=np.ones((people, k), dtype=np.bool_),
        witness=np.full((people, k, features), np.nan),
        exhausted=np.zeros((people, k), dtype=np.bool_),
        nodes=np.zeros((people, k), dtype=np.int64),
        method=np.zeros((people, k), dtype=np.int8),
        methods=("bounds", "branch"),
    )
    proofs: list[list[list[CellProof]]] = []
    deadline = deadline_of(question.budget)
    for piece in chunks(people if k else 0, k * (features + 8)):  # nothing is asked without a direction
        count = piece.stop - piece.start
        part = question.region if count == people else question.region.take(piece)
        target = None if question.target is None else question.target[piece].reshape(-1)
        device = layers[0][0].device
        goal = None if target is None else torch.tensor(target, device=device)
        nothing = torch.full((count * k,), -torch.inf, dtype=torch.float64, device=device)
        incumbent = Incumbent(nothing, goal, question.tolerance)
        directions = np.array(question.directions[piece])
        if people > 1 and question.directions.strides[0] == 0:  # the same rows for everybody
            directions = directions[0].copy()
        task = Task(
            layers=layers,
            region=part,
            directions=torch.as_tensor(directions, device=device),
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
        proofs += result.proof or []
    return replace(claim, proof=proofs if k else [[] for _ in range(people)]) if question.proof else claim
