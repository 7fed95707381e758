"""Moves and joins modules by a table, and rewrites every reference to them: imports, strings, docs, commands, paths.

    python -m benchmarks.move phi.toml --look   # what would collide or be left over; writes nothing
    python -m benchmarks.move phi.toml          # moves; the result is staged, not committed

A table (TOML; paths are below the repository):

    [modules."lcifr.display.canvas"]            # the new module
    from = ["lcifr.drawing.axes", "lcifr.drawing.labels"]   # one: moved; several: joined in this order
    doc = "Charts as shapes."                   # optional: else the first module's docstring
    [modules."lcifr.display"]                   # made from nothing: a new package
    doc = "Numbers as text, and charts."
    [rename]
    "lcifr.drawing.labels._width" = "_label_width"          # a top-level name
    [paths]
    "tests/drawing" = "tests/display"           # a file or a folder, modules of Python included
    [text]
    "python -m lcifr.prove.trees" = "python -m lcifr.prove" # a literal text, replaced first

Joining keeps what imports did: imports at the head are merged, those of what is now the same file go (also inside
functions), lazy ones stay lazy unless the head has them already. Docstrings of later modules become comments above
their code. Names that two modules define differently, and names that would hide a builtin or a local one, are refused:
rename them in the table. Applied again, a table only rewrites references that came back since, as after a merge.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import subprocess
import sys
import textwrap
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOMS = {"src/lcifr": "lcifr", "tests": "tests", "benchmarks": "benchmarks", "experiments": "experiments"}
TEXTS = (".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".cfg", ".ipynb", ".rst", ".cff", ".js", ".html", ".lark")
DOTTED = re.compile(r"(?<![\w./-])(?:lcifr|tests|benchmarks|experiments)(?:\.[A-Za-z_]\w*)+")
IMPORT = re.compile(r"(?<![\w.])from ((?:lcifr|tests)[\w.]*) import ([A-Za-z_][\w, ]*)")
PATH = re.compile(r"(?<![\w-])(?:[\w.-]+/)+[\w-]+(?:\.\w+)?|(?<![\w/.-])[\w-]+/(?=[`\"' ),])")
Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Import = (ast.Import, ast.ImportFrom)


# ---- the table


@dataclass(frozen=True)
class Table:
    """What is to move: new modules with what they are made from, names, paths and texts."""

    modules: dict[str, tuple[str, ...]]
    docs: dict[str, str]
    names: dict[str, str]
    paths: dict[str, str]
    texts: dict[str, str]

    @classmethod
    def read(cls, *files: Path) -> Table:
        found = cls({}, {}, {}, {}, {})
        for file in files:
            plain = tomllib.loads(file.read_text(encoding="utf-8"))
            for name, entry in plain.pop("modules", {}).items():
                found.modules[name] = tuple(entry.get("from", ()))
                if "doc" in entry:
                    found.docs[name] = entry["doc"].strip()
            found.names.update(plain.pop("rename", {}))
            found.paths.update(plain.pop("paths", {}))
            found.texts.update(plain.pop("text", {}))
            if again := [old for old, new in found.texts.items() if old in new]:
                raise SystemExit(f"{file}: replaced again and again: {', '.join(again)}")
            if plain:
                raise SystemExit(f"{file}: unknown {', '.join(plain)}; known are modules, rename, paths, text")
        sources = Counter(name for names in found.modules.values() for name in names)
        if twice := [name for name, count in sources.items() if count > 1]:
            raise SystemExit(f"moved twice: {', '.join(twice)}")
        return found


# ---- the names of a file


class Scopes:
    """Where each name of a module is bound: the module, a function, a class or a comprehension."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.bound: dict[ast.AST, set[str]] = {}
        self._global: dict[ast.AST, set[str]] = {}
        self.uses: dict[tuple[ast.AST | None, str], list[ast.AST]] = defaultdict(list)
        self.parent: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parent[child] = node
        self._visit(tree, [])

    def all_bound(self) -> set[str]:
        return {name for names in self.bound.values() for name in names}

    def scope(self, node: ast.AST) -> ast.AST:
        """The scope in which a statement binds its names."""
        node = self.parent.get(node, self.tree)
        while not isinstance(node, (ast.Module, ast.ClassDef, *Function)):
            node = self.parent[node]
        return node

    def _visit(self, node: ast.AST, above: list[ast.AST]) -> None:
        if isinstance(node, (ast.Module, ast.ClassDef, *Function, *Comprehension)):
            self._global[node] = _declared(node, ast.Global)
            self.bound[node] = _bindings(node)
            inside = [*above, node]
            for child in ast.iter_child_nodes(node):
                outside = isinstance(node, (ast.ClassDef, *Function)) and not _in_body(node, child)
                self._visit(child, above if outside and not isinstance(child, ast.arguments) else inside)
            return
        if isinstance(node, ast.arguments):
            for child in ast.iter_child_nodes(node):  # defaults and annotations belong to the scope around
                self._visit(child, above[:-1])
            return
        if isinstance(node, ast.Name):
            self.uses[self._resolve(node.id, above), node.id].append(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                self.uses[self._resolve(name, above), name].append(node)
        for child in ast.iter_child_nodes(node):
            self._visit(child, above)

    def _resolve(self, name: str, above: list[ast.AST]) -> ast.AST | None:
        for depth, scope in enumerate(reversed(above)):
            if isinstance(scope, ast.ClassDef) and depth:
                continue
            if name in self._global[scope]:
                return self.tree if name in self.bound[self.tree] else None
            if name in self.bound[scope]:
                return scope
        return None


def _in_body(node: ast.AST, child: ast.AST) -> bool:
    body = getattr(node, "body", [])
    return child is body if not isinstance(body, list) else child in body


def _declared(scope: ast.AST, kind: type[ast.Global | ast.Nonlocal]) -> set[str]:
    return {name for node in _own(scope) if isinstance(node, kind) for name in node.names}


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope that are in no scope inside it."""
    body = getattr(scope, "body", [])
    waiting: list[ast.AST] = [*body] if isinstance(body, list) else [body]
    if isinstance(scope, Comprehension):
        waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.ClassDef, *Function)):
            if not isinstance(node, ast.Lambda):
                waiting += node.decorator_list
        elif not isinstance(node, Comprehension):
            waiting += ast.iter_child_nodes(node)
        else:
            waiting += [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]


def _bindings(scope: ast.AST) -> set[str]:
    found: set[str] = set()
    if isinstance(scope, Function):
        found |= {one.arg for one in ast.walk(scope.args) if isinstance(one, ast.arg)}
    for node in _own(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, Import):
            found |= {_local(alias) for alias in node.names}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
    return found - _declared(scope, ast.Global) - _declared(scope, ast.Nonlocal)


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


# ---- one file and its edits


@dataclass
class File:
    """A file of Python before the move, with the edits it gets."""

    path: Path
    module: str
    text: str
    edits: dict[tuple[int, int], str] = field(default_factory=dict)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @cached_property
    def scopes(self) -> Scopes:
        return Scopes(self.tree)

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        return self.module if self.is_package else self.module.rpartition(".")[0]

    @cached_property
    def defined(self) -> dict[str, list[ast.stmt]]:
        """Top-level names that are defined, not imported, with their statements."""
        found: dict[str, list[ast.stmt]] = defaultdict(list)
        imported = {_local(alias) for node in _own(self.tree) if isinstance(node, Import) for alias in node.names}
        for node in self.tree.body:
            if isinstance(node, Import) or _is_main(node):
                continue
            holder = ast.Module([node], [])
            for name in _bindings(holder) - imported:
                found[name].append(node)
        return found

    def at(self, line: int, column: int) -> int:
        """The place of a line and a column as ``ast`` counts them (bytes) in the text."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + len(text.encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def replace(self, span: tuple[int, int], text: str) -> None:
        self.edits[span] = text

    def inside_string(self, node: ast.AST) -> ast.JoinedStr | None:
        """The outermost f-string around a node: positions inside it mean nothing before Python 3.12."""
        found = None
        while (node := self.scopes.parent.get(node)) is not None:  # type: ignore[assignment]
            if isinstance(node, ast.JoinedStr):
                found = node
        return found

    def replace_expression(self, node: ast.Name | ast.Attribute, text: str) -> None:
        """Put another expression in the place of this one."""
        string = self.inside_string(node)
        if string is None:
            self.replace(self.span(node), text)
            return
        old = re.compile(rf"(?<![\w.]){re.escape(ast.unparse(node))}(?![\w])")
        span = self.span(string)
        before = self.edits.get(span, self.text[slice(*span)])
        self.replace(span, re.sub(r"\{[^{}]*\}?", lambda part: old.sub(text, part[0]), before))

    def rename(self, scope: ast.AST, old: str, new: str) -> None:
        """Another name for what is bound in this scope."""
        for node in self.scopes.uses[scope, old]:
            if isinstance(node, ast.Name):
                self.replace_expression(node, new)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                start, end = self.span(node)
                self.replace((start, end), re.sub(rf"\b{old}\b", new, self.text[start:end]))
        for node in _own(scope):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == old:
                start = self.at(node.lineno, node.col_offset)
                place = self.text.index(old, start + 4)
                self.replace((place, place + len(old)), new)

    def edited(self, start: int = 0, end: int | None = None) -> str:
        """The text from one place to another, with the edits."""
        end = len(self.text) if end is None else end
        parts, place = [], start
        for (first, last), text in sorted(self.edits.items()):
            if first < place:
                if last <= end and first >= start:
                    raise SystemExit(f"{self.path}: two edits at {self.text[first:last]!r}")
                continue
            if last > end:
                break
            parts += [self.text[place:first], text]
            place = last
        return "".join([*parts, self.text[place:end]])


# ---- the move


@dataclass
class Move:
    """A checkout and a table: where everything goes, what was found to be wrong."""

    root: Path
    table: Table
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        listed = _git(self.root, "ls-files", "-z").split("\0")
        self.tracked = [Path(name) for name in listed if name and (self.root / name).is_file()]
        self.files: dict[str, File] = {}
        self._origins: dict[tuple[str, str], tuple[str, str]] = {}
        for path in self.tracked:
            if path.suffix == ".py" and (module := _module(path)):
                self.files[module] = File(path, module, (self.root / path).read_text(encoding="utf-8"))
        self.path_moves = self._expand_paths()
        self.to: dict[str, str] = {old: new for new, sources in self.table.modules.items() for old in sources}
        self.folders: dict[str, str] = {}  # packages whose rest goes into another
        self.joined: dict[str, list[File]] = {}
        self.moved: dict[str, str] = {}  # old module: new module, of files that stay a file
        self._plan()

    def _expand_paths(self) -> dict[Path, Path]:
        """Every tracked file that the paths of the table move."""
        found: dict[Path, Path] = {}
        for path in self.tracked:
            for old in sorted(self.table.paths, key=len, reverse=True):
                if path == Path(old) or path.is_relative_to(old):
                    if not self._is_listed(path):
                        found[path] = Path(self.table.paths[old]) / path.relative_to(old)
                    break
        return found

    def _is_listed(self, path: Path) -> bool:
        """Whether the table names this module, or it is a package of the library without code, which may dissolve."""
        file = self.files.get(_module(path)) if path.suffix == ".py" else None
        listed = {name for sources in self.table.modules.values() for name in sources}
        if file is None or file.module in listed:
            return file is not None
        return file.module.startswith("lcifr") and file.is_package and _is_bare(file.tree)

    def _plan(self) -> None:
        for old, new in self.path_moves.items():
            module, target = _module(old), _module(new)
            if old.suffix == ".py" and module and target:
                self.to.setdefault(module, target)
                if old.name != "__init__.py" or (self.root / old).stat().st_size:
                    self.moved[module] = target
        for old, new in self.table.paths.items():
            if (module := _module(Path(old) / "__init__.py")) and (target := _module(Path(new) / "__init__.py")):
                self.folders[module] = target
        for new, sources in self.table.modules.items():
            if not sources:
                continue  # a package, written at the end
            there = [name for name in sources if name in self.files]
            if new in self.files and set(there) <= {new, *self.table.modules}:  # done before
                for name in there:
                    self.to.pop(name)
                continue
            if missing := sorted(set(sources) - set(there)):
                self.problems.append(f"{new}: no module {', '.join(missing)}")
            elif len(sources) == 1:
                self.moved[sources[0]] = new
            else:
                self.joined[new] = [self.files[name] for name in sources]
        for old, new in self.to.items():
            further = self.to.get(new, new)
            if further != new and old not in self.files:
                self.problems.append(f"{old} -> {new} -> {further}: apply such a table once only")

    # -- references

    def target(self, module: str) -> str:
        return self.to.get(module, module)

    def renamed(self, module: str, name: str) -> str:
        return self.table.names.get(f"{module}.{name}", name)

    def is_module(self, name: str) -> bool:
        return name in self.files or name in self.to

    def home(self, name: str) -> str:
        """A dotted reference with its longest prefix that is a module put where that goes, and its name renamed."""
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            module, rest = ".".join(parts[:length]), parts[length:]
            if self.is_module(module):
                if rest:
                    rest[0] = self.renamed(module, rest[0])
                return ".".join([self.to.get(module) or self.folders.get(module, module), *rest])
        return name

    def rewrite_text(self, text: str) -> str:
        """References in a text: commands, imports of examples, dotted names, paths."""
        for old, new in self.table.texts.items():
            text = text.replace(old, new)
        pieces, place = [], 0
        for found in IMPORT.finditer(text):
            pieces += [self._dots(text[place : found.start()]), self._import_text(text, found)]
            place = found.end()
        return self._paths("".join([*pieces, self._dots(text[place:])]))

    def _dots(self, text: str) -> str:
        return DOTTED.sub(lambda found: self.home(found[0]), text)

    def _import_text(self, text: str, found: re.Match[str]) -> str:
        module, names = found[1], [one.strip() for one in found[2].split(",")]
        if any(not re.fullmatch(r"\w+( as \w+)?", one) for one in names):
            return f"from {self.home(module)} import {found[2]}"
        lines: dict[str, list[str]] = {}
        for one in names:
            name, _, alias = one.partition(" as ")
            home, new = self._imported(module, name)
            lines.setdefault(home, []).append(new if new == (alias or name) else f"{new} as {alias or name}")
        return "; ".join(f"from {home} import {', '.join(some)}" for home, some in lines.items())

    def _origin(self, module: str, name: str) -> tuple[str, str]:
        """The module that defines what this one only hands on."""
        if (module, name) not in self._origins:
            self._origins[module, name] = self._find_origin(module, name)
        return self._origins[module, name]

    def _find_origin(self, module: str, name: str) -> tuple[str, str]:
        file = self.files.get(module)
        for node in [] if file is None or name in file.defined else file.tree.body:
            if isinstance(node, ast.ImportFrom) and file is not None:
                for alias in node.names:
                    source = _absolute(file, node)
                    if _local(alias) == name and source != module and self.is_module(source):
                        return (
                            (source, alias.name)
                            if self.is_module(f"{source}.{name}")
                            else self._origin(source, alias.name)
                        )
        return module, name

    def _imported(self, module: str, name: str, new: str = "") -> tuple[str, str]:
        """From where and under which name something is imported now, by the module ``new``."""
        origin, first = self._origin(module, name)
        if new in self.joined and self.target(origin) == new:
            return new, self.renamed(origin, first)
        if self.is_module(f"{module}.{name}"):
            home, _, new = self.target(f"{module}.{name}").rpartition(".")
            return home, new
        return self.target(module), self.renamed(module, name)

    @cached_property
    def _places(self) -> dict[str, str]:
        found = {str(old): str(new) for old, new in self.path_moves.items()}
        found |= self.table.paths
        for old, new in self.to.items():
            if old in self.files and old not in self.path_moves:
                found[str(self.files[old].path)] = str(self._path(new))
        for old, new in list(found.items()):
            for home in ("src/", "src/lcifr/"):
                if old.startswith(home) and new.startswith(home):
                    found.setdefault(old.removeprefix(home), new.removeprefix(home))
        return {old: new for old, new in found.items() if "/" in old}

    def _paths(self, text: str) -> str:
        def place(found: re.Match[str]) -> str:
            path = found[0]
            new = self._places.get(path) or self._places.get(path.rstrip("/"))
            if new is None:
                for old in sorted(self.table.paths, key=len, reverse=True):
                    if path.startswith(f"{old}/"):
                        return self.table.paths[old] + path.removeprefix(old)
                return path
            return new + "/" * (path.endswith("/") and not new.endswith("/"))

        return PATH.sub(place, text)

    def _path(self, module: str) -> Path:
        """The file of a module after the move."""
        for home, name in ROOMS.items():
            if module == name or module.startswith(f"{name}."):
                base = Path(home, *module.split(".")[1:])
                inner = any(other.startswith(f"{module}.") for other in self.after)
                return base / "__init__.py" if inner or module in self.packages else base.with_suffix(".py")
        raise SystemExit(f"{module}: not below {', '.join(ROOMS)}")

    @cached_property
    def after(self) -> set[str]:
        """Every module there is after the move."""
        gone = {name for name in self.to if self.to[name] != name}
        return ({name for name in self.files if name not in gone} - self._dissolved()) | {
            self.target(name) for name in self.files if name in self.to
        }

    @cached_property
    def packages(self) -> set[str]:
        """New modules that are packages because the table makes them so."""
        empty = {name for name, sources in self.table.modules.items() if not sources}
        kept = {self.to[file.module] for file in self.files.values() if file.is_package and file.module in self.to}
        return empty | {name for name in kept if name in self.table.modules and len(self.table.modules[name]) == 1}

    def _dissolved(self) -> set[str]:
        """Packages that keep no module: their docstrings go with them."""
        found: set[str] = set()
        for file in sorted(self.files.values(), key=lambda file: -len(file.path.parts)):
            inner = [name for name in self.files if name.startswith(f"{file.module}.") and name not in found]
            folders = [name for name in found if name.startswith(f"{file.module}.")]
            if not file.is_package or file.module in self.to or file.path in self.path_moves or not (inner or folders):
                continue
            staying = [name for name in inner if self.target(name).startswith(f"{file.module}.")]
            staying += [new for new in self.table.modules if new.startswith(f"{file.module}.")]
            others = [p for p in self.tracked if p.is_relative_to(file.path.parent) and p.suffix != ".py"]
            if staying or any(path not in self.path_moves for path in others):
                continue
            if not _is_bare(file.tree):
                self._once(self.problems, f"{file.module}: its package goes; the table must say where its code does")
            found.add(file.module)
        return found

    def _once(self, where: list[str], line: str) -> None:
        if line not in where:
            where.append(line)

    # -- circles

    def _refuse_circles(self) -> None:
        """Modules that would import each other while they are imported, and did not before."""
        after: dict[str, dict[str, str]] = defaultdict(dict)
        before: dict[str, dict[str, str]] = defaultdict(dict)
        for file in self.files.values():
            if not file.module.startswith("lcifr"):
                continue
            mine = self.target(file.module)
            for node in file.tree.body:
                if isinstance(node, ast.ImportFrom) and (module := _absolute(file, node)).startswith("lcifr"):
                    for alias in node.names:
                        inner = f"{module}.{alias.name}"
                        source = inner if self.is_module(inner) else module
                        home, name = self._imported(module, alias.name, mine)
                        where = f"{home}.{name}" if self.is_module(inner) else home
                        before[file.module].setdefault(source, file.module)
                        if where != mine:
                            after[mine].setdefault(where, f"{file.module} imports {alias.name} from {module}")
        known = {frozenset(map(self.target, circle)) for circle in _circles(before)}
        for circle in _circles(after):
            if not any(circle <= one for one in known):
                lines = [after[a][b] for a in sorted(circle) for b in sorted(circle) if b in after[a]]
                self.problems.append(f"circle of {', '.join(sorted(circle))}: " + "; ".join(lines))

    # -- one file

    def rewrite(self, file: File) -> None:
        """All edits of one file: renamed definitions, imports, dotted names, strings and comments."""
        new = self.target(file.module)
        depth = self._depth(file)
        for name in file.defined:
            if (other := self.renamed(file.module, name)) != name:
                file.rename(file.tree, name, other)
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom):
                self._rewrite_import(file, node, new)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("lcifr.") and (home := self.home(alias.name)) != alias.name:
                        start, end = file.span(alias)  # type: ignore[arg-type]
                        file.replace((start, end), home + (f" as {alias.asname}" if alias.asname else ""))
            elif isinstance(node, ast.Attribute) and depth and _is_own_place(node):
                self._deeper(file, node, depth)
            elif isinstance(node, ast.Attribute) and not isinstance(file.scopes.parent.get(node), ast.Attribute):
                self._rewrite_dotted(file, node)
            elif isinstance(node, ast.Call):
                self._rewrite_patch(file, node)
        self._rewrite_strings(file)

    def _depth(self, file: File) -> int:
        """How many folders deeper a file lies after the move."""
        new = self.path_moves.get(file.path)
        return 0 if new is None else len(new.parts) - len(file.path.parts)

    def _deeper(self, file: File, node: ast.Attribute, depth: int) -> None:
        above = file.scopes.parent.get(node)
        if isinstance(above, ast.Subscript) and isinstance(above.slice, ast.Constant):
            file.replace(file.span(above.slice), str(int(above.slice.value) + depth))

    def _rewrite_dotted(self, file: File, node: ast.Attribute) -> None:
        name = ast.unparse(node)
        if DOTTED.fullmatch(name) and (home := self.home(name)) != name:
            file.replace_expression(node, home)

    def _rewrite_patch(self, file: File, node: ast.Call) -> None:
        """``setattr(module, "name", …)`` where the name has another."""
        if not ast.unparse(node.func).endswith("setattr") or len(node.args) < 2:
            return
        holder, name = node.args[:2]
        if isinstance(holder, ast.Name) and isinstance(name, ast.Constant) and isinstance(name.value, str):
            module = self._module_of(file, holder)
            if module and (new := self.renamed(module, name.value)) != name.value:
                file.replace(file.span(name), f'"{new}"')

    def _module_of(self, file: File, name: ast.Name) -> str:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    found = f"{_absolute(file, node)}.{alias.name}"
                    if _local(alias) == name.id and self.is_module(found):
                        return found
        return ""

    def _rewrite_import(self, file: File, node: ast.ImportFrom, new: str) -> None:
        module = _absolute(file, node)
        if module == "__future__" or not module.startswith(tuple(ROOMS.values())):
            return
        scope, lines = file.scopes.scope(node), []
        for alias in node.names:
            local = _local(alias)
            home, name = self._imported(module, alias.name, new)
            if self.is_module(f"{module}.{alias.name}"):
                if f"{home}.{name}" == new and new in self.joined:
                    self._plain(file, scope, local, f"{module}.{alias.name}")
                    continue
                other = local if alias.asname else self._new_local(file, local, name)
                self._attributes(file, scope, local, other, f"{module}.{alias.name}")
            elif home == new and new in self.joined:
                if local != name:
                    self._refuse_hidden(file, scope, local, name)
                    file.rename(scope, local, name)
                continue
            else:
                other = local
                if not alias.asname and name != local and name not in file.scopes.all_bound():
                    file.rename(scope, local, name)
                    other = name
                elif alias.asname == name:
                    other = name
            line = (home, name if name == other else f"{name} as {other}")
            if line not in lines:
                lines.append(line)
        if not lines and node.names:
            self._drop(file, node)
        elif lines != [(module, _as(alias)) for alias in node.names] or node.level:
            self._write_import(file, node, lines)

    def _write_import(self, file: File, node: ast.ImportFrom, lines: list[tuple[str, str]]) -> None:
        by_home: dict[str, list[str]] = {}
        for home, name in lines:
            by_home.setdefault(home, []).append(name)
        if node.level and list(by_home) == [_absolute(file, node)] and self.target(file.module) == file.module:
            return
        indent = "\n" + " " * node.col_offset
        texts = []
        for home, names in by_home.items():
            one = ", ".join(names)
            long = len(one) + len(home) + node.col_offset > 100
            texts.append(f"from {home} import ({one})" if long else f"from {home} import {one}")
        file.replace(file.span(node), indent.join(texts))

    def _new_local(self, file: File, local: str, name: str) -> str:
        """The name under which a moved module is imported: its own, where that is free."""
        if name == local:
            return local
        taken = file.scopes.all_bound() - {local}
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.asname is None and self.is_module(f"{_absolute(file, node)}.{alias.name}"):
                        home, other = self._imported(_absolute(file, node), alias.name)
                        if other == name and alias.name == name and home.endswith(name):
                            taken -= {name}
        return local if name in taken else name

    def _attributes(self, file: File, scope: ast.AST, local: str, other: str, module: str) -> None:
        """Uses of a module: under its new name, with its attributes' new names."""
        for node in file.scopes.uses[scope, local]:
            above = file.scopes.parent.get(node)
            if isinstance(above, ast.Attribute) and isinstance(node, ast.Name):
                inner = f"{module}.{above.attr}"
                if inner in self.files and module not in self.to and self.target(inner) != inner:
                    self._once(self.problems, f"{file.path}:{node.lineno}: {local}.{above.attr} by way of its package")
                attribute = self.renamed(module, above.attr)
                if attribute != above.attr or local != other:
                    file.replace_expression(above, f"{other}.{attribute}")
            elif isinstance(node, ast.Name) and local != other:
                file.replace_expression(node, other)

    def _plain(self, file: File, scope: ast.AST, local: str, module: str) -> None:
        """``module.name`` becomes ``name``: both are in one file now."""
        for node in file.scopes.uses[scope, local]:
            above = file.scopes.parent.get(node)
            if isinstance(above, ast.Attribute) and isinstance(node, ast.Name):
                name = self.renamed(module, above.attr)
                inner = file.scopes.bound
                if any(name in names for holder, names in inner.items() if holder is not file.tree):
                    self.problems.append(f"{file.path}:{node.lineno}: {local}.{above.attr} is hidden by a local {name}")
                file.replace_expression(above, name)
            else:
                line = getattr(node, "lineno", 0)
                self.problems.append(f"{file.path}:{line}: the module {local} is used as a value in its own file")

    def _refuse_hidden(self, file: File, scope: ast.AST, local: str, name: str) -> None:
        for node in file.scopes.uses[scope, local]:
            holder = file.scopes.scope(node)
            if holder is not scope and name in file.scopes.bound.get(holder, ()):
                line = getattr(node, "lineno", 0)
                self.problems.append(f"{file.path}:{line}: {local} would be {name}, which is a local name there")

    def _drop(self, file: File, node: ast.stmt) -> None:
        start, end = file.span(node)
        body = _siblings(file.scopes.parent[node], node)
        gone = [one for one in body if one is node or file.edits.get(file.span(one)) == ""]
        if len(gone) == len(body) and not isinstance(file.scopes.parent[node], ast.Module):
            file.replace((start, end), "pass")
            return
        file.replace((start, end), "")

    def _rewrite_strings(self, file: File) -> None:
        taken = sorted(file.edits)
        for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
            if token.type not in (tokenize.STRING, tokenize.COMMENT):
                continue
            start = file._starts[token.start[0] - 1] + token.start[1]
            end = file._starts[token.end[0] - 1] + token.end[1]
            if any(first < end and start < last and (first, last) != (start, end) for first, last in taken):
                if (new := self.rewrite_text(token.string)) != token.string:
                    self._once(self.notes, f"{file.path}:{token.start[0]}: by hand: {token.string[:90]}")
                continue
            before = file.edits.get((start, end), token.string)
            if (new := self.rewrite_text(before)) != before:
                file.replace((start, end), new)

    # -- joining

    def join(self, new: str) -> str:
        """The text of a joined module."""
        files = self.joined[new]
        self._refuse_collisions(new, files)
        head, lazy, bodies, endings = [], [], [], []
        doc = self.table.docs.get(new)
        repeated = self._repeated(files)
        for place, file in enumerate(files):
            part = Part.of(file, repeated.get(file.module, set()))
            head += part.imports
            lazy += part.lazy
            own = _docstring(file, self)
            comment = ""
            if place == 0 and doc is None:
                doc = own
            elif own:
                comment = _as_comment(own)
            bodies.append(comment + part.body if part.body.strip() else "")
            endings.append(part.ending)
        head = self._first_of_each(head, files)
        known = set(head)
        text = [f'"""{doc}{_newline(doc)}"""\n\n' if doc else "", "from __future__ import annotations\n\n"]
        text += [f"{line}\n" for line in dict.fromkeys(head)]
        if rest := [line for line in dict.fromkeys(lazy) if line not in known]:
            text.append("\nif TYPE_CHECKING:\n" + "".join(f"    {line}\n" for line in rest))
        text += [f"\n\n{body}\n" for body in [*bodies, *endings] if body.strip()]
        return _without_known_imports("".join(text))

    def _first_of_each(self, lines: list[str], files: list[File]) -> list[str]:
        """The imports without those of names that are defined here, or imported before: they mean the same."""
        bound = {self.renamed(file.module, name) for file in files for name in file.defined}
        kept = []
        for line in dict.fromkeys(lines):
            name = re.split(r" import | as |^import ", line.split("  #")[0])[-1]
            if not line.startswith("from ") or name not in bound:
                kept.append(line)
            if line.startswith("from "):
                bound.add(name)
        return kept

    def _repeated(self, files: list[File]) -> dict[str, set[str]]:
        """Names that a later module defines by the same words as an earlier one."""
        seen: dict[str, str] = {}
        found: dict[str, set[str]] = {}
        for file in files:
            for name, nodes in file.defined.items():
                plain = self._plainly(file, nodes)
                new = self.renamed(file.module, name)
                if seen.setdefault(new, plain) == plain and new in seen and self._first(files, new) is not file:
                    found.setdefault(file.module, set()).add(name)
        return found

    def _plainly(self, file: File, nodes: list[ast.stmt]) -> str:
        """What a definition says, with the new names of what it uses."""
        used = {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}
        names = sorted(f"{name}={self.renamed(file.module, name)}" for name in used if name in file.defined)
        return " ".join([*(ast.dump(node) for node in nodes), *names])

    def _first(self, files: list[File], name: str) -> File:
        return next(file for file in files for one in file.defined if self.renamed(file.module, one) == name)

    def _refuse_collisions(self, new: str, files: list[File]) -> None:
        places: dict[str, dict[str, str]] = defaultdict(dict)
        for file in files:
            for name, nodes in file.defined.items():
                if name != "__all__":
                    places[self.renamed(file.module, name)][file.module] = self._plainly(file, nodes)
            for name, origin in self._head_imports(file, new):
                places[name].setdefault(file.module, origin)
        for name, where in sorted(places.items()):
            if len(set(where.values())) > 1:
                lines = "; ".join(f"{module} ({_kind(what)})" for module, what in where.items())
                self.problems.append(f"{new}: {name} in {lines}")
        defined = {self.renamed(file.module, name): file for file in files for name in file.defined}
        for name in set(defined) & set(dir(builtins)):
            for file in files:
                if file is not defined[name] and file.scopes.uses.get((None, name)):
                    hidden = f"{defined[name].module}.{name}"
                    self.problems.append(f"{new}: {hidden} hides a builtin that {file.module} uses")
        self._refuse_order(new, files)

    def _head_imports(self, file: File, new: str) -> Iterator[tuple[str, str]]:
        for node in _own(file.tree):
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                module = _absolute(file, node)
                for alias in node.names:
                    home, name = self._imported(module, alias.name, new)
                    if self.is_module(f"{module}.{alias.name}"):
                        local = _local(alias) if alias.asname else self._new_local(file, _local(alias), name)
                        if f"{home}.{name}" != new:
                            yield local, f"from {home} import {name}"
                    elif home != new:
                        local = _local(alias) if alias.asname else name
                        yield local, self._value(module, alias.name) or f"from {home} import {name}"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield _local(alias), f"import {alias.name}"

    def _value(self, module: str, name: str) -> str:
        """What an imported name is assigned where it is defined, if it is: types that several modules define alike."""
        module, name = self._origin(module, name)
        file = self.files.get(module)
        nodes = [] if file is None else file.defined.get(name, [])
        return self._plainly(file, nodes) if file and nodes and all(isinstance(n, ast.Assign) for n in nodes) else ""

    def _refuse_order(self, new: str, files: list[File]) -> None:
        """Names of a later module that an earlier one needs while it is imported."""
        for place, file in enumerate(files):
            later = {other.module: other for other in files[place + 1 :]}
            needed = _needed_at_import(file)
            for node in file.tree.body:
                module = _absolute(file, node) if isinstance(node, ast.ImportFrom) else ""
                names = {_local(alias) for alias in node.names} & needed if isinstance(node, ast.ImportFrom) else set()
                if module in later and names:
                    some = ", ".join(sorted(names))
                    self.problems.append(f"{new}: {file.module} needs {some} of {module}: put it first")

    # -- everything

    def apply(self, *, look: bool) -> int:
        """Move, join and rewrite; or only look. The exit code: 1 if anything stands in the way."""
        concerned = self._concerned()
        for file in self.files.values():
            if concerned.search(file.text) or file.module in self.to or file.path in self.path_moves:
                self.rewrite(file)
        texts = {new: self.join(new) for new in self.joined}
        self._refuse_circles()
        dissolved = self._dissolved()
        written = self._written(texts, dissolved)
        if self.problems:
            print("\n".join(self.problems), file=sys.stderr)
            return 1
        if not look:
            self._write(written, dissolved)
            self._finish([path for path in written if path.suffix == ".py"])
        print("\n".join([*self.notes, *self._to_look_at(), *([] if look else self._left_over())]))
        print(f"{len(self.joined)} modules joined, {len(self.moved)} moved, {len(written)} files written")
        return 0

    def _concerned(self) -> re.Pattern[str]:
        """What a file must hold to need a look: most have nothing of what moves."""
        parents = {f"from {name.rpartition('.')[0]} import" for name in self.to}
        words = {*self.to, *parents, *self._places, *self.table.texts}
        return re.compile("|".join(map(re.escape, sorted(words))) or "$^")

    def _written(self, texts: dict[str, str], dissolved: set[str]) -> dict[Path, str]:
        written: dict[Path, str] = {}
        gone = {file.module for files in self.joined.values() for file in files} | dissolved
        for file in self.files.values():
            if file.module in gone:
                continue
            place = self.path_moves.get(file.path, file.path)
            if file.module in self.moved and file.path not in self.path_moves:
                place = self._path(self.moved[file.module])
            text = self._with_doc(file)
            if place != file.path or text != file.text:
                if place in written and text.strip() and written[place].strip():
                    self.problems.append(f"{place}: two files go there")
                if (place in written and not text.strip()) or (
                    place != file.path and self._is_taken(place) and not text.strip()
                ):
                    continue
                if place != file.path and self._is_taken(place):
                    self.problems.append(f"{place}: {file.path} would go there, but it exists")
                written[place] = text
        for new, text in texts.items():
            written[self._path(new)] = text
        for new, sources in self.table.modules.items():
            place = self._path(new)
            stays = (self.root / place).exists() and self.to.get(new, new) == new
            if not sources and not stays and place not in written:
                written[place] = f'"""{self.table.docs[new]}{_newline(self.table.docs[new])}"""\n'
        for path in self.tracked:
            if not _module(path) and (path.suffix in TEXTS or path.name in ("Makefile", "run")):
                before = (self.root / path).read_text(encoding="utf-8")
                if (after := self.rewrite_text(before)) != before:
                    written[self.path_moves.get(path, path)] = after
        return written

    def _is_taken(self, place: Path) -> bool:
        """Whether a file that stays lies there."""
        module = _module(place)
        return (self.root / place).exists() and place not in self.path_moves and self.to.get(module, module) == module

    def _with_doc(self, file: File) -> str:
        text = file.edited()
        new = self.moved.get(file.module, "")
        if new in self.table.docs and ast.get_docstring(file.tree) is not None:
            start, end = file.span(file.tree.body[0])
            doc = self.table.docs[new]
            file.replace((start, end), f'"""{doc}{_newline(doc)}"""')
            text = file.edited()
        return text

    def _write(self, written: dict[Path, str], dissolved: set[str]) -> None:
        moves = dict(self.path_moves)
        for module, new in self.moved.items():
            if self.files[module].path not in moves:
                moves[self.files[module].path] = self._path(new)
        removed = [self.files[module].path for module in dissolved]
        for new, files in self.joined.items():
            biggest = max(files, key=lambda file: len(file.text))
            moves[biggest.path] = self._path(new)
            removed += [file.path for file in files if file is not biggest]
        aside = {}
        for number, (old, new) in enumerate(moves.items()):  # by way of a name that is nowhere: places may change hands
            if old != new:
                aside[self.root / f".moving-{number}"] = new
                _git(self.root, "mv", str(old), f".moving-{number}")
        for path in removed:
            _git(self.root, "rm", "-q", str(path))
        for path, new in aside.items():
            place = self.root / new
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():  # an empty package of tests is there already
                _git(self.root, "rm", "-q", "-f", path.name)
            else:
                _git(self.root, "mv", path.name, str(new))
        for path, text in written.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
        self._remove_empty_folders()

    def _remove_empty_folders(self) -> None:
        for home in ROOMS:
            for folder in sorted((self.root / home).rglob("*"), key=lambda path: -len(path.parts)):
                if folder.is_dir() and folder.name != "__pycache__":
                    left = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
                    if not left:
                        for path in sorted(folder.rglob("*"), key=lambda path: -len(path.parts)):
                            path.rmdir() if path.is_dir() else path.unlink()
                        folder.rmdir()

    def _finish(self, paths: list[Path]) -> None:
        """Format what was written, stage everything, import every new module in a process of its own."""
        there = [str(path) for path in paths if (self.root / path).exists()]
        for words in (["check", "--select", "I,F401,F811", "--fix", "-q"], ["format", "-q"]):
            if there:
                subprocess.run([_tool("ruff"), *words, *there], cwd=self.root, check=False)
        _git(self.root, "add", "-A")
        if there:
            subprocess.run([_tool("ruff"), "check", "--output-format", "concise", *there], cwd=self.root, check=False)
        for module in sorted({*self.joined, *self.moved.values()}):
            if module.startswith("lcifr.") and not module.endswith("__main__"):
                self._try_import(module)

    def _try_import(self, module: str) -> None:
        code = f"import sys; sys.path.insert(0, 'src'); import {module}"
        done = subprocess.run([sys.executable, "-c", code], cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{module} cannot be imported: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)

    def _to_look_at(self) -> list[str]:
        """What no tool can decide: names made by ``__name__`` or ``__file__``."""
        found = []
        for file in self.files.values():
            if self.target(file.module) != file.module:
                for number, line in enumerate(file.text.splitlines(), 1):
                    if re.search(r"(?<!\.)\b__name__\b(?! ==)|\b__file__\b|f\"lcifr\.[\w.]*\{", line):
                        found.append(f"look at {file.path}:{number}: {line.strip()[:100]}")
        return found

    def _left_over(self) -> list[str]:
        """References to packages that are gone."""
        found = []
        gone = self._dissolved() - self.after
        for path in self.tracked:
            now = self.root / self.path_moves.get(path, path)
            if path.suffix in TEXTS and now.exists():
                for number, line in enumerate(now.read_text(encoding="utf-8").splitlines(), 1):
                    if left := [one for one in DOTTED.findall(line) if one in gone]:
                        found.append(f"left over in {path}:{number}: {', '.join(left)}")
        return found


# ---- parts of joined modules


@dataclass(frozen=True)
class Part:
    """A module's imports and the rest of it, after its edits."""

    imports: list[str]
    lazy: list[str]
    body: str
    ending: str

    @classmethod
    def of(cls, file: File, repeated: Iterable[str]) -> Part:
        imports: list[str] = []
        lazy: list[str] = []
        cuts: list[tuple[int, int]] = []
        ending = ""
        for place, node in enumerate(file.tree.body):
            start, end = _whole_lines(file, node)
            if place == 0 and ast.get_docstring(file.tree) is not None:
                cuts.append((start, end))
            elif isinstance(node, Import):
                if getattr(node, "module", "") != "__future__":
                    imports += _statements(file.edited(start, end))
                cuts.append((start, end))
            elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse:
                plain = [one for one in node.body if not isinstance(one, (*Import, ast.Pass))]
                for one in node.body:
                    if isinstance(one, Import):
                        lazy += [line for line in _statements(file.edited(*_whole_lines(file, one))) if line != "pass"]
                        if plain:
                            cuts.append(_whole_lines(file, one))
                if not plain:
                    cuts.append((start, end))
            elif _is_main(node):
                ending = file.edited(start, end).strip("\n")
                cuts.append((start, end))
            elif any(node in file.defined[name] for name in repeated if name in file.defined):
                cuts.append((start, end))
        pieces, at = [], 0
        for start, end in cuts:
            pieces.append(file.edited(at, start))
            at = end
        return cls(imports, lazy, "".join([*pieces, file.edited(at)]).strip("\n"), ending)


def _whole_lines(file: File, node: ast.stmt) -> tuple[int, int]:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    return file._starts[first - 1], file._starts[node.end_lineno or node.lineno]


def _statements(text: str) -> list[str]:
    """Import statements one name each, with the comment behind them."""
    comment = re.search(r"#.*$", text, re.MULTILINE)
    try:
        tree = ast.parse(re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE))
    except SyntaxError as error:
        raise SystemExit(f"no imports: {text!r}") from error
    found = []
    for node in tree.body:
        if isinstance(node, Import):
            start = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
            found += [f"{start}{_as(alias)}" + (f"  {comment[0]}" if comment else "") for alias in node.names]
    return found


def _without_known_imports(text: str) -> str:
    """Drop imports inside functions of what the head imports under the same name."""
    tree = ast.parse(text)
    head = {
        (getattr(node, "module", ""), _as(alias))
        for node in tree.body
        if isinstance(node, Import)
        for alias in node.names
    }
    file = File(Path("joined"), "joined", text)
    for node in ast.walk(file.tree):
        if isinstance(node, Import) and not isinstance(file.scopes.parent[node], ast.Module):
            rest = [alias for alias in node.names if (getattr(node, "module", ""), _as(alias)) not in head]
            if len(rest) == len(node.names) or isinstance(file.scopes.scope(node), ast.Module):
                continue
            if rest:
                start = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
                file.replace(file.span(node), start + ", ".join(_as(alias) for alias in rest))
            elif len(_siblings(file.scopes.parent[node], node)) == 1:
                file.replace(file.span(node), "pass")
            else:
                file.replace(_whole_lines(file, node), "")
    return file.edited()


def _needed_at_import(file: File) -> set[str]:
    """Names that are looked up while the module is imported: bases, decorators, defaults, top-level expressions."""
    needed: set[str] = set()
    waiting: list[ast.AST] = list(file.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.Lambda):
            waiting += node.args.defaults
        elif isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
        elif isinstance(node, Import) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            continue
        else:
            if isinstance(node, ast.Name):
                needed.add(node.id)
            waiting += ast.iter_child_nodes(node)
    return needed


def _circles(graph: dict[str, dict[str, str]]) -> list[frozenset[str]]:
    """Strongly connected modules, two or more each."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += graph.get(node, ())
        reached[start] = seen
    found = {frozenset(b for b in seen if a in reached.get(b, ())) for a, seen in reached.items() if a in seen}
    return [circle for circle in sorted(found, key=sorted) if len(circle) > 1]


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _is_bare(tree: ast.Module) -> bool:
    """Nothing, or a docstring."""
    return len(tree.body) == (ast.get_docstring(tree) is not None)


def _siblings(parent: ast.AST, node: ast.stmt) -> list[ast.stmt]:
    for name in ("body", "orelse", "finalbody", "handlers"):
        body = getattr(parent, name, None)
        if isinstance(body, list) and node in body:
            return body
    return [node]


def _is_own_place(node: ast.Attribute) -> bool:
    """``Path(__file__).parents``, resolved or not."""
    return node.attr == "parents" and "__file__" in ast.unparse(node.value)


def _kind(what: str) -> str:
    return what if what.startswith(("from ", "import ")) else "defined"


def _as(alias: ast.alias) -> str:
    return alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"


def _docstring(file: File, move: Move) -> str:
    doc = ast.get_docstring(file.tree) or ""
    return move.rewrite_text(doc).replace("\\", "\\\\")


def _as_comment(doc: str) -> str:
    lines = [part for line in doc.splitlines() for part in textwrap.wrap(line, 118) or [""]]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n"


def _newline(doc: str) -> str:
    return "\n" if "\n" in doc else ""


def _absolute(file: File, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = file.package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _module(path: Path) -> str:
    """The dotted name of a file, empty outside the rooms."""
    for home, name in ROOMS.items():
        if path.is_relative_to(home):
            parts = path.relative_to(home).with_suffix("").parts
            return ".".join([name, *parts]).removesuffix(".__init__")
    return ""


def _tool(name: str) -> str:
    near = Path(sys.executable).parent / name
    return str(near) if near.exists() else name


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def main() -> int:
    words = sys.argv[1:]
    tables = [Path(word).resolve() for word in words if not word.startswith("--")]
    look = "--look" in words
    if not tables:
        raise SystemExit("python -m benchmarks.move TABLE.toml ... [--look]")
    root = Path.cwd()
    if not look and _git(root, "status", "--porcelain"):
        raise SystemExit("git status is not clean: commit or stash first, so that this move can be undone")
    return Move(root, Table.read(*tables)).apply(look=look)


if __name__ == "__main__":
    raise SystemExit(main())
