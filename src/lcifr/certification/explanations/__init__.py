"""Explanations of models and decisions: scores of attributes, contributions, outputs around a counterexample."""
