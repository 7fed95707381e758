"""Similarity of people: formulas from text to meaning to regions, bound to a schema and an encoding, and lint."""

from lcifr.phi.explain import explain
from lcifr.phi.formula import Formula, print_formula
from lcifr.phi.lint import Example, Finding, Severity, lint
from lcifr.phi.neighbours import Neighbours, find_neighbours
from lcifr.phi.parser import parse
from lcifr.phi.similarity import Similarity, ready, ready_names
from lcifr.regions.region import Cell, Choice, LinearRows, Region, Witnesses

__all__ = [
    "Cell",
    "Choice",
    "Example",
    "Finding",
    "Formula",
    "LinearRows",
    "Neighbours",
    "Region",
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
