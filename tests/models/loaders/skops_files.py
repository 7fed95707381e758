"""Skops files: of ordinary pipelines, with parts exchanged, and broken ones."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tests.models.loaders.sklearn_tables import labels, people

TABLE = people()


@cache
def ordinary() -> bytes:
    """A pipeline as people have it."""
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["age", "income"]), ("c", OneHotEncoder(), ["city"]), ("p", "passthrough", ["member"])]
    )
    return skops.io.dumps(make_pipeline(columns, LogisticRegression()).fit(TABLE, labels(TABLE)))


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def with_schema(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The ordinary file with another schema; ``change`` may work in place or return a new one."""
    parts = entries(ordinary())
    schema = json.loads(parts["schema.json"])
    changed = change(schema)
    return packed(parts | {"schema.json": json.dumps(schema if changed is None else changed).encode()})


def node(loader: str, module: str, name: str, **more: Any) -> dict[str, Any]:
    return {"__loader__": loader, "__module__": module, "__class__": name, **more}


def value(content: Any) -> dict[str, Any]:
    return node("JsonNode", "builtins", "str", content=json.dumps(content), is_json=True)


def container(loader: str, name: str, *items: Any) -> dict[str, Any]:
    return node(loader, "builtins", name, content=list(items))


def in_place_of_a_weight(bad: dict[str, Any]) -> bytes:
    """The ordinary file with a hostile node where the intercept of the classifier should be."""

    def change(schema: dict[str, Any]) -> None:
        steps = schema["content"]["content"]["steps"]
        last = steps["content"][-1]["content"][1]
        last["content"]["content"]["intercept_"] = bad

    return with_schema(change)


def mutated(rng: np.random.Generator) -> bytes:
    """The ordinary file with a few bytes, values or nodes of it changed."""
    return mutate(ordinary(), rng)


def mutate(original: bytes, rng: np.random.Generator) -> bytes:
    """A file with a few bytes, values or nodes of it changed."""
    data = bytearray(original)
    kind = rng.integers(4)
    if kind == 0:  # bytes anywhere, the archive's own lists included
        for _ in range(rng.integers(1, 8)):
            data[rng.integers(len(data))] = rng.integers(256)
        return bytes(data)
    if kind == 1:
        return bytes(data[: rng.integers(len(data))])
    parts = entries(bytes(data))
    if kind == 2:  # an array's bytes, which its archive then confirms
        name = rng.choice([name for name in parts if name != "schema.json"])
        array = bytearray(parts[name])
        for _ in range(rng.integers(1, 6)):
            array[rng.integers(len(array))] = rng.integers(256)
        return packed(parts | {name: bytes(array)})
    schema = json.loads(parts["schema.json"])
    for _ in range(rng.integers(1, 4)):
        _change_somewhere(schema, rng)
    return packed(parts | {"schema.json": json.dumps(schema).encode()})


def _change_somewhere(schema: dict[str, Any], rng: np.random.Generator) -> None:
    places = list(_places(schema))
    holder, key = places[rng.integers(len(places))]
    other_holder, other_key = places[rng.integers(len(places))]
    choices: list[Any] = [None, 0, -1, 10**12, "", "builtins", [], {}, "eval", value([1e308, None]), value(10**30)]
    drawn = int(rng.integers(len(choices) + 3))
    if drawn < len(choices):
        holder[key] = choices[drawn]
    elif drawn == len(choices) and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = copy.deepcopy(other_holder[other_key])


def _places(found: Any) -> Iterator[tuple[Any, Any]]:
    keys = found if isinstance(found, dict) else range(len(found))
    for key in list(keys):
        yield found, key
        if isinstance(found[key], dict | list):
            yield from _places(found[key])
