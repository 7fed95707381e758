"""Devices of a run: where bounds of whole chunks are computed, and what is there of it."""

from __future__ import annotations

import os
from enum import StrEnum

from lcifr.errors import LcifrError
from lcifr.runs.executors.crew import RayCluster, Workers

GPU = "cuda"
"""As torch names it."""
EMULATION = "CUBLAS_EMULATE_DOUBLE_PRECISION"
"""With it, products of float64 matrices are put together from smaller numbers, and no rounding term holds."""


class Device(StrEnum):
    """What bounds are computed on. Searches, and all proofs on file, are the CPU's."""

    CPU = "cpu"
    CUDA = "cuda"
    AUTO = "auto"
    """A GPU where there is one."""


def job_device(asked: str, workers: Workers) -> str | None:
    """The device of a job as torch names it; None for the compiled search alone.

    Raises
    ------
    LcifrError
        If a GPU was asked for and none can be used here; of a cluster, its crew says so.
    """
    wanted = Device(asked)
    if wanted is Device.CPU:
        return None
    if isinstance(workers, RayCluster):
        if wanted is Device.AUTO:
            raise LcifrError("--device auto: the nodes of a cluster differ", fix="say --device cuda or --device cpu")
        return GPU
    problem = cuda_problem()
    if problem is None:
        return GPU
    if wanted is Device.AUTO:
        return None
    raise LcifrError(f"--device cuda: {problem}", fix="say --device cpu, or --device auto for a GPU where there is one")


def cuda_problem() -> str | None:
    """Why no GPU can be used by this process, with what was found; None where one can."""
    import torch

    if torch.version.cuda is None:
        return f"PyTorch {torch.__version__} is installed, which was built without CUDA"
    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} with CUDA {torch.version.cuda} finds no GPU that it can use"
    if os.environ.get(EMULATION, "0") not in ("", "0"):
        return f"{EMULATION} is set, and bounds need float64 as IEEE 754 has it"
    return None
