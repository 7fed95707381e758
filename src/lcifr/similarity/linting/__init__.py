"""Lint of formulas: findings about φ itself and about φ on real people."""
