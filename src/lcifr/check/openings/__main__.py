"""``python -m lcifr.check.openings COMMITMENT CHALLENGE OPENING``: check an opening with Python alone."""

import sys

from lcifr.check.report.opening_command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
