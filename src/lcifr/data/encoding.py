"""Encoding of tables as matrices: standardised numbers, one-hot categories, and the inverse."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data.columns import map_in_threads
from lcifr.data.schema import Categorical, Schema
from lcifr.data.table import Individuals
from lcifr.errors import LcifrError, TableError, TableProblem
from lcifr.files import write_json

FORMAT = 2  # of the JSON form
UNIT_ROUNDOFF = 2.0**-53
ENCODED_AT_ONCE = 8192  # people: their part of the matrix stays in the cache while it is filled


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: a whole numeric attribute, or one value of a categorical one."""

    attribute: str
    value: str | None = None

    def __str__(self) -> str:
        return self.attribute if self.value is None else f"{self.attribute}={self.value}"


@dataclass(frozen=True)
class Encoding:
    """The scales of the training data, and which feature column belongs to which attribute.

    scikit-learn's scalers divide by the n-denominator deviation and cannot say how exact their inverse is, so the few
    lines of arithmetic are ours.

    Parameters
    ----------
    schema
        What is encoded; features come in its order.
    means, sds : (numeric attributes,)
        Mean and (n − 1) standard deviation of the training data, in the order of ``schema.numeric``.
    training
        The people it was fitted on, where they are at hand: ranks in formulas are taken among them. Never saved.
    """

    schema: Schema
    means: NDArray[np.float64]
    sds: NDArray[np.float64]
    training: Individuals | None = field(default=None, repr=False, compare=False)

    @classmethod
    def fit(cls, source: Any, schema: Schema) -> Encoding:
        """Take means and standard deviations from a table of training people.

        Raises
        ------
        TableError
            For everything the gate reports, and for numeric columns that never vary.
        """
        people = Individuals.read(source, schema, fitting=True)
        if len(people) < 2:
            raise TableError([TableProblem("one row has no standard deviation")], fix="fit on at least two people")
        means = people.numbers.mean(axis=0)
        sds = people.numbers.std(axis=0, ddof=1)
        flat = [a.name for a, sd in zip(schema.numeric, sds, strict=True) if sd == 0]  # too small to square
        if flat:
            raise TableError(
                [TableProblem("varies too little to have a standard deviation", column=name) for name in flat]
            )
        return cls(schema, means, sds, people)

    # -- columns ---------------------------------------------------------------------------------------------------

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the matrix is."""
        return tuple(
            Feature(attribute.name, value)
            for attribute in self.schema
            for value in (attribute.values if isinstance(attribute, Categorical) else (None,))
        )

    @cached_property
    def _slices(self) -> dict[str, slice]:
        slices, start = {}, 0
        for attribute in self.schema:
            width = len(attribute.values) if isinstance(attribute, Categorical) else 1
            slices[attribute.name] = slice(start, start + width)
            start += width
        return slices

    def columns(self, attribute: str) -> slice:
        """The feature columns of one attribute."""
        return self._slices[self.schema[attribute].name]

    @cached_property
    def numeric_columns(self) -> NDArray[np.intp]:
        """(numeric attributes,) the feature column of each, in the order of ``schema.numeric``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.numeric], dtype=np.intp)

    @cached_property
    def category_starts(self) -> NDArray[np.intp]:
        """(categorical attributes,) the first feature column of each, in the order of ``schema.categorical``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.categorical], dtype=np.intp)

    def mean(self, attribute: str) -> float:
        return float(self.means[self.schema.names_numeric.index(attribute)])

    def sd(self, attribute: str) -> float:
        return float(self.sds[self.schema.names_numeric.index(attribute)])

    # -- there and back --------------------------------------------------------------------------------------------

    def encode(self, source: Any, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """People as a matrix: (value − mean) / sd for numbers, one-hot for categories.

        Parameters
        ----------
        source
            A table of people.
        out : (people, features) float64, contiguous
            Where to write; whoever encodes chunk after chunk need not ask the system for fresh memory each time.

        Returns
        -------
        (people, features) float64
        """
        people = Individuals.read(source, self.schema)
        matrix = np.zeros((len(people), len(self.features))) if out is None else self._checked(out, len(people))
        at_once = min(ENCODED_AT_ONCE, len(people))
        places = (np.arange(at_once) * len(self.features))[:, None] + self.category_starts

        def fill(start: int) -> None:
            rows = slice(start, start + ENCODED_AT_ONCE)
            part = matrix[rows]
            if out is not None:
                part[:] = 0.0
            part[:, self.numeric_columns] = self.scale(people.numbers[rows])
            part.reshape(-1)[(places[: len(part)] + people.codes[rows]).reshape(-1)] = 1.0

        map_in_threads(fill, range(0, len(people), ENCODED_AT_ONCE), rows=len(people))
        return matrix

    def _checked(self, out: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        shape = (people, len(self.features))
        if out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
            raise LcifrError(
                f"out is {out.dtype} of shape {out.shape}", fix=f"give a contiguous float64 array of shape {shape}"
            )
        return out

    def scale(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(…, numeric attributes) raw values to encoded ones; monotone in every value, as float arithmetic is."""
        scaled: NDArray[np.float64] = (numbers - self.means) / self.sds
        return scaled

    def decode(self, matrix: ArrayLike) -> Individuals:
        """A matrix back to people: categories and whole numbers exactly, other numbers within ``decode_error``.

        A category is the largest entry of its group, so that a point of the relaxed simplex decodes too.
        """
        array = np.asarray(matrix, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != len(self.features) or not np.isfinite(array).all():
            raise LcifrError(
                f"cannot decode an array of shape {array.shape}",
                fix=f"give finite values, (people, {len(self.features)})",
            )
        numbers = array[:, self.numeric_columns] * self.sds + self.means
        whole = np.array([attribute.integer for attribute in self.schema.numeric], dtype=bool)
        numbers[:, whole] = np.rint(numbers[:, whole])
        codes = np.zeros((len(array), len(self.schema.categorical)), np.int32)
        for j, category in enumerate(self.schema.categorical):
            codes[:, j] = array[:, self.columns(category.name)].argmax(axis=1)
        return Individuals(self.schema, numbers, codes)

    def decode_error(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """How far ``decode(encode(x))`` may be from raw values x: (…, numeric attributes).

        Each of −, /, ·, + rounds by a factor within 1 ± u, u = 2⁻⁵³, so the result is off by at most
        3u(1+u)³·|x − m| + u·|x| ≤ 5u·(|x| + |m|), plus one underflow of the quotient (2⁻¹⁰⁷⁴) scaled back by the sd.
        Below one half this rounds away, which is why whole numbers come back exactly.
        """
        size = np.abs(np.asarray(numbers, dtype=np.float64)) + np.abs(self.means)
        error: NDArray[np.float64] = 5 * UNIT_ROUNDOFF * size + self.sds * 2.0**-1074
        return error

    # -- files -----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain values; JSON writes floats so that not one bit is lost."""
        scales = {
            attribute.name: {"mean": float(mean), "sd": float(sd)}
            for attribute, mean, sd in zip(self.schema.numeric, self.means, self.sds, strict=True)
        }
        return {"format": FORMAT, "schema": self.schema.to_dict(), "scales": scales}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Encoding:
        try:
            if values["format"] != FORMAT:
                raise LcifrError(f"an encoding of format {values['format']!r}; this version reads {FORMAT}")
            schema = Schema.from_dict(values["schema"])
            scales = [values["scales"][attribute.name] for attribute in schema.numeric]
            means, sds = (np.array([float(scale[key]) for scale in scales]) for key in ("mean", "sd"))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, LcifrError):
                raise
            raise LcifrError(f"not an encoding: {type(error).__name__}: {error}") from None
        if not (np.isfinite(means).all() and np.isfinite(sds).all() and (sds > 0).all()):
            raise LcifrError("not an encoding: means must be finite and standard deviations positive")
        return cls(schema, means, sds)

    def to_bytes(self) -> bytes:
        """The canonical form, attributes in their order: it is that of the feature columns."""
        return json.dumps(self.to_dict()).encode()

    @cached_property
    def hash(self) -> str:
        """sha256 of the canonical form."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write it as JSON, for :meth:`load`."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Encoding:
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise LcifrError(f"{path}: cannot be read as an encoding: {error}") from None
