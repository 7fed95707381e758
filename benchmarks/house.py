"""Counts of the source tree of two checkouts, side by side: files, lines of code, declarations, repetition.

    python -m benchmarks.house ../before .          # both sides
    python -m benchmarks.house ../before . --pairs  # lists pairs of dataclasses, tests of kinds, small files

Lines of code are those with a token that is no comment and no docstring (of a module, a class or a function).
Everything is counted with ``ast``; nothing is imported.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

SMALL = 40
SHARED_FIELDS = 5
SHARED_SHARE = 0.5
BY_KIND = ("check", "models", "prove")
"""Rooms that may tell kinds of functions apart: the checker has its own, models and prove own them."""
KINDS = {
    *("Function", "Network", "Chain", "Trees", "Model", "TableModel", "LatentTrees"),
    *("Deployment", "TreesDeployment", "TwoDeployments", "NetworkOnTrees", "TreesOnLatents", "Deployed", "Composed"),
}
"""Kinds of functions and models; further ones are every class below one of these."""
SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Definition = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Source:
    """One file: its path below the package, its tree, and the numbers of its lines of code."""

    path: Path
    tree: ast.Module
    code: frozenset[int]

    @classmethod
    def read(cls, file: Path, home: Path) -> Source:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        return cls(file.relative_to(home), tree, frozenset(_tokens(text) - _docstrings(tree)))

    def lines(self, nodes: list[ast.stmt]) -> int:
        """Lines of code from the first statement to the last."""
        return sum(nodes[0].lineno <= line <= (nodes[-1].end_lineno or 0) for line in self.code)


def _tokens(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {line for one in tokens if one.type not in SPACE for line in range(one.start[0], one.end[0] + 1)}


def _docstrings(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node, clean=False) is not None and first is not None:
                lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


@dataclass
class Counts:
    """What is counted in one checkout; lists name the places."""

    files: int = 0
    folders: int = 0
    lines: int = 0
    imports: int = 0
    signatures: int = 0
    fields: int = 0
    headers: int = 0  # lines of `class` and of decorators
    lazy_imports: int = 0
    type_checking: int = 0
    small: list[str] = field(default_factory=list)
    dataclasses: dict[str, set[str]] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> list[tuple[str, str, list[str]]]:
        """Pairs of dataclasses that share five fields and half of the smaller one, with the shared names."""
        found = []
        for (one, mine), (other, yours) in combinations(self.dataclasses.items(), 2):
            both = mine & yours
            if len(both) >= SHARED_FIELDS and len(both) >= SHARED_SHARE * min(len(mine), len(yours)):
                found.append((one, other, sorted(both)))
        return found

    def rows(self) -> Iterator[tuple[str, int | float]]:
        """What is printed, in order; shares as fractions."""
        declared = self.imports + self.signatures + self.fields
        yield "files", self.files
        yield "folders", self.folders
        yield "lines of code", self.lines
        yield "lines of imports", self.imports
        yield "lines of signatures", self.signatures
        yield "lines of fields", self.fields
        yield "imports, signatures, fields", declared / max(self.lines, 1)
        yield "the same, class and decorators", (declared + self.headers) / max(self.lines, 1)
        yield "dataclasses", len(self.dataclasses)
        yield f"files below {SMALL} lines", len(self.small)
        yield "pairs of dataclasses alike", len(self.pairs)
        yield "isinstance on kinds", len(self.kinds)
        yield "imports inside functions", self.lazy_imports
        yield "lines under TYPE_CHECKING", self.type_checking


def count(checkout: Path) -> Counts:
    """Everything counted below ``src/lcifr`` of a checkout."""
    home = checkout / "src/lcifr"
    sources = [Source.read(file, home) for file in sorted(home.rglob("*.py"))]
    if not sources:
        raise SystemExit(f"{checkout}: no modules below src/lcifr")
    folders = {source.path.parent for source in sources} - {Path()}
    found = Counts(files=len(sources), folders=len(folders))
    kinds = _kinds(sources)
    for source in sources:
        _count(source, kinds, found)
    return found


def _kinds(sources: list[Source]) -> set[str]:
    kinds = set(KINDS)
    bases = {
        node.name: {_last(base) for base in node.bases}
        for source in sources
        if source.path.parts[0] != "check"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
    }
    while more := {name for name, above in bases.items() if above & kinds} - kinds:
        kinds |= more
    return kinds


def _count(source: Source, kinds: set[str], found: Counts) -> None:
    found.lines += len(source.code)
    if len(source.code) < SMALL and source.path.stem != "__init__":
        found.small.append(f"{source.path} ({len(source.code)})")
    lazy = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imports += source.lines([node])
        elif isinstance(node, Definition):
            found.headers += len(node.decorator_list)
            found.signatures += max(sum(node.lineno <= line < node.body[0].lineno for line in source.code), 1)
            lazy |= {id(inner) for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom)}
        elif isinstance(node, ast.ClassDef):
            _count_class(source, node, found)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found.type_checking += source.lines([node])
        elif _is_test(node) and source.path.parts[0] not in BY_KIND and kinds & _names(node.args[1]):
            found.kinds.append(f"{source.path}:{node.lineno}: {ast.unparse(node)}")
    found.lazy_imports += len(lazy)


def _count_class(source: Source, node: ast.ClassDef, found: Counts) -> None:
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    found.fields += sum(source.lines([one]) for one in fields)
    found.headers += 1 + len(node.decorator_list)
    if any("dataclass" in ast.unparse(one) for one in node.decorator_list):
        found.dataclasses[f"{source.path}:{node.name}"] = {
            one.target.id for one in fields if isinstance(one.target, ast.Name)
        }


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"


def _names(node: ast.AST) -> set[str]:
    return {_last(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)}


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def table(old: Counts, new: Counts) -> str:
    """Both sides, one line each."""
    lines = [f"{'':30} {'old':>8} {'new':>8} {'change':>8}"]
    for (name, before), (_, after) in zip(old.rows(), new.rows(), strict=True):
        if isinstance(before, float):
            lines.append(f"{name:30} {before:8.1%} {after:8.1%} {100 * (after - before):+8.1f}")
        else:
            lines.append(f"{name:30} {before:8,} {after:8,} {after - before:+8,}")
    return "\n".join(lines)


def places(side: str, counts: Counts) -> str:
    """The pairs of dataclasses, the tests of kinds and the small files of one side."""
    pairs = [f"{one} = {other}: {', '.join(both)}" for one, other, both in counts.pairs]
    parts = {"pairs of dataclasses": pairs, "isinstance on kinds": counts.kinds, "small files": counts.small}
    return "\n".join(f"\n{side}, {name}:\n" + "\n".join(f"  {line}" for line in lines) for name, lines in parts.items())


def main() -> None:
    words = sys.argv[1:]
    folders = [Path(word) for word in words if word != "--pairs"]
    if len(folders) != 2:
        raise SystemExit("python -m benchmarks.house OLD NEW [--pairs]: two checkouts are compared")
    old, new = (count(folder) for folder in folders)
    print(table(old, new))
    if "--pairs" in words:
        print(places("old", old) + "\n" + places("new", new))


if __name__ == "__main__":
    main()
