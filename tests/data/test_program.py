"""Programs compute every bit that numpy computes, keep or reverse the order, and say how exact their inverse is."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.data.encoding import ColumnPrograms
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import LcifrError
from tests.data.programs import beside, programs

VALUES = st.lists(st.floats(-1000, 1000), min_size=2, max_size=20).map(np.array)
laws = settings(deadline=None, max_examples=200)


@laws
@given(programs(), VALUES)
def test_images_of_intervals_have_the_images_of_their_ends_as_ends(program: Program, values: np.ndarray):
    ladder = beside(np.concatenate([values, [end for end in program.unclipped if np.isfinite(end)]]))
    image = program(ladder)
    assert ((np.diff(image) <= 0) if program.decreasing else (np.diff(image) >= 0)).all()
    ends = ColumnPrograms((program,)).ordered(program(ladder[:1]), program(ladder[-1:]))
    assert (image.min(), image.max()) == (ends.lower[0], ends.upper[0])


@laws
@given(programs(), VALUES)
def test_the_inverse_is_as_exact_as_it_says(program: Program, values: np.ndarray):
    first, last = program.unclipped
    inside = beside(np.clip(values, first, last))
    inside = inside[(inside >= first) & (inside <= last)]
    bound = program.inverse_error(np.abs(inside))
    for value, encoded, allowed in zip(inside, program(inside), bound, strict=True):
        back = Fraction(program.factor) * Fraction(float(encoded)) + Fraction(program.origin)
        assert abs(back - Fraction(float(value))) <= Fraction(float(allowed))


@laws
@given(programs(), VALUES)
def test_values_beyond_a_clip_are_off_by_the_distance_at_most(program: Program, values: np.ndarray):
    ladder = beside(values)
    beyond = ColumnPrograms((program,)).beyond(0, ladder[:1], ladder[-1:])
    for value, encoded in zip(ladder, program(ladder), strict=True):
        back = Fraction(program.factor) * Fraction(float(encoded)) + Fraction(program.origin)
        off = Fraction(float(value)) - back
        assert Fraction(float(beyond.lower[0])) <= off <= Fraction(float(beyond.upper[0]))


@laws
@given(VALUES, st.floats(-50, 50), st.floats(0.01, 50))
def test_standardising_is_the_formula_bit_for_bit(values: np.ndarray, mean: float, sd: float):
    ladder = beside(values)
    assert Program.standardising(mean, sd)(ladder).tobytes() == ((ladder - mean) / sd).tobytes()


@laws
@given(VALUES)
def test_steps_round_as_numpy_does(values: np.ndarray):
    """Scaling a float32 array in place by float64 constants computes in float64 and rounds to float32 at each step."""
    ladder = beside(values)
    block, scale, shift = ladder.astype(np.float32), np.array(0.1), np.array(0.7)
    block *= scale
    block += shift
    np.clip(block, 0.0, 1.0, out=block)
    wide, narrow = StepFormat.FLOAT64, StepFormat.FLOAT32
    program = Program(
        (
            ProgramStep(Operation.CAST, narrow),
            ProgramStep(Operation.MULTIPLY, wide, (0.1,)),
            ProgramStep(Operation.CAST, narrow),
            ProgramStep(Operation.ADD, wide, (0.7,)),
            ProgramStep(Operation.CAST, narrow),
            ProgramStep(Operation.CLIP, narrow, (0.0, 1.0)),
        )
    )
    assert program(ladder).astype(np.float32).tobytes() == block.tobytes()


@laws
@given(programs())
def test_files_keep_every_bit(program: Program):
    assert Program.from_list(json.loads(json.dumps(program.to_list()))) == program


@pytest.mark.parametrize(
    ("operation", "kind", "constants"),
    [
        (Operation.MULTIPLY, StepFormat.FLOAT64, (0.0,)),
        (Operation.DIVIDE, StepFormat.FLOAT64, (0.0,)),
        (Operation.ADD, StepFormat.FLOAT32, (0.1,)),
        (Operation.ADD, StepFormat.FLOAT32, (1e39,)),
        (Operation.ADD, StepFormat.FLOAT64, (float("nan"),)),
        (Operation.ADD, StepFormat.FLOAT64, ()),
        (Operation.CAST, StepFormat.FLOAT64, (1.0,)),
        (Operation.CLIP, StepFormat.FLOAT64, (1.0, 1.0)),
    ],
)
def test_what_is_no_step_is_refused(operation: Operation, kind: StepFormat, constants: tuple[float, ...]):
    with pytest.raises(LcifrError):
        ProgramStep(operation, kind, constants)


def test_programs_that_cannot_be_taken_back_are_refused():
    tiny = ProgramStep(Operation.MULTIPLY, StepFormat.FLOAT64, (1e-200,))
    with pytest.raises(LcifrError, match="stretches"):
        Program((tiny,))
    clips = [ProgramStep(Operation.CLIP, StepFormat.FLOAT64, ends) for ends in ((0.0, 1.0), (2.0, 3.0))]
    with pytest.raises(LcifrError, match="the same one"):
        Program(tuple(clips))
