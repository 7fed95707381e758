"""What ``lcifr sweep`` is asked of in these tests."""

from __future__ import annotations

ASKED = ("--model", "model.skops", "--phi", "people.phi", "--schema", "people.toml")
