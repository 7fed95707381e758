"""Boosting of additive models whose loss is taken at the worst similar person."""
