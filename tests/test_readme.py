"""What the README shows runs."""

import re
from pathlib import Path
from typing import Any

import numpy as np

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


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target} " in README
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
