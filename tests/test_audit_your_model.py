"""docs/audit-your-model.md from top to bottom, as a reader would: a pipeline, two routes, checked, reported."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.workflows.results import AuditResult
from tests.story import Said, lcifr

PAGE = (Path(__file__).parents[1] / "docs" / "audit-your-model.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|sh|phi)\n(.*?)```", PAGE, flags=re.DOTALL)
FOUND = 1
"""The exit code of `lcifr audit` where somebody is decided otherwise."""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Said], dict[str, Any]]:
    """The folder after all of the page ran in it; what each command said; the names that the Python blocks left."""
    for package in ("skops", "skl2onnx", "onnxruntime"):
        pytest.importorskip(package)
    place, said, names = tmp_path_factory.mktemp("page"), dict[str, Said](), dict[str, Any]()
    with contextlib.chdir(place):
        for kind, text in BLOCKS:
            if kind == "python":
                exec(compile(text, "audit-your-model.md", "exec"), names)  # noqa: S102
            elif kind == "phi":
                (place / "people.phi").write_text(text, encoding="utf-8")
            else:
                said |= {line: _run(line, place) for line in _commands(text)}
    return place, said, names


def _commands(text: str) -> list[str]:
    return [line.split("  #")[0].strip() for line in text.splitlines() if line.startswith("lcifr ")]


def _run(line: str, place: Path) -> Said:
    words = shlex.split(line)[1:]
    return lcifr(*words, cwd=place, expect=FOUND if words[0] == "audit" else 0)


def test_the_library_agrees_and_the_page_names_what_was_loaded(read: Any) -> None:
    _, said, _ = read
    [shown] = [one for line, one in said.items() if line.startswith("lcifr model show")]
    assert "20 columns" in shown.out
    [compared] = [one for line, one in said.items() if line.startswith("lcifr doctor")]
    assert "All agree." in compared.out


def test_python_and_shell_say_the_same_and_scikit_learn_confirms(read: Any) -> None:
    place, _, names = read
    found, model, people = names["found"], names["model"], names["table"]
    assert list(found.prediction) == list(model.predict(people))
    others = found.others.to_pandas()[list(people.columns)]
    assert (model.predict(others[found.violated]) != found.prediction[found.violated]).all()
    result = AuditResult.read(place / "audit")
    assert result.statement.people == names["result"].statement.people == len(people)
    assert result.statement.certified == names["result"].statement.certified
    assert {pair.id for pair in result.counterexamples} == {pair.id for pair in names["result"].counterexamples}
    assert set(result.statement.baselines) == {"plain", "unaware"}


def test_the_two_routes_are_two_functions(read: Any) -> None:
    place, _, _ = read
    one, two = (AuditResult.read(place / folder).model for folder in ("audit", "audit-onnx"))
    assert (one.arithmetic, two.arithmetic) == ("float64", "float32")
    assert one.origin is not None
    assert two.origin is not None
    assert one.origin.sha256 != two.origin.sha256
    assert one.origin.runtime.startswith("scikit-learn")
    assert two.origin.runtime.startswith("onnxruntime")


def test_the_gate_lets_enough_certified_people_through(read: Any) -> None:
    place, said, _ = read
    [gate] = [one for line, one in said.items() if line.startswith("lcifr certify")]
    assert "certified with respect to φ" in gate.out
    assert len(pd.read_parquet(place / "certificates" / "audited" / "audit.parquet")) == 200


def test_the_report_is_a_page_about_the_file(read: Any) -> None:
    place, _, _ = read
    page = (place / "audit" / "report.html").read_text(encoding="utf-8")
    origin = AuditResult.read(place / "audit").model.origin
    assert origin is not None
    assert origin.sha256 in page
    assert "model.skops" in page


def test_the_checker_confirms_every_proof(read: Any) -> None:
    place, said, _ = read
    checked = AuditResult.read(place / "audit").checked
    assert checked is not None
    assert not checked.rejected
    assert checked.people == 200
    assert [one.code for line, one in said.items() if line.startswith("lcifr check")] == [0]
