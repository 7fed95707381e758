"""Who counts as similar? The language in which a regulator says so, and everything that reads it."""

# Imported here and not on demand: `explain` and `ready` are modules and functions, and what is bound last counts.
from lcifr.similarity.explain import explain
from lcifr.similarity.parser import parse
from lcifr.similarity.printer import print_formula
from lcifr.similarity.ready import ready, ready_names
from lcifr.similarity.region import Region
from lcifr.similarity.similarity import Similarity

__all__ = ["Region", "Similarity", "explain", "parse", "print_formula", "ready", "ready_names"]
