"""Kernels are compiled for one layout of arrays, which ``python -m lcifr.prove`` compiles ahead.

For any other layout numba would compile the whole search again, for minutes, on a user's first such question.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lcifr.models.network import Network
from lcifr.models.trees import NumberNode, TreeLeaf, Trees
from lcifr.prove import maximize
from lcifr.prove.networks.kernel import call
from lcifr.prove.networks.kernel import call as deep_call
from lcifr.prove.trees import call as trees_call
from lcifr.regions.region import Region

LAYOUTS = {
    "plain": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "alike": lambda a: np.broadcast_to(a[:1], a.shape),
    "of one": lambda a: a[0],
}
RNG = np.random.default_rng(3)


def network(depth: int) -> Network:
    widths = [3, *[4] * depth, 2]
    return Network.from_arrays([(RNG.normal(size=(b, a)), RNG.normal(size=b)) for a, b in pairwise(widths)])


TREES = Trees.of(3, [0.0, 0.0], [NumberNode(j, 0.0, TreeLeaf((0.0, 1.0)), TreeLeaf((1.0, 0.0))) for j in range(3)])
FUNCTIONS = {
    "shallow": (network(1), lambda: call.one_layer_kernel()),
    "deep": (network(2), lambda: deep_call.deep_kernel()),
    "trees": (TREES, lambda: trees_call.kernel()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_layout_of_a_question_compiles_anything(name: str, layout: str) -> None:
    function, kernel = FUNCTIONS[name]
    change: Callable[[Any], Any] = LAYOUTS[layout]
    middle, goals = RNG.normal(size=(5, 3)), np.zeros((5, 3, 1))
    region = Region.from_arrays(middle - 1, middle + 1)
    answer = maximize(function, change(RNG.normal(size=(5, 3, 2))), region, target=change(goals)[..., 0], budget=50)
    assert answer.upper.shape == (5, 3)
    assert len(kernel().signatures) == 1
