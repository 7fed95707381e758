"""Formulas in plain English."""
