"""``python -m lcifr.check BUNDLE``: check an audit bundle where nothing but Python is installed.

Exit codes: 0 everything that is claimed is confirmed, 1 something is not, 2 the bundle cannot be read or wrong use,
3 everything but what rests on a solver's word is confirmed.
"""

import json
import sys
from dataclasses import asdict

from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected


def main(arguments: list[str]) -> int:
    """Check one bundle; the report goes to stdout, as JSON with ``--json``."""
    paths = [argument for argument in arguments if argument != "--json"]
    if len(paths) != 1 or paths[0].startswith("-"):
        print("use: python -m lcifr.check BUNDLE [--json]", file=sys.stderr)
        return 2
    try:
        report = check_bundle(paths[0])
        print(json.dumps(asdict(report), indent=1) if "--json" in arguments else "\n".join(report.lines()))
    except (Rejected, OSError, RecursionError) as problem:
        print(f"{paths[0]}: {problem}", file=sys.stderr)
        return 2
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
