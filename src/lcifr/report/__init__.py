"""The report of an audit: one content, and a file for each form it is shown in.

Examples
--------
>>> from lcifr.report import build, render  # doctest: +SKIP
>>> page = render(build(audit, state(audit, y, held_out=True), encoder=encoder))  # doctest: +SKIP
"""

from lcifr.report.content import About, Report
from lcifr.report.folder import build, read_folder
from lcifr.report.page import format_names, render

__all__ = ["About", "Report", "build", "format_names", "read_folder", "render"]
