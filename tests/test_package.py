"""The package itself: public names are lazy, few and all there; the checker needs nothing but the standard library."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lcifr


def test_every_public_name_is_there_and_documented():
    for name in lcifr.__all__:
        assert getattr(lcifr, name).__doc__, name
    assert set(lcifr.__all__) <= set(dir(lcifr))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        lcifr.nonsense  # noqa: B018


def test_no_room_has_the_name_of_a_public_function():
    """Importing anything of that room would put it in the place of the function."""
    rooms = {path.stem for path in Path(lcifr.__file__).parent.iterdir()}
    assert not rooms & {name for name in lcifr.__all__ if name not in lcifr._MODULES}


def test_the_version_is_said_once():
    root = Path(__file__).parents[1]
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert cited is not None
    assert lcifr.__version__ == declared == cited[1]


def test_every_extra_is_on_the_first_page():
    root = Path(__file__).parents[1]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    said = set(re.findall(r"`lcifr\[([a-z-]+)\]`", (root / "docs/start.md").read_text(encoding="utf-8")))
    assert said == set(extras) - {"dev", "docs"}


@pytest.mark.parametrize("module", ["lcifr", "lcifr.check"])
def test_nothing_heavy_is_imported(module):
    heavy = ["numpy", "torch", "pandas", "pyarrow", "sklearn", "highspy", "scipy", "lark", "safetensors"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_the_checker_runs_without_any_package():
    code = "import sys; sys.path.insert(0, sys.argv[1]); import lcifr.check; print('ok')"
    source = str(lcifr.__file__).rsplit("lcifr", 1)[0]
    # -I -S: no site-packages at all, so that only the standard library can be found.
    printed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, source], capture_output=True, text=True, check=False
    )
    assert printed.stdout.strip() == "ok", printed.stderr


def test_functions_are_functions_whatever_was_imported_before():
    code = (
        "import lcifr.prove.maximize, lcifr.prove.radius, lcifr; "
        "print(callable(lcifr.maximize), callable(lcifr.radius), callable(lcifr.prove.maximize))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["True"] * 3


def test_datasets_are_there_without_an_import_of_their_own():
    code = "import lcifr; print('lcifr.datasets' in __import__('sys').modules, len(lcifr.datasets.load('german').test))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "200"]


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTorch())
"""
AUDIT_WITHOUT_TORCH = """
import lcifr
from sklearn.linear_model import LogisticRegression

data = lcifr.datasets.load("german")
phi = "same(categorical except sex) and numeric within 0.3 sd"
booster = lcifr.FairBooster(phi, rounds=5).fit(data.train.X, data.train.y)
print(len(booster.certified(data.test.X)))
X = data.train.X.select_dtypes("number")
model = LogisticRegression(max_iter=1000).fit(X, data.train.y)
print(len(lcifr.audit(model, X[:20], similarity=lcifr.Similarity("numeric within 0.01 sd", lcifr.Schema.infer(X), X))))
"""


def without_torch(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT_TORCH + code], capture_output=True, text=True, check=False)


def test_boosters_are_trained_and_models_audited_without_torch():
    ran = without_torch(AUDIT_WITHOUT_TORCH)
    assert ran.stdout.split() == ["200", "20"], ran.stderr


@pytest.mark.parametrize("name", ["FairEncoder", "RobustClassifier", "tune"])
def test_what_needs_torch_names_the_line_that_installs_it(name):
    ran = without_torch(f"import lcifr\ntry:\n    lcifr.{name}\nexcept lcifr.LcifrError as error:\n    print(error)")
    assert 'needs torch, which is not installed\nFix: pip install "lcifr[learn]"' in ran.stdout, ran.stderr


@pytest.mark.parametrize("words", [["demo"], ["produce", "german", "--phi", "german/cat_noise", "--learner", "trees"]])
def test_a_command_that_needs_torch_names_the_line_that_installs_it(words, tmp_path):
    words = ["lcifr", *words, "--out", str(tmp_path / "out")]
    ran = without_torch(f"from lcifr.cli import main\nsys.argv = {words!r}\nmain()")
    assert ran.returncode == 2
    assert 'Fix: pip install "lcifr[learn]"' in ran.stderr
    assert "Training" not in ran.stderr  # it ends before any work
