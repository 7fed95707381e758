"""What the README shows runs."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.datasets import find
from lcifr.phi.formula import print_formula
from lcifr.phi.parser import parse
from tests.pages import pages, text_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_quick_start_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102
    certificates, found, data = names["certificates"], names["found"], names["data"]
    assert len(certificates.frame()) == len(found.frame()) == len(data.test.y)
    assert certificates.certified.mean() > 0.5
    assert not (certificates.certified & found.violated).any()
    assert np.mean(found.prediction == data.test.y) > 0.65


def test_every_file_the_readme_points_to_is_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_the_formula_reads():
    (text,) = re.findall(r"```phi\n(.*?)```", README, flags=re.DOTALL)
    schema = find("law_school").schema
    formula = parse(text, schema)
    assert parse(print_formula(formula), schema) == formula


def test_targets_that_pages_name_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = {
        word for page in pages() for word in re.findall(r"^ *make ([a-z-]+)|`make ([a-z-]+)`", text_of(page), re.M)
    }
    assert {"demo", "test"} <= {word for pair in named for word in pair if word} <= targets
    assert README.index("make demo ") < README.index("make test ") < 1500  # on the first screen
