"""Can you trust it? The exact checker: standard library only, no import from the rest of lcifr."""

from lcifr.check.claim import Finding, confirm, examine, missing
from lcifr.check.exact import Rejected
from lcifr.check.problem import Cell, Layer, read_network

__all__ = ["Cell", "Finding", "Layer", "Rejected", "confirm", "examine", "missing", "read_network"]
