"""``try_wheel.py WHEEL BUNDLE``: check a bundle in an environment that holds nothing but the checker."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path


def check_in_empty_environment(wheel: Path, bundle: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """What ``python -m lcifr.check BUNDLE`` says there; not even pip is in it."""
    with tempfile.TemporaryDirectory() as place:
        empty = Path(place) / "empty"
        venv.create(empty, with_pip=False)
        python = next(empty.glob("[bS]*/python*"))  # bin, or Scripts
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        where = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(where)
        words = [python, "-I", "-m", "lcifr.check", str(bundle.resolve()), *more]
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd=place)


def main(arguments: list[str]) -> int:
    """Print what the checker says, and end as it does."""
    wheel, bundle = map(Path, arguments)
    done = check_in_empty_environment(wheel, bundle, "--patience=100")
    print(f"{wheel.name} in an empty environment, on {bundle}:\n{done.stdout}{done.stderr}", end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
