"""``python -m lcifr.check BUNDLE``: check an audit bundle where nothing but Python is installed.

Exit codes: 0 everything that is claimed is confirmed, 1 something is not, 2 the bundle cannot be read, goes beyond a
limit, or wrong use; with --strict 4 where everything is confirmed, and nothing is claimed of somebody, or a radius has
no proof. --patience=10 allows ten times the usual work for a person. With --people (a CSV file, --id its column of
ids) 5 where they are others, 4 as with --strict, and else 6: of model and φ nothing is compared here.
"""

import sys

from lcifr.check.report import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
