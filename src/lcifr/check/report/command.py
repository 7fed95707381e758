"""The command: a bundle is checked, and its people are compared with the reader's own; exit codes tell."""

import argparse
import json
import os
import sys
from dataclasses import asdict

from lcifr.check.binding.comparison import FILES, compare, exit_code
from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.check.report.statement import statement

ABOUT = "Check an audit bundle in exact arithmetic. With --people, a CSV file, say whether it is about these people."


def main(arguments: list[str] | None = None) -> int:
    """Check one bundle; the report goes to stdout, as JSON with ``--json``; None for the process's own arguments."""
    parser = argparse.ArgumentParser("python -m lcifr.check", description=ABOUT, allow_abbrev=False)
    parser.add_argument("bundle", metavar="BUNDLE")
    parser.add_argument("--patience", type=int, default=1, metavar="TIMES")
    for name in ("json", "strict"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in FILES:
        parser.add_argument(f"--{name}")
    try:
        asked = parser.parse_args(arguments)
        report = check_bundle(asked.bundle, patience=max(1, min(asked.patience, 10**9)))
        said, compared = statement(asked.bundle, report), compare(asked.bundle, report, vars(asked))
    except SystemExit as wrong:
        return int(wrong.code or 0)
    except (Rejected, OSError, RecursionError) as problem:
        print(f"{asked.bundle}: {problem}", file=sys.stderr)
        return 2
    lines = [*report.lines(), *said, *(line for one in compared for line in one.lines())]
    plain = {**asdict(report), "about": said, "compared": [asdict(one) for one in compared]}
    try:
        print(json.dumps(plain, indent=1) if asked.json else "\n".join(lines), flush=True)
    except BrokenPipeError:
        hush()
    strict = report.strict_exit_code if asked.strict else 0
    return exit_code(report, compared) or strict


def hush() -> None:
    """Whoever read along has seen enough: nothing more is written, and the exit code is still the answer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
