"""Outline of a fitted scikit-learn model: its columns, steps and rule, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lcifr.data.frames import is_missing, text_of
from lcifr.display.text import count
from lcifr.models.files.outline import ModelInput, ModelOutline, rule_words
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Kind
from lcifr.models.sklearn.categories import ENCODERS
from lcifr.models.sklearn.scalers import SCALERS
from lcifr.models.sklearn.tables import preprocessing_of
from lcifr.models.sklearn.thresholds import inner_estimator, read_decision
from lcifr.models.sklearn.tree_thresholds import read_wrapped_trees, wraps_trees
from lcifr.models.trees.files import trees_in_words
from lcifr.models.trees.trees import Trees


def outline_sklearn(model: Any) -> ModelOutline:
    """What a fitted estimator or Pipeline is, without a table.

    Raises
    ------
    NetworkError
        For a decision that cannot be read exactly, by name. Preprocessing is read with a table.
    """
    import sklearn

    library = f"scikit-learn {sklearn.__version__}"
    if wraps_trees(model):
        return _outline_trees(model, library)
    decision = read_decision(model)
    return ModelOutline(
        library=f"scikit-learn ({type(model).__name__})",
        runtime=library,
        inputs=_inputs(model),
        steps=(*_steps(model), *(words for factor in decision.factors for words in _layers(factor)), *_wrappers(model)),
        outputs=decision.function.outputs,
        rule=rule_words(decision),
        arithmetic=decision.factors[0].native,
        classes=() if decision.labels is None else tuple(decision.labels.tolist()),
        is_number=decision.rule.kind is Kind.NUMBER,
    )


def _outline_trees(model: Any, library: str) -> ModelOutline:
    source = read_wrapped_trees(model)
    decision = Model(Trees.of(1, source.base, []), source.rule, source.labels)
    return ModelOutline(
        library=f"scikit-learn ({type(model).__name__})",
        runtime=library,
        inputs=_inputs(model),
        steps=(*_steps(model), trees_in_words(source.trees), *_wrappers(model)),
        outputs=len(source.base),
        rule=rule_words(decision),
        arithmetic=source.native,
        classes=() if source.labels is None else tuple(source.labels.tolist()),
        is_number=source.rule.kind is Kind.NUMBER,
    )


def _inputs(model: Any) -> tuple[ModelInput, ...]:
    if not hasattr(model, "feature_names_in_"):
        return (ModelInput("X", int(model.n_features_in_), is_column=False),)
    found = {str(name): ModelInput(str(name)) for name in model.feature_names_in_}
    for first in (step for _, step in preprocessing_of(model)[:1]):
        found |= _taken_by(first, list(found))
    return tuple(found.values())


def _taken_by(transformer: Any, names: list[str]) -> dict[str, ModelInput]:
    """How a transformer takes the table's own columns, where that shows: encoders take categories, scalers numbers."""
    kind = type(transformer).__name__
    if kind == "ColumnTransformer":
        places = transformer._transformer_to_input_indices
        parts = [
            (one, [names[j] for j in places[name]]) for name, one, _ in transformer.transformers_ if name in places
        ]
        return {name: known for one, taken in parts for name, known in _taken_by(one, taken).items()}
    if kind == "Pipeline":
        steps = [step for _, step in transformer.steps if type(step).__name__ != "SimpleImputer"]
        return _taken_by(steps[0], names) if steps else {}
    if kind in ENCODERS:
        known = zip(names, transformer.categories_, strict=True)
        return {
            name: ModelInput(
                name, is_category=True, values=tuple(text_of(v).strip() for v in values if not is_missing(v))
            )
            for name, values in known
        }
    return {name: ModelInput(name, is_category=False) for name in names} if kind in SCALERS else {}


def _steps(model: Any) -> Iterator[str]:
    for name, step in preprocessing_of(model):
        parts = getattr(step, "transformers_", None)
        if parts is None:
            yield f"{type(step).__name__}" if step not in (None, "passthrough") else f'"{name}" passes on'
            continue
        inside = [f"{_called(one)} of {count(len(columns))}" for _, one, columns in parts if len(columns)]
        yield f"{type(step).__name__} ({', '.join(inside)} columns)"


def _called(transformer: Any) -> str:
    """The name of a transformer, or of those that a pipeline has one after the other."""
    if isinstance(transformer, str):
        return transformer
    steps = getattr(transformer, "steps", None)
    return type(transformer).__name__ if steps is None else " → ".join(_called(one) for _, one in steps)


def _layers(network: Network) -> Iterator[str]:
    sizes = [network.layers[0].weight.shape[1], *(layer.weight.shape[0] for layer in network.layers)]
    kind = "linear model" if len(sizes) == 2 else "ReLU network"
    yield f"{kind} {' → '.join(map(count, sizes))}"


def _wrappers(model: Any) -> Iterator[str]:
    """What stands around the estimator, from inside out."""
    if type(model).__name__ == "Pipeline":
        yield from _wrappers(model.steps[-1][1])
    elif (inner := inner_estimator(model)) is not None:
        yield from _wrappers(inner)
        yield type(model).__name__
