"""COMPAS: who was not arrested again within two years, among defendants scored in Broward County, Florida."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.datasets.dataset import CleanTable, DatasetFolder, Source
from lcifr.datasets.downloads import DataFile

if TYPE_CHECKING:
    import pandas as pd

RACES: Final = ("African-American", "Caucasian")  # the two groups that the paper compares

SCHEMA: Final = Schema(
    (
        Numeric("age", unit="years", integer=True),
        Categorical("sex", ("Female", "Male")),
        Categorical("race", RACES),
        Numeric("custody_seconds", unit="seconds", integer=True),
        Numeric("jail_seconds", unit="seconds", integer=True),
        Numeric("priors_count", unit="earlier offences", integer=True),
        Numeric("juv_fel_count", unit="juvenile felonies", integer=True),
        Categorical("c_charge_degree", ("F", "M")),  # felony, misdemeanour
        Categorical("v_score_text", ("High", "Low", "Medium")),  # COMPAS's own score for violence
    ),
    target="no_recidivism",
)


def read(place: DatasetFolder, label: str | None) -> CleanTable:
    """ProPublica's filters, the two largest groups by race, and the time spent in custody and in jail."""
    import pandas as pd

    (path,) = place.require("compas-scores-two-years.csv")
    raw = pd.read_csv(path, keep_default_na=False, na_values=[""])  # "N/A" is a score here, not a missing value
    raw = raw[
        raw["days_b_screening_arrest"].between(-30, 30)  # further apart, the arrest is not the one that was scored
        & (raw["is_recid"] != -1)
        & (raw["c_charge_degree"] != "0")
        & (raw["score_text"] != "N/A")
        & raw["race"].isin(RACES)
    ]
    X = raw.assign(
        custody_seconds=_seconds(raw["in_custody"], raw["out_custody"]),
        jail_seconds=_seconds(raw["c_jail_in"], raw["c_jail_out"]),
    )[list(SCHEMA.names)]
    return CleanTable(SCHEMA, X, (1 - raw["two_year_recid"]).rename("no_recidivism").astype("int64"))


def _seconds(start: pd.Series[str], end: pd.Series[str]) -> pd.Series[int]:
    import pandas as pd

    return (pd.to_datetime(end) - pd.to_datetime(start)).dt.total_seconds().astype("int64")


SOURCE: Final = Source(
    name="compas",
    title="COMPAS",
    homepage="https://github.com/propublica/compas-analysis",
    licence="published by ProPublica without a licence",
    citation=(
        "Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). Machine Bias. ProPublica. "
        "https://github.com/propublica/compas-analysis"
    ),
    summary="5,278 defendants in Broward County, Florida, scored by COMPAS in 2013 and 2014.",
    positive="not arrested for a new offence within two years",
    cautions=(
        "The label is arrest, not crime: where police look more, more people are arrested, whoever does what.",
        "v_score_text is the verdict of the very tool that was accused of bias, and the paper uses it as an input.",
        "custody_seconds and jail_seconds can cover time after the score was made.",
        "The two-year sample was put together with known errors: people who offended again were kept with less than "
        "two years of follow-up, which raises the rate (Barenstein 2019; Bao et al. 2021).",
        "These are people with names in the source file; the loader drops the names, and so should you.",
    ),
    files=(
        DataFile(
            "compas-scores-two-years.csv",
            "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
            ("https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",),
        ),
    ),
    schema=SCHEMA,
    read=read,
)
