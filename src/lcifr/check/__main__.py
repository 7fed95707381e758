"""``python -m lcifr.check BUNDLE``: check an audit bundle where nothing but Python is installed.

Exit codes: 0 everything that is claimed is confirmed, 1 something is not, 2 the bundle cannot be read, goes beyond a
limit, or wrong use; with --strict 4 where everything is confirmed, and nothing is claimed of somebody, or a radius has
no proof. --patience=10 allows ten times the usual work for a person.
"""

import json
import os
import sys
from dataclasses import asdict

from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected

USE = "use: python -m lcifr.check BUNDLE [--json] [--strict] [--patience=TIMES]"


def main(arguments: list[str]) -> int:
    """Check one bundle; the report goes to stdout, as JSON with ``--json``."""
    paths = [argument for argument in arguments if not argument.startswith("--")]
    more = {name: value for name, _, value in (one[2:].partition("=") for one in arguments if one.startswith("--"))}
    patience = more.pop("patience", "1")
    if len(paths) != 1 or paths[0].startswith("-") or more.keys() - {"json", "strict"} or not patience.isdecimal():
        print(USE, file=sys.stderr)
        return 2
    try:
        report = check_bundle(paths[0], patience=int(patience[:9]))
    except (Rejected, OSError, RecursionError) as problem:
        print(f"{paths[0]}: {problem}", file=sys.stderr)
        return 2
    try:
        print(json.dumps(asdict(report), indent=1) if "json" in more else "\n".join(report.lines()), flush=True)
    except BrokenPipeError:
        hush()
    return report.strict_exit_code if "strict" in more else report.exit_code


def hush() -> None:
    """Whoever read along has seen enough: nothing more is written, and the exit code is still the answer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
