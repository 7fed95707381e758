"""Law School: who was admitted to one of 24 US law schools between 2005 and 2008."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.datasets.dataset import CleanTable, DatasetFolder, Source
from lcifr.datasets.downloads import DataFile

if TYPE_CHECKING:
    import pandas as pd

COMPLETE: Final = "lawschs1_1.dta"
PARTIAL: Final = "law_school_first65535.csv"
HOMEPAGE: Final = "http://www.seaphe.org/databases.php"
PARTIAL_REASON: Final = (
    f"read from {PARTIAL}, the first 65,535 rows of {COMPLETE}: 49,449 of 86,022 usable applications and 13 of 24 "
    "law schools, so no figure compares with the paper's"
)
KNOWN_COLLEGES: Final = (  # those of the partial file; the complete one brings its own list
    "Arizona State",
    "Buffalo",
    "George Mason",
    "Hawaii",
    "Houston",
    "Idaho",
    "Louisiana State",
    "Michigan",
    "Missouri at Kansas City",
    "Nevada Las Vegas",
    "North Carolina",
    "Northern Illinois",
    "Ohio State",
)


def schema(colleges: tuple[str, ...] = KNOWN_COLLEGES) -> Schema:
    """The attributes, with the law schools that occur in the data."""
    return Schema(
        (
            Numeric("lsat", unit="points", integer=True),
            Numeric("gpa", unit="grade points"),
            Categorical("race", ("Black", "Hispanic", "White")),
            Numeric("resident", unit="1 if a resident of the state", integer=True),
            Categorical("college", colleges),
            Categorical("year", ("2005", "2006", "2007", "2008", "200x")),
            Categorical("gender", ("0", "1")),
        ),
        target="admit",
    )


def read(place: DatasetFolder, label: str | None) -> CleanTable:
    """The complete Stata file if available, else the partial CSV with a caution."""
    import pandas as pd

    if (complete := place.find(COMPLETE)) is not None:
        return clean(pd.read_stata(complete), None)
    if (partial := place.find(PARTIAL)) is not None:
        return clean(pd.read_csv(partial, encoding="utf-8-sig"), PARTIAL_REASON)
    raise place.missing([COMPLETE])


def clean(raw: pd.DataFrame, partial: str | None) -> CleanTable:
    """Complete applications of people who are not Asian; a blank race is a missing one."""
    raw = raw.rename(columns=str.lower)[[*schema().names, "admit"]]
    text = raw.select_dtypes(exclude="number").apply(lambda column: column.str.strip())
    raw = raw.assign(**text).replace("", None).dropna()
    raw = raw[raw["race"] != "Asian"]
    X = _typed(raw)
    return CleanTable(schema(tuple(sorted(X["college"].unique()))), X, raw["admit"].astype("int64"), partial=partial)


def _typed(raw: pd.DataFrame) -> pd.DataFrame:
    """Every column in the type of its attribute."""
    columns = {}
    for attribute in schema():
        column = raw[attribute.name]
        if isinstance(attribute, Categorical):
            # 0.0 and 2006.0 where a file stores codes as numbers
            columns[attribute.name] = column.astype("int64").astype(str) if column.dtype.kind in "iuf" else column
        elif attribute.integer:
            columns[attribute.name] = column.astype("int64")
        else:
            # Stata stores short floats: 3.71 must stay 3.71 and not become 3.7100000381.
            columns[attribute.name] = column.astype(str).astype("float64")
    return raw.assign(**columns)[list(schema().names)]


SOURCE: Final = Source(
    name="law_school",
    title="Law School admissions",
    homepage=HOMEPAGE,
    licence="public records, released under freedom-of-information laws",
    citation="Project SEAPHE (2007). Law school admissions 2005 to 2007 [lawschs1_1]. http://www.seaphe.org/databases.php",
    summary="86,022 applications to 24 US law schools, from freedom-of-information requests.",
    positive="the applicant was admitted",
    cautions=(
        "The label is what admission offices decided, with the policies and preferences of that time.",
        "Asian applicants and applicants of unknown race are dropped, as in the paper: nothing is said about them.",
        "The file codes gender as 0 and 1 without saying which is which; we keep the codes.",
        "Rows are applications: one person who applied to several schools is several rows, maybe in several splits.",
        "A few LSAT scores lie above 180, the highest that exists; they are kept as they are.",
    ),
    files=(
        DataFile(COMPLETE),
        DataFile(PARTIAL, "fc791eef90e506bb4a3d80f2b3730e21fba83e7019207900381b2ba859f6cc0e"),
    ),
    schema=schema(),
    read=read,
    by_hand=(
        f"get {COMPLETE} (Stata) from {HOMEPAGE} or a web archive's copy of that page and place it in "
        "{folder}. No checksum of it has been published, so lcifr does not download it unseen"
    ),
)
