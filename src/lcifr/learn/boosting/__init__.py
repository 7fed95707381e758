"""Boosting of additive models that are robust over regions."""
