"""Schemas, validation of tables, and the encoding from table to matrix and back."""

from lcifr.data.encoding import Encoding, Feature
from lcifr.data.frames import read_frame
from lcifr.data.schema import Attribute, Categorical, Numeric, Schema
from lcifr.data.table import Individuals, check_target, read_target

__all__ = [
    "Attribute",
    "Categorical",
    "Encoding",
    "Feature",
    "Individuals",
    "Numeric",
    "Schema",
    "check_target",
    "read_frame",
    "read_target",
]
