"""The exact checker: standard library only, no import from the rest of lcifr."""

from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.check.network import read_network
from lcifr.check.proof import Problem, RationalCell, examine, follows

__all__ = ["Problem", "RationalCell", "Rejected", "check_bundle", "examine", "follows", "read_network"]
