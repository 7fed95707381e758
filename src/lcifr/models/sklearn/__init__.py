"""Fitted scikit-learn objects: estimators on numbers, and pipelines on the raw columns of a table."""
