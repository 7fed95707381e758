"""The command line in a process of its own."""

from __future__ import annotations

import sys

COMMAND = (sys.executable, "-c", "from lcifr.cli import main; main()")
