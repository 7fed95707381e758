"""What is assumed about runtimes: how far their sigmoid and softmax are off, and when a softmax makes a tie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lcifr.models.rule import ASSUMED_ROUNDOFFS
from tests.models.loaders.onnx import graphs
from tests.models.loaders.onnx.graphs import GraphBuilder

UNITS = {np.float32: 2.0**-24, np.float64: 2.0**-53}


def run(operator: str, rows: Any, **attributes: Any) -> Any:
    graph = GraphBuilder(rows.shape[1], rows.dtype)
    return graphs.run(graph.model(graph.add(operator, "x", **attributes)), rows)


def margins(dtype: Any, width: int) -> Any:
    rng = np.random.default_rng(0)
    scales = rng.choice([1e-6, 1e-2, 1.0, 5.0, 30.0], size=(200_000 // width, 1))
    return (rng.uniform(-1, 1, size=(len(scales), width)) * scales).astype(dtype)


@pytest.mark.parametrize("dtype", UNITS)
def test_a_sigmoid_is_off_by_less_than_assumed(dtype: Any) -> None:
    rows = margins(dtype, 1)
    true = 1 / (1 + np.exp(-rows.astype(np.longdouble)))
    for said in (run("Sigmoid", rows), torch.sigmoid(torch.from_numpy(rows)).numpy()):
        assert (np.abs(said - true) <= ASSUMED_ROUNDOFFS * UNITS[dtype]).all()


@pytest.mark.parametrize("width", [2, 3, 10])
@pytest.mark.parametrize("dtype", UNITS)
def test_a_softmax_is_off_by_less_than_assumed(dtype: Any, width: int) -> None:
    rows = margins(dtype, width)
    exact = rows.astype(np.longdouble)
    parts = np.exp(exact - exact.max(1, keepdims=True))
    true = parts / parts.sum(1, keepdims=True)
    for said in (run("Softmax", rows, axis=1), torch.softmax(torch.from_numpy(rows), 1).numpy()):
        assert (np.abs(said - true) <= ASSUMED_ROUNDOFFS * UNITS[dtype]).all()


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_a_class_that_leads_by_more_than_assumed_is_the_largest(operator: str) -> None:
    lead = 2 * ASSUMED_ROUNDOFFS * UNITS[np.float32]
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.choice([0.0, 0.3, 7.0, 100.0], size=(20_000, 1)), 3, axis=1).astype(np.float32)
    rows[:, 2] += rng.uniform(0, 4 * lead, len(rows)).astype(np.float32)
    rows[:, 2] = np.nextafter(rows[:, 2], np.float32(np.inf))
    leads = rows[:, 2].astype(np.float64) - rows[:, 0] > lead
    assert leads.any()
    assert (run(operator, rows, axis=1).argmax(1)[leads] == 2).all()
