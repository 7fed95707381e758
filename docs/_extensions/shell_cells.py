"""`!command` in a tutorial: shows what the command reports, and stops the build where it fails.

IPython's own `!` gives commands a terminal, so pages would show every step of every progress bar, and it goes on
after whatever goes wrong.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

ANSWERS = (0, 1, 3)
"""Exit codes that are results: all certified, a counterexample, some undecided."""

STARTUP = f"""
import subprocess

def _run(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    print(done.stdout, end="")
    if done.returncode not in {ANSWERS}:
        raise SystemError(f"{{command}} ended with {{done.returncode}}:\\n{{done.stderr}}")

get_ipython().system = _run
"""

QUIET = "c.IPKernelApp.log_level = 40"
"""The kernels' warning that they are reached over TCP is about shared machines, not about pages."""


def setup(app: Any) -> dict[str, bool]:
    """Give the kernels that run tutorials a profile of their own."""
    profile = Path(tempfile.mkdtemp(prefix="lcifr-docs-"))
    startup = profile / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-shell.py").write_text(STARTUP, encoding="utf-8")
    (startup.parent / "ipython_kernel_config.py").write_text(QUIET, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(profile)
    return {"parallel_read_safe": True}
