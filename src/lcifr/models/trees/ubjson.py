"""Reader of Universal Binary JSON (UBJSON, draft 12), in which XGBoost saves models."""

from __future__ import annotations

import struct
from typing import Any

from lcifr.errors import NetworkError

NUMBERS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}
DEEPEST = 64


def read_ubjson(data: bytes) -> Any:
    """The one value that the bytes hold.

    Raises
    ------
    NetworkError
        For bytes that are no such value.
    """
    try:
        reader = _Reader(data)
        found = reader.value(reader.take(1), 0)
    except (struct.error, UnicodeDecodeError, KeyError, ValueError) as problem:
        raise NetworkError(f"not a model in UBJSON: {type(problem).__name__}: {problem}") from None
    if reader.at != len(data):
        raise NetworkError(f"not a model in UBJSON: {len(data) - reader.at} bytes behind its end")
    return found


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise ValueError("the bytes end early")
        self.at += count
        return self.data[self.at - count : self.at]

    def marker(self) -> bytes:
        """The next one; no-ops are passed over."""
        found = self.take(1)
        while found == b"N":
            found = self.take(1)
        return found

    def value(self, kind: bytes, deep: int) -> Any:
        if deep > DEEPEST:
            raise ValueError("values are nested too deeply")
        if kind in NUMBERS:
            return self.number(kind)
        if kind in CONSTANTS:
            return CONSTANTS[kind]
        if kind == b"C":
            return self.take(1).decode("ascii")
        if kind == b"S":
            return self.text()
        if kind == b"[":
            return self.array(deep)
        if kind == b"{":
            return self.table(deep)
        raise ValueError(f"unknown marker {kind!r}")

    def number(self, kind: bytes) -> Any:
        form = NUMBERS[kind]
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def length(self) -> int:
        kind = self.take(1)
        if kind not in (b"i", b"U", b"I", b"l", b"L"):
            raise ValueError(f"a length of type {kind!r}")
        return int(self.number(kind))

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def header(self) -> tuple[bytes | None, int | None]:
        """The type of all elements, and their number, where they are said in advance."""
        kind, count = None, None
        if self.data[self.at : self.at + 1] == b"$":
            self.take(1)
            kind = self.take(1)
        if self.data[self.at : self.at + 1] == b"#":
            self.take(1)
            count = self.length()
        return kind, count

    def array(self, deep: int) -> list[Any]:
        kind, count = self.header()
        if kind in NUMBERS and count is not None:
            form = NUMBERS[kind]
            return list(struct.unpack(f">{count}{form[1]}", self.take(count * struct.calcsize(form))))
        found: list[Any] = []
        while count is None or len(found) < count:
            marker = self.marker() if kind is None else kind
            if count is None and marker == b"]":
                break
            found.append(self.value(marker, deep + 1))
        return found

    def table(self, deep: int) -> dict[str, Any]:
        kind, count = self.header()
        found: dict[str, Any] = {}
        while count is None or len(found) < count:
            if count is None and self.data[self.at : self.at + 1] == b"}":
                self.take(1)
                break
            name = self.text()
            if name in found:
                raise ValueError(f"{name!r} occurs twice")
            found[name] = self.value(self.marker() if kind is None else kind, deep + 1)
        return found
