"""The one place that turns Python functions into machine code, by numba."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS = {"_nrt": False, "nogil": True, "fastmath": False, "error_model": "numpy"}
"""No fast mathematics: the rounding terms count every operation as IEEE rounds it. No memory is asked for within, so
nothing has to be counted (``_nrt``), which halves both the code and its time."""


def compiled(function: Function) -> Function:
    """The function as machine code, made on its first call; part of the kernel that calls it."""
    return _njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: Function) -> Function:
    """The same, copied into its callers.

    An array is handed over as seven numbers, so that a call with a few dozen of them costs as much as the work of a
    small network's node. Of many layers a node does more and the code is larger: its functions are called.
    """
    return _njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def kept(function: Function, sources: str = "") -> Function:
    """The same, kept on disk for the next process.

    numba looks at the file of this one function to see whether what it kept is still good. The functions it calls live
    in other files, so its closure should hold ``sources``, their :func:`digest`, which is part of the name under which
    it is kept. It is part of the file's name as well: numba reads what another version has kept, names of classes
    among it, before it sees that it is another's.
    """
    if sources:
        function.__qualname__ = f"{function.__name__}_{sources[:16]}"
    return _njit(function, cache=True)


def _njit(function: Function, **options: bool) -> Function:
    import numba

    how: Any = numba.njit
    return cast(Function, how(**OPTIONS, **options)(function))


def digest(*folders: Path) -> str:
    """A name for exactly the sources of this folder and of others, and those inside them."""
    files = sorted(file for folder in (Path(__file__).parent, *folders) for file in folder.rglob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
