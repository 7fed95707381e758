"""Two copies of a network on a pair of people, and "one decides yes, the other no" as one output.

With a = s(x) and b = −s(x′), the smaller of the two is above 0 just where x is decided yes and x′ no, and
min(a, b) = a − relu(a − b) is a network. Nothing is rounded in the copies; what merging them with the crossings rounds
is :func:`lcifr.models.chain.merging_error`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule

FloatArray = NDArray[np.float64]


def side_by_side(network: Network, own: NDArray[np.intp], others: NDArray[np.intp], width: int) -> Network:
    """The outputs at x and those at x′, of pairs with ``width`` columns.

    Parameters
    ----------
    own, others : (inputs,) the column of a pair that holds each input at x, and at x′; what both share is one column.
    """
    first, *rest = network.layers
    weight = np.zeros((2, *first.weight.shape[:1], width))
    weight[0][:, own], weight[1][:, others] = first.weight, first.weight
    layers = [(weight.reshape(-1, width), np.tile(first.bias, 2))]
    layers += [(_twice(layer.weight), np.tile(layer.bias, 2)) for layer in rest]
    return Network.from_arrays(layers)


def _twice(weight: FloatArray) -> FloatArray:
    rows, columns = weight.shape
    found = np.zeros((2 * rows, 2 * columns))
    found[:rows, :columns], found[rows:, columns:] = weight, weight
    return found


def scores_of(rule: Rule) -> FloatArray:
    """(scores, outputs) linear scores such that two decisions differ only where some score changes its side.

    The output itself for two classes; for several, the lead of one class over one of another group: where the first of
    them wins at x and the second at x′, it changes from above the band to below it.
    """
    if rule.kind is Kind.SIGN:
        return np.ones((1, 1))
    group = rule.group_of
    pairs = [(i, j) for i in range(rule.outputs) for j in range(i) if group[i] != group[j]]
    scores = np.zeros((len(pairs), rule.outputs))
    for row, (i, j) in enumerate(pairs):
        scores[row, i], scores[row, j] = 1.0, -1.0
    return scores


def crossings(scores: FloatArray, middle: float = 0.0) -> Network:
    """Outputs at x and at x′ (2 · outputs) to, for each score, min(s(x), −s(x′)) and min(−s(x), s(x′)).

    Here s is the score less ``middle``; relu(s + s′), relu(−s − s′), relu(s), relu(−s) are its neurons.
    """
    here = np.concatenate([scores, np.zeros_like(scores)], axis=1)
    both = np.concatenate([scores, scores], axis=1)
    hidden = np.stack([both, -both, here, -here], axis=1).reshape(-1, here.shape[1])
    smaller = np.array([[-1.0, 0.0, 1.0, -1.0], [0.0, -1.0, -1.0, 1.0]])
    last = np.kron(np.eye(len(scores)), smaller)
    bias = np.tile(np.array([-2.0, 2.0, -1.0, 1.0]) * middle, len(scores))
    return Network.from_arrays([(hidden, bias), (last, np.zeros(len(last)))])
