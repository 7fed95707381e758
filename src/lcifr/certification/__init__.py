"""Trees read as additive models."""
