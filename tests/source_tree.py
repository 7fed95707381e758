"""The modules of the package and of the tests: read and parsed, not imported, when a test looks at them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/lcifr"


@dataclass(frozen=True)
class Module:
    """One file of Python: its path below the repository, its dotted name, and, once somebody asks, text and tree."""

    path: Path
    name: str

    def __str__(self) -> str:
        return self.path.as_posix()

    @cached_property
    def text(self) -> str:
        return (ROOT / self.path).read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def first_line(self) -> str:
        """The first line of the docstring; empty without one."""
        return (ast.get_docstring(self.tree) or "").partition("\n")[0]

    def imported(self) -> Iterator[tuple[str, str]]:
        """What is imported, wherever in the file: (module, name), with an empty name for ``import module``."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((node.module, alias.name) for alias in node.names)

    def imported_modules(self, known: Collection[str]) -> set[str]:
        """Those of the ``known`` modules that are imported; ``from a import b`` imports ``a.b`` where that is one."""
        found = (f"{module}.{name}" if f"{module}.{name}" in known else module for module, name in self.imported())
        return {name for name in found if name in known}


def _module(path: Path, home: Path) -> Module:
    name = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
    return Module(path.relative_to(ROOT), name)


@cache
def package_modules() -> tuple[Module, ...]:
    """Every module of ``src/lcifr``."""
    return tuple(_module(path, PACKAGE.parent) for path in sorted(PACKAGE.rglob("*.py")))


@cache
def modules_of_tests() -> tuple[Module, ...]:
    """Every module of ``tests``, those without a test included."""
    return tuple(_module(path, ROOT) for path in sorted((ROOT / "tests").rglob("*.py")))
