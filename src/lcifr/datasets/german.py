"""German Credit: who was judged a good credit risk by a bank in southern Germany in the 1970s. Ships with lcifr."""

from __future__ import annotations

from typing import Final

from lcifr.data.schema import Attribute, Categorical, Numeric, Schema
from lcifr.datasets.dataset import CleanTable, DatasetFolder, Source
from lcifr.datasets.downloads import DataFile

# The file's columns in order: numbers as they are, codes with the words that UCI's documentation gives them.
COLUMNS: Final[tuple[Numeric | tuple[str, dict[str, str]], ...]] = (
    (
        "checking_account",
        {"A11": "below 0 DM", "A12": "0 to 200 DM", "A13": "200 DM or more, or salary for a year", "A14": "none"},
    ),
    Numeric("duration", unit="months", integer=True),
    (
        "credit_history",
        {
            "A30": "no credits, or all paid back",
            "A31": "all credits here paid back",
            "A32": "existing credits paid so far",
            "A33": "delays in the past",
            "A34": "critical, or credits elsewhere",
        },
    ),
    (
        "purpose",
        {
            "A40": "new car",
            "A41": "used car",
            "A42": "furniture or equipment",
            "A43": "radio or television",
            "A44": "domestic appliances",
            "A45": "repairs",
            "A46": "education",
            "A48": "retraining",
            "A49": "business",
            "A410": "other",
        },
    ),
    Numeric("credit_amount", unit="DM", integer=True),
    (
        "savings",
        {
            "A61": "below 100 DM",
            "A62": "100 to 500 DM",
            "A63": "500 to 1000 DM",
            "A64": "1000 DM or more",
            "A65": "unknown or none",
        },
    ),
    (
        "employment_since",
        {
            "A71": "unemployed",
            "A72": "below 1 year",
            "A73": "1 to 4 years",
            "A74": "4 to 7 years",
            "A75": "7 years or more",
        },
    ),
    Numeric("installment_rate", unit="% of income, in 4 classes", integer=True),
    ("sex", {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}),  # from personal status
    ("other_debtors", {"A101": "none", "A102": "co-applicant", "A103": "guarantor"}),
    Numeric("residence_since", unit="years, in 4 classes", integer=True),
    (
        "property",
        {
            "A121": "real estate",
            "A122": "building society savings or life insurance",
            "A123": "car or other",
            "A124": "unknown or none",
        },
    ),
    Numeric("age", unit="years", integer=True),
    ("other_installment_plans", {"A141": "bank", "A142": "stores", "A143": "none"}),
    ("housing", {"A151": "rent", "A152": "own", "A153": "for free"}),
    Numeric("existing_credits", unit="credits at this bank", integer=True),
    (
        "job",
        {
            "A171": "unemployed, or unskilled non-resident",
            "A172": "unskilled resident",
            "A173": "skilled employee or official",
            "A174": "manager, self-employed or highly qualified",
        },
    ),
    Numeric("dependents", unit="people", integer=True),
    ("telephone", {"A191": "none", "A192": "registered"}),
    ("foreign_worker", {"A201": "yes", "A202": "no"}),
)


def _attribute(column: Numeric | tuple[str, dict[str, str]]) -> Attribute:
    return column if isinstance(column, Numeric) else Categorical(column[0], tuple(dict.fromkeys(column[1].values())))


SCHEMA: Final = Schema(tuple(_attribute(column) for column in COLUMNS), target="good_credit")


def read(place: DatasetFolder, label: str | None) -> CleanTable:
    """The 1,000 people, codes replaced by words; the label is 1 for good credit (2 minus the file's class)."""
    import pandas as pd

    (path,) = place.require("german.data")
    raw = pd.read_csv(path, sep=" ", header=None, names=[*SCHEMA.names, "good_credit"])
    for column in COLUMNS:
        if not isinstance(column, Numeric):
            name, words = column
            raw[name] = raw[name].map(words)
    return CleanTable(SCHEMA, raw[list(SCHEMA.names)], (2 - raw["good_credit"]).astype("int64"))


SOURCE: Final = Source(
    name="german",
    title="German Credit",
    homepage="https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
    licence="CC BY 4.0",
    citation=(
        "Hofmann, H. (1994). Statlog (German Credit Data) [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5NC77"
    ),
    summary="1,000 people who were granted a credit by a bank in southern Germany between 1973 and 1975.",
    positive="the credit was paid back as agreed",
    cautions=(
        "Only people who were granted a credit are in it: nothing is known of those who were turned away.",
        "Bad credits were sampled far more often than they occurred (30 % here), so rates say nothing about any bank.",
        "Sex is derived from a combined code for sex and marital status. Work in the bank's archives (Grömping 2019, "
        "South German Credit) found UCI's table of this code and of several others wrong: the code read as female also "
        "holds single men, a code read as male holds single women. A statement about sex is one about that code.",
        "Half a century old, in Deutsche Mark, and from another law: a demonstration, no basis for credit decisions.",
    ),
    files=(
        DataFile(
            "german.data",
            "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
            ("https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",),
        ),
    ),
    schema=SCHEMA,
    read=read,
)
