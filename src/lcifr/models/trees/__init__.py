"""Sums of trees: the function, and one loader per library."""
