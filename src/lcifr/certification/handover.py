"""Hand-overs: latents of people with the proved radius and box of everyone similar, and the files that hold them."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding, Individuals
from lcifr.data.codec import Record, key
from lcifr.data.files import (
    MANIFEST,
    describe_files,
    fresh_folder,
    open_folder,
    read_arrays,
    read_json,
    versions,
    write_json,
    write_manifest,
)
from lcifr.data.ingest import Id, as_ids
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.function import REFUSED, Function
from lcifr.models.network import Network, as_network
from lcifr.phi.formula import print_formula
from lcifr.phi.similarity import Similarity
from lcifr.prove import Budget, Resources
from lcifr.prove.radius import prove_box
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# Provenance of a hand-over: whose proof it is and about what exactly, and the manifest that says so.

FORMAT = "lcifr-handover-3"
LATENT, IDS = "latent.safetensors", "ids.json"


@dataclass(frozen=True)
class Provenance(Record):
    """What was proved, about which encoder and formula, and how.

    Parameters
    ----------
    weights, schema, encoding, similarity : hashes.
    similarity_text : the formula, or None where the producer withholds it. Its hash is ``similarity``.
    tolerance, method, versions : how the radii were proved, and with what.
    whole_numbers : whether the radii cover whole numbers only, where the schema calls an attribute whole.
    arithmetic : of the encoder: ball and box hold what any machine that computes in it finds. A verdict in floating
        point needs one that is not exact.
    latent_format : of the numbers in the file.
    scales : schema and scales with which the text is the formula of that hash, as ``Encoding.to_dict`` gives them.
    """

    closed = True
    weights: str
    schema: str
    encoding: str
    similarity: str
    similarity_text: str | None = field(metadata=key(read=lambda text: text))  # :meth:`formula` refuses what is no text
    tolerance: float
    method: str
    whole_numbers: bool = False
    arithmetic: Arithmetic = Arithmetic.EXACT
    latent_format: str = "float64"
    versions: dict[str, str] = field(default_factory=dict)
    scales: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.latent_format != "float64":
            raise ValueError(f"latents are stored as float64, not as {self.latent_format!r}")

    @property
    def universe(self) -> str:
        """Whom the radii cover: ``whole`` numbers where the schema calls an attribute whole, or all ``reals``."""
        return "whole" if self.whole_numbers else "reals"

    def formula(self) -> Similarity | None:
        """φ, read from its text; None where it is withheld.

        Raises
        ------
        ArtefactError
            If the text is not the formula whose hash stands here, or holds more than that: a comment is in no hash.
        """
        if self.similarity_text is None:
            return None
        wrong = ArtefactError("the text of φ is not the formula that the hash names", fix="ask the producer for both")
        try:
            encoding = Encoding.from_dict(self.scales or {})
            found = Similarity(str(self.similarity_text), encoding.schema, encoding)
        except LcifrError as problem:
            raise wrong from problem
        named = (encoding.hash, found.hash, print_formula(found.formula))
        if named != (self.encoding, self.similarity, self.similarity_text):
            raise wrong
        return found


@dataclass(frozen=True)
class Outline:
    """What the manifest of a hand-over says, once its files are found to be those that it speaks about."""

    people: int
    width: int
    provenance: Provenance
    counts: Any

    @classmethod
    def read(cls, root: Path) -> Outline:
        manifest = open_folder(root, FORMAT, (IDS, LATENT))
        people, width = manifest.get("people"), manifest.get("width")
        if type(people) is not int or type(width) is not int or people < 0 or width < 1:
            raise ArtefactError(f"{root / MANIFEST} does not say how many people and coordinates there are")
        try:
            provenance = Provenance.from_dict(manifest["provenance"])
        except (KeyError, ValueError):
            raise ArtefactError(f"{root / MANIFEST} does not say whose proof this is, or in which arithmetic") from None
        try:
            provenance.formula()
        except ArtefactError as problem:
            raise ArtefactError(f"{root / MANIFEST}: {problem}") from None
        return cls(people, width, provenance, manifest.get("counts"))

    def shapes(self) -> dict[str, tuple[type, tuple[int, ...]]]:
        """The arrays that there must be."""
        matrix, vector = (np.float64, (self.people, self.width)), (np.bool_, (self.people,))
        matrices: dict[str, tuple[type, tuple[int, ...]]] = dict.fromkeys(("latent", "lower", "upper"), matrix)
        return {**matrices, "radius": (np.float64, (self.people,)), "exact": vector, "vacuous": vector}

    def no_ids(self, root: Path) -> ArtefactError:
        return ArtefactError(f"{root / IDS} is not a list of {self.people} ids (text or whole numbers)")

    def check_counts(self, root: Path, counts: dict[str, int]) -> None:
        if self.counts != counts:
            raise ArtefactError(f"{root / MANIFEST} does not agree with {LATENT}: {self.counts}")


def manifest_of(
    provenance: Provenance, files: dict[str, Any], shape: tuple[int, ...], counts: dict[str, int]
) -> dict[str, Any]:
    people, width = shape
    return {
        "format": FORMAT,
        "people": people,
        "width": width,
        "provenance": provenance.to_dict(),
        "counts": counts,
        "files": files,
    }


# The hand-over: z and how far anyone similar can land from it, per person; never x.
#
# folder/manifest.json        format, hashes, who proved what with which tolerance
# folder/latent.safetensors   z, radius, lower, upper, exact, vacuous
# folder/ids.json             one id per person

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Representation:
    """What a producer hands over: for each person a latent z, and a proved ball and box that contain everyone similar.

    Parameters
    ----------
    ids : (people,) strings or integers, each once.
    latent : (people, width) z.
    radius : (people,) ε ≥ ‖f(x′) − z‖∞ for every similar x′ and for x itself.
    lower, upper : (people, width) the proved box; it lies in the ball.
    exact : (people,) whether the radius is known to be tight, up to the tolerance.
    vacuous : (people,) whether no one is similar.
    provenance : hashes, tolerance, method.
    checked : (people,) whether an auditor's report confirms the radius; until then it is the producer's claim.
    """

    ids: tuple[Id, ...]
    latent: FloatArray
    radius: FloatArray
    lower: FloatArray
    upper: FloatArray
    exact: BoolArray
    vacuous: BoolArray
    provenance: Provenance
    checked: BoolArray | None = None

    def __post_init__(self) -> None:
        _check(self, "the representation")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def width(self) -> int:
        return int(self.latent.shape[1])

    @property
    def radius_status(self) -> NDArray[np.str_]:
        """(people,) ``claimed`` or ``checked``."""
        checked = np.zeros(len(self), np.bool_) if self.checked is None else self.checked
        return np.where(checked, "checked", "claimed")

    def take(self, index: Any) -> Representation:
        """Some of the people: a slice, a mask or indices."""
        chosen = np.arange(len(self))[index]
        return replace(
            self,
            ids=tuple(self.ids[i] for i in chosen),
            checked=None if self.checked is None else self.checked[chosen],
            **{name: array[chosen] for name, array in self.arrays().items()},
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays as the file holds them."""
        names = ("latent", "radius", "lower", "upper", "exact", "vacuous")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def latent_hash(self) -> str:
        """The name of exactly what is said of these people; an auditor's report speaks about it."""

        digest = hashlib.sha256()
        rows = np.concatenate([self.latent, self.radius[:, None], self.lower, self.upper], axis=1).astype("<f8")
        about = (self.provenance.universe, str(self.provenance.arithmetic))
        said = zip(self.ids, self.exact.tolist(), self.vacuous.tolist(), strict=True)
        for head, row in zip(said, rows, strict=True):  # person by person, so that a checker can go along
            digest.update(json.dumps([*head, *about]).encode() + b"\n" + row.tobytes())
        return digest.hexdigest()

    def with_report(self, report: str | Path) -> Representation:
        """The same with the radii that a checker's report (``python -m lcifr.check BUNDLE --json``) confirms."""
        found, about = read_json(Path(report)), self.provenance
        named = {"hand-over": self.latent_hash, "encoder.json": about.weights}  # a radius of another φ is none of this
        named |= {"encoding.json": about.encoding, "similarity.json": about.similarity, "schema": about.schema}
        hashes = found.get("hashes") if isinstance(found, dict) else None
        if not isinstance(hashes, dict) or not named.items() <= hashes.items():
            raise ArtefactError(
                f"{report} is about a different hand-over", fix="check the bundle that belongs to this one"
            )
        confirmed, empty = (self._named(found, kind) for kind in ("radius", "vacuous_radius"))
        return replace(self, checked=confirmed, vacuous=self.vacuous | (confirmed & empty))

    def _named(self, report: dict[str, Any], kind: str) -> BoolArray:
        """(people,) who is among these names of a checker's report."""
        names = report["names"].get(kind, ()) if isinstance(report.get("names"), dict) else ()
        return np.isin(np.array([str(name) for name in self.ids]), np.array([*names], dtype=str))

    def frame(self) -> Any:
        """A pandas frame, one row per person; ``frame().to_parquet(…)`` for other tools."""
        import pandas as pd

        columns = {f"z{j}": self.latent[:, j] for j in range(self.width)}
        more = {
            "radius": self.radius,
            "exact": self.exact,
            "vacuous": self.vacuous,
            "radius_status": self.radius_status,
        }
        return pd.DataFrame({"id": list(self.ids), **columns, **more})

    # -- files ---------------------------------------------------------------------------------------------------------

    def write(self, folder: str | Path) -> None:
        """Write the hand-over as a new folder; it appears whole or not at all."""
        from safetensors.numpy import save_file

        with fresh_folder(folder) as fresh:
            save_file({name: np.ascontiguousarray(array) for name, array in self.arrays().items()}, fresh / LATENT)
            write_json(fresh / IDS, list(self.ids))
            write_manifest(fresh, manifest_of(self.provenance, describe_files(fresh), self.latent.shape, self.counts))

    @property
    def counts(self) -> dict[str, int]:
        exact = int(self.exact.sum())
        return {"exact": exact, "not_exact": len(self) - exact, "vacuous": int(self.vacuous.sum())}

    @classmethod
    def read(cls, folder: str | Path) -> Representation:
        """Read a hand-over, and refuse it, naming the file, where it does not add up."""
        root = Path(folder)
        outline = Outline.read(root)
        arrays = read_arrays(root / LATENT, outline.shapes())
        ids = read_json(root / IDS)
        if not isinstance(ids, list) or len(ids) != outline.people or not all(type(i) in (str, int) for i in ids):
            raise outline.no_ids(root)
        found = cls(tuple(ids), **arrays, provenance=outline.provenance)
        outline.check_counts(root, found.counts)
        return found


def _check(found: Representation, what: str) -> None:
    """Refuse a hand-over whose shapes, ids or numbers are not valid; ``what`` names it in errors."""
    people, width = found.latent.shape
    shapes = {"radius": (people,), "lower": (people, width), "upper": (people, width), "exact": (people,)}
    for name, shape in (shapes | {"vacuous": (people,)}).items():
        if getattr(found, name).shape != shape:
            raise ArtefactError(f"{what}: {name} has the shape {getattr(found, name).shape}, expected {shape}")
    if len(found.ids) != people or len(set(map(str, found.ids))) != people:
        raise ArtefactError(f"{what}: there must be one id per person, each once", fix="pass ids that are unique")
    for name in ("latent", "radius", "lower", "upper"):
        if not np.isfinite(getattr(found, name)).all():
            raise ArtefactError(f"{what}: {name} holds NaN or infinity")
    if (found.radius < 0).any():
        raise ArtefactError(f"{what}: a radius is negative (row {int(np.argmax(found.radius < 0))})")
    if (found.lower > found.upper).any():
        raise ArtefactError(f"{what}: a box runs backwards (row {int(np.argmax((found.lower > found.upper).any(1)))})")


# Hand-overs in bounded memory: read in chunks, joined from parts, with exact statistics of their radii.

ROWS = 1 << 16
BLOCK, LONGEST = 1 << 16, 1 << 20
"""Letters of a list of ids that are read at a time, and more than any id has."""
DECODER, WHITE, AFTER = json.JSONDecoder(), re.compile(r"\s*"), re.compile(r"\s*([,\]])\s*")
TYPES: dict[str, type] = {"F64": np.float64, "BOOL": np.bool_}
DIGITS, PASSES = 16, 4
"""Bits of a number that are settled at a time, and how often all are read until none is left."""


@dataclass(frozen=True)
class HandoverChunk:
    """Consecutive people of a hand-over, from row ``start`` on."""

    number: int
    start: int
    representation: Representation

    @property
    def ids(self) -> tuple[str | int, ...]:
        return self.representation.ids

    @property
    def size(self) -> int:
        return len(self.ids)

    def content(self) -> Iterator[bytes]:
        """Everything about these people except their ids."""
        for _, array in sorted(self.representation.arrays().items()):
            yield array.tobytes(order="C")


def read_handover_chunks(folder: Path, size: int) -> Iterator[HandoverChunk]:
    """The people of a hand-over in chunks of ``size``; an inconsistent file is an error that names it.

    That no id occurs twice is left to whoever reads: it cannot be seen in one piece.
    """
    outline = Outline.read(folder)
    _check_names(folder / LATENT, set(outline.shapes()))
    columns = {name: read_rows(folder / LATENT, name, size, shape) for name, shape in outline.shapes().items()}
    ids, counts = stream_ids(folder / IDS), Counter[str]()
    for number, start in enumerate(range(0, outline.people, size)):
        arrays = {name: next(column) for name, column in columns.items()}
        names = tuple(islice(ids, size))
        if len(names) != len(arrays["latent"]):
            raise outline.no_ids(folder)
        found = Representation(names, **arrays, provenance=outline.provenance)
        counts.update(found.counts)
        yield HandoverChunk(number, start, found)
    if next(ids, None) is not None:
        raise outline.no_ids(folder)
    outline.check_counts(folder, {name: counts[name] for name in ("exact", "not_exact", "vacuous")})


def _check_names(path: Path, expected: set[str]) -> None:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as opened:
            found = set(opened.keys())
    except (SafetensorError, OSError) as problem:
        raise ArtefactError(f"{path} is not a safetensors file: {problem}", fix="get the file again") from None
    if found != expected:
        raise ArtefactError(f"{path} holds {sorted(found)}, expected {sorted(expected)}")


def read_rows(
    path: Path, name: str, size: int = ROWS, expected: tuple[type, tuple[int, ...]] | None = None
) -> Iterator[NDArray[Any]]:
    """One array of a safetensors file, chunk by chunk. Read rather than mapped: mapped pages stay in memory."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as opened:
        kind, shape = opened.get_slice(name).get_dtype(), tuple(opened.get_slice(name).get_shape())
    dtype = TYPES.get(kind)
    if dtype is None or (expected is not None and expected != (dtype, shape)):
        raise ArtefactError(f"{path}: {name} is {kind} {shape}, expected {expected}")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        file.seek(8 + length + json.loads(file.read(length))[name]["data_offsets"][0])
        each = int(np.prod(shape[1:], dtype=np.int64))
        for start in range(0, shape[0], size):
            count = min(size, shape[0] - start)
            yield np.fromfile(file, dtype, count * each).reshape(count, *shape[1:])


def stream_ids(path: Path) -> Iterator[str | int]:
    """The ids of a hand-over, parsed incrementally from JSON in bounded memory."""
    wrong = ArtefactError(f"{path} is not a list of ids (text or whole numbers)", fix="get the file again")
    with path.open(encoding="utf-8") as file:
        text, at = file.read(BLOCK), 1
        closed = text.split() == ["[", "]"] or text.strip() == "[]"
        if not text.startswith("["):
            raise wrong
        while not closed:
            value, after = _id_at(text, at)
            if value is None or after is None:  # it may go on in what was not read yet
                more = file.read(BLOCK)
                if not more or len(text) - at > LONGEST:
                    raise wrong
                text, at = text[at:] + more, 0
                continue
            yield value
            closed, at = after.group(1) == "]", after.end()
            if closed and (text[at:].strip() or file.read(BLOCK).strip()):
                raise wrong


def _id_at(text: str, at: int) -> tuple[str | int | None, re.Match[str] | None]:
    """An id and the comma or bracket after it; None where there is none, or not all of it."""
    begin = WHITE.match(text, at)
    try:
        value, end = DECODER.raw_decode(text, begin.end() if begin else at)
    except (ValueError, RecursionError):
        return None, None
    return (value, AFTER.match(text, end)) if type(value) in (str, int) else (None, None)


@dataclass(frozen=True)
class RadiusSummary:
    """Statistics of the radii of a hand-over: how many are exact, and how many belong to empty regions."""

    median: float
    largest: float
    exact: int
    vacuous: int


def radius_summary(folder: Path) -> RadiusSummary:
    """Median, maximum and counts of the radii of a hand-over."""
    manifest = read_json(folder / MANIFEST)
    counts, people = manifest["counts"], int(manifest["people"])

    def radii() -> Iterator[FloatArray]:
        return read_rows(folder / LATENT, "radius")

    return RadiusSummary(
        median=median(radii, people),
        largest=float(max(some.max() for some in radii())),
        exact=int(counts["exact"]),
        vacuous=int(counts["vacuous"]),
    )


def median(read: Callable[[], Iterator[FloatArray]], count: int) -> float:
    """The median of non-negative numbers, as numpy defines it, in bounded memory; calls ``read`` repeatedly."""
    if count % 2:
        return _kth(read, count // 2)
    return float(np.mean([_kth(read, count // 2 - 1), _kth(read, count // 2)]))


def _kth(read: Callable[[], Iterator[FloatArray]], k: int) -> float:
    """The k-th smallest number, counted from 0, by radix selection: non-negative floats sort as their bits do."""
    known, rest = np.uint64(0), k
    for done in range(PASSES):
        shift = np.uint64(64 - DIGITS * (done + 1))
        counts = np.zeros(1 << DIGITS, np.int64)
        for some in read():
            bits = (some + 0.0).view(np.uint64)  # −0 is 0
            mine = bits if done == 0 else bits[bits >> (shift + np.uint64(DIGITS)) == known]
            counts += np.bincount((mine >> shift) & np.uint64((1 << DIGITS) - 1), minlength=1 << DIGITS)
        place = int(np.searchsorted(counts.cumsum(), rest, side="right"))
        rest -= int(counts[:place].sum())
        known = known << np.uint64(DIGITS) | np.uint64(place)
    return float(np.array(known, np.uint64).view(np.float64))


KINDS = {"float64": "F64", "bool": "BOOL"}  # as safetensors calls them


def join_handover(parts: Sequence[Path], fresh: Path) -> tuple[tuple[int, int], dict[str, int]]:
    """All parts as one safetensors file and one list of ids; returns (people, width) and the counts."""
    from safetensors import safe_open

    people = _join_ids(parts, fresh / IDS)
    with safe_open(parts[0], framework="numpy") as opened:
        first = {name: opened.get_tensor(name) for name in sorted(opened.keys())}
    # As the library would write it: wide types first, so that every tensor stays aligned.
    order = sorted(first, key=lambda name: (-first[name].itemsize, name))
    sums = dict.fromkeys(order, 0)
    with (fresh / LATENT).open("wb") as whole:
        whole.write(_header({name: first[name] for name in order}, people))
        for name in order:
            for part in parts:
                with safe_open(part, framework="numpy") as opened:
                    array = opened.get_tensor(name)
                whole.write(np.ascontiguousarray(array).tobytes())
                sums[name] += int(array.sum()) if array.dtype == np.bool_ else 0
    counts = {"exact": sums["exact"], "not_exact": people - sums["exact"], "vacuous": sums["vacuous"]}
    return (people, first["latent"].shape[1]), counts


def _join_ids(parts: Sequence[Path], path: Path) -> int:
    from safetensors import safe_open

    people = 0
    with path.open("w", encoding="utf-8") as file:
        for part in parts:
            with safe_open(part, framework="numpy") as opened:
                ids = json.loads(opened.metadata()["ids"])
            for name in ids:
                file.write(("[" if people == 0 else ",\n ") + json.dumps(name))
                people += 1
        file.write("]")
    return people


def _header(arrays: dict[str, Any], people: int) -> bytes:
    """The header of a safetensors file with these arrays for ``people`` rows."""
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        size = people * array[:1].nbytes
        kind, shape = KINDS[str(array.dtype)], [people, *array.shape[1:]]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


# The producer's proof: encoders as certificates see them, and the radius and box of every person.


def freeze(encoder: Any) -> FrozenEncoder:
    """A frozen copy of an encoder: of what was fitted (``network_``, ``score_trees_``), else of ``network``."""
    if isinstance(encoder, FrozenEncoder):
        return encoder
    # A fitted estimator first: its `similarity` without _ is what it was asked for, which may be a text.
    for name, similarity in FITTED:
        function = getattr(encoder, name, None)
        if isinstance(function, Function):
            whole = bool(getattr(encoder, "whole_numbers", False))
            return FrozenEncoder(function, getattr(encoder, similarity), whole)
    raise LcifrError(
        f"{type(encoder).__name__} has no network or trees, and no similarity",
        fix="pass a fitted FairEncoder or FairBooster, or FrozenEncoder(network, similarity)",
    )


FITTED = (("network_", "similarity_"), ("score_trees_", "similarity_"), ("network", "similarity"))
"""Where encoders keep the function that gives z, and φ."""


@dataclass(frozen=True)
class FrozenEncoder:
    """An encoder that cannot be trained: for networks trained elsewhere, and for models of people as they are.

    Parameters
    ----------
    function : from encoded people to z: a network, or the trees of a booster, whose z are scores of attributes.
    whole_numbers : whether its hand-overs speak about whole numbers only, where the schema calls an attribute whole.
    """

    function: Function
    similarity: Similarity
    whole_numbers: bool = False

    def __post_init__(self) -> None:
        features = len(self.encoding.features)
        if self.function.inputs != features:
            raise LcifrError(
                f"the encoder takes {self.function.inputs} features, the encoding gives {features}",
                fix="train the network on what Encoding.encode gives",
            )

    @classmethod
    def identity(cls, similarity: Similarity) -> FrozenEncoder:
        """z is x itself, encoded: audits of models that were trained on people, not on representations."""
        features = len(similarity.encoding.features)
        return cls(Network.from_arrays([(np.eye(features), np.zeros(features))]), similarity)

    @property
    def network(self) -> Network:
        """The function, where it is a network; an error that says what it is instead."""
        return as_network(self.function)

    @property
    def encoding(self) -> Encoding:
        return self.similarity.encoding

    @property
    def native(self) -> Arithmetic:
        """The arithmetic of the encoder's runtime."""
        return self.function.native

    @property
    def free_attributes(self) -> set[str]:
        """Those that φ leaves free, always or sometimes."""
        return {*self.similarity.free_attributes, *self.similarity.sometimes_free_attributes}

    def region(self, people: Individuals) -> Region:
        """S_φ of these people over the reals."""
        return self.similarity.region(people)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, width) z."""
        return self.function(self.encoding.encode(X))

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """See :func:`represent`."""
        return represent(self, X, ids, **options)


TREES = "trees"
"""The method of a hand-over whose z are scores of attributes: leaves that can be reached, in closed form."""
TOLERANCE = 1e-6
"""How far, in absolute and relative terms, a proved radius may lie above the true one."""
ROOM = 0.5
"""Share of the tolerance that is added to every end of a box: room in which the same bound is proved again, by another
tree or in exact arithmetic. The proofs get the rest, so that the radius is as tight as was asked for."""


def represent(
    encoder: Any,
    X: Any,
    ids: Any = None,
    *,
    share_formula: bool = True,
    tolerance: float = TOLERANCE,
    budget: Budget | int | None = None,
    device: str | None = None,
    arithmetic: str | None = None,
) -> Representation:
    """The latents of people, with the proved radius and box within which everyone similar lands.

    Parameters
    ----------
    encoder : a fitted ``FairEncoder`` or ``FairBooster``, or anything with ``network``, ``similarity`` and
        ``encoding``.
    X : a table of people.
    ids : one per person, text or whole numbers, each once; 0, 1, … if None.
    share_formula : whether the manifest shows the text of φ, with the scales that it takes to compare it with its
        hash, which is always there. A formula with ranks is never shown: its hash is one of training people's numbers.
    tolerance, budget, device : of the proofs; see :func:`lcifr.prove.radius`.
    arithmetic : in which the encoder is computed; as for :func:`lcifr.audit`. Ball and box hold what any such machine
        computes for the person and for everyone similar.
    """
    encoder = freeze(encoder)
    people = Individuals.read(X, encoder.encoding.schema)
    names = as_ids(ids, len(people))  # before hours of proofs
    region = encoder.similarity.region(people, whole_numbers=encoder.whole_numbers)
    deployed = choose_arithmetic(arithmetic, encoder.native)
    provenance = provenance_of(encoder, share_formula, tolerance, deployed)
    return represent_region(encoder, people, region, names, provenance, budget=budget, device=device)


def represent_region(
    encoder: FrozenEncoder,
    people: Individuals,
    region: Region,
    ids: tuple[Id, ...],
    provenance: Provenance,
    *,
    tight: bool = False,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Representation:
    """:func:`represent` of people whose regions are at hand; ``provenance`` names tolerance and arithmetic.

    ``tight``: every end of the box as near as the tolerance, not only those that the radius needs.
    """
    tolerance = provenance.tolerance
    options = dict[str, Any](tolerance=(1 - ROOM) * tolerance, tight=tight, resources=Resources.of(budget, device))
    found = prove_box(encoder.function, encoder.encoding.encode(people), region, **options)
    room = _deployment_error(encoder, provenance.arithmetic, ids, people, region)
    lower = _widened(found.lower, -ROOM * tolerance) - room
    upper = _widened(found.upper, ROOM * tolerance) + room
    return Representation(
        ids=ids,
        latent=found.latent,
        radius=covering(found.latent, lower, upper),
        lower=lower,
        upper=upper,
        exact=found.exact,
        vacuous=~region.nonempty,
        provenance=provenance,
    )


def represent_lowered(
    encoder: FrozenEncoder,
    people: Individuals,
    lowered: Region,
    *,
    arithmetic: Arithmetic,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Representation:
    """The hand-over that an audit asks about, of people whose regions over the reals are at hand; φ is not shown."""
    region = narrow_to_whole_numbers(lowered, encoder.encoding) if encoder.whole_numbers else lowered
    provenance = provenance_of(encoder, False, TOLERANCE, arithmetic)
    names = as_ids(None, len(people))
    return represent_region(encoder, people, region, names, provenance, budget=budget, device=device)


def _deployment_error(
    encoder: FrozenEncoder, arithmetic: Arithmetic, ids: Sequence[Id], people: Individuals, region: Region
) -> FloatArray:
    """(people, width) how far a machine's f(x) and f(x′) can be from exact ones; overflow has no box and is refused."""
    deployment = encoder.function.deployed(arithmetic, encoder.encoding)
    error = np.maximum(deployment.error_at(encoder.encoding.encode(people)), deployment.error_over(region))
    rows = np.flatnonzero((error >= REFUSED).any(1))
    if len(rows):
        raise LcifrError(
            f'numbers may overflow in {arithmetic} for somebody similar to "{ids[rows[0]]}", so there is no radius',
            fix='say arithmetic="exact", or scale the weights down',
        )
    return np.asarray(error * (1.0 + 1e-9))


def _widened(ends: FloatArray, room: float) -> FloatArray:
    return np.asarray(ends + room * (1.0 + np.abs(ends)))


def covering(latent: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(people,) the radius of the ball around z that holds the box, rounded up."""
    return np.asarray(np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf))


def provenance_of(encoder: FrozenEncoder, share_formula: bool, tolerance: float, arithmetic: Arithmetic) -> Provenance:
    schema = json.dumps(encoder.encoding.schema.to_dict(), ensure_ascii=True).encode()
    shown = share_formula and not encoder.similarity.takes_ranks
    return Provenance(
        weights=encoder.function.hash,
        schema=hashlib.sha256(schema).hexdigest(),
        encoding=encoder.encoding.hash,
        similarity=encoder.similarity.hash,
        similarity_text=encoder.similarity.canonical_text if shown else None,
        scales=encoder.encoding.to_dict() if shown else None,
        tolerance=tolerance,
        method=TREES if encoder.function.deployed(arithmetic).has_image else "cascade",
        whole_numbers=encoder.whole_numbers,
        arithmetic=arithmetic,
        versions=versions(),
    )
