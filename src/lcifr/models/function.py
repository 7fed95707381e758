"""Function: the interface that proofs work on; Deployed: functions in their number formats, with rounding bounds."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data import Encoding
from lcifr.data.codec import Arrays
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.additive import AdditiveModel, AdditiveTerms
from lcifr.models.arithmetic import Arithmetic
from lcifr.regions.region import Region

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

REFUSED = 1e300
"""Stands for an infinite bound, where overflow is possible: beyond every output, and 0 times it is 0."""


class Function(ABC):
    """What proving needs of a model's arithmetic, and no more; :class:`lcifr.Network` is its first kind.

    A function is exact mathematics on stored float64 numbers. Calling it is one way to compute it, off by at most
    :meth:`error`. A new kind of function is one class: what is abstract here, an engine that proves, and whatever of
    the rest it can do better than these defaults, which are sound for every kind.
    """

    engine: ClassVar[str] = ""
    """The proof engine of this kind of function as "module:Class"; empty where there is none. It is imported when it is
    first asked: models import nothing that proves."""
    jumps: ClassVar[bool] = True
    """Whether outputs may jump: then a point a little beside another says nothing about it."""
    uses_device: ClassVar[bool] = False
    """Whether its bounds can be computed on a GPU."""

    @property
    @abstractmethod
    def inputs(self) -> int:
        """How many columns go in."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many values come out."""

    @property
    def native(self) -> Arithmetic:
        """The arithmetic of the runtime that it was read from; exact where no runtime computes it as it stands."""
        return Arithmetic.EXACT

    @property
    def divides(self) -> str:
        """The step that divides by numbers whose inverses the weights do not hold; empty where there is none."""
        return ""

    @property
    def is_identity(self) -> bool:
        """Whether what comes out is what goes in."""
        return False

    @property
    def affine(self) -> tuple[FloatArray, FloatArray] | None:
        """Weight (outputs, inputs) and bias (outputs,) where the function is weight · x + bias; None for others."""
        return None

    @property
    def last_weight(self) -> FloatArray | None:
        """(outputs, neurons) by which the outputs follow from the last hidden neurons; None where there are none."""
        return None

    @property
    def widths(self) -> tuple[int, ...]:
        """How many values there are, from the inputs through all layers to the outputs."""
        return self.inputs, self.outputs

    @property
    def tree_count(self) -> int:
        """How many trees it adds up; 0 for what has none."""
        return 0

    @abstractmethod
    def __call__(self, points: ArrayLike) -> FloatArray:
        """The outputs at ``points`` (…, inputs) -> (…, outputs), computed in float64."""

    @abstractmethod
    def error(self, points: ArrayLike) -> FloatArray:
        """How far ``self(points)`` can be from exact arithmetic, (…, inputs) -> (…, outputs)."""

    @abstractmethod
    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """The outputs at one point (inputs,), without any rounding."""

    def to_plain(self) -> Any:
        """The numbers and nothing else, as JSON holds them and an exact checker reads them.

        None for a kind that no checker knows: what is proved about it has no proofs on file.
        """
        return None

    def deployed(self, arithmetic: Arithmetic, encoding: Encoding | None = None) -> Deployed:
        """The function as machines compute it: of people in this encoding, or of stored numbers where there is none.

        Of a kind that does not say what machines round, nothing is proved but in exact arithmetic.
        """
        return DeployedFunction(self, arithmetic)

    def describe(self) -> str:
        """What it is, in the plural or with an article, for messages."""
        return f"a {type(self).__name__}"

    def to_bytes(self) -> bytes:
        """:meth:`to_plain` as compact JSON: the file that a checker reads.

        Raises
        ------
        NetworkError
            For a kind that no checker knows.
        """
        plain = self.to_plain()
        if plain is None:
            raise NetworkError(
                f"{self.describe()} has no form that a checker reads, so there are no proofs on file about it",
                fix="leave the bundle out",
            )
        return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the numbers: the name of exactly this function. A kind without :meth:`to_plain` takes its own."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_arrays(self, into: Arrays) -> dict[str, Any]:
        """The function as arrays, and plain values with its ``kind`` that name them: to be sent to other machines.

        Raises
        ------
        LcifrError
            For a kind that has no such form.
        """
        raise LcifrError(
            f"{type(self).__name__} cannot be sent to other machines", fix="leave --executor out: it runs on this one"
        )

    def reads(self) -> IntArray:
        """The columns that can change an output."""
        return np.arange(self.inputs)

    def thresholds(self, column: int) -> FloatArray | None:
        """Rising numbers of a column between which no output changes; None where outputs may change anywhere."""
        return None

    def slopes(self, points: FloatArray, directions: FloatArray) -> FloatArray | None:
        """(people, k, inputs) along which directions (people, k, outputs) grow fastest at points (people, k, inputs)
        or (people, 1, inputs); None where nothing says that."""
        return None

    def twice(self, own: IntArray, others: IntArray, width: int) -> Function | None:
        """The outputs at x and those at x′, of pairs with ``width`` columns; None where there is no such function.

        Parameters
        ----------
        own, others : (inputs,) the column of a pair that holds each input at x, and at x′.
        """
        return None

    def additive(self, encoding: Encoding) -> AdditiveModel | None:
        """The function as a sum of terms of one attribute or two; None where it is none."""
        return None

    def after_sums(self, found: AdditiveModel) -> AdditiveModel | None:
        """This function of the outputs of an additive model, as an additive model; None where it is none."""
        return None


@dataclass(frozen=True)
class Evaluation:
    """values : (…, outputs) computed in float64. error : (…, outputs) how far they can be from exact arithmetic."""

    values: FloatArray
    error: FloatArray


class Deployed(ABC):
    """A function, or several in turn, each in its arithmetic: how far what machines compute is from what is proved.

    Proofs are about :attr:`merged` in exact arithmetic over :meth:`asked_over`; machines are off by at most
    :meth:`room_over`. Errors are at most REFUSED, which stands for numbers that may overflow.
    """

    has_image: ClassVar[bool] = False
    """Whether :meth:`image` is known in closed form."""

    @property
    @abstractmethod
    def merged(self) -> Function:
        """The one function that proofs work on."""

    @property
    @abstractmethod
    def is_exact(self) -> bool:
        """Whether this is about real numbers: then nothing is rounded."""

    @property
    def outputs(self) -> int:
        """How many values come out at the end."""
        return self.merged.outputs

    @property
    def is_as_asked(self) -> bool:
        """Whether it is just the function that proofs are about: nothing is rounded, and nothing merged."""
        return self.is_exact

    @property
    def boxed(self) -> tuple[Deployed, Deployed] | None:
        """Two in turn, of which the second is asked over a proved box of what the first gives; None where one question
        about :attr:`merged` is enough."""
        return None

    @property
    def is_composed(self) -> bool:
        """Whether what is proved is about what comes after a first function, over a box of its outputs."""
        return False

    # -- at points -----------------------------------------------------------------------------------------------------

    def evaluate(self, points: FloatArray) -> Evaluation:
        """A plain forward pass, and how far it can be from exact arithmetic."""
        return Evaluation(self.merged(points), np.asarray(self.merged.error(points)))

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """The outputs at one point (inputs,), without any rounding or merging."""
        return self.merged.exactly(point)

    @abstractmethod
    def error_at(self, points: FloatArray) -> FloatArray:
        """(people, outputs) how far a machine's outputs at points (people, inputs) can be from exact ones."""

    @abstractmethod
    def error_among(self, points: FloatArray) -> FloatArray:
        """(outputs,) what :meth:`error_at` is nowhere above between the least and the largest of these points."""

    # -- over regions --------------------------------------------------------------------------------------------------

    def asked_over(self, region: Region) -> Region:
        """Where :attr:`merged` is asked: on the region itself, or on what a first function makes of it."""
        return region

    @abstractmethod
    def error_over(self, region: Region) -> FloatArray:
        """(people, outputs) how far machines can be from exact arithmetic, anywhere in a person's region."""

    def merging_error(self, region: Region) -> FloatArray:
        """(people, outputs) how far :attr:`merged` can be from the functions one after the other, in the region."""
        return np.zeros((region.people, self.outputs))

    def room_over(self, region: Region) -> FloatArray:
        """(people, outputs) how far machines can be from :attr:`merged` in exact arithmetic, in the region."""
        return self.error_over(region)

    def room_anywhere(self, region: Region) -> FloatArray | None:
        """(outputs,) what :meth:`room_over` is for no one above, by one evaluation; None where it costs as much."""
        return None

    def image(self, region: Region) -> Region:
        """What machines compute anywhere in each person's region, as a region; see :attr:`has_image`."""
        raise NetworkError(f"where {self.merged.describe()} leads takes a search")

    # -- behind another ------------------------------------------------------------------------------------------------

    def after(self, first: Deployed) -> Deployed:
        """This one on what another computes; the identity in front of it is no step that a machine takes."""
        return self if first.merged.is_identity else Composed(first, self)

    def evaluate_around(self, points: FloatArray, off: FloatArray) -> Evaluation:
        """:meth:`evaluate` at points that can be off by ``off`` (people, inputs) from exact ones."""
        found = self.evaluate(points)
        return Evaluation(found.values, np.where((off == 0).all(1, keepdims=True), found.error, REFUSED))

    def error_around(self, computed: Evaluation, off: FloatArray) -> FloatArray:
        """:meth:`error_at` points that were computed, where machines can be off by ``off`` (people, inputs) from exact
        ones."""
        alike = ((off == 0) & (computed.error == 0)).all(1, keepdims=True)
        return np.where(alike, self.error_at(computed.values), REFUSED)

    def error_within(self, size: FloatArray | None, off: FloatArray) -> FloatArray:
        """(outputs,) what :meth:`error_around` is nowhere above at inputs up to ``size`` (inputs,); None: anywhere."""
        return np.full(self.outputs, REFUSED)

    def output_sizes(self) -> tuple[FloatArray, FloatArray] | None:
        """(outputs,) twice: which size no exact output has, and how far a forward pass is off; None if unbounded."""
        return None

    # -- what else is known of the function ----------------------------------------------------------------------------

    def reads(self) -> IntArray:
        """The columns that can change an output."""
        return self.merged.reads()

    def twice(self, own: IntArray, others: IntArray, width: int) -> Function | None:
        """As for a function, of :attr:`merged`; None where that is not asked about pairs of people."""
        return self.merged.twice(own, others, width)

    def terms(self, encoding: Encoding, everyone: Region) -> AdditiveTerms | None:
        """The outputs as sums of terms, with what machines round in the region of all who can exist; None if they are
        no such sums."""
        return None

    def guides(
        self, points: FloatArray, witness: FloatArray, directions: FloatArray
    ) -> tuple[Function, FloatArray] | None:
        """A function and directions (people, k, its outputs) whose largest values are candidates for another decision;
        None where the witnesses of the search are candidates themselves.

        Parameters
        ----------
        points : (people, inputs) the people. witness : (people, k, …) found for directions (people, k, outputs).
        """
        return None


@dataclass(frozen=True)
class DeployedFunction(Deployed):
    """A function of any kind that does not say what machines round: in floating point nothing is known of them."""

    function: Function
    arithmetic: Arithmetic

    @property
    def merged(self) -> Function:
        return self.function

    @property
    def is_exact(self) -> bool:
        return self.arithmetic is Arithmetic.EXACT

    def error_at(self, points: FloatArray) -> FloatArray:
        return np.full((len(points), self.outputs), 0.0 if self.is_exact else REFUSED)

    def error_among(self, points: FloatArray) -> FloatArray:
        return np.full(self.outputs, 0.0 if self.is_exact else REFUSED)

    def error_over(self, region: Region) -> FloatArray:
        return np.full((region.people, self.outputs), 0.0 if self.is_exact else REFUSED)


@dataclass(frozen=True)
class Composed(Deployed):
    """One on top of another, of any kinds: the second is asked over a box of what the first gives.

    Where scores of attributes move independently, as those of an additive model do, a linear network on them loses
    nothing by that. Where the second jumps, z that may be rounded across a threshold becomes all that the second can
    give around it.

    Parameters
    ----------
    first : from encoded people to scores or z. second : from these, as stored or computed, to outputs.
    """

    first: Deployed
    second: Deployed

    def __post_init__(self) -> None:
        gives, takes = self.first.outputs, self.second.merged.inputs
        if gives != takes:
            raise NetworkError(
                f"the encoder gives {gives} numbers, the model takes {takes}",
                fix="audit a model that was trained on this encoder's latents",
            )

    @property
    def merged(self) -> Function:
        return self.second.merged

    @property
    def is_exact(self) -> bool:
        return self.first.is_exact or self.second.is_exact

    @property
    def is_composed(self) -> bool:
        return True

    @property
    def boxed(self) -> tuple[Deployed, Deployed] | None:
        closed = self.first.has_image and not self.merged.jumps
        return None if closed else (self.first, self.second)

    def evaluate(self, points: FloatArray) -> Evaluation:
        found = self.first.evaluate(points)
        return self.second.evaluate_around(found.values, found.error)

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        between = self.first.exactly(point)
        if (affine := self.merged.affine) is None:
            raise NetworkError(f"{self.merged.describe()} is computed exactly at float64 numbers only")
        rows = zip(*(part.tolist() for part in affine), strict=True)
        return tuple(
            Fraction(bias) + sum(Fraction(w) * s for w, s in zip(row, between, strict=True)) for row, bias in rows
        )

    def error_at(self, points: FloatArray) -> FloatArray:
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        return self.second.error_around(self.first.evaluate(points), self.first.error_at(points))

    def error_among(self, points: FloatArray) -> FloatArray:
        if self.is_exact or len(points) == 0:
            return np.zeros(self.outputs)
        off, known = self.first.error_among(points), self.first.output_sizes()
        if (off >= REFUSED).any():
            return np.full(self.outputs, REFUSED)
        if known is None:
            return self.second.error_within(None, off)
        size, computed = known
        off = off + computed
        return self.second.error_within((size + off) * (1.0 + 1e-9), off)

    def asked_over(self, region: Region) -> Region:
        return self.first.image(region)

    def error_over(self, region: Region) -> FloatArray:
        return self.second.error_over(self.asked_over(region))

    def merging_error(self, region: Region) -> FloatArray:
        return self.second.merging_error(self.asked_over(region))

    def room_over(self, region: Region) -> FloatArray:
        return self.second.room_over(self.asked_over(region))

    def reads(self) -> IntArray:
        return self.first.reads()

    def twice(self, own: IntArray, others: IntArray, width: int) -> Function | None:
        return None

    def terms(self, encoding: Encoding, everyone: Region) -> AdditiveTerms | None:
        affine, found = self.merged.affine, self.first.terms(encoding, everyone)
        if affine is None or found is None or self.boxed:
            return None
        return found.followed_by(*affine, self.room_over(everyone)[0])

    def guides(
        self, points: FloatArray, witness: FloatArray, directions: FloatArray
    ) -> tuple[Function, FloatArray] | None:
        """From the scores of the search's witness, and from the person's own, along the slopes of the second."""
        own = self.first.merged(points)[:, None]
        reached = np.where(np.isnan(witness), own, witness)
        found = [self.merged.slopes(at, directions) for at in (reached, np.broadcast_to(own, reached.shape))]
        return self.first.merged, np.concatenate([slope for slope in found if slope is not None], axis=1)


def deploy(
    first: Function, second: Function, encoding: Encoding, handed: Arithmetic, arithmetic: Arithmetic
) -> Deployed:
    """A function on top of another one of people in this encoding, the first computed in ``handed``."""
    on = encoding if first.is_identity else None
    return second.deployed(arithmetic, on).after(first.deployed(handed, encoding))
