"""What differs between the reader's own schema, scales, ranks or model and those of a bundle, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lcifr.certification.bundle import ENCODER, MODEL
from lcifr.data.attributes import attribute_to_dict
from lcifr.phi.core import distinct_values
from lcifr.runs.binding.bundle import CheckedBundle
from lcifr.runs.binding.functions import without_choices

if TYPE_CHECKING:
    from lcifr.data import Encoding, Schema
    from lcifr.runs.binding.functions import DerivedModel, Json

ROUNDING = 1e-12


def attribute_differences(yours: Schema, bundle: Schema) -> Iterator[str]:
    """Attributes that one of the two does not have, or that they declare otherwise; else their order."""
    for name in dict.fromkeys((*yours.names, *bundle.names)):
        if name not in bundle:
            yield f"{name} is no attribute of the bundle"
        elif name not in yours:
            yield f"{name} is an attribute of the bundle, and not of your schema"
        elif yours[name] != bundle[name]:
            mine, theirs = (attribute_to_dict(one[name]) for one in (yours, bundle))
            keys = [key for key in dict.fromkeys((*mine, *theirs)) if mine.get(key) != theirs.get(key)]
            said = (f"{key} is {mine.get(key)!r}, in the bundle {theirs.get(key)!r}" for key in keys)
            yield f"{name}: {'; '.join(said)}"
    if set(yours.names) == set(bundle.names) and yours.names != bundle.names:
        yield "the attributes are in another order"


def scale_differences(yours: Encoding, bundle: Encoding) -> Iterator[str]:
    """Means and standard deviations that are not the same float64."""
    for name in bundle.schema.names_numeric:
        for what, mine, theirs in (
            ("standard deviation", yours.sd(name), bundle.sd(name)),
            ("mean", yours.mean(name), bundle.mean(name)),
        ):
            if mine != theirs:
                near = " (only by rounding: are its rows in another order?)" if _near(mine, theirs) else ""
                yield f"the {what} of {name} is {mine!r}, in the bundle {theirs!r}{near}"


def _near(mine: float, theirs: float) -> bool:
    return bool(np.isclose(mine, theirs, rtol=ROUNDING, atol=0.0))


def rank_differences(yours: Encoding, bundle: CheckedBundle) -> list[str]:
    """Ranks of φ that are taken among other values than those of the training people."""
    ranked, known = yours.ranked, bundle.schema
    assert ranked is not None
    found = (
        f"the values among which {one.attribute} is ranked by {one.by}"
        for one in bundle.ranked()
        if one.attribute not in known.names_numeric
        or one.by not in known.names_categorical
        or distinct_values(ranked, one.attribute, one.by, frozenset(one.codes)) != one.values
    )
    return list(dict.fromkeys(found))


def same_json(yours: bytes, bundle: bytes) -> bool:
    """Whether two JSON files hold the same values, however they are spaced."""
    plain = (json.dumps(json.loads(one), sort_keys=True, separators=(",", ":")) for one in (yours, bundle))
    return yours == bundle or len(set(plain)) == 1


def rule_text(rule: Json | None) -> str:
    """How a bundle's model decides, in words, without what an audit chooses."""
    if rule is None:
        return "nothing is decided"
    lower, upper = rule.get("band", (0.0, 0.0))
    return {
        "sign": f"class 1 where the output is above {upper!r}, class 0 where it is below {lower!r}",
        "class": f"the class with the largest output, if it is more than {upper!r} ahead",
        "within": "the number itself",
    }[rule["kind"]]


def function_differences(yours: DerivedModel, bundle: CheckedBundle) -> tuple[list[str], list[str]]:
    """Parts of the bundle that the reader's model does not have; and parts that are not the same."""
    missing, found = list[str](), list[str]()
    if yours.encoding is None or yours.encoder is None:
        missing.append("the encoder")
    else:
        if yours.encoding.schema.attributes != bundle.schema.attributes:
            found.append("the attributes of your encoder are others, or declared otherwise")
        elif (yours.encoding.programs, yours.encoding.outside) != (bundle.encoding.programs, bundle.encoding.outside):
            found.append("it scales numbers otherwise, or takes other categories")
        if not same_json(yours.encoder, bundle.files[ENCODER]):
            found.append("the weights of the encoder, or of the first layer, are others")
    if MODEL not in bundle.files and yours.model is not None:
        found.append("the bundle holds no model that decides: it is about a representation alone")
    elif MODEL in bundle.files and yours.model is None:
        missing.append("the model that decides")
    elif MODEL in bundle.files and yours.model is not None:
        if not same_json(yours.model, bundle.files[MODEL]):
            found.append(
                "the weights or the trees of the model are different, or another number stands for a missing value"
            )
        if yours.rule != without_choices(bundle.decision):
            found.append(
                f"it decides by another rule: {rule_text(yours.rule)}; "
                f"in the bundle: {rule_text(without_choices(bundle.decision))}"
            )
    return missing, found
