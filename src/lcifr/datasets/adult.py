"""Adult: whose income exceeded 50,000 dollars in the US census survey of 1994."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.datasets.dataset import CleanTable, DatasetFolder, Source, split_names
from lcifr.datasets.downloads import DataFile

if TYPE_CHECKING:
    import pandas as pd

COUNTRIES: Final = (
    "Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France Germany Greece "
    "Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran Ireland Italy Jamaica Japan Laos Mexico "
    "Nicaragua Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland South Taiwan Thailand "
    "Trinadad&Tobago United-States Vietnam Yugoslavia"
)
EDUCATION: Final = (
    "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate HS-grad Masters Preschool "
    "Prof-school Some-college"
)
OCCUPATION: Final = (
    "Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing Handlers-cleaners Machine-op-inspct "
    "Other-service Priv-house-serv Prof-specialty Protective-serv Sales Tech-support Transport-moving"
)
MARITAL_STATUS: Final = (
    "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married Separated Widowed"
)
WORKCLASS: Final = "Federal-gov Local-gov Private Self-emp-inc Self-emp-not-inc State-gov Without-pay"


def _category(name: str, values: str) -> Categorical:
    return Categorical(name, split_names(values))


SCHEMA: Final = Schema(  # the spelling of the values is the census bureau's
    (
        Numeric("age", unit="years", integer=True),
        _category("workclass", WORKCLASS),
        Numeric("fnlwgt", unit="people represented", integer=True),
        _category("education", EDUCATION),
        Numeric("education_num", unit="level, 1 to 16", integer=True),
        _category("marital_status", MARITAL_STATUS),
        _category("occupation", OCCUPATION),
        _category("relationship", "Husband Not-in-family Other-relative Own-child Unmarried Wife"),
        _category("race", "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White"),
        _category("sex", "Female Male"),
        Numeric("capital_gain", unit="US dollars", integer=True),
        Numeric("capital_loss", unit="US dollars", integer=True),
        Numeric("hours_per_week", unit="hours", integer=True),
        _category("native_country", COUNTRIES),
    ),
    target="income_above_50k",
)


def read(place: DatasetFolder, label: str | None) -> CleanTable:
    """People without missing values (``?``); the test set is the source's own file."""
    train, test = place.require("adult.data", "adult.test")
    X, y = _read_file(train)
    return CleanTable(SCHEMA, X, y, test=_read_file(test))


def _read_file(path: Path) -> tuple[pd.DataFrame, pd.Series[int]]:
    import pandas as pd

    columns = [*SCHEMA.names, "income_above_50k"]
    # The test file opens with a line that starts with "|", and its labels end with a full stop.
    raw = pd.read_csv(path, header=None, names=columns, skipinitialspace=True, na_values="?", comment="|")
    raw = raw.dropna()
    return raw[list(SCHEMA.names)], raw["income_above_50k"].str.startswith(">50K").astype("int64")


SOURCE: Final = Source(
    name="adult",
    title="Adult",
    homepage="https://archive.ics.uci.edu/dataset/2/adult",
    licence="CC BY 4.0",
    citation=(
        "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20"
    ),
    summary="45,222 working adults from the Current Population Survey of the US census bureau, 1994.",
    positive="the yearly income is above 50,000 US dollars (of 1994)",
    cautions=(
        "50,000 dollars was an arbitrary cut, high for its time: few women and few Black people are above it, and "
        "conclusions change with the cut (Ding et al. 2021).",
        "fnlwgt is a survey weight, not a property of the person; the paper keeps it as an attribute and so do we.",
        "relationship (Husband, Wife) gives sex away: a formula that frees sex alone leaves that proxy fixed.",
        "People with unknown values are dropped, and they are not missing at random.",
        "Nobody decided anything here: the label is what people earned, unequal pay included.",
    ),
    files=(
        DataFile(
            "adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ("https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",),
        ),
        DataFile(
            "adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ("https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",),
        ),
    ),
    schema=SCHEMA,
    read=read,
)
