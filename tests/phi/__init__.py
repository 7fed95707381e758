"""Tests of the similarity language: a package, so that the laws of every reader can share one set of strategies."""
