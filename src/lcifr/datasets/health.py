"""Heritage Health: whose comorbidity index is not 1 in a year of insurance claims; and five tasks for transfer.

The release's four tables are aggregated to one row per member and year.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.datasets.dataset import CleanTable, DatasetFolder, Source, split_names
from lcifr.datasets.downloads import DataFile
from lcifr.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd


# Aggregation of Heritage Health release 3 (four tables) to one row per member and year.

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


# Heritage Health: whose comorbidity index is not 1 in a year of insurance claims; and five tasks for transfer.

ARCHIVE: Final = "HHP_release3.zip"
AGGREGATED: Final = ("health_by_member_year.csv.gz", "health_by_member_year.csv")
AGGREGATED_CAUTION: Final = (
    "Read from the aggregated file, which is not quite the original: one member-year of 218,415 is imputed, and "
    "pay_delay_total is exact for 38 % of the rows and within about 1 % for the others."
)
TRANSFER: Final = ("MSC2a3", "METAB3", "ARTHSPIN", "NEUMENT", "RESPR4")

AMOUNTS: Final = {  # the aggregation's names and ours
    "LabCount_total": Numeric("lab_count_total", unit="lab tests", integer=True),
    "LabCount_months": Numeric("lab_count_months", unit="months", integer=True),
    "DrugCount_total": Numeric("drug_count_total", unit="prescriptions", integer=True),
    "DrugCount_months": Numeric("drug_count_months", unit="months", integer=True),
    "no_Claims": Numeric("claims", unit="claims", integer=True),
    "no_Providers": Numeric("providers", unit="providers", integer=True),
    "no_Vendors": Numeric("vendors", unit="vendors", integer=True),
    "no_PCPs": Numeric("pcps", unit="primary care physicians", integer=True),
    "PayDelay_total": Numeric("pay_delay_total", unit="days", integer=True),
    "PayDelay_max": Numeric("pay_delay_max", unit="days", integer=True),
    "PayDelay_min": Numeric("pay_delay_min", unit="days", integer=True),
}
CATEGORIES: Final = {  # the category columns of a claim; NAME_? counts the claims without a value
    "PrimaryConditionGroup": split_names(
        "AMI APPCHOL ARTHSPIN CANCRA CANCRB CANCRM CATAST CHF COPD FLaELEC FXDISLC GIBLEED GIOBSENT GYNEC1 GYNECA "
        "HEART2 HEART4 HEMTOL HIPFX INFEC4 LIVERDZ METAB1 METAB3 MISCHRT MISCL1 MISCL5 MSC2a3 NEUMENT ODaBNCA PERINTL "
        "PERVALV PNCRDZ PNEUM PRGNCY PrimaryConditionGroup_? RENAL1 RENAL2 RENAL3 RESPR4 ROAMI SEIZURE SEPSIS SKNAUT "
        "STROKE TRAUMA UTI"
    ),
    "Specialty": (
        *("Anesthesiology", "Diagnostic Imaging", "Emergency", "General Practice", "Internal", "Laboratory"),
        *("Obstetrics and Gynecology", "Other", "Pathology", "Pediatrics", "Rehabilitation", "Specialty_?", "Surgery"),
    ),
    "ProcedureGroup": split_names(
        "ANES EM MED PL ProcedureGroup_? RAD SAS SCS SDS SEOA SGS SIS SMCD SMS SNS SO SRS SUS"
    ),
    "PlaceSvc": (
        *("Ambulance", "Home", "Independent Lab", "Inpatient Hospital", "Office", "Other", "Outpatient Hospital"),
        *("PlaceSvc_?", "Urgent Care"),
    ),
}
PREFIXES: Final = {
    "PrimaryConditionGroup": "condition",
    "Specialty": "specialty",
    "ProcedureGroup": "procedure",
    "PlaceSvc": "place",
}
AGES: Final = ("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80+", "?")
SEXES: Final = ("?", "F", "M")


def _count_names(label: str | None) -> dict[str, str]:
    """The count columns, as the aggregation names them and as we do. The transfer tasks hide the condition groups."""
    return {
        f"{column}={value}": f"{PREFIXES[column]}_{_as_name(value)}"
        for column, values in CATEGORIES.items()
        for value in values
        if label is None or column != "PrimaryConditionGroup"
    }


def _as_name(value: str) -> str:
    return "unknown" if value.endswith("_?") else value.lower().replace(" ", "_")


def schema(label: str | None = None) -> Schema:
    """The attributes for a label; ``counts`` are the numbers of claims by kind."""
    counts = tuple(_count_names(label).values())
    return Schema(
        (
            *AMOUNTS.values(),
            *(Numeric(name, unit="claims", integer=True) for name in counts),
            Categorical("age", AGES),
            Categorical("sex", SEXES),
        ),
        groups={"counts": counts},
        target="charlson_not_1" if label is None else f"has_{_as_name(label)}",
    )


def read(place: DatasetFolder, label: str | None) -> CleanTable:
    """The raw release if available, else the aggregated file with a caution."""
    if (raw := _raw_release(place)) is not None:
        return _table(aggregate(raw, CATEGORIES), label, ())
    for name in AGGREGATED:
        if (path := place.find(name)) is not None:
            return _table(_read_aggregated(path), label, (AGGREGATED_CAUTION,))
    raise place.missing([ARCHIVE])


def _raw_release(place: DatasetFolder) -> Path | None:
    if (archive := place.find(ARCHIVE)) is not None:
        return archive
    folders = (place.folder, place.folder / Path(ARCHIVE).stem)
    return next((folder for folder in folders if all((folder / name).is_file() for name in TABLES)), None)


def _read_aggregated(path: Path) -> pd.DataFrame:
    """The aggregated file, its one-hot columns for age and sex turned back into text."""
    import pandas as pd

    frame = pd.read_csv(path)
    text = {}
    for column, values in (("AgeAtFirstClaim", AGES), ("Sex", SEXES)):
        hot = frame[[f"{column}={value}" for value in values]].to_numpy().argmax(axis=1)
        text[column] = pd.Series(values).take(hot).to_numpy()
    return pd.concat([frame, pd.DataFrame(text)], axis=1)


def _table(frame: pd.DataFrame, label: str | None, cautions: tuple[str, ...]) -> CleanTable:
    attributes = schema(label)
    # With 1 − index as in the paper's code everything but 1 is true, also indices of 2 and 3.
    y = frame["max_CharlsonIndex"] != 1 if label is None else frame[f"PrimaryConditionGroup={label}"] > 0
    ours = {raw: amount.name for raw, amount in AMOUNTS.items()} | _count_names(label)
    frame = frame.rename(columns={**ours, "AgeAtFirstClaim": "age", "Sex": "sex"})
    return CleanTable(
        attributes, frame[list(attributes.names)], y.rename(attributes.target).astype("int64"), cautions=cautions
    )


SOURCE: Final = Source(
    name="health",
    title="Heritage Health",
    homepage="https://www.kaggle.com/c/hhp",
    licence="the prize's own terms: not to be redistributed",
    citation="Heritage Provider Network (2011). Heritage Health Prize, release 3 [Dataset]. https://www.kaggle.com/c/hhp",
    summary="218,415 member-years of insurance claims, lab tests and prescriptions of people in California.",
    positive="the largest Charlson index of the year is not in the class 1-2 (so it is 0, 3-4 or 5+)",
    cautions=(
        "The label is a quirk of the paper's code, kept so that figures compare: 0 exactly where the index is 1-2, so "
        "the sickest people share the label of the healthiest.",
        "The index and the condition groups come from the same claims: the task is partly to undo a calculation.",
        "A person can be in three rows, one per year, and then in several splits.",
        "Claims show what was billed, not what people suffered from; who sees a doctor less looks healthier.",
        "Sex is unknown for a fifth of the rows, age for some; `?` is a category of its own.",
    ),
    files=(
        DataFile(ARCHIVE),
        *(DataFile(name) for name in TABLES),
        DataFile(AGGREGATED[0], "ba807392218c173db34c7d69b3dad1296af698db39c08856bdbcf406ce33f394"),
        DataFile(AGGREGATED[1], "5bb04bab248f99d0758ca6bc5fd37c44922c730181f28b29a02b5c7dda59476e"),
    ),
    schema=schema(),
    read=read,
    labels=TRANSFER,
    by_hand=(
        f"the prize's terms forbid to pass the data on: accept them at https://www.kaggle.com/c/hhp, get {ARCHIVE} "
        "there and place it (or its four CSV files) in {folder}"
    ),
)
