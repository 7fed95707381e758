"""Communities and Crime: which US communities had less violent crime than the median in 1995."""

from __future__ import annotations

from typing import Final

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.datasets.dataset import CleanTable, DatasetFolder, Source, split_names
from lcifr.datasets.downloads import DataFile

TARGET: Final = "ViolentCrimesPerPop"
IDENTIFIERS: Final = ("communityname", "countyCode", "communityCode", "fold")
# All columns of the file in order, named as in UCI's documentation.
COLUMNS: Final = split_names("""
communityname state countyCode communityCode fold population householdsize racepctblack racePctWhite racePctAsian
racePctHisp agePct12t21 agePct12t29 agePct16t24 agePct65up numbUrban pctUrban medIncome pctWWage pctWFarmSelf pctWInvInc
pctWSocSec pctWPubAsst pctWRetire medFamInc perCapInc whitePerCap blackPerCap indianPerCap AsianPerCap OtherPerCap
HispPerCap NumUnderPov PctPopUnderPov PctLess9thGrade PctNotHSGrad PctBSorMore PctUnemployed PctEmploy PctEmplManu
PctEmplProfServ PctOccupManu PctOccupMgmtProf MalePctDivorce MalePctNevMarr FemalePctDiv TotalPctDiv PersPerFam
PctFam2Par PctKids2Par PctYoungKids2Par PctTeen2Par PctWorkMomYoungKids PctWorkMom NumKidsBornNeverMar
PctKidsBornNeverMar NumImmig PctImmigRecent PctImmigRec5 PctImmigRec8 PctImmigRec10 PctRecentImmig PctRecImmig5
PctRecImmig8 PctRecImmig10 PctSpeakEnglOnly PctNotSpeakEnglWell PctLargHouseFam PctLargHouseOccup PersPerOccupHous
PersPerOwnOccHous PersPerRentOccHous PctPersOwnOccup PctPersDenseHous PctHousLess3BR MedNumBR HousVacant PctHousOccup
PctHousOwnOcc PctVacantBoarded PctVacMore6Mos MedYrHousBuilt PctHousNoPhone PctWOFullPlumb OwnOccLowQuart OwnOccMedVal
OwnOccHiQuart OwnOccQrange RentLowQ RentMedian RentHighQ RentQrange MedRent MedRentPctHousInc MedOwnCostPctInc
MedOwnCostPctIncNoMtg NumInShelters NumStreet PctForeignBorn PctBornSameState PctSameHouse85 PctSameCity85
PctSameState85 LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps LemasSwFTFieldPerPop LemasTotalReq LemasTotReqPerPop
PolicReqPerOffic PolicPerPop RacialMatchCommPol PctPolicWhite PctPolicBlack PctPolicHisp PctPolicAsian PctPolicMinor
OfficAssgnDrugUnits NumKindsDrugsSeiz PolicAveOTWorked LandArea PopDens PctUsePubTrans PolicCars PolicOperBudg
LemasPctPolicOnPatr LemasGangUnitDeploy LemasPctOfficDrugUn PolicBudgPerPop murders murdPerPop rapes rapesPerPop
robberies robbbPerPop assaults assaultPerPop burglaries burglPerPop larcenies larcPerPop autoTheft autoTheftPerPop
arsons arsonsPerPop ViolentCrimesPerPop nonViolPerPop
""")
CRIMES: Final = COLUMNS[COLUMNS.index("murders") :]
# Unknown (?) for some of the communities: one OtherPerCap, and most of the police survey.
INCOMPLETE: Final = split_names("""
OtherPerCap LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps LemasSwFTFieldPerPop LemasTotalReq LemasTotReqPerPop
PolicReqPerOffic PolicPerPop RacialMatchCommPol PctPolicWhite PctPolicBlack PctPolicHisp PctPolicAsian PctPolicMinor
OfficAssgnDrugUnits NumKindsDrugsSeiz PolicAveOTWorked PolicCars PolicOperBudg LemasPctPolicOnPatr LemasGangUnitDeploy
PolicBudgPerPop
""")
WHOLE_UNITS: Final = {  # these columns hold whole numbers; every other one has decimals
    "people": "population numbUrban NumUnderPov NumKidsBornNeverMar NumImmig NumInShelters NumStreet",
    "US dollars": "medIncome medFamInc perCapInc whitePerCap blackPerCap indianPerCap AsianPerCap HispPerCap "
    "OwnOccLowQuart OwnOccMedVal OwnOccHiQuart OwnOccQrange",
    "US dollars a month": "RentLowQ RentMedian RentHighQ RentQrange MedRent",
    "bedrooms": "MedNumBR",
    "households": "HousVacant",
    "year": "MedYrHousBuilt",
}
OTHER_UNITS: Final = {
    "people": "householdsize PersPerFam PersPerOccupHous PersPerOwnOccHous PersPerRentOccHous",
    "square miles": "LandArea",
    "people per square mile": "PopDens",
}
STATES: Final = (  # those with a community whose violent crimes are known
    "AK AL AR AZ CA CO CT DC DE FL GA IA ID IN KS KY LA MA MD ME MN MO MS NC ND NH NJ NM NV NY OH OK OR PA RI SC SD TN "
    "TX UT VA VT WA WI WV WY"
)


def _numeric(name: str) -> Numeric:
    for units, whole in ((WHOLE_UNITS, True), (OTHER_UNITS, False)):
        for unit, members in units.items():
            if name in split_names(members):
                return Numeric(name, unit=unit, integer=whole)
    return Numeric(name, unit="%")


def _schema() -> Schema:
    dropped = {"state", *IDENTIFIERS, *INCOMPLETE, *CRIMES}
    numeric = tuple(_numeric(name) for name in COLUMNS if name not in dropped)
    return Schema((Categorical("state", split_names(STATES)), *numeric), target="low_crime")


SCHEMA: Final = _schema()


def read(place: DatasetFolder, label: str | None) -> CleanTable:
    """The communities whose violent crimes are known; the label is 1 below the lower median."""
    import pandas as pd

    (path,) = place.require("CommViolPredUnnormalizedData.txt")
    raw = pd.read_csv(path, header=None, names=COLUMNS, na_values="?", encoding="latin-1").dropna(subset=[TARGET])
    # With an even number of communities the lower of the two middle ones is the median here, as in the paper's code.
    median = raw[TARGET].quantile(0.5, interpolation="lower")
    return CleanTable(SCHEMA, raw[list(SCHEMA.names)], (raw[TARGET] < median).rename("low_crime").astype("int64"))


SOURCE: Final = Source(
    name="crime",
    title="Communities and Crime (unnormalized)",
    homepage="https://archive.ics.uci.edu/dataset/211/communities+and+crime+unnormalized",
    licence="CC BY 4.0",
    citation=(
        "Redmond, M. (2009). Communities and Crime Unnormalized [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5PC8X"
    ),
    summary="1,994 US communities: census of 1990, police survey of 1990, FBI crime reports of 1995.",
    positive="fewer violent crimes per head than the median community",
    cautions=(
        "The rows are communities, not people: a certificate speaks about places.",
        "The label counts reported crime; what is reported and recorded differs between police forces.",
        "Communities without a known number of rapes are missing, above all in the Midwest (Illinois and Michigan are "
        "gone entirely), so states do not compare.",
        "Many attributes describe race, origin and family: nearly everything is a proxy for everything else.",
        "The FBI warns against ranking communities by these numbers: crime against visitors counts, visitors do not.",
    ),
    files=(
        DataFile(
            "CommViolPredUnnormalizedData.txt",
            "a2359cfb8154c24f49c7cc64cfea01d9b5c33b9edcf48840a62f8fdcb3e1666f",
            ("https://archive.ics.uci.edu/ml/machine-learning-databases/00211/CommViolPredUnnormalizedData.txt",),
        ),
    ),
    schema=SCHEMA,
    read=read,
)
