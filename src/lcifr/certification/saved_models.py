"""Files of models: encoders, heads, boosters and trees on latents in one safetensors form; nothing is pickled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.codec import Arrays, TensorFile
from lcifr.data.files import write_atomic
from lcifr.errors import LcifrError, LearningError, NetworkError
from lcifr.models.additive import AdditiveModel, additive_from_dict, additive_to_dict
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Degeneracy, Model, Prediction, read_function
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import Trees, from_preorder, score_trees
from lcifr.phi.similarity import Similarity

if TYPE_CHECKING:
    from lcifr.learn.target import Target


# Functions from people to z as their estimators' parameters describe them.

Plain = Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """What every file says of its estimator.

    Parameters
    ----------
    parameters : of the estimator, plain. history : of the training, a line per epoch.
    degeneracies : what is trivial about the model.
    """

    parameters: Plain
    history: tuple[Plain, ...] = ()
    degeneracies: tuple[Degeneracy, ...] = ()

    def _training(self) -> dict[str, Any]:
        """History and degeneracies as entries of a file."""
        return {"history": list(self.history), "degeneracies": [asdict(one) for one in self.degeneracies]}

    @staticmethod
    def _read(content: Plain) -> dict[str, Any]:
        """The fields of this class, of the entries of a file."""
        return {
            "parameters": content["parameters"],
            "history": tuple(content["history"]),
            "degeneracies": tuple(Degeneracy(**one) for one in content["degeneracies"]),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedFunction(Learned):
    """A function from people to z.

    Parameters
    ----------
    similarity : φ with the scales of the encoding.
    named : whether it was learned from a table with column names.
    """

    similarity: Similarity
    named: bool

    @property
    def is_unaware(self) -> bool:
        """Whether it is the baseline by that name: learned for the label alone, without what φ leaves free."""
        return bool(self.parameters["tie_free"]) and self.parameters["gamma"] == 0

    @property
    def whole_numbers(self) -> bool:
        """Whether its hand-overs speak about whole numbers only."""
        return bool(self.parameters["whole_numbers"])


# Files of learned encoders and heads: typed, with one reader and one writer each; nothing is pickled.

FORMAT = "lcifr-model"
VERSION = 4  # 1 and 2 named φ, scales and weights by earlier canonical forms; numbers of 3 were standardised
ENCODER = "FairEncoder"
Training = Callable[[Schema], Individuals]
"""What reads the training people, whom formulas that take ranks need."""
KEY = "lcifr"  # one entry: safetensors writes several in any order, and equal models should be equal files


@dataclass(frozen=True)
class Stored:
    """What a file holds: plain values and networks by name."""

    content: dict[str, Any]
    networks: dict[str, Network]


def write_stored(path: str | Path, kind: str, stored: Stored) -> None:
    """One safetensors file; a reader never sees half of it."""
    tensors: dict[str, np.ndarray] = {}
    for name, network in stored.networks.items():
        tensors |= network.named_tensors(f"{name}.")
    depths = {name: len(network.layers) for name, network in stored.networks.items()}
    # Keys keep their order: the order of a schema's attributes is the order of the feature columns.
    text = json.dumps({"content": stored.content, "networks": depths}, ensure_ascii=False, allow_nan=False)
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "hash": _digest(text, tensors), "content": text}
    write_atomic(path, TensorFile(tensors, {KEY: json.dumps(header, ensure_ascii=False)}).to_bytes())


def read_kind(path: str | Path) -> str:
    """The kind of model that a file holds, by its own word; empty where it says none."""
    return str(_open(Path(path))[0].get("kind", ""))


def read_stored(path: str | Path, kind: str) -> Stored:
    """Read what :func:`write_stored` wrote; a broken, altered, foreign or newer file is an error."""
    header, tensors = _open(Path(path))
    if header.get("format") != FORMAT:
        raise LearningError(f"{path} is not a saved model of lcifr", fix="write it with .save(path)")
    if header.get("version") != VERSION:
        older = isinstance(found := header.get("version"), int) and found < VERSION
        fix = "learn and save the model again with this version" if older else "update lcifr"
        raise LearningError(f"{path} has format version {found}, this lcifr reads {VERSION}", fix=fix)
    if header.get("kind") != kind:
        raise LearningError(f"{path} holds a {header.get('kind')}, not a {kind}", fix=f"use {header.get('kind')}.load")
    text = header.get("content", "")
    if header.get("hash") != _digest(text, tensors):
        raise LearningError(f"{path}: its numbers have changed since it was saved", fix="get the file again")
    values = json.loads(text)
    depths = values["networks"].items()
    networks = {name: Network.of_tensors(tensors, depth, f"{name}.") for name, depth in depths}
    return Stored(values["content"], networks)


def _open(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise LearningError(f"{path} cannot be read: {problem}") from None
    try:
        file = TensorFile.from_bytes(data)
        header = json.loads(file.texts.get(KEY, "{}"))
    except ValueError as problem:
        raise LearningError(f"{path} is damaged, or not a saved model: {problem}", fix="get the file again") from None
    return header if isinstance(header, dict) else {}, file.arrays


def _digest(text: str, tensors: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name], dtype="<f8")
        digest.update(f"{name}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SavedEncoder(LearnedFunction):
    """A learned encoder.

    Parameters
    ----------
    network, head, decoder : f, and the networks that predict the label and x from z; None where there are none.
    target : what was predicted, or None.
    similarity, named, parameters, history, degeneracies : as for :class:`LearnedFunction` and :class:`Learned`.
    """

    network: Network
    head: Network | None
    decoder: Network | None
    target: Prediction | None

    @property
    def function(self) -> Network:
        return self.network

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file."""
        content = {
            "parameters": dict(self.parameters),
            **write_formula(self.similarity),
            "target": None if self.target is None else self.target.to_dict(),
            **self._training(),
            "named": self.named,
        }
        networks = {"encoder": self.network, "head": self.head, "decoder": self.decoder}
        write_stored(path, ENCODER, Stored(content, {name: net for name, net in networks.items() if net is not None}))

    @classmethod
    def read(cls, path: str | Path, training: Training | None = None, *, only_for_ranks: bool = False) -> SavedEncoder:
        """What :meth:`write` wrote; ``training`` is asked for formulas that take ranks alone if ``only_for_ranks``."""
        stored = read_stored(path, ENCODER)
        with consistent_file(path):
            content = stored.content
            return cls(
                network=stored.networks["encoder"],
                head=stored.networks.get("head"),
                decoder=stored.networks.get("decoder"),
                similarity=read_formula(content, training, only_for_ranks=only_for_ranks),
                target=None if content["target"] is None else Prediction.from_dict(content["target"]),
                named=bool(content["named"]),
                **cls._read(content),
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedHead(Learned):
    """A learned head on z; kind : the name of its estimator. Otherwise as for :class:`Learned`."""

    kind: str
    model: Model

    @property
    def class_weight(self) -> Any:
        """As the estimator takes it; None for numbers."""
        weight = self.parameters.get("class_weight")
        return dict(weight) if isinstance(weight, list) else weight

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file."""
        content = {
            "parameters": dict(self.parameters),
            "target": Prediction.of_model(self.model).to_dict(),
            "mean": self.model.mean,
            **self._training(),
        }
        write_stored(path, self.kind, Stored(content, {"head": self.model.network}))

    @classmethod
    def read(cls, path: str | Path, kind: str) -> SavedHead:
        """What :meth:`write` wrote of this kind."""
        stored = read_stored(path, kind)
        with consistent_file(path):
            content = stored.content
            return cls(
                kind=kind,
                model=Prediction.from_dict(content["target"]).model(stored.networks["head"], content["mean"]),
                **cls._read(content),
            )


def write_formula(similarity: Similarity) -> dict[str, Any]:
    """φ and the scales of its encoding, as entries of a file."""
    named = {"text": similarity.text, "source": similarity.source, "hash": similarity.hash}
    return {"encoding": similarity.encoding.to_dict(), "similarity": named}


def read_formula(content: Plain, training: Training | None, *, only_for_ranks: bool = False) -> Similarity:
    """What :func:`write_formula` wrote, if it still means the same; ``training`` as for :meth:`SavedEncoder.read`."""
    encoding, said = Encoding.from_dict(content["encoding"]), content["similarity"]
    if training is not None and not (only_for_ranks and "rank" not in said["text"]):
        encoding = replace(encoding, training=training(encoding.schema))
    similarity = Similarity(said["text"], encoding.schema, encoding, source=said["source"])
    if similarity.hash != said["hash"]:
        fix = "give the same training table; train a model of an older lcifr again"
        raise LearningError("the formula does not mean what it meant when the model was saved", fix=fix)
    return similarity


def similarity_arrays(similarity: Similarity, into: Arrays) -> dict[str, Any]:
    """φ with the scales that it speaks of; and, where it takes ranks, the people whom it ranks."""
    people, ranked = similarity.encoding.ranked, None
    if similarity.takes_ranks and people is not None:
        ranked = [into.put(people.numbers), into.put(people.codes)]
    about = {"text": similarity.text, "source": similarity.source, "hash": similarity.hash}
    target = similarity.schema.target
    return {**about, "encoding": similarity.encoding.to_dict(), "target": target, "ranked": ranked}


def read_similarity(said: Plain, held: Arrays) -> Similarity:
    """What :func:`similarity_arrays` gave, if it means the same here."""
    encoding = Encoding.from_dict(said["encoding"])
    if said["ranked"] is not None:
        numbers, codes = (held.arrays[name] for name in said["ranked"])
        encoding = replace(encoding, with_gaps=Individuals(encoding.schema, numbers, codes))
    schema = replace(encoding.schema, target=said["target"])
    found = Similarity(said["text"], schema, encoding, source=said["source"])
    if found.hash != said["hash"]:
        raise LcifrError(
            "φ does not mean on this machine what it means where the run was started: the hashes differ",
            fix="install the same version of lcifr on all machines",
        )
    return found


def encoder_arrays(encoder: FrozenEncoder, into: Arrays) -> dict[str, Any]:
    """An encoder with its φ."""
    similarity = similarity_arrays(encoder.similarity, into)
    function = encoder.function.to_arrays(into)
    return {"function": function, "similarity": similarity, "whole_numbers": encoder.whole_numbers}


def read_encoder(said: Plain, held: Arrays) -> FrozenEncoder:
    """What :func:`encoder_arrays` gave."""
    similarity = read_similarity(said["similarity"], held)
    return FrozenEncoder(read_function(said["function"], held), similarity, bool(said["whole_numbers"]))


@contextmanager
def consistent_file(path: str | Path) -> Iterator[None]:
    """Refuse a file with a missing or odd value, in words instead of Python's own."""
    try:
        yield
    except LearningError:
        raise
    except (KeyError, TypeError, ValueError) as problem:
        raise LearningError(f"{path}: its description of the model contradicts itself: {problem!r}") from None


# Files of boosted additive models: shape functions as plain numbers; nothing is pickled.

BOOSTERS = ("FairBooster", "FairBoosterRegressor")
"""Kinds of files that hold a booster."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SavedBooster(LearnedFunction):
    """A boosted model; kind : the name of its estimator. Otherwise as for ``SavedEncoder``."""

    kind: str
    additive: AdditiveModel
    target: Target

    @cached_property
    def function(self) -> Trees:
        """From encoded people to z: the scores of attributes."""
        return score_trees(self.additive)

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file, whose header holds all of it: JSON loses no bit of a float."""
        content = {
            "parameters": dict(self.parameters),
            **write_formula(self.similarity),
            "target": self.target.to_dict(),
            "additive": additive_to_dict(self.additive),
            **self._training(),
            "named": self.named,
        }
        write_stored(path, self.kind, Stored(content, {}))

    @classmethod
    def read(
        cls, path: str | Path, kind: str, training: Training | None = None, *, only_for_ranks: bool = False
    ) -> SavedBooster:
        """What :meth:`write` wrote of this kind; ``training`` as for ``SavedEncoder``."""
        from lcifr.learn.target import Target  # imports torch, which an audit of networks does without

        content = read_stored(path, kind).content
        with consistent_file(path):
            similarity = read_formula(content, training, only_for_ranks=only_for_ranks)
            return cls(
                kind=kind,
                additive=additive_from_dict(content["additive"], similarity.encoding),
                similarity=similarity,
                target=Target.from_dict(content["target"]),
                named=bool(content["named"]),
                **cls._read(content),
            )


SavedProducer = SavedEncoder | SavedBooster
"""What a producer's folder holds."""


@dataclass(frozen=True)
class SavedFunction:
    """From people to z, without φ: how people are encoded, and a network or trees."""

    encoding: Encoding
    function: Network | Trees


def read_saved_function(path: str | Path) -> SavedFunction:
    """Of the encoder or booster in a file; for whoever has no training people, whom some formulas need."""
    kind = read_kind(path)
    stored = read_stored(path, kind if kind in BOOSTERS else ENCODER)
    with consistent_file(path):
        encoding = Encoding.from_dict(stored.content["encoding"])
        if kind in BOOSTERS:
            return SavedFunction(encoding, score_trees(additive_from_dict(stored.content["additive"], encoding)))
        return SavedFunction(encoding, stored.networks["encoder"])


# Files of tree models on z, from other libraries: nodes and rule as plain numbers; nothing is pickled.

TREES = "TreesOnLatents"
"""The kind of file."""


def write_saved_trees(path: str | Path, model: Model, origin: Plain) -> None:
    """One safetensors file, whose header holds all of it.

    Parameters
    ----------
    origin : the file that the trees come from, as :class:`lcifr.workflows.results.ModelOrigin` says it.
    """
    trees, rule = model.function, model.rule
    assert trees.tree_count
    content = {
        "function": trees.to_plain(),
        "native": str(trees.native),
        "rule": {
            "kind": str(rule.kind),
            "groups": [list(group) for group in rule.groups],
            "band": list(rule.band),
            "log_odds": None if rule.log_odds is None else list(rule.log_odds),
        },
        "target": Prediction.of_model(model).to_dict(),
        "origin": dict(origin),
    }
    write_stored(path, TREES, Stored(content, {}))


def read_saved_trees(path: str | Path) -> SavedHead:
    """What :func:`write_saved_trees` wrote; ``parameters`` are its origin."""
    content = read_stored(path, TREES).content
    with consistent_file(path):
        try:
            function = _trees(content["function"]).of_runtime(Arithmetic(content["native"]))
        except NetworkError as problem:
            raise ValueError(str(problem)) from None
        said, target = content["rule"], Prediction.from_dict(content["target"])
        groups = tuple(tuple(int(c) for c in group) for group in said["groups"])
        lower, upper = map(float, said["band"])
        rule = Rule(Kind(said["kind"]), function.outputs, groups, band=(lower, upper))
        if (known := said.get("log_odds")) is not None:
            slope, shift = map(float, known)
            rule = replace(rule, log_odds=(slope, shift))
        labels = target.classes if len(target.classes) else None
        _refuse_unfit(rule, target.kind, 0 if labels is None else len(labels))
        return SavedHead(kind=TREES, model=Model(function, rule, labels), parameters=dict(content["origin"]))


def _trees(plain: Plain) -> Trees:
    base, (top, below) = [float(value) for value in plain["base"]], plain["scale"]
    nodes = [from_preorder(tree, len(base)) for tree in plain["trees"]]
    return Trees.of(int(plain["inputs"]), base, nodes, Fraction(int(top), int(below)))


def _refuse_unfit(rule: Rule, kind: Kind, labels: int) -> None:
    """Refuse outputs, groups and names that are not those of one rule."""
    listed = sorted(c for group in rule.groups for c in group)
    grouped = listed == list(range(rule.outputs)) if rule.kind is Kind.CLASS else not listed
    if kind is not rule.kind or labels != rule.classes or not grouped or (rule.kind is Kind.SIGN and rule.outputs > 1):
        raise ValueError("outputs, groups and classes are not those of one rule")
