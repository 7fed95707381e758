"""The exact checker: standard library only, no import from the rest of lcifr."""

from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.check.proof import Bounds, Network, Problem, RationalCell, examine, follows, read_network

__all__ = [
    "Bounds",
    "Network",
    "Problem",
    "RationalCell",
    "Rejected",
    "check_bundle",
    "examine",
    "follows",
    "read_network",
]
