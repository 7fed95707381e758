"""Layout of the source tree: mutual imports, folders of tests, tests that stand alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.source_tree import PACKAGE, ROOT, Module, modules_of_tests, package_modules

APART = {"check/second", "golden", "phi/corpus"}
"""Folders of tests without one of the source: a second checker, example formulas."""
HEAVY = {"audit", "certify", "consume", "load", "maximize", "produce", "radius", "represent", "run", "train", "tune"}
"""What no module of tests calls while it is imported: collecting tests must take no time."""


def test_no_two_modules_import_each_other() -> None:
    names = {module.name for module in package_modules()}
    imports = {module.name: module.imported_modules(names) for module in package_modules()}
    mutual = {(a, b) for a in imports for b in imports[a] if a < b and a in imports[b]}
    assert not sorted(mutual)


def test_folders_of_tests_mirror_those_of_the_source() -> None:
    rooms = {"."} | {folder.relative_to(PACKAGE).as_posix() for folder in PACKAGE.rglob("*") if folder.is_dir()}
    rooms |= {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "experiments").rglob("*.py")}
    tested = {module.path.relative_to("tests").parent.as_posix() for module in modules_of_tests()}
    assert not sorted(tested - rooms - APART)


def test_no_test_module_is_imported() -> None:
    tests = {module.name for module in modules_of_tests() if module.path.stem.startswith("test_")}
    assert not {str(module): found for module in modules_of_tests() if (found := module.imported_modules(tests))}


def test_nothing_heavy_is_computed_while_tests_are_collected() -> None:
    found = [(str(module), name) for module in modules_of_tests() for name in _called_at_import(module)]
    assert not [(module, name) for module, name in found if name.rpartition(".")[2] in HEAVY]


def _called_at_import(module: Module) -> Iterator[str]:
    statements = [node for node in module.tree.body if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr)]
    for node in statements:
        yield from (ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call))
