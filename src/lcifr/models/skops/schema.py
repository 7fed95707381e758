"""Schemas of skops files, checked node by node and written anew: nothing reaches skops that was not understood here.

A schema is a tree of nodes. Each names a loader, and a class that the loader makes. Loaders that call something are not
known here: methods, partial functions, operators, constructors, generators. Attributes that no prediction reads are
left out, and so are the ids by which a node could stand for another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lcifr.errors import NetworkError
from lcifr.models.skops.allowed import READ, SCALARS, TREE, TYPES, UNREAD, allowed_classes, allowed_functions
from lcifr.models.skops.archive import Archive, check_array
from lcifr.models.skops.trees import check_tree

Node = dict[str, Any]

PROTOCOL = 2
"""Of skops 0.7 and later; a node of an older one has another shape."""
MOST_NODES = 1_000_000
DEEPEST = 100
LONGEST = 1 << 20
"""Characters of a plain value."""
NOTHING: Node = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "null"}
SILENT: Node = {**NOTHING, "content": "0"}
"""What ``verbose`` becomes."""
CONTAINERS = {"ListNode": "builtins.list", "TupleNode": "builtins.tuple", "SetNode": "builtins.set"}


def checked(archive: Archive) -> Archive:
    """The schema with known nodes alone, and the arrays that it needs.

    Raises
    ------
    NetworkError
        For anything else, with the place and the name of what was found.
    """
    try:
        schema = json.loads(archive.schema)
    except (ValueError, RecursionError) as problem:
        raise NetworkError(f"schema.json is no JSON: {problem!s:.200}") from None
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol != PROTOCOL:
        raise NetworkError(
            f"the file has protocol {protocol!r:.40} of skops, and {PROTOCOL} is read",
            fix="load it where you trust it, and save it again with skops 0.13 or later",
        )
    checker = _Checker(archive)
    known = checker.node(schema, "model")
    return Archive(json.dumps({**known, "protocol": PROTOCOL}).encode(), checker.arrays)


@dataclass
class _Checker:
    """Walks the nodes; ``seen`` counts them, and ``arrays`` are those that they need."""

    archive: Archive
    arrays: dict[str, bytes] = field(default_factory=dict)
    seen: int = 0
    depth: int = 0
    readers: dict[str, Callable[[Node, str, str], Node]] = field(init=False)

    def __post_init__(self) -> None:
        self.readers = {
            **dict.fromkeys(CONTAINERS, self._container),
            "DictNode": self._dict,
            "ObjectNode": self._object,
            "JsonNode": self._json,
            "TypeNode": self._type,
            "FunctionNode": self._function,
            "SliceNode": self._slice,
            "NdArrayNode": self._array,
            "DTypeNode": self._dtype,
            "TreeNode": self._tree,
        }

    def node(self, state: Any, where: str) -> Node:
        """One node, with nothing but what its loader needs."""
        self.seen += 1
        if self.seen > MOST_NODES or self.depth > DEEPEST:
            raise NetworkError(f"the file has more than {MOST_NODES:,} parts, or parts nested deeper than {DEEPEST}")
        if not isinstance(state, dict):
            raise NetworkError(f"{where} is no part of a skops file")
        loader, name = state.get("__loader__"), f"{state.get('__module__')}.{state.get('__class__')}"
        if not isinstance(loader, str) or loader not in self.readers:
            raise _refused(where, name, f" by {loader!r:.40}" if isinstance(loader, str) else "")
        named = {key: state[key] for key in ("__module__", "__class__") if isinstance(state.get(key), str)}
        if len(named) < 2:
            raise NetworkError(f"{where} has no class")
        self.depth += 1
        found = self.readers[loader](state, name, where)
        self.depth -= 1
        return {**named, "__loader__": loader, **found}

    def _container(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset(CONTAINERS.values()) & {CONTAINERS[state["__loader__"]]}, where)
        return {"content": [self.node(one, f"{where}[{j}]") for j, one in enumerate(_list(state, where))]}

    def _dict(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset({"builtins.dict"}), where)
        content, keys = state.get("content"), state.get("key_types")
        if not isinstance(content, dict):
            raise NetworkError(f"{where} has no content")
        types = self.node(keys, f"{where}: types of keys")
        if types["__loader__"] != "ListNode" or any(one["__loader__"] != "TypeNode" for one in types["content"]):
            raise NetworkError(f"{where}: the types of its keys are none")
        return {
            "key_types": types,
            "content": {key: self.node(value, f"{where}[{key!r:.60}]") for key, value in content.items()},
        }

    def _object(self, state: Node, name: str, where: str) -> Node:
        _must(name, allowed_classes(), where)
        content, own = state.get("content"), name.rpartition(".")[2]
        if name.startswith("sklearn._loss.link.") and isinstance(content, dict) and content.get("content") == "null":
            return {"content": NOTHING}  # a link has no attributes
        if not isinstance(content, dict) or content.get("__loader__") != "DictNode":
            raise NetworkError(f"{where}: {name} has no attributes")
        attributes = content.get("content")
        if not isinstance(attributes, dict):
            raise NetworkError(f"{where}: {name} has no attributes")
        unread = UNREAD - READ.get(own, frozenset())
        read = {key: NOTHING if key in unread else value for key, value in attributes.items()}
        read |= {"verbose": SILENT} if "verbose" in read else {}
        if own == "FunctionTransformer" and _only_checks(read.get("func")):
            read["func"] = NOTHING  # of histogram boosting: it looks at numbers, and hands them on
        return {"content": self.node({**content, "content": read}, f"{where} ({own})")}

    def _tree(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset({TREE}), where)
        reduced = state.get("__reduce__")
        args = self.node(reduced.get("args") if isinstance(reduced, dict) else None, f"{where}: its arguments")
        content = self.node(state.get("content"), where)
        check_tree(args, content, self.arrays, where)
        return {"__reduce__": {"args": args}, "content": content}

    def _json(self, state: Node, name: str, where: str) -> Node:
        content = state.get("content")
        if not isinstance(content, str) or len(content) > LONGEST:
            raise NetworkError(f"{where} is no plain value, or one of more than {LONGEST:,} characters")
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            raise NetworkError(f"{where} is no plain value: {content!r:.60}") from None
        return {"content": content, "is_json": True}

    def _type(self, state: Node, name: str, where: str) -> Node:
        _must(name, TYPES, where)
        return {}

    def _function(self, state: Node, name: str, where: str) -> Node:
        _must(name, allowed_functions(), where)
        return {}

    def _slice(self, state: Node, name: str, where: str) -> Node:
        content = state.get("content")
        ends = {key: content.get(key) for key in ("start", "stop", "step")} if isinstance(content, dict) else {}
        if name != "builtins.slice" or not ends or any(type(end) not in (int, type(None)) for end in ends.values()):
            raise NetworkError(f"{where} is no slice of whole numbers")
        return {"content": ends}

    def _array(self, state: Node, name: str, where: str) -> Node:
        _must(name, SCALARS | {"numpy.ndarray"}, where)
        if state.get("type") == "numpy":
            file = state.get("file")
            if not isinstance(file, str) or file not in self.archive.files:
                raise NetworkError(f"{where}: there is no array {file!r:.80} in the file")
            if file not in self.arrays:
                check_array(file, self.archive.files[file])
                self.arrays[file] = self.archive.files[file]
            return {"type": "numpy", "file": file}
        if state.get("type") != "json" or name != "numpy.ndarray":
            raise NetworkError(f"{where} is no array that can be read")
        items = [self.node(one, f"{where}[{j}]") for j, one in enumerate(_list(state, where))]
        if any(one["__loader__"] not in ("JsonNode", "NdArrayNode", "ListNode") for one in items):
            raise NetworkError(f"{where} is an array of other things than plain values")
        return {"type": "json", "content": items, "shape": self.node(state.get("shape"), f"{where}: its shape")}

    def _dtype(self, state: Node, name: str, where: str) -> Node:
        _must(name, frozenset({"numpy.dtype"}), where)
        content = self.node(state.get("content"), where)
        if content["__loader__"] != "NdArrayNode":
            raise NetworkError(f"{where} is no dtype")
        return {"content": content}


def _only_checks(function: Any) -> bool:
    """Whether it is check_array with some options, and nothing before them."""
    content = (
        function.get("content") if isinstance(function, dict) and function.get("__loader__") == "PartialNode" else None
    )
    inner = content.get("func") if isinstance(content, dict) else None
    named = (
        (inner.get("__loader__"), inner.get("__module__"), inner.get("__class__")) if isinstance(inner, dict) else ()
    )
    return named == ("FunctionNode", "sklearn.utils.validation", "check_array")


def _list(state: Node, where: str) -> list[Any]:
    content = state.get("content")
    if not isinstance(content, list):
        raise NetworkError(f"{where} has no content")
    return content


def _must(name: str, allowed: frozenset[str], where: str) -> None:
    if name not in allowed:
        raise _refused(where, name, "")


def _refused(where: str, name: str, how: str) -> NetworkError:
    return NetworkError(
        f"{where} is {name!r:.120}{how}, which is not on the list of what is read from a file; nothing was loaded",
        fix="pass the fitted object to lcifr.audit where you trust it, or save a model of the supported classes",
    )
