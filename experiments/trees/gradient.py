"""scikit-learn's gradient boosting as it is, audited by the search for trees."""

from __future__ import annotations

import time
from typing import Any

from experiments.cells import Cell
from experiments.store import Found, Store
from experiments.trees.boosters import draw, similarity_over_reals
from experiments.verdicts import accuracies, share
from lcifr import audit
from lcifr.datasets import Dataset
from lcifr.prove import Budget


def pipeline(**options: Any) -> Any:
    """HistGradientBoosting behind one column for each category, which proofs can read."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    texts = make_column_selector(dtype_include=["object", "string", "category"])
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    table = make_column_transformer((encoder, texts), remainder="passthrough")
    return make_pipeline(table, HistGradientBoostingClassifier(**options))


def gradient(cell: Cell, store: Store, data: Dataset) -> Found:
    """Fitted for the label alone; people of the test set certified, refuted or left open, over the reals."""
    settings = cell.settings
    model = pipeline(**settings["options"]).fit(data.train.X, data.train.y)
    rows = draw(len(data.test), settings["searched"], settings["seed"])
    start = time.process_time()
    found = audit(
        model,
        data.test.X.iloc[rows],
        similarity=similarity_over_reals(settings["row"], data),
        budget=Budget(nodes=settings["nodes"]),
        arithmetic="exact",
    )
    seconds = round((time.process_time() - start) / len(rows), 7)
    verdicts = {"certified": share(found.certified), "violated": share(found.violated), "searched": len(rows)}
    test = {**accuracies(model.predict(data.test.X), data.test.y), **verdicts, "seconds": seconds}
    before = accuracies(model.predict(data.validation.X), data.validation.y)
    return {"validation": before, "test": test, "people": [len(data.train), len(data.validation), len(data.test)]}
