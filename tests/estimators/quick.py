"""Settings of encoders that are trained in seconds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.learn.populations import SCHEMA

QUICK: dict[str, Any] = {"schema": SCHEMA, "epochs": 8, "batch_size": 32, "latent_dim": 4, "learning_rate": 5e-3}
quiet = pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
