"""JSON to dataclasses and back: renamed, nested, inlined and omitted keys, and errors that name the key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lcifr.data.codec import JsonError, Record, from_json, inline, key, to_json


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Wheel:
    spokes: int
    colour: Colour = Colour.RED


@dataclass(frozen=True)
class Bell(Record):
    loud: bool
    maker: str


@dataclass(frozen=True)
class Lamp(Record):
    closed = True
    bright: bool


@dataclass(frozen=True)
class Bicycle(Record):
    head = ("format",)
    also = ("count",)
    format: ClassVar[str] = "bicycle-2"
    wheels: tuple[Wheel, ...]
    sizes: Mapping[str, float] = field(metadata=key("measures"))
    height: float = field(metadata=key("saddle.height"))
    width: float = field(metadata=key("saddle.width"))
    maker: str
    ids: tuple[str | int, ...] = ()
    home: Path | None = None
    lock: str | None = field(default=None, metadata=key(omit=True))
    note: Any = None
    weight: int = field(default=0, metadata=key(write=lambda grams: f"{grams} g", read=lambda text: int(text[:-2])))
    bell: Bell | None = field(default=None, metadata=inline())

    @property
    def count(self) -> int:
        return len(self.wheels)

    @classmethod
    def upgraded(cls, plain: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**plain, "maker": plain["brand"]} if "brand" in plain else plain


PLAIN = Bicycle((Wheel(32), Wheel(28, Colour.BLUE)), {"frame": 54.5}, 80.0, 15.5, "me", ids=("a", 1), weight=900)


def test_keys_stand_in_the_order_of_the_fields_and_are_renamed_nested_and_left_out() -> None:
    assert PLAIN.to_dict() == {
        "format": "bicycle-2",
        "wheels": [{"spokes": 32, "colour": "red"}, {"spokes": 28, "colour": "blue"}],
        "measures": {"frame": 54.5},
        "saddle": {"height": 80.0, "width": 15.5},
        "maker": "me",
        "ids": ["a", 1],
        "home": None,
        "note": None,
        "weight": "900 g",
        "count": 2,
    }
    assert list(PLAIN.to_dict())[:4] == ["format", "wheels", "measures", "saddle"]


@pytest.mark.parametrize(
    "one",
    [
        PLAIN,
        Bicycle((), {}, 1.0, 2.0, "me", home=Path("a/b"), lock="iron", note={"any": [1]}, bell=Bell(True, "me")),
    ],
)
def test_what_was_written_is_read(one: Bicycle) -> None:
    assert Bicycle.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_whole_numbers_are_numbers_and_truth_values_are_not() -> None:
    assert from_json(Wheel, {"spokes": 3}) == Wheel(3)
    assert from_json(Mapping[str, float], {"a": 1}) == {"a": 1}
    with pytest.raises(JsonError, match="spokes: found True, expected a whole number"):
        from_json(Wheel, {"spokes": True})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"wheels": 3}, "wheels: found 3, expected a list"),
        ({"wheels": [{"spokes": 1}, {"spokes": "x"}]}, r"wheels\[1\].spokes: found 'x', expected a whole number"),
        ({"wheels": [{"spokes": 1, "colour": "pink"}]}, r"wheels\[0\].colour: found 'pink', expected one of red, blue"),
        ({"measures": {"frame": "x"}}, "measures.frame: found 'x', expected a number"),
        ({"saddle": {"height": 1}}, 'the key "saddle.width" is missing'),
        ({"saddle": 7}, "saddle: found 7, expected an object"),
        ({"maker": None}, "maker: found None, expected text"),
        ({"ids": [[]]}, r"ids\[0\]: found \[\], expected a whole number"),
        ({"loud": 1}, "loud: found 1, expected true or false"),
    ],
)
def test_errors_name_the_key(change: dict[str, Any], words: str) -> None:
    with pytest.raises(JsonError, match=words):
        Bicycle.from_dict({**PLAIN.to_dict(), **change})


def test_a_missing_key_is_named() -> None:
    plain = {name: value for name, value in PLAIN.to_dict().items() if name != "wheels"}
    with pytest.raises(JsonError, match='the key "wheels" is missing'):
        Bicycle.from_dict(plain)


def test_an_object_that_is_inlined_is_absent_where_none_of_its_own_keys_is_there() -> None:
    assert Bicycle.from_dict(PLAIN.to_dict()).bell is None


def test_an_unknown_key_is_refused_where_the_dataclass_is_closed() -> None:
    assert from_json(Wheel, {"spokes": 1, "more": 2}) == Wheel(1)
    with pytest.raises(JsonError, match=r'the key "brighter" is unknown. Did you mean "bright"'):
        Lamp.from_dict({"bright": True, "brighter": False})


def test_what_an_earlier_version_wrote_is_upgraded() -> None:
    older = PLAIN.to_dict()
    older["brand"] = older.pop("maker")
    assert Bicycle.from_dict(older) == PLAIN


def test_lists_of_a_fixed_length() -> None:
    assert from_json(tuple[int, str], [1, "a"]) == (1, "a")
    with pytest.raises(JsonError, match="at: there are 1 values, expected 2"):
        from_json(tuple[int, str], [1], "at")


def test_numbers_of_numpy_are_plain() -> None:
    import numpy as np

    assert to_json([np.float64(0.5), np.int64(3)]) == [0.5, 3]
