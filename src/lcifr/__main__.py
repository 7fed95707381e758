"""``python -m lcifr``: the command line, where ``lcifr`` is not on the path."""

from __future__ import annotations

from lcifr.cli import main

if __name__ == "__main__":
    main()
