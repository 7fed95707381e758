"""Files of learned encoders and heads: typed, with one reader and one writer each; nothing is pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import LearningError
from lcifr.learn.score import Degeneracy
from lcifr.learn.target import Target
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.storage import Stored, read, write
from lcifr.similarity.similarity import Similarity

ENCODER = "FairEncoder"
Plain = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class SavedEncoder:
    """A learned encoder.

    Parameters
    ----------
    network, head, decoder : f, and the networks that predict the label and x from z; None where there are none.
    similarity : φ with the scales of the encoding. target : what was predicted, or None.
    parameters : of the estimator, plain. history : of the training, a line per epoch.
    degeneracies : what is trivial about the model. named : whether it was learned from a table with column names.
    """

    network: Network
    head: Network | None
    decoder: Network | None
    similarity: Similarity
    target: Target | None
    parameters: Plain
    history: tuple[Plain, ...]
    degeneracies: tuple[Degeneracy, ...]
    named: bool

    @property
    def is_unaware(self) -> bool:
        """Whether it is the baseline by that name: learned for the label alone, without what φ leaves free."""
        return bool(self.parameters["tie_free"]) and self.parameters["gamma"] == 0

    @property
    def whole_numbers(self) -> bool:
        """Whether its hand-overs speak about whole numbers only."""
        return bool(self.parameters["whole_numbers"])

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file."""
        content = {
            "parameters": dict(self.parameters),
            **write_formula(self.similarity),
            "target": None if self.target is None else self.target.to_dict(),
            "history": list(self.history),
            "degeneracies": [asdict(one) for one in self.degeneracies],
            "named": self.named,
        }
        networks = {"encoder": self.network, "head": self.head, "decoder": self.decoder}
        write(path, ENCODER, Stored(content, {name: net for name, net in networks.items() if net is not None}))

    @classmethod
    def read(
        cls,
        path: str | Path,
        training: Callable[[Schema], Individuals] | None = None,
        *,
        only_for_ranks: bool = False,
    ) -> SavedEncoder:
        """What :meth:`write` wrote.

        Parameters
        ----------
        training : reads the training people, whom formulas that take ranks need; only for these if ``only_for_ranks``.
        """
        stored = read(path, ENCODER)
        with consistent_file(path):
            content = stored.content
            return cls(
                network=stored.networks["encoder"],
                head=stored.networks.get("head"),
                decoder=stored.networks.get("decoder"),
                similarity=read_formula(content, training, only_for_ranks=only_for_ranks),
                target=None if content["target"] is None else Target.from_dict(content["target"]),
                parameters=content["parameters"],
                history=tuple(content["history"]),
                degeneracies=tuple(Degeneracy(**one) for one in content["degeneracies"]),
                named=bool(content["named"]),
            )


@dataclass(frozen=True, eq=False)
class SavedHead:
    """A learned head on z; kind : the name of its estimator. Otherwise as for :class:`SavedEncoder`."""

    kind: str
    model: Model
    parameters: Plain
    history: tuple[Plain, ...]
    degeneracies: tuple[Degeneracy, ...]

    @property
    def class_weight(self) -> Any:
        """As the estimator takes it; None for numbers."""
        weight = self.parameters.get("class_weight")
        return dict(weight) if isinstance(weight, list) else weight

    def write(self, path: str | Path) -> None:
        """Write to one safetensors file."""
        content = {
            "parameters": dict(self.parameters),
            "target": Target.of_model(self.model).to_dict(),
            "mean": self.model.mean,
            "history": list(self.history),
            "degeneracies": [asdict(one) for one in self.degeneracies],
        }
        write(path, self.kind, Stored(content, {"head": self.model.network}))

    @classmethod
    def read(cls, path: str | Path, kind: str) -> SavedHead:
        """What :meth:`write` wrote of this kind."""
        stored = read(path, kind)
        with consistent_file(path):
            content = stored.content
            return cls(
                kind=kind,
                model=Target.from_dict(content["target"]).model(stored.networks["head"], content["mean"]),
                parameters=content["parameters"],
                history=tuple(content["history"]),
                degeneracies=tuple(Degeneracy(**one) for one in content["degeneracies"]),
            )


def write_formula(similarity: Similarity) -> dict[str, Any]:
    """φ and the scales of its encoding, as entries of a file."""
    named = {"text": similarity.text, "source": similarity.source, "hash": similarity.hash}
    return {"encoding": similarity.encoding.to_dict(), "similarity": named}


def read_formula(
    content: Plain, training: Callable[[Schema], Individuals] | None, *, only_for_ranks: bool = False
) -> Similarity:
    """What :func:`write_formula` wrote, if it still means the same; ``training`` as for :meth:`SavedEncoder.read`."""
    encoding, said = Encoding.from_dict(content["encoding"]), content["similarity"]
    if training is not None and not (only_for_ranks and "rank" not in said["text"]):
        encoding = replace(encoding, training=training(encoding.schema))
    similarity = Similarity(said["text"], encoding.schema, encoding, source=said["source"])
    if similarity.hash != said["hash"]:
        raise LearningError(
            "the formula does not mean what it meant when the model was saved", fix="give the same training table"
        )
    return similarity


@contextmanager
def consistent_file(path: str | Path) -> Iterator[None]:
    """Refuse a file with a missing or odd value, in words instead of Python's own."""
    try:
        yield
    except LearningError:
        raise
    except (KeyError, TypeError, ValueError) as problem:
        raise LearningError(f"{path}: what it says of the model does not fit together: {problem!r}") from None
