"""Options as fields of requests: default, limits, help and order are stated once and reach every reader."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lcifr.errors import LcifrError
from lcifr.evidence.pack import PackRequest
from lcifr.evidence.sampling import ChallengeRequest, CommitRequest, OpeningCheckRequest, OpenRequest
from lcifr.evidence.signing import SignRequest, VerifyRequest
from lcifr.learn.parameters import BOOSTER, ENCODER, Learner, parameters
from lcifr.report.page import ReportRequest
from lcifr.workflows.auditing import AuditRequest
from lcifr.workflows.binding import DigestRequest
from lcifr.workflows.certifying import CertifyRequest
from lcifr.workflows.checking import CheckRequest
from lcifr.workflows.consuming import ConsumeRequest
from lcifr.workflows.diagnosis import ExportRequest, ShowRequest
from lcifr.workflows.drafting import InitRequest
from lcifr.workflows.formulas import CountOptions, FormulaRequest, TableCheckRequest
from lcifr.workflows.options import (
    END,
    PAIRS,
    REQUIRED,
    WEIGHTS,
    WIDTHS,
    classes_of,
    labels_of,
    learned,
    option,
    option_name,
    options_of,
)
from lcifr.workflows.producing import ProduceRequest
from lcifr.workflows.representing import RepresentRequest
from lcifr.workflows.tuning import TuneRequest


@dataclass(frozen=True, kw_only=True)
class First:
    last: bool = option(False, "Listed at the end.", before=END)
    out: Path = option(REQUIRED, "A folder.", metavar="FOLDER")


@dataclass(frozen=True, kw_only=True)
class Request(First):
    label: str = option("one", "One of two.", choices=("one", "two"), before="out")
    id_column: str | None = option(None, "A column.", name="id")


def test_options_are_listed_in_their_order() -> None:
    assert list(options_of(Request)) == ["label", "out", "id_column", "last"]
    assert [option_name(one) for one in options_of(Request).values()] == ["--label", "--out", "--id", "--last"]


REQUESTS = [
    *(ProduceRequest, TuneRequest, ConsumeRequest, RepresentRequest, InitRequest, CheckRequest, ReportRequest),
    *(ShowRequest, ExportRequest, FormulaRequest, CountOptions, TableCheckRequest, DigestRequest, PackRequest),
    *(CommitRequest, ChallengeRequest, OpenRequest, OpeningCheckRequest, SignRequest, VerifyRequest),
    *(AuditRequest, CertifyRequest),
]


@pytest.mark.parametrize("kind", REQUESTS)
def test_every_field_of_a_request_is_an_option_with_help(kind: type) -> None:
    for one in options_of(kind).values():
        assert one.metadata["option"].help.endswith((".", ".)")), one.name
    assert set(options_of(kind)) == set(kind.__dataclass_fields__)


def test_a_hyper_parameter_is_what_parameters_says() -> None:
    for name, one in options_of(ProduceRequest).items():
        family = {Learner.NETWORK: ENCODER, Learner.TREES: BOOSTER}.get(one.metadata["option"].family)
        known = {} if family is None else parameters(family)
        stated = {"latent": "latent_dim", "batch": "batch_size"}.get(name, name)
        if stated in known:
            assert one.metadata["option"].help == known[stated].help
            assert one.default == known[stated].default
    assert learned(BOOSTER, "learning_rate").metadata["option"].least == 1e-6
    assert learned(ENCODER, "gamma").metadata["option"].is_finite


def test_spellings_read_what_they_write() -> None:
    for spelling, value in (
        (WIDTHS, (20, 100)),
        (WIDTHS, ()),
        (WEIGHTS, (0.1, 1.0, 30.0)),
        (PAIRS, "auto"),
        (PAIRS, 3),
    ):
        assert spelling.write is not None
        assert spelling.read(spelling.write(value)) == value
    assert classes_of("no, yes") == ("no", "yes")
    assert labels_of(["0=refused,1=granted", "a=b=c"]) == {"0": "refused", "1": "granted", "a=b": "c"}


def test_both_directions_of_one_attribute_are_refused() -> None:
    with pytest.raises(LcifrError, match="both name age"):
        ProduceRequest(table="t", phi="p", out=Path("o"), rising=("age",), falling=("age", "income"))
    asked = ProduceRequest(table="t", phi="p", out=Path("o"), rising=("age",), falling=("income",))
    assert asked.monotone == {"age": 1, "income": -1}


def test_options_are_light() -> None:
    heavy = ["numpy", "torch", "pandas", "pyarrow", "sklearn", "scipy", "lark", "safetensors", "typer", "rich"]
    code = f"import sys, lcifr.workflows.options; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
