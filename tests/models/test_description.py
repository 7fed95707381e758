"""The description of a model: what is written is read back, and every slip is named with its entry."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.data import Numeric, Schema
from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError
from lcifr.models import description as definition
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import (
    DescribedInput,
    DescribedOutput,
    DescriptionError,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
    UnknownValue,
    description_beside,
    description_of,
    description_text,
    is_description,
    read_description,
    write_description,
)
from lcifr.models.loading import load_described

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
FLOATS = st.floats(-1e30, 1e30, allow_nan=False)


@st.composite
def steps(draw: st.DrawFn) -> tuple[ProgramStep, ...]:
    kind = draw(st.sampled_from(StepFormat))
    floats = st.floats(2**-20, 2**20, width=32 if kind is StepFormat.FLOAT32 else 64)
    one = st.builds(
        lambda operation, constant: ProgramStep(operation, kind, (constant,)),
        st.sampled_from([Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY, Operation.DIVIDE]),
        floats,
    )
    clip = floats.map(lambda end: ProgramStep(Operation.CLIP, kind, (-end, end)))
    return tuple(draw(st.lists(one | clip | st.just(ProgramStep(Operation.CAST, kind)), max_size=3)))


INPUTS = st.one_of(
    st.builds(DescribedInput, st.just(InputKind.NUMBER), TEXTS, st.none() | TEXTS, steps()),
    st.builds(
        lambda column, values, unknown: DescribedInput(
            InputKind.ONE_HOT, column, values=tuple(values), unknown=unknown
        ),
        TEXTS,
        st.lists(TEXTS, min_size=1, max_size=4, unique=True),
        st.sampled_from(UnknownValue),
    ),
    st.builds(
        lambda column, codes: DescribedInput(InputKind.CODE, column, codes=tuple(codes.items())),
        TEXTS,
        st.dictionaries(TEXTS, FLOATS, min_size=1, max_size=4),
    ),
    st.builds(DescribedInput, st.just(InputKind.AS_IS), TEXTS, TEXTS),
    st.builds(lambda value: DescribedInput(InputKind.CONSTANT, value=value), FLOATS),
)
OUTPUTS = st.one_of(
    st.builds(
        DescribedOutput,
        st.just(Meaning.SCORE),
        st.none() | TEXTS,
        st.none() | st.integers(0, 5),
        st.just(()) | st.lists(TEXTS | st.integers(0, 9), min_size=2, max_size=2, unique=True).map(tuple),
        st.sampled_from(ScoreComparison),
        FLOATS,
    ),
    st.builds(
        lambda level: DescribedOutput(Meaning.PROBABILITY, comparison=ScoreComparison.AT_LEAST, threshold=level),
        st.floats(0.01, 0.99),
    ),
    st.builds(DescribedOutput, st.sampled_from([Meaning.SCORES, Meaning.CLASS, Meaning.NUMBER])),
)


@given(st.lists(INPUTS, min_size=1, max_size=4), st.none() | OUTPUTS, st.none() | st.sampled_from(Arithmetic), TEXTS)
def test_what_is_written_is_read_back(inputs: Any, output: Any, arithmetic: Any, comment: str) -> None:
    meant = ModelDescription(tuple(inputs), output, arithmetic, "file", draft="a" in comment)
    comments = {"file": comment.replace("\r", " "), "output": "what it means"}
    text = description_text(meant, {key: _without_controls(said) for key, said in comments.items()})
    assert description_of(tomllib.loads(text), "file") == meant


def _without_controls(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def test_the_example_of_the_module_is_a_description() -> None:
    lines = str(definition.__doc__).split("::\n", 1)[1].rsplit("\nAn entry", 1)[0]
    found = description_of(tomllib.loads("\n".join(line.strip() for line in lines.splitlines())), "example")
    assert found.columns == ("age", "sex", "grade")
    assert [one.width for one in found.inputs] == [1, 2, 1, 1]
    assert found.output is not None
    assert found.output.comparison is ScoreComparison.AT_LEAST


def test_constants_of_float32_are_rounded_to_it() -> None:
    entry = {"column": "age", "kind": "number", "steps": [["subtract", 38.6]], "computed_in": "float32"}
    found = description_of({"format": definition.FORMAT, "inputs": [entry]}, "file")
    assert found.inputs[0].steps[0].constants == (float(np.float32(38.6)),)
    assert "38.6]" in description_text(found, {})


GOOD: dict[str, Any] = {"format": definition.FORMAT, "inputs": [{"column": "age", "kind": "number"}]}
SCORE = {"meaning": "score", "comparison": ">", "threshold": 0.5}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "lcifr-model-9"}, "expected 'lcifr-model-1'"),
        ({"inputs": []}, r"there are no \[\[inputs\]\]"),
        ({"input": []}, 'unknown entry "input"(.|\n)*Did you mean "inputs"'),
        ({"draft": "no"}, "draft = 'no' is not true or false"),
        ({"arithmetic": "bfloat16"}, "arithmetic = 'bfloat16' is not one of exact, float64, float32"),
        ({"inputs": [{"kind": "number"}]}, r'\[\[inputs\]\] 1: "column" is missing'),
        ({"inputs": [{"column": "age", "kind": "numbr"}]}, 'not one of number(.|\n)*Did you mean "number"'),
        ({"inputs": [{"column": "age", "kind": "number", "values": ["a"]}]}, 'unknown entry "values"'),
        ({"inputs": [{"column": "age", "kind": "number", "steps": [["minus", 3]]}]}, "step 1: found"),
        ({"inputs": [{"column": "age", "kind": "number", "steps": [["divide", 0]]}]}, "divide by 0"),
        ({"inputs": [{"column": "age", "kind": "number", "steps": [["divide", True]]}]}, "expected numbers"),
        ({"inputs": [{"column": "sex", "kind": "one-hot", "values": ["f", "f"]}]}, "different texts"),
        ({"inputs": [{"column": "sex", "kind": "code", "codes": {"f": "x"}}]}, "codes: f = 'x' is not a number"),
        ({"inputs": [{"kind": "constant", "value": float("inf")}]}, "not finite"),
        ({"output": {**SCORE, "comparison": "<"}}, r"\[output\]: comparison = '<' is not one of >, >="),
        ({"output": {"meaning": "score", "comparison": ">"}}, '"threshold" is missing'),
        (
            {"output": {"classes": ["a", "b"]}},
            '"meaning" is missing\nFix: write meaning = …, one of score, probability, scores, class',
        ),
        ({"output": {**SCORE, "meaning": "probability", "threshold": 1.5}}, "not a probability"),
        ({"output": {**SCORE, "classes": ["a", "b", "c"]}}, "found 3 classes, expected two"),
        ({"output": {"meaning": "scores", "threshold": 0.5}}, "threshold is for meaning"),
        ({"output": {"meaning": "number", "classes": ["a", "b"]}}, "numbers have no classes"),
        ({"output": {**SCORE, "position": -1}}, "below 0"),
    ],
)
def test_a_slip_is_named_with_its_entry_and_a_fix(change: dict[str, Any], words: str) -> None:
    with pytest.raises(DescriptionError, match=words) as found:
        description_of(GOOD | change, "people-model.toml")
    assert str(found.value).startswith("people-model.toml:")
    assert "\nFix: " in str(found.value)


def test_files_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    meant = description_of(GOOD, str(path))
    write_description(meant, path, {"age": "years"})
    assert read_description(path) == meant
    assert "# years\n[[inputs]]" in path.read_text(encoding="utf-8")
    path.write_bytes(b"\xff")
    with pytest.raises(DescriptionError, match="UTF-8"):
        read_description(path)
    path.write_text("a = = 1", encoding="utf-8")
    with pytest.raises(DescriptionError, match="not a TOML file"):
        read_description(path)
    with pytest.raises(LcifrError, match="no such file"):
        read_description(tmp_path / "other.toml")


RULE = '[output]\nmeaning = "probability"\ncomparison = ">="\nthreshold = 0.8\n'
HEAD = f'format = "{definition.FORMAT}"\n'


@pytest.mark.parametrize("text", [HEAD + RULE, HEAD.replace('"', "'") + RULE, "# mine\r\n" + HEAD.replace("=", "  = ")])
def test_the_file_beside_a_model_is_its_description_however_it_is_written(text: str, tmp_path: Path) -> None:
    (tmp_path / "loan.toml").write_text(text, encoding="utf-8-sig")
    assert description_beside(tmp_path / "loan.json") == tmp_path / "loan.toml"
    assert is_description(tmp_path / "loan.toml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (RULE.encode(), "it has no format, expected 'lcifr-model-1'"),
        ((HEAD.replace("1", "2") + RULE).encode(), "format is 'lcifr-model-2'"),
        ((HEAD + RULE).encode("utf-16"), "UTF-8"),
        ((HEAD + RULE).replace("]", "").encode(), "not a TOML file"),
        (b"[training]\nrate = 0.1\n", "give it another name"),
        ((HEAD + RULE).encode() + b"[attributes.age]\n", "unknown entry"),
    ],
)
def test_what_lies_beside_a_model_is_never_passed_over(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "loan.json").write_text("{}")
    (tmp_path / "loan.toml").write_bytes(content)
    with pytest.raises(DescriptionError, match=words):
        load_described(tmp_path / "loan.json")


def test_a_schema_beside_a_model_describes_nothing(tmp_path: Path) -> None:
    Schema((Numeric("age"),)).save(tmp_path / "people.toml")
    assert description_beside(tmp_path / "people.onnx") is None
    assert not is_description(tmp_path / "people.toml")
    assert description_beside(tmp_path / "other.onnx") is None
