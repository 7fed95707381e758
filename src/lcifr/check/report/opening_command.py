"""The command ``python -m lcifr.check.openings``: what it takes, prints and ends with.

Exit codes: 0 everything that was drawn is opened, belongs to the committed tree and is confirmed, 1 something is not,
2 a file cannot be read, or wrong use.
"""

import sys

from lcifr.check.exact import Rejected, ensure
from lcifr.check.openings.opening import check_opening


def main(paths: list[str]) -> int:
    """Check one opening; the report goes to stdout."""
    try:
        ensure(len(paths) == 3, "use: python -m lcifr.check.openings COMMITMENT CHALLENGE OPENING")
        report = check_opening(*paths)
    except (Rejected, OSError) as problem:
        print(f"nothing is confirmed: {problem}", file=sys.stderr)
        return 2
    print("\n".join(report.text()))
    return report.exit_code
