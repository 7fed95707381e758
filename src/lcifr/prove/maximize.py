"""The largest value of a linear output of a function over a region: the methods by name, and the cascade of engines."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, did_you_mean
from lcifr.models.function import Function
from lcifr.models.network import Network
from lcifr.models.trees import Trees
from lcifr.prove.gate import Method, Obstacle, SolverMethod, build_question
from lcifr.prove.oracles.solvers import Capability, find_solver
from lcifr.prove.question import Answer, Budget, Claim, Findings, ProofLists, Question, Request, still_open
from lcifr.regions.region import Region

# The cascade: bounds for everybody, search and branch-and-bound in chunks of people, a solver for what is left.
#
# The one place that chooses between engines. Those of networks are all asked the same :class:`Request`. Each is
# imported where it is asked: the compiled search needs numba, bounds on a device torch, and both take their time.

CHUNK, DEVICE_CHUNK = 500_000, 4_000_000
"""People × (directions + features) of one chunk: a few MB, some tens on a device, so that memory does not grow with the
people."""


@final
class Branch(Method):
    """Complete for one hidden layer and for trees; for deeper networks as far as the budget goes."""

    name = "branch"
    functions = (Network, Trees)

    def accepts(self, question: Question) -> Obstacle | None:
        """As every method; trees know no linear rows about categories."""
        obstacle = super().accepts(question)
        return find_tree_obstacle(question) if obstacle is None and isinstance(question.function, Trees) else obstacle

    def _maximize(self, question: Question) -> Claim:
        return answer_trees(question) if isinstance(question.function, Trees) else answer_in_chunks(question)


@final
class Cascade(SolverMethod):
    """Never refines what cannot change the answer; the solver is asked about what branch-and-bound leaves open.

    It is never asked about an answer that directions share: a radius does not say by whom it was proved, so it cannot
    rest on a solver.
    """

    name = "cascade"
    functions = (Network, Trees)
    shares = True
    needs = frozenset({Capability.WHOLE_NUMBERS})

    def accepts(self, question: Question) -> Obstacle | None:
        """As every method; trees know no linear rows about categories, and no answers that directions share."""
        obstacle = super().accepts(question)
        return find_tree_obstacle(question) if obstacle is None and isinstance(question.function, Trees) else obstacle

    def at_once(self, question: Question, *, together: bool) -> int:
        return people_at_once(question, together)

    def _maximize(self, question: Question) -> Claim:
        if isinstance(question.function, Trees):
            return answer_trees(question)
        claim = answer_in_chunks(question)
        if question.shared is not None or not claim.exhausted.any():
            return claim
        from lcifr.prove.oracles.milp import ask_solver, open_directions

        unresolved = open_directions(self.name, question, claim)
        return ask_solver(question, claim, unresolved, self.solver) if unresolved else claim


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


def find_tree_obstacle(question: Question) -> Obstacle | None:
    """What the search over trees cannot answer; None for networks, and for what it can."""
    if not isinstance(question.function, Trees):
        return None
    if question.shared is not None:
        return Obstacle("directions of trees share no answer", 'use method="branch"')
    for cell in question.region.cells:
        if cell.rows is not None and np.delete(cell.rows.G, cell.numeric, axis=1).any():
            return Obstacle("a linear row is about a category", "write the condition as a choice of values")
    return None


def answer_trees(question: Question) -> Claim:
    """What is found about each person and direction of a question about trees."""
    # numba takes a good part of a second to import
    from lcifr.prove.trees.call import answer_trees as answer

    return answer(question)


# One linear bound for each person and direction, its multipliers optimised; no branching.


@final
class Bounds(Method):
    """Plain lines first, optimised multipliers where they leave a gap, intersected with intervals."""

    name = "bounds"

    def _maximize(self, question: Question) -> Claim:
        from lcifr.prove.oracles.interval import interval_bounds, interval_proofs  # they need torch

        one = replace(question, budget=Budget(nodes=1, seconds=question.budget.seconds))
        claim = answer_in_chunks(one)
        wide = interval_bounds(question)
        proof = claim.proof
        if proof is not None:
            plain = interval_proofs(question, wide)
            proof = [
                [b if wide[i, k] < claim.upper[i, k] else a for k, (a, b) in enumerate(zip(mine, theirs, strict=True))]
                for i, (mine, theirs) in enumerate(zip(proof, plain, strict=True))
            ]
        return replace(
            claim,
            upper=np.minimum(claim.upper, wide),
            exhausted=np.zeros_like(claim.exhausted),
            methods=(self.name, self.name),
            proof=proof,
        )


# The one question, the largest value of a linear output of a function over a region, and the methods there are.


def maximize(
    network: Function,
    directions: ArrayLike,
    region: Region,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-6,
    method: str = "cascade",
    solver: str | None = None,
    device: str | None = None,
    budget: Budget | int | None = None,
    proof: bool = False,
) -> Answer:
    """The largest value of direction · network(x′) over every person's region, from above and from below.

    Parameters
    ----------
    network : a :class:`lcifr.Network`, or a sum of trees (:class:`lcifr.models.trees.Trees`).
    directions : (k, outputs), alike for everybody, or (people, k, outputs).
    target : stop as soon as the answer is known to lie strictly on one side of it; broadcast to (people, k).
    tolerance : absolute plus relative: done when upper − best ≤ tolerance · (1 + |best|).
    method : ``"cascade"``, or one of its parts: ``"bounds"``, ``"branch"``, ``"milp"``, ``"lp"``, ``"interval"``,
        ``"enumerate"``. A method that cannot answer the question says what stands in the way.
    solver : who is asked by ``"milp"``, ``"lp"`` and the last step of ``"cascade"``: ``"highs"``, which is built in and
        taken where none is named, or ``"gurobi"``, with the extra of that name and a licence.
    device : where bounds are computed, as torch names it; None is the CPU.
    budget : nodes for each person and direction, or a :class:`Budget`.
    proof : whether every upper bound is to carry its proof.

    Returns
    -------
    Answer
        Arrays over people and directions.

    Raises
    ------
    Interrupted
        Ctrl-C ended the search: ``known`` is the answer as far as it has come, proved bounds and best points.
    """
    question = build_question(
        network, directions, region, target=target, tolerance=tolerance, budget=budget, device=device, proof=proof
    )
    return find_method(method, solver).maximize(question)


METHODS = {
    "cascade": "maximize.Cascade",
    "branch": "maximize.Branch",
    "bounds": "maximize.Bounds",
    "enumerate": "oracles.enumerate.Enumerate",
    "interval": "oracles.interval.IntervalArithmetic",
    "lp": "oracles.lp.Lp",
    "milp": "oracles.milp.Milp",
}
"""Every method's class, by its place in ``lcifr.prove``; imported when it is first asked."""


def find_method(name: str, solver: str | None = None) -> Method:
    """The method called ``name``.

    Parameters
    ----------
    solver : for a method that asks one: which, by its name; it must be installed.
    """
    if name in METHODS:
        kind = _kind_of(name)
        return kind() if solver is None else _with_solver(kind, solver)
    known = sorted(METHODS)
    raise LcifrError(
        f'there is no method "{name}".{did_you_mean(name, known)}', fix="one of " + ", ".join(f'"{n}"' for n in known)
    )


@cache
def _kind_of(name: str) -> type[Method]:
    file, _, kind = METHODS[name].rpartition(".")
    return cast(type[Method], getattr(importlib.import_module(f"lcifr.prove.{file}"), kind))


def _with_solver(kind: type[Method], solver: str) -> Method:
    if not issubclass(kind, SolverMethod):
        raise LcifrError(
            f'method "{kind.name}" asks no solver, and solver="{solver}" was given',
            fix='leave solver out, or use method="milp"',
        )
    chosen = find_solver(solver)
    chosen.version()  # says how to install it where it is missing
    return kind(chosen)
