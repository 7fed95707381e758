"""Proofs that are no proofs: rejected with a reason, never with a traceback; and the checker runs all alone."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.prove.oracles.enumerate import plain_cell
from tests.check.claims import box, confirm, leaf
from tests.check.mutations import SEEDS, at, case, places

NESTED: list = []
for _ in range(5000):
    NESTED = [NESTED]

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**5000),
    st.just(-1),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["0x", "0x1p99999999999", "-0x1p-1074", "0x.8p0", "nan", "inf", "0xnan", "1e400", "0x1" + "0" * 999]
    ),
    st.lists(st.none(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
    st.just(NESTED),
)


@settings(deadline=None, max_examples=800)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32), JUNK)
def test_junk_anywhere_is_rejected_or_harmless_and_never_a_traceback(seed: int, where: int, junk: object) -> None:
    one = case(seed)
    proof = copy.deepcopy(one.proof)
    paths = places(proof)
    path = paths[where % len(paths)]
    at(proof, path[:-1])[path[-1]] = junk
    assert isinstance(confirm(one.network.rows(), plain_cell(one.cell, 0), [1.0], 0.0, proof), str)


@settings(deadline=None)
@given(JUNK)
def test_junk_as_a_whole_is_rejected(junk: object) -> None:
    one = case(1)
    assert confirm(one.network.rows(), plain_cell(one.cell, 0), [1.0], 1e9, junk)


def test_a_deep_tree_needs_no_stack() -> None:
    """Thousands of splits in a row, each to the left: the checker keeps its own list of what is waiting."""
    depth = 5_000
    nodes = [["numeric", 0, 0.0]] * depth + [leaf()] * (depth + 1)
    assert confirm([[[1.0, 0.0]]], box((-1.0, 1.0)), [1.0], 1.0, nodes) == ""


def test_the_checker_runs_where_nothing_is_installed() -> None:
    program = """
import sys
for name in ("numpy", "torch", "pandas", "scipy", "highspy", "sklearn", "pyarrow"):
    sys.modules[name] = None  # importing it now fails
from lcifr.check.functions import read_network
from lcifr.check.functions import RationalCell
from lcifr.check.proof import Problem, examine
proof, cell = [["leaf", [], [[[[0, 1.0]], [], []]]]], RationalCell({("numeric", 0): [(0, -1.0), (0, 2.0)]})
assert examine(Problem(read_network([[[2.0, 1.0]]]), cell), proof) == {((0, 1.0),): 5}
foreign = {name.partition(".")[0] for name, module in sys.modules.items() if module is not None}
foreign -= set(sys.stdlib_module_names) | {"lcifr", "__main__"}
print(sorted(name for name in foreign if not name.startswith(("_", "sitecustomize", "usercustomize"))))
print(sorted(name for name in sys.modules if name.startswith("lcifr") and not name.startswith("lcifr.check")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]", "['lcifr']"]


def test_numbers_at_the_ends_of_float64_are_exact() -> None:
    """2⁻¹⁰⁷⁴ · 2⁻¹⁰⁷⁴ is not 0 here: a bound of 0 is false by that little."""
    tiny = 5e-324
    assert "is shown" in confirm([[[tiny, 0.0]]], box((0.0, tiny)), [1.0], 0.0, [leaf()])
    assert confirm([[[-tiny, 0.0]]], box((0.0, tiny)), [1.0], 0.0, [leaf()]) == ""
    inner = [[[tiny, 0.0]], [[1.0, 0.0]]]  # the interval of a hidden neuron is rounded, but outward
    assert "is shown" in confirm(inner, box((0.0, tiny)), [1.0], 0.0, [leaf()])
    assert np.float64(tiny) * tiny == 0.0
