"""The exact checker: standard library only, no import from the rest of lcifr."""

from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected

__all__ = ["Rejected", "check_bundle"]
