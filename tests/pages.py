"""The pages of the repository: their blocks of code, links and headings, and who runs which block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FENCED = re.compile(r"^(?P<fence>`{3,})(?P<kind>\S*)[^\n]*\n(?P<text>.*?)^(?P=fence)$", flags=re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}[^\n]+\n)+")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,4} +(?P<text>.+)$", flags=re.MULTILINE)
DIRECTIVES = {"{toctree}", "{include}", "{eval-rst}", "{grid}", "{command-reference}"}
"""What Sphinx reads: markup, not code."""

RUN_BY = {
    ("README.md", "phi"): "tests/test_readme.py::test_the_formula_reads",
    ("README.md", "python"): "tests/test_readme.py::test_the_python_quick_start_runs",
    ("docs/audit-your-model.md", "phi"): "tests/test_audit_your_model.py::read",
    ("docs/audit-your-model.md", "python"): "tests/test_audit_your_model.py::read",
    ("docs/audit-your-model.md", "sh"): "tests/test_audit_your_model.py::read",
    ("docs/cli.md", "python"): "tests/workflows/test_auditing.py::test_the_examples_of_the_page_run",
    ("docs/evidence.md", "bash"): "tests/test_evidence_page.py::test_the_commands_of_the_page_run",
    ("docs/language.md", "english"): ("tests/phi/test_language_page.py::test_english_is_that_of_the_formula_before_it"),
    ("docs/language.md", "error"): (
        "tests/phi/test_language_page.py::test_errors_are_those_of_the_formula_before_them"
    ),
    ("docs/language.md", "refused"): (
        "tests/phi/test_language_page.py::test_errors_are_those_of_the_formula_before_them"
    ),
    ("docs/language.md", "phi"): "tests/phi/test_language_page.py::test_formulas_read",
    ("docs/language.md", "toml"): "tests/phi/test_language_page.py::test_formulas_read",
    ("docs/workbench.md", "sh"): (
        "tests/workbench/test_server.py::test_it_listens_on_this_machine_alone_and_says_nothing_of_itself"
    ),
    ("docs/learning.md", "python"): "tests/learn/test_learning_page.py::test_the_page_runs",
    ("docs/report.md", "python"): "tests/report/test_report_page.py::test_the_examples_run",
}
"""Blocks that a test of their own runs. Beside them, `pycon` is run by tests/test_code_blocks.py, `sh` there too (of
every page, command by command), and `{code-cell}` by `make docs`, which builds the site."""

NOT_RUN = {
    ("CONTRIBUTING.md", "indented"): "targets of the Makefile; tests/test_readme.py looks for them there",
    ("README.md", "indented"): "the two commands that set everything up",
    ("docs/index.md", "console"): "the two commands that set everything up",
    ("docs/start.md", "console"): "the two commands that set everything up",
    ("docs/PERFORMANCE.md", "indented"): "benchmarks: minutes to hours each",
    ("docs/audit-your-model.md", "toml"): "an example of entries; tests/models reads files of its kind",
    ("docs/design/architecture.md", "text"): "pictures of the source tree; tests/test_contributing.py compares one",
    ("docs/design/arithmetic.md", "indented"): "mathematics",
    ("docs/design/models.md", "indented"): "mathematics",
    ("docs/design/proofs.md", "indented"): "mathematics, and the shape of a file",
    ("docs/design/trees.md", "indented"): "mathematics",
    (
        "docs/scale.md",
        "console",
    ): "a cluster and a store; tests/workflows/executors and tests/workflows/folders have both",
    ("docs/evidence.md", "text"): "what a comparison prints",
    (
        "docs/learning.md",
        "text",
    ): "two commands with a file of another library; tests/cli/test_latent_trees.py runs them",
    ("docs/learning.md", "indented"): "mathematics",
    ("docs/sweep.md", "indented"): "commands with a range for every number; tests/workflows/sweeps runs them",
}
"""Blocks that nothing runs, and why."""


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    page: str
    kind: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines of it that call lcifr, without comments, `&&` taken apart."""
        lines = [line.split("  #")[0].strip() for line in self.text.splitlines()]
        return [part.strip() for line in lines for part in line.split("&&") if part.strip().startswith("lcifr ")]


@cache
def pages() -> tuple[str, ...]:
    """All pages, as paths from the root."""
    top = sorted(path for path in ROOT.glob("*.md"))
    inside = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
    return tuple(path.relative_to(ROOT).as_posix() for path in (*top, *inside))


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def prose_of(page: str) -> str:
    """The page without its fenced blocks."""
    return FENCED.sub("", text_of(page))


def blocks() -> Iterator[Block]:
    """Every block of code of every page; kinds of blocks without a language are `indented` and `plain`."""
    for page in pages():
        for found in FENCED.finditer(text_of(page)):
            if found["kind"] not in DIRECTIVES:
                yield Block(page, found["kind"] or "plain", found["text"])
        for found in INDENTED.finditer(prose_of(page)):
            yield Block(page, "indented", found[0])


def anchor(heading: str) -> str:
    """What a link to a heading says behind the #."""
    plain = re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", lambda found: found[1] or "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: str) -> set[str]:
    return {anchor(found["text"]) for found in HEADING.finditer(prose_of(page))}
