"""Formulas on the page: while they are written, and with people."""
