"""The engine of networks: bounds first, then closed forms or the compiled search where bounds are not enough.

The one place that chooses between the ways to bound a network. Each is imported where it is asked: the compiled search
needs numba, bounds on a device torch, and both take their time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

import numpy as np

from lcifr.models.network import Network
from lcifr.prove.proof import interval_leaves
from lcifr.prove.question import Answer, Engine, Question, Status, joined, still_open

CHUNK, DEVICE_CHUNK = 500_000, 4_000_000
"""People × (directions + features) of one chunk: a few MB, some tens on a device, so that memory does not grow with the
people."""


@final
class NetworkEngine(Engine):
    """Chunks of people, each by bounds or by branch-and-bound."""

    functions = Network
    has_programs = True

    def shares(self, question: Question) -> bool:
        return True

    def at_once(self, question: Question, *, together: bool) -> int:
        k, features = question.directions.shape[1], question.region.features
        width = 2 * k + features if together else k * (features + 8)
        return max(1, int((CHUNK if question.resources.on_cpu else DEVICE_CHUNK) // max(width, 1)))

    def answer(self, question: Question) -> Answer:
        people, k, _ = question.directions.shape
        if not (people and k):  # no people, or no directions
            return Answer.claimed(question, np.full((people, k), -np.inf), proof=[[] for _ in range(people)])
        step, parts = self.at_once(question, together=question.shared is not None), list[Answer]()
        for start in range(0, people, step):
            part = question if step >= people else question.take(slice(start, start + step))
            parts.append(_answer_chunk(part))
            if parts[-1].interrupted and start + step < people:
                parts.append(_unknown(question.take(slice(start + step, people))))
                break
        return joined(parts)

    def quick(self, question: Question) -> Answer:
        """Optimised lines, intersected with intervals."""
        from lcifr.prove.networks.linear_bounds import interval_bounds  # it needs torch

        found = self.answer(replace(question, resources=replace(question.resources, nodes=1)))
        wide, proof = interval_bounds(question), found.proof
        if proof is not None:
            plain = interval_leaves(question.directions, question.region, wide)
            proof = [
                [b if wide[i, k] < found.upper[i, k] else a for k, (a, b) in enumerate(zip(mine, theirs, strict=True))]
                for i, (mine, theirs) in enumerate(zip(proof, plain, strict=True))
            ]
        upper, status = np.minimum(found.upper, wide), np.full_like(found.status, Status.BOUNDED)
        return replace(found, upper=upper, status=status, methods=("bounds", "bounds"), proof=proof)


def _unknown(question: Question) -> Answer:
    """Nothing is known about these people: Ctrl-C ended the work before their turn."""
    upper = np.full(question.directions.shape[:2], np.inf)
    nothing: list[list[Any]] = [[]] * len(upper)
    return Answer.claimed(question, upper, exhausted=np.isinf(upper), proof=nothing, interrupted=True)


def _answer_chunk(question: Question) -> Answer:
    if question.resources.on_cpu or question.proof:
        return _answer_here(question)
    return _answer_on_device(question)


def _answer_on_device(question: Question) -> Answer:
    """Bounds of all people on the device; those left open are answered on the CPU.

    Where there is a target, bounds only tell who needs no search: all others are answered as if there were no device,
    so that no verdict and no witness depends on it.
    """
    from lcifr.prove.networks.linear_search import bound_people

    decides = question.target is not None and question.branch
    found = bound_people(question, climbing=not decides)
    rest = still_open(question, found)
    if not (question.branch and len(rest)):
        return found
    again = _answer_here(question.take(rest))
    upper = again.upper if decides else np.minimum(found.upper[rest], again.upper)
    return replace(found.replaced(rest, replace(again, upper=upper)), interrupted=again.interrupted)


def _answer_here(question: Question) -> Answer:
    """What the engines of the CPU find: closed forms and the compiled search."""
    question = replace(question, resources=replace(question.resources, device=None))
    if question.network.depth == 0:
        from lcifr.prove.networks.closed_form import answer_people

        return answer_people(question)
    from lcifr.prove.networks.kernel import call

    if not call.covers(question.network, question.region):  # linear rows with giants
        from lcifr.prove.networks.closed_form import bound_only

        return bound_only(question)
    return call.answer_people(question)
