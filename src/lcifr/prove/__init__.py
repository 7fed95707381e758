"""What is the exact answer? Methods that prove the largest value of a network over a region, and their cascade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.prove.answer import Answer, Budget, Status
    from lcifr.prove.maximize import maximize
    from lcifr.prove.radius import Radius, radius

__all__ = ["Answer", "Budget", "Radius", "Status", "maximize", "radius"]

_HOMES = {"Answer": "answer", "Budget": "answer", "Status": "answer", "Radius": "radius"}


def __getattr__(name: str) -> Any:
    """Load torch and the methods only when they are asked for."""
    from importlib import import_module

    if name in __all__:
        return getattr(import_module(f"lcifr.prove.{_HOMES.get(name, name)}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
