"""Networks in chunks of people: bounds for everybody, closed forms and the compiled search for whom they leave open.

The one place that chooses between the engines of networks, which are all asked the same :class:`Request`. Each is
imported where it is asked: the compiled search needs numba, bounds on a device torch, and both take their time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcifr.prove.question import Claim, Findings, ProofLists, Question, Request, still_open

CHUNK, DEVICE_CHUNK = 500_000, 4_000_000
"""People × (directions + features) of one chunk: a few MB, some tens on a device, so that memory does not grow with the
people."""


def people_at_once(question: Question, together: bool) -> int:
    """How many people make one chunk; ``together`` where all directions share one answer."""
    k, features = question.directions.shape[1], question.region.features
    width = 2 * k + features if together else k * (features + 8)
    most = CHUNK if question.device in (None, "cpu") else DEVICE_CHUNK
    return max(1, int(most // max(width, 1)))


def answer_in_chunks(question: Question, *, branch: bool = True) -> Claim:
    """What is found about each person and direction, and by which step: bounds, or branch-and-bound."""
    people, k, _ = question.directions.shape
    if not (people and k):  # nobody, or nothing, is asked about
        return _claim(question, _blank(question, [[] for _ in range(people)]))
    step = people_at_once(question, question.shared is not None)
    if step >= people:
        return _claim(question, _answer_chunk(question, slice(0, people), branch))
    whole = _blank(question, [])
    for start in range(0, people, step):
        piece = slice(start, min(people, start + step))
        found = _answer_chunk(question, piece, branch)
        whole.put(piece, found)
        whole.proofs.extend(found.proofs)
        if found.interrupted:  # nothing is known about the others
            rest = slice(piece.stop, people)
            whole.upper[rest], whole.exhausted[rest] = np.inf, True
            whole.proofs.extend([[]] * (people - piece.stop))
            return _claim(question, replace(whole, interrupted=True))
    return _claim(question, whole)


def _claim(question: Question, found: Findings) -> Claim:
    proved, method = np.ones(found.upper.shape, np.bool_), found.branched.astype(np.int8)
    proof = found.proofs if question.proof else None
    names = ("bounds", "branch")
    return Claim(
        found.upper, proved, found.witness, found.exhausted, found.nodes, method, names, proof, found.interrupted
    )


def _blank(question: Question, proofs: ProofLists) -> Findings:
    shape = question.directions.shape[:2]
    return replace(Findings.blank(shape, question.answers, question.region.features), proofs=proofs)


def _answer_chunk(question: Question, piece: slice, branch: bool) -> Findings:
    request = _request(question, piece, branch)
    if question.device in (None, "cpu") or question.proof:
        return _answer_here(request)
    return _answer_on_device(request)


def _answer_on_device(request: Request) -> Findings:
    """Bounds of everybody on the device; whom they leave open, the engines of the CPU answer.

    Where there is a target, bounds do no more than tell who needs no search: everybody else is answered as if there
    were no device, so that who is decided how, and by which point, does not depend on it.
    """
    from lcifr.prove.networks.linear_search import bound_people

    decides = request.target is not None and request.branch
    found = bound_people(request, climbing=not decides)
    rest = still_open(request, found)
    if request.branch and len(rest):
        again = _answer_here(request.take(rest))
        upper = again.upper if decides else np.minimum(found.upper[rest], again.upper)
        found.put(rest, replace(again, upper=upper))
        return replace(found, interrupted=again.interrupted)
    return found


def _answer_here(request: Request) -> Findings:
    """What the engines of the CPU find: closed forms and the compiled search."""
    request = replace(request, device=None)
    if request.network.depth == 0:
        from lcifr.prove.networks.closed_form import answer_people

        return answer_people(request)
    from lcifr.prove.networks.kernel.call import covers

    if not covers(request.network, request.region):  # linear rows with giants
        from lcifr.prove.networks.closed_form import bound_only

        return bound_only(request)
    return _search(request)


def _search(request: Request) -> Findings:
    """The compiled search. Whom penalties in place of rows leave open, the search that knows rows answers."""
    from lcifr.prove.networks.kernel.call import answer_people

    found = answer_people(request)
    rest = found.unanswered
    if len(rest):
        again = answer_people(replace(request.take(rest), proof=True))  # what it needs for proofs are the rows
        tighter = np.minimum(found.upper[rest], again.upper)
        found.put(rest, replace(again, upper=tighter, nodes=found.nodes[rest] + again.nodes))
    return found


def _request(question: Question, piece: slice, branch: bool) -> Request:
    rows, shared = question.directions, question.shared
    alike = len(rows) == 1 or rows.strides[0] == 0
    region = question.region
    whole = piece.stop - piece.start == region.people
    count, k = piece.stop - piece.start, rows.shape[1]
    return Request(
        question.network,
        region if whole else region.take(piece),
        np.array(rows[0] if alike else rows[piece], order="C"),  # kernels are compiled anew for any other order
        offset=np.zeros((count, k)) if shared is None else shared.offset[piece],
        target=None if question.target is None else question.target[piece],
        reached=np.full((count, k), -np.inf) if shared is None else np.array(shared.reached[piece, None]),
        tolerance=question.tolerance,
        nodes=question.budget.nodes,
        together=shared is not None,
        branch=branch,
        deadline=question.deadline,
        device=question.device,
        proof=question.proof,
    )
