"""Who counts as similar? The similarity language: formulas, their truth, their regions, and what to ask of them.

Everything here is loaded at once and is light. Names like ``explain`` are functions as well as files, and only the
first import of a file sets the package's name for it: names loaded later would sometimes be the file.
"""

from lcifr.similarity.explain import explain
from lcifr.similarity.finding import Example, Finding, Severity
from lcifr.similarity.formula import Formula
from lcifr.similarity.lint import lint
from lcifr.similarity.neighbours import Neighbours, find_neighbours
from lcifr.similarity.parser import parse
from lcifr.similarity.printer import print_formula
from lcifr.similarity.ready import ready, ready_names
from lcifr.similarity.region import Cell, Choice, Region, Rows
from lcifr.similarity.similarity import Similarity
from lcifr.similarity.witness import Witnesses

__all__ = [
    "Cell",
    "Choice",
    "Example",
    "Finding",
    "Formula",
    "Neighbours",
    "Region",
    "Rows",
    "Severity",
    "Similarity",
    "Witnesses",
    "explain",
    "find_neighbours",
    "lint",
    "parse",
    "print_formula",
    "ready",
    "ready_names",
]
