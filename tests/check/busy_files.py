"""Files made to keep a checker busy, and the checker on them with little time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import lcifr
from lcifr.data.files import sha256_of

PEOPLE = "people.jsonl.gz"
SECONDS, BYTES = 10, 200 << 20  # the limit is five on a quick core: machines of half the speed run these tests too
MAIN = "import sys; sys.path.insert(0, sys.argv[1]); import lcifr.check.__main__ as m; sys.exit(m.main(sys.argv[2:]))"
Attack = Callable[[dict[str, Any]], None]


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def checked(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The checker on a folder, with the seconds and the memory that a hostile file may cost."""
    command = [sys.executable, "-I", "-S", "-c", MAIN, str(Path(lcifr.__file__).parents[1]), str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limited)


def named_again(folder: Path) -> None:
    """The manifest with the hash of the people that are there now."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][PEOPLE]["sha256"] = sha256_of(folder / PEOPLE)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def at_least(name: str, value: float) -> list[Any]:
    """The other's number is at least so many thousandths."""
    return ["compare", "<=", [int(value), 1000], [[[-1, 1], "other", name]]]


def some_of(name: str, count: int) -> list[Any]:
    """One of so many intervals of a number, none inside another."""
    ends = [["compare", "<=", [-20_000 - 2 * k - 1, 1000], [[[1, 1], "other", name]]] for k in range(count)]
    return ["any", *(["all", at_least(name, 20_000 + 2 * k), end] for k, end in enumerate(ends))]


def row(k: int, more: Any = ()) -> list[Any]:
    """One more linear condition on two numbers of the other."""
    return ["compare", "<=", [-(10**6), 1], [[[k + 1, 1], "other", "age"], [[k * k + 1, 1], "other", "income"], *more]]


def formula(node: Any) -> Attack:
    """φ, where age is any number of its range."""

    def attack(plain: dict[str, Any]) -> None:
        plain["similarity"]["formula"] = node
        plain["encoding"]["schema"]["attributes"]["age"]["integer"] = False

    return attack


def nested(depth: int) -> list[Any]:
    node: list[Any] = ["all"]
    for _ in range(depth):
        node = ["all", node]
    return node


def ranks(count: int, size: int) -> list[Any]:
    """So many comparisons with a rank among so many people."""
    groups = [[[0, 1], [float(k) for k in range(size)]]]
    return [["compare", "<=", [-size, 1], [[[1, 1], "other", "age", "sex", groups]]] for _ in range(count)]


PRIMES = [k for k in range(10**4, 2 * 10**4) if all(k % d for d in range(2, 142))]
LEAF = ["leaf", [], []]
HUGE, TINY = 1e308, 5e-324


def proofs(trees: list[Any]) -> Attack:
    """The proofs of a radius, about whole numbers: then every kind of split is allowed."""

    def attack(plain: dict[str, Any]) -> None:
        plain["lines"][0]["latent"] |= {"proofs": trees, "universe": "whole"}

    return attack


def whole(borders: Iterable[int]) -> list[Any]:
    """Splits of the age at each of these numbers in turn."""
    splits = [["whole", "age", k] for k in borders]
    return [*splits, *[LEAF] * (len(splits) + 1)]


def wide(inputs: int, layers: int, values: tuple[float, ...] = (HUGE, TINY), width: int = 20) -> Attack:
    """Layers whose weights are as far apart as float64 goes: their integers are the longest."""

    def rows(outputs: int, inputs: int) -> list[list[float]]:
        return [[values[(i + j) % len(values)] for j in range(inputs + 1)] for i in range(outputs)]

    def attack(plain: dict[str, Any]) -> None:
        latents = len(plain["model.json"][0][0]) - 1
        inner = [rows(width, width) for _ in range(layers - 2)]
        plain["encoder.json"] = [rows(width, inputs), *inner, rows(latents, width)]

    return attack


def categories(count: int) -> Attack:
    def attack(plain: dict[str, Any]) -> None:
        plain["encoding"]["schema"]["attributes"]["job"]["values"] = [str(k) for k in range(count)]

    return attack


def put(*path: Any, value: Any) -> Attack:
    def attack(plain: dict[str, Any]) -> None:
        at: Any = plain
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return attack


def trees(model: dict[str, Any], tree: list[Any]) -> Attack:
    """Trees in place of encoder and model, and this proof of a verdict, in float32."""

    def attack(plain: dict[str, Any]) -> None:
        width = len(plain["encoder.json"][0][0]) - 1
        plain["encoder.json"] = {"kind": "network", "factors": []}
        plain["model.json"] = {"kind": "trees", "inputs": width, "base": [1.0], "scale": [1, 1], **model}
        about = {"universe": "whole", "arithmetic": "float32", "on": "whole", "prediction": 1}
        plain["lines"][0]["decision"] = {"verdict": "certified", **about, "proofs": [tree]}
        for line in plain["lines"]:
            del line["latent"]

    return attack


def chain_of(count: int) -> list[Any]:
    """A tree that is a long chain: so many splits inside each other."""
    splits: list[Any] = []
    for k in range(count):
        splits += [["numeric", 0, -1.0 + k / count], ["leaf", [[0, 1.0]]]]
    return [*splits, ["leaf", []]]


def scores(trees: list[Any], outputs: int, scale: list[int]) -> Attack:
    """Trees of so many outputs in place of the encoder, and a radius, in float32."""

    def attack(plain: dict[str, Any]) -> None:
        width, about = len(plain["encoder.json"][0][0]) - 1, {"universe": "whole", "arithmetic": "float32"}
        plain["encoder.json"] = {"kind": "trees", "inputs": width, "base": [0.0] * outputs, "scale": scale}
        plain["encoder.json"]["trees"] = trees
        plain["model.json"] = [[[0.0] * outputs + [1.0] for _ in plain["model.json"][-1]]]
        box = {"z": [0.0] * outputs, "lower": [-1.0] * outputs, "upper": [1.0] * outputs, "radius": 1.0}
        plain["lines"][0]["latent"] |= {**box, **about, "proofs": [[LEAF]]}

    return attack


def chain_through(attributes: int, count: int) -> Attack:
    """So many trees, in each of which the way to the last leaf asks about so many attributes."""

    def attack(plain: dict[str, Any]) -> None:
        first = len(plain["encoder.json"][0][0]) - 1
        about = {"kind": "numeric", "integer": False, "lower": 0.0, "upper": 1.0}
        splits = [node for k in range(attributes) for node in (["numeric", first + k, 0.5], ["leaf", []])]
        trees({"trees": [[*splits, ["leaf", [[0, 1.0]]]]] * count, "inputs": first + attributes}, [LEAF])(plain)
        for name in (f"number {k}" for k in range(attributes)):
            plain["encoding"]["schema"]["attributes"][name] = about
            plain["encoding"]["programs"][name] = [["cast", "float64"]]
        plain["lines"], plain["manifest"]["people"] = plain["lines"][:1], 1
        plain["lines"][0]["x"]["numbers"] += [0.0] * attributes

    return attack
