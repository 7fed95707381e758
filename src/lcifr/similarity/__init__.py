"""Similarity of people: formulas from text to meaning to regions, bound to a schema and an encoding, and lint."""

from lcifr.regions.region import Cell, Choice, LinearRows, Region, Witnesses
from lcifr.similarity.language.explain.sentences import explain
from lcifr.similarity.language.formula import Formula
from lcifr.similarity.language.parser import parse
from lcifr.similarity.language.printer import print_formula
from lcifr.similarity.linting.finding import Example, Finding, Severity
from lcifr.similarity.linting.linter import lint
from lcifr.similarity.linting.neighbours import Neighbours, find_neighbours
from lcifr.similarity.ready_formulas import ready, ready_names
from lcifr.similarity.similarity import Similarity

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
