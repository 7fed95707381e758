"""Generated programs, and the floats beside a float."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import LcifrError

FORMATS = st.sampled_from(StepFormat)
AMOUNTS = st.floats(-50, 50)
FACTORS = st.sampled_from([-3.0, -0.1, 0.01, 0.3, 1.0, 7.0, 25.0])


def rounded(value: float, kind: StepFormat) -> float:
    return float(np.asarray(value).astype(kind.value))


@st.composite
def steps(draw: st.DrawFn) -> ProgramStep:
    operation, kind = draw(st.sampled_from(Operation)), draw(FORMATS)
    if operation is Operation.CAST:
        return ProgramStep(operation, kind)
    if operation is Operation.CLIP:
        middle, half = draw(AMOUNTS), draw(st.floats(0.5, 40))
        return ProgramStep(operation, kind, (rounded(middle - half, kind), rounded(middle + half, kind)))
    constant = draw(AMOUNTS if operation in (Operation.ADD, Operation.SUBTRACT) else FACTORS)
    return ProgramStep(operation, kind, (rounded(constant, kind),))


def _is_program(chosen: list[ProgramStep]) -> bool:
    try:
        Program(tuple(chosen))
    except LcifrError:  # clips that leave one value
        return False
    return True


def programs(longest: int = 5) -> st.SearchStrategy[Program]:
    return st.lists(steps(), max_size=longest).filter(_is_program).map(lambda chosen: Program(tuple(chosen)))


def beside(values: np.ndarray) -> np.ndarray:
    """The values and their neighbours, in float64 and in float32, sorted."""
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    near = [np.nextafter(narrow, np.float32(end)).astype(np.float64) for end in (-np.inf, np.inf)]
    near += [narrow.astype(np.float64), values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)]
    return np.unique(np.concatenate(near))
