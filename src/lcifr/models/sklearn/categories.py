"""OneHotEncoder and OrdinalEncoder of scikit-learn as tables from category to number.

Dropped columns, infrequent categories and unknown ones are entries of the table like any other. A category at which
the encoder raises has no entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.data import Categorical
from lcifr.data.frames import is_missing, text_of
from lcifr.errors import NetworkError
from lcifr.models.columns import Block, RawColumn, TableColumn

ENCODERS = ("OneHotEncoder", "OrdinalEncoder")


def read_encoder(encoder: Any, raw: tuple[RawColumn, ...], where: str) -> Block:
    """The columns that a fitted encoder makes of categories."""
    one_hot = type(encoder).__name__ == "OneHotEncoder"
    read = _one_hot if one_hot else _ordinal
    columns = [column for place, one in enumerate(raw) for column in read(_coded(encoder, place, one, where))]
    dtype = np.dtype(encoder.dtype)
    if dtype.kind == "f" and dtype not in (np.float32, np.float64):
        raise NetworkError(f"{where}: dtype={dtype} is not float32 or float64")
    return Block(tuple(columns), dtype, one_hot and encoder.sparse_output)


@dataclass(frozen=True)
class _Coded:
    """One column of an encoder.

    Parameters
    ----------
    numbers : of every category that the encoder knows; infrequent ones have the last one together.
    infrequent : that number, if there are any. indices : of the schema's values among the categories, None if unknown.
    """

    encoder: Any
    place: int
    attribute: Categorical
    numbers: tuple[int, ...]
    infrequent: int | None
    indices: tuple[int | None, ...]
    where: str

    @property
    def groups(self) -> list[int | None]:
        """For each value of the schema its number; None where it is unknown."""
        return [None if index is None else self.numbers[index] for index in self.indices]

    @property
    def dropped(self) -> int | None:
        """The number without a column of its own."""
        dropped = self.encoder.drop_idx_
        if dropped is None or dropped[self.place] is None:
            return None
        return self.numbers[int(dropped[self.place])]


def _coded(encoder: Any, place: int, raw: RawColumn, where: str) -> _Coded:
    attribute, texts = raw.attribute, [_text(value) for value in encoder.categories_[place]]
    if not isinstance(attribute, Categorical):
        raise NetworkError(
            f'{where} codes the values of "{attribute.name}" one by one, but the schema says that it is a number',
            fix=f'declare it categorical: Schema.infer(…, categorical=["{attribute.name}"])',
        )
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise NetworkError(f'{where} tells two values of "{attribute.name}" apart that both read "{twice}"')
    listed = getattr(encoder, "infrequent_categories_", None)
    rare = set() if listed is None or listed[place] is None else {_text(value) for value in listed[place]}
    frequent = [text for text in texts if text not in rare]
    if rare and type(encoder).__name__ == "OrdinalEncoder" and "" in frequent:
        frequent.remove("")  # what is missing has a code of its own, and no place among the others; it is in no table
    numbers = tuple(frequent.index(text) if text in frequent else len(frequent) for text in texts)
    known = {text: index for index, text in enumerate(texts)}
    if encoder.categories_[place].dtype.kind in "iuf":  # booleans beside numbers become numbers
        known |= {word: known[digit] for word, digit in (("true", "1"), ("false", "0")) if digit in known}
    indices = tuple(known.get(value) for value in attribute.values)
    return _Coded(encoder, place, attribute, numbers, len(frequent) if rare else None, indices, where)


def _text(value: object) -> str:
    """As the schema names it; what is missing is nobody's value, and blank."""
    return "" if is_missing(value) else text_of(value).strip()


def _one_hot(coded: _Coded) -> list[TableColumn]:
    unknown = coded.encoder.handle_unknown
    rest = coded.infrequent if unknown in ("infrequent_if_exist", "warn") else None
    raises = [group is None and unknown == "error" for group in coded.groups]
    groups = [rest if group is None else group for group in coded.groups]
    return [
        TableColumn(
            coded.attribute.name,
            tuple(None if bad else float(group == column) for group, bad in zip(groups, raises, strict=True)),
        )
        for column in range(max(coded.numbers) + 1)
        if column != coded.dropped
    ]


def _ordinal(coded: _Coded) -> list[TableColumn]:
    unknown = coded.encoder.handle_unknown == "use_encoded_value"
    value = float(coded.encoder.unknown_value) if unknown else None
    rest = None if value is None or not np.isfinite(value) else value
    if unknown and rest is None and None in coded.groups:
        unseen = coded.attribute.values[coded.groups.index(None)]
        raise NetworkError(
            f'{coded.where} codes the unknown value "{unseen}" of "{coded.attribute.name}" as missing, and what the '
            "model decides then is not read",
            fix=f'leave "{unseen}" out of the schema, or code unknown values as -1',
        )
    return [TableColumn(coded.attribute.name, tuple(rest if g is None else float(g) for g in coded.groups))]
