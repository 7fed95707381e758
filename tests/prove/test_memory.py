"""Memory stays flat in the number of people: chunks are bounded, whatever the size of the population."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
import numpy as np, torch
torch.set_num_threads(1)
from lcifr import Network, Region, radius
people = int(sys.argv[1])
rng = np.random.default_rng(0)
first, last = rng.normal(size=(20, 30)) / 5, rng.normal(size=(20, 20)) / 4
network = Network.from_arrays([(first, rng.normal(size=20)), (last, np.zeros(20))])
x = rng.normal(size=(people, 30))
region = Region.from_arrays(x - 0.02, x + 0.02)
found = radius(network, x, region, target=np.full(people, 9.0))
assert np.isfinite(found.radius).all() and len(found.radius) == people
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def peak(people: int) -> float:
    """Peak memory of a fresh process, in MB."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(people)], capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.long
def test_ten_times_the_people_take_about_the_same_memory() -> None:
    few, many = peak(2_000), peak(20_000)
    # chunks fill up and the people themselves take 30 MB or so; ten times the work space would be gigabytes
    assert many < 1.6 * few
