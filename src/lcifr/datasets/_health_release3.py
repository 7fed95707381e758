"""Aggregation of Heritage Health release 3 (four tables) to one row per member and year."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from lcifr.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd

TABLES: Final = ("Claims.csv", "Members.csv", "DrugCount.csv", "LabCount.csv")
KEY: Final = ["Year", "MemberID"]
CHARLSON: Final = {"0": 0, "1-2": 1, "3-4": 2, "5+": 3}


def aggregate(path: Path, categories: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
    """One row per member and year, with the columns of the paper's code, age and sex as text.

    Parameters
    ----------
    path
        The folder or the zip file with the release's tables.
    categories
        For each category column of Claims its values, in order; the missing one is named ``COLUMN_?``.

    Notes
    -----
    The order of the rows decides who is in which split. It is fixed here: member-years with lab counts by (year,
    member), then those that only have drug counts, then those that only have claims; and then all years of a member
    together, members in order of first appearance. Joins of pandas leave another order in every other release.
    """
    import pandas as pd

    claims, members, drugs, labs = (_read(path, name) for name in TABLES)
    tables = [_monthly(labs, "LabCount"), _monthly(drugs, "DrugCount"), _claims(claims, categories)]
    people = members.set_index("MemberID")[["AgeAtFirstClaim", "Sex"]].fillna("?")
    index = _member_years([table.index for table in tables], people.index)
    counts = pd.concat([table.reindex(index) for table in tables], axis=1).fillna(0).astype("int64")
    who = people.reindex(index.get_level_values("MemberID")).fillna("?")
    return pd.concat([counts.reset_index(drop=True), who.reset_index(drop=True)], axis=1)


def _read(path: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    # Only an empty cell is missing, and "1-2" or "10-19" must stay text.
    with _open(path, name) as stream:
        raw = pd.read_csv(stream, dtype=str, keep_default_na=False, na_values=[""])
    return raw.assign(MemberID=raw["MemberID"].astype("int64"))


def _open(path: Path, name: str) -> IO[bytes]:
    if path.is_dir():
        return open(path / name, "rb")
    with zipfile.ZipFile(path) as archive:
        member = next((entry for entry in archive.namelist() if Path(entry).name == name), None)
        if member is None:
            raise DatasetError(f"{path} holds no {name}", fix="use the zip file of release 3 as it was published")
        return archive.open(member)


def _monthly(raw: pd.DataFrame, name: str) -> pd.DataFrame:
    """The sum of monthly counts (``7+`` counts as 7) and the number of months, per member and year."""
    counts = raw[name].str.replace("+", "", regex=False).astype("int64")
    grouped = raw.assign(**{name: counts}).groupby(KEY)[name]
    return grouped.agg(["sum", "count"]).set_axis([f"{name}_total", f"{name}_months"], axis=1)


def _claims(raw: pd.DataFrame, categories: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
    """What the claims of a member in a year add up to."""
    import pandas as pd

    raw = raw.assign(
        CharlsonIndex=raw["CharlsonIndex"].map(CHARLSON),
        PayDelay=raw["PayDelay"].replace("162+", "162").astype("int64"),
    )
    grouped = raw.groupby(KEY)
    totals = grouped.agg(
        no_Claims=("ProviderID", "count"),
        no_Providers=("ProviderID", "nunique"),
        no_Vendors=("Vendor", "nunique"),
        no_PCPs=("PCP", "nunique"),
        max_CharlsonIndex=("CharlsonIndex", "max"),
        PayDelay_total=("PayDelay", "sum"),
        PayDelay_max=("PayDelay", "max"),
        PayDelay_min=("PayDelay", "min"),
    )
    group = grouped.ngroup().to_numpy()
    counts = [_count(raw[column], group, column, values) for column, values in categories.items()]
    return pd.concat([totals, *(table.set_index(totals.index) for table in counts)], axis=1)


def _count(raw: pd.Series[str], group: np.ndarray, column: str, values: tuple[str, ...]) -> pd.DataFrame:
    """How many claims of each group have each value: (groups, values)."""
    import pandas as pd

    filled = raw.fillna(f"{column}_?")
    codes = pd.Index(values).get_indexer(pd.Index(filled))
    if (codes < 0).any():
        unknown = ", ".join(sorted(set(filled[codes < 0])))
        raise DatasetError(
            f"Claims.csv, column {column}: unknown values {unknown}", fix="use release 3 of the prize's data"
        )
    groups, kinds = int(group.max(initial=-1)) + 1, len(values)
    counts = np.bincount(group * kinds + codes, minlength=groups * kinds).reshape(groups, kinds)
    return pd.DataFrame(counts, columns=[f"{column}={value}" for value in values])


def _member_years(tables: list[pd.Index], members: pd.Index) -> pd.MultiIndex:
    """Every (year, member) once, in the order that :func:`aggregate` describes; members without any come last."""
    import pandas as pd

    keys = pd.concat([table.to_frame(index=False) for table in tables]).drop_duplicates()
    unmatched = pd.DataFrame({"Year": "", "MemberID": members[~members.isin(keys["MemberID"])]})
    keys = pd.concat([keys, unmatched])
    together = np.argsort(pd.factorize(keys["MemberID"])[0], kind="stable")
    return pd.MultiIndex.from_frame(keys.iloc[together])
