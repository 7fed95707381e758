"""Encoders as certificates see them, and the model on top of one as machines compute both."""

from __future__ import annotations

from typing import Protocol

from lcifr.data import Encoding
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Deployed, Function, deploy
from lcifr.models.model import Model
from lcifr.phi.similarity import Similarity


class Encoder(Protocol):
    """Anything with a function to z, a similarity, the encoding of both, and whom its hand-overs cover."""

    @property
    def function(self) -> Function: ...

    @property
    def similarity(self) -> Similarity: ...

    @property
    def encoding(self) -> Encoding: ...

    @property
    def whole_numbers(self) -> bool: ...


def deploy_both(encoder: Encoder, model: Model, arithmetic: Arithmetic, handed: Arithmetic | None) -> Deployed:
    """The model on top of the encoder, whose own arithmetic is ``handed`` if it is another one."""
    return deploy(encoder.function, model.function, encoder.encoding, handed or arithmetic, arithmetic)
