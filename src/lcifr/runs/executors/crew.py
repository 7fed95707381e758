"""Whoever works on the pieces of a large run: processes of this machine, or a Ray cluster; what both have in common."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from lcifr.errors import LcifrError


class Executor(StrEnum):
    """Where pieces are worked on."""

    LOCAL = "local"
    """Processes of this machine."""
    RAY = "ray"
    """The nodes of a Ray cluster, or a Ray that is started here."""


@dataclass(frozen=True)
class RayCluster:
    """A Ray cluster.

    Parameters
    ----------
    address : of its head, such as ``ray://head:10001`` or ``auto``; None for the one that this process is connected to,
        else ``$RAY_ADDRESS``, else one that is started on this machine.
    workers : pieces at a time at most; None for one per core of the cluster.
    """

    address: str | None = None
    workers: int | None = None


Workers = int | None | RayCluster
"""Processes of this machine (None for one per core, where that is worth their start), or a cluster."""


def workers_of(executor: str, workers: int | None, address: str | None) -> Workers:
    """What the options of a command say."""
    if Executor(executor) is Executor.RAY:
        return RayCluster(address, workers)
    if address is not None:
        raise LcifrError(f"--address {address} is for a Ray cluster", fix="say --executor ray, or leave it out")
    return workers


class PendingPart(Protocol):
    """The content of a part that is being made."""

    def result(self) -> bytes: ...


class Crew(Protocol):
    """Whom to give pieces to; the content of a part does not depend on who makes it."""

    @property
    def size(self) -> int:
        """How many work at the moment."""

    def submit(self, piece: Any, left: int | None) -> PendingPart:
        """What will be the content of its part. ``left`` : people still to do, with these; None if nobody knows."""
